"""Formula text: brackets, numbers, spans."""

from __future__ import annotations

import pytest

from planner.ledger.excel import formula, number
from planner.ledger.nodes import (
    Const,
    Operand,
    cumsum,
    flag,
    irr,
    lookup,
    maximum,
    mirr,
    node,
    npv,
    pmt,
    prev,
    ref,
    rolling_max,
    round_up,
    sum_months,
    sum_year,
    xirr,
    xnpv,
)

a, b, c = ref("a"), ref("b"), ref("c")


class Names:
    """Addresses that are the keys themselves: a scalar's, a series' with its month."""

    months = 24

    def at(self, key: str, month: int | None) -> str:
        return key if key in "abc" else f"{key}{month}"

    def span(self, key: str, first: int, last: int, *, fixed_start: bool = False) -> str:
        return f"{'$' * fixed_start}{key}{first}:{key}{last}"

    def before(self, key: str, month: int, initial: str) -> str:
        if month:
            return self.at(key, month - 1)
        return initial if initial.isalnum() else f"({initial})"

    def window(self, key: str, month: int, months: int) -> str:
        return self.span(key, max(0, month + 1 - months), month)

    def constant(self, value: float) -> str:
        return number(value)

    def table(self, key: str) -> str:
        return f"{key}!"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (a + b * c, "=a+b*c"),
        ((a + b) * c, "=(a+b)*c"),
        (a - (b - c), "=a-(b-c)"),
        (a - b - c, "=a-b-c"),
        (a - (b + c), "=a-(b+c)"),
        (a / (b * c), "=a/(b*c)"),
        (a / b / c, "=a/b/c"),
        ((a**b) ** c, "=(a^b)^c"),
        (a ** (b**c), "=a^(b^c)"),
        (a**b * c, "=a^b*c"),
        ((a * b) ** c, "=(a*b)^c"),
        (-a, "=-a"),
        (-(a + b), "=-(a+b)"),
        (-(a * b), "=-a*b"),
        (-(a**2), "=-(a^2)"),
        (-(a**2 * b), "=-(a^2*b)"),
        (-(b * a**2), "=-(b*a^2)"),
        ((-a) ** 2, "=(-a)^2"),
        (a * -b, "=a*(-b)"),
        (a - -b, "=a-(-b)"),
        (Const(-3) ** 2, "=(-3)^2"),
        (a * -3, "=a*(-3)"),
        (flag(a + b, "<=", c) * 2, "=IF(a+b<=c,1,0)*2"),
        (maximum(0, a - b), "=MAX(0,a-b)"),
        (round_up(a * b), "=ROUNDUP(ROUND(a*b,6),0)"),
        (lookup("t", a + 1), "=INDEX(t!,1,a+1)"),
        (sum_months("s"), "=SUM(s0:s23)"),
        (sum_year("s", first=12), "=SUM(s12:s23)"),
        (sum_year("s", first=18), "=SUM(s18:s23)"),
        (sum_year("s", first=24), "=0"),
        (a - npv(b, "s"), "=a-(s0+NPV(b,s1:s23))"),
        (a * pmt(b, 12, c), "=a*(-PMT(b,12,c))"),
        (xnpv(a, "s", "d"), "=XNPV(a,s0:s23,d0:d23)"),
        (irr("s"), '=IFERROR(IRR(s0:s23,0.01),"n/a")'),
        (xirr("s", "d"), '=IFERROR(XIRR(s0:s23,d0:d23),"n/a")'),
        (mirr("s", a, b), '=IFERROR(MIRR(s0:s23,a,b),"n/a")'),
    ],
)
def test_a_scalar_formula_reads(expression: Operand, text: str) -> None:
    assert formula(node(expression), Names()) == text


@pytest.mark.parametrize(
    ("expression", "month", "text"),
    [
        (a * ref("s"), 3, "=a*s3"),
        (prev("s", a * 2) - b, 3, "=s2-b"),
        (prev("s", a * 2) - b, 0, "=(a*2)-b"),
        (b - prev("s", a - c), 0, "=b-(a-c)"),
        (cumsum("s"), 5, "=SUM($s0:s5)"),
        (rolling_max("s", 12), 5, "=MAX(s0:s5)"),
        (rolling_max("s", 12), 20, "=MAX(s9:s20)"),
        (ref("s") / sum_months("s"), 1, "=s1/SUM(s0:s23)"),
    ],
)
def test_a_formula_in_a_month_reads(expression: Operand, month: int, text: str) -> None:
    assert formula(node(expression), Names(), month) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (12.0, "12"),
        (0.1, "0.1"),
        (1e15, "1000000000000000.0"),
        (1e22, "1E+22"),
        (-2.5, "-2.5"),
    ],
)
def test_a_number_reads_the_same_in_excel(value: float, text: str) -> None:
    assert number(value) == text
    assert float(text) == value

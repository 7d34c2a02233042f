"""What stands in a cell of a quote: numbers, shares, dates and terms, as vendors write them.

Every function raises ValueError with words that say what is wrong and how to write it.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from planner.scenario.quotes import PaymentTerms

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_GROUPED: Final = re.compile(r"\d{1,3}(?:[ ',.]\d{3})+")
_RANGE: Final = re.compile(r"([\d.,]+)\s*(?:-|–|to|\.\.)\s*([\d.,]+)\s*(.*)")
_OPEN_DAYS: Final = re.compile(r"(?:net|within|after)\s*(\d+)|(\d+)\s*days", re.IGNORECASE)
_STAGE: Final = re.compile(r"([\d.,]+)\s*%\s*([a-z ]+)", re.IGNORECASE)


def number(text: str) -> float:
    """A number with or without separators of thousands and a sign of currency.

    >>> number("$1,234.50"), number("1.234,50"), number("1 234"), number("12,5"), number("EUR 0.125")
    (1234.5, 1234.5, 1234.0, 12.5, 0.125)

    Raises:
        ValueError: No number, or one that can be read in two ways.
    """
    bare = re.sub(r"^[A-Za-z$€£\s]+|[A-Za-z$€£\s]+$|(?<=\d)[\u00a0\u202f](?=\d)", "", text.strip())
    bare = bare.replace("\u00a0", " ").replace("\u202f", " ").replace("\u2019", "'")
    if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", bare):
        raise ValueError(f"'{text}' may be {bare.replace('.', '')} or {bare}0; write one of them")
    last = max(bare.rfind(","), bare.rfind("."))
    whole, cents = bare, ""
    several = last >= 0 and bare.count(bare[last]) > 1
    if last >= 0 and not several and not (bare[last] == "," and _GROUPED.fullmatch(bare)):
        whole, cents = bare[:last], bare[last + 1 :]
    if not re.fullmatch(r"[-+]?\d*", whole):
        sign, digits = (whole[0], whole[1:]) if whole[:1] in "+-" else ("", whole)
        marks = set(re.sub(r"\d", "", digits))
        if len(marks) > 1 or not _GROUPED.fullmatch(digits):
            raise ValueError(f"'{text}' is no number; write it as 1234.50")
        whole = sign + re.sub(r"\D", "", digits)
    if not re.fullmatch(r"\d*", cents) or not re.search(r"\d", whole + cents):
        raise ValueError(f"'{text}' is no number; write it as 1234.50")
    return float(f"{whole or '0'}.{cents or '0'}")


def positive(text: str) -> float:
    """A number above zero and no larger than a plan can hold.

    Raises:
        ValueError: It is not.
    """
    found = number(text)
    if not 0 < found <= 1e12:
        raise ValueError(f"'{text}' must be more than 0 and at most 1e12")
    return found


def not_negative(text: str) -> float:
    """A number of zero or more.

    Raises:
        ValueError: It is not.
    """
    found = number(text)
    if not 0 <= found <= 1e12:
        raise ValueError(f"'{text}' must be from 0 to 1e12")
    return found


def share(text: str, *, percent: bool) -> float:
    """A share of the price, from 0 to 1.

    Args:
        percent: Whether the heading says that numbers are percentages.

    >>> share("30%", percent=False), share("30", percent=True), share("0.3", percent=False), share("30", percent=False)
    (0.3, 0.3, 0.3, 0.3)

    Raises:
        ValueError: It lies outside.
    """
    marked = text.strip().endswith("%")
    found = number(text.strip().rstrip("%"))
    if marked or percent or found > 1:
        found /= 100
    if not 0 <= found <= 1:
        raise ValueError(f"'{text}' is no share; write it as 30%")
    return found


def day(text: str) -> str:
    """A date as YYYY-MM-DD.

    >>> day("2026-11-30"), day("30.11.2026"), day("Nov 30, 2026"), day("30 November 2026"), day("11/30/2026")
    ('2026-11-30', '2026-11-30', '2026-11-30', '2026-11-30', '2026-11-30')

    Raises:
        ValueError: No date, or one in which day and month can't be told apart.
    """
    bare = text.strip()
    if match := re.fullmatch(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?", bare):
        return _date(text, int(match[1]), int(match[2]), int(match[3]))
    if match := re.fullmatch(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})", bare):
        return _date(text, int(match[3]), int(match[2]), int(match[1]))
    if match := re.fullmatch(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})", bare):
        one, other = int(match[1]), int(match[2])
        if one <= 12 and other <= 12 and one != other:
            raise ValueError(f"'{text}' may be two days; write it as YYYY-MM-DD")
        month, day_ = (other, one) if one > 12 else (one, other)
        return _date(text, int(match[3]), month, day_)
    words = re.findall(r"[A-Za-z]+|\d+", bare)
    months = [_MONTHS.index(word[:3].lower()) + 1 for word in words if word[:3].lower() in _MONTHS]
    years = [int(word) for word in words if len(word) == 4 and word.isdigit()]
    days = [int(word) for word in words if len(word) <= 2 and word.isdigit()]
    if len(months) == len(years) == len(days) == 1:
        return _date(text, years[0], months[0], days[0])
    raise ValueError(f"'{text}' is no date; write it as YYYY-MM-DD")


def _date(text: str, year: int, month: int, of_month: int) -> str:
    try:
        found = date(year, month, of_month)
    except ValueError:
        raise ValueError(f"'{text}' is no date; write it as YYYY-MM-DD") from None
    if not 2000 <= found.year <= 2100:
        raise ValueError(f"'{text}' is outside 2000 to 2100")
    return found.isoformat()


def weeks(text: str, *, days: bool) -> float:
    """A lead time in weeks; the longer end of a range.

    Args:
        days: Whether the heading says days.

    >>> weeks("12", days=False), weeks("12-16 weeks", days=False), weeks("84 days", days=False), weeks("14", days=True)
    (12.0, 16.0, 12.0, 2.0)

    Raises:
        ValueError: No length of time, or one of more than four years.
    """
    bare = text.strip().lower()
    if bare in ("stock", "in stock", "ex stock", "immediate"):
        return 0.0
    if match := _RANGE.fullmatch(bare):
        bare = f"{match[2]} {match[3]}"
    found = not_negative(bare)
    if "day" in bare or (days and "week" not in bare):
        found /= 7
    elif "month" in bare:
        found *= 365 / 12 / 7
    if found > 208:
        raise ValueError(f"'{text}' is more than four years; write weeks")
    return found


def unit(text: str) -> str:
    """``1`` for pieces and ``m`` for metres.

    >>> unit("each"), unit("PCS"), unit("m")
    ('1', '1', 'm')

    Raises:
        ValueError: Another one.
    """
    word = text.strip().lower().rstrip(".")
    if word in ("1", "", "ea", "each", "pc", "pcs", "piece", "pieces", "unit", "units", "st", "set", "box"):
        return "1"
    if word in ("m", "metre", "meter", "metres", "meters", "per m", "per metre"):
        return "m"
    raise ValueError(f"'{text}' is no unit of a part; write piece or m, and the price for one")


def terms(text: str) -> PaymentTerms:
    """Terms of payment said in words.

    >>> terms("30% deposit, 60% on shipment, 10% on acceptance, net 30")
    PaymentTerms(deposit_fraction=0.3, on_ship_fraction=0.6, on_acceptance_fraction=0.1, net_days=30.0)
    >>> terms("net 45")
    PaymentTerms(deposit_fraction=0.0, on_ship_fraction=1.0, on_acceptance_fraction=0.0, net_days=45.0)

    Raises:
        ValueError: Shares that don't add up, or of a time that isn't known.
    """
    shares = {"deposit": 0.0, "ship": 0.0, "acceptance": 0.0}
    for amount, stage in _STAGE.findall(text):
        shares[_stage(text, stage)] += share(f"{amount}%", percent=True)
    open_days = _OPEN_DAYS.search(text)
    if not any(shares.values()) and open_days is None:
        raise ValueError(f"'{text}' says no terms; write them as 30% deposit, 70% on shipment, net 30")
    if not any(shares.values()):
        shares["ship"] = 1.0
    days = 0.0 if open_days is None else float(open_days[1] or open_days[2])
    return agreed(shares["deposit"], shares["ship"], shares["acceptance"], days)


def _stage(text: str, stage: str) -> str:
    word = stage.lower()
    for name, marks in (
        ("acceptance", ("accept", "commission", "install")),
        ("ship", ("ship", "deliver", "dispatch")),
        ("deposit", ("deposit", "advance", "order", "down", "prepay", "upfront")),
    ):
        if any(mark in word for mark in marks):
            return name
    raise ValueError(
        f"'{text}': '{stage.strip()}' is no time of payment; write deposit, on shipment or on acceptance"
    )


def agreed(deposit: float, on_ship: float, on_acceptance: float, net_days: float) -> PaymentTerms:
    """Terms whose shares add up to the price.

    Raises:
        ValueError: They don't.
    """
    total = deposit + on_ship + on_acceptance
    if abs(total - 1) > 1e-6:
        raise ValueError(f"deposit, on ship and on acceptance add up to {total * 100:g} %; make them 100 %")
    if net_days > 730:
        raise ValueError(f"net {net_days:g} days is more than two years")
    return PaymentTerms(round(deposit, 9), round(on_ship, 9), round(on_acceptance, 9), net_days)

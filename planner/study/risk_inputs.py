"""Which inputs are drawn, and which of them move together.

Every given number whose source states a range is drawn, and the planned utilisation with the catalog's band.
Together move, each set independent of all else:

- as one: prices of one family of parts, resale shares by age, efficiencies of one machine over its load;
- correlated (`catalog/assumptions/risk.yaml`): the site's prices of energy; the bands of one calibration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from planner.catalog.store import Catalog
from planner.evaluate import Evaluation
from planner.finance.uncertainty import Factor, Tie
from planner.ledger import Axis, Kind, Line
from planner.sourced import Source

UTILISATION = "money.utilisation_fraction"
_ENERGY = (
    "electricity",
    "_gas_",
    "gas_price",
    "fuel",
    "carbon_price",
    "carbon_usd",
    "demand_charge",
    "diesel",
)
Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Lines that are drawn, with their ranges, and how.

    Attributes:
        lines: In the ledger's order.
        columns: The score that each line is drawn from.
        factors: Sets of lines, independent of each other; every line is in one.
        ties: The assumptions behind this.
    """

    lines: tuple[Line, ...]
    columns: tuple[int, ...]
    factors: tuple[Factor, ...]
    ties: tuple[Tie, ...]

    @property
    def width(self) -> int:
        """How many independent scores a draw takes."""
        return max(self.columns) + 1 if self.columns else 0

    @property
    def correlated(self) -> tuple[tuple[tuple[int, ...], float], ...]:
        """Sets of scores that correlate, and how much."""
        return tuple((one.columns, one.correlation) for one in self.factors if len(one.columns) > 1)


def ranged(evaluation: Evaluation) -> list[Line]:
    """Given scalar lines whose source states a range, in the ledger's order."""
    return [
        line
        for line in evaluation.ledger
        if line.kind is Kind.GIVEN
        and line.axis is Axis.SCALAR
        and (line.low is not None or line.high is not None)
    ]


def inputs_of(evaluation: Evaluation, bounds: Mapping[str, Bounds] | None = None) -> Inputs:
    """What is drawn for a plan.

    Args:
        evaluation: One that can be built.
        bounds: P10 and P90 by key, before those of the sources.
    """
    catalog, ledger = evaluation.parts.catalog, evaluation.ledger
    given = dict(bounds or {})
    ratio, _ = catalog.figure("risk", "utilisation_ratio")
    if (
        UTILISATION in ledger
        and UTILISATION not in given
        and ratio.low is not None
        and ratio.high is not None
    ):
        planned = ledger.scalar(UTILISATION)
        given[UTILISATION] = (planned * ratio.low, max(planned, min(1.0, planned * ratio.high)))
    stated = {line.key for line in ranged(evaluation)}
    lines = tuple(
        replace(line, low=given[line.key][0], high=given[line.key][1]) if line.key in given else line
        for line in ledger
        if line.key in stated or line.key in given
    )
    return _together(lines, evaluation, _correlations(catalog))


def _together(lines: Sequence[Line], evaluation: Evaluation, correlations: Mapping[str, float]) -> Inputs:
    """Give lines their scores: one for those that move as one, a set for those that correlate."""
    sets: dict[str, dict[str, list[Line]]] = {}
    for line in lines:
        one = score_name(line)
        sets.setdefault(_set_of(line) or one, {}).setdefault(one, []).append(line)
    columns: dict[str, int] = {}
    factors = []
    for name, members in sets.items():
        first = len(columns)
        columns |= {one: first + at for at, one in enumerate(members)}
        correlation = correlations[name.partition(" ")[0]] if len(members) > 1 else 1.0
        everyone = [line for group in members.values() for line in group]
        factors.append(
            Factor(
                _name(name, everyone), _widest_first(everyone, evaluation), tuple(columns[one] for one in members),
                correlation, *(("", *_ends(everyone[0], evaluation)) if len(everyone) == 1 else (_why(name),)),
            )
        )  # fmt: skip
    return Inputs(
        tuple(lines), tuple(columns[score_name(line)] for line in lines), tuple(factors), _ties(evaluation.parts.catalog)
    )  # fmt: skip


def _ends(line: Line, evaluation: Evaluation) -> Bounds:
    value = evaluation.ledger.scalar(line)
    return value if line.low is None else line.low, value if line.high is None else line.high


def score_name(line: Line) -> str:
    """Name of the score a line is drawn from."""
    # a price from a vendor's quote stands in no family's folder and moves alone
    family = _where(line).rpartition("/")[0] if ".yaml" in _where(line) else ""
    if line.key.startswith("price.") and family:
        return f"price {family}"
    if line.key.startswith("assumption.residual_fraction_year"):
        return "residual"
    if line.key.startswith("conversion.") and "efficiency_at" in line.key:
        return f"efficiency {line.key.split('.')[1]}"
    return line.key


def _set_of(line: Line) -> str:
    """Name of the correlated set a line is in; empty where it is in none."""
    if "USD" in line.unit and any(word in line.key for word in _ENERGY):
        return "energy"
    where = _where(line)
    return f"calibration {where.rpartition('/')[2].partition('.yaml')[0]}" if "/profiles/" in where else ""


def _where(line: Line) -> str:
    return line.source.where if line.source is not None else ""


def _name(name: str, lines: Sequence[Line]) -> str:
    """A single line by its label, several by what they are."""
    if len(lines) == 1:
        return lines[0].label
    kind, _, which = name.partition(" ")
    families = {
        "price": lambda: f"Prices of {which.rpartition('/')[2].replace('_', ' ')}",
        "residual": lambda: "Resale shares by age",
        "efficiency": lambda: f"Efficiency of {which} over its load",
        "energy": lambda: "Prices of energy at the site",
        "calibration": lambda: f"Bands of calibration {which}",
    }
    said: Callable[[], str] = families[kind]
    return f"{said()} ({len(lines)})"


def _why(name: str) -> str:
    return {
        "price": "one market: they rise and fall as one",
        "residual": "one market for used servers: they rise and fall as one",
        "efficiency": "one machine: its curve moves as a whole",
        "energy": "gas sets the price of electricity in many hours: correlated",
        "calibration": "one machine on one day: correlated",
    }[name.partition(" ")[0]]


def _widest_first(lines: Iterable[Line], evaluation: Evaluation) -> tuple[str, ...]:
    def relative(line: Line) -> float:
        value, (low, high) = evaluation.ledger.scalar(line), _ends(line, evaluation)
        return (high - low) / abs(value) if value else 0.0

    return tuple(line.key for line in sorted(lines, key=lambda line: (-relative(line), line.key)))


def _correlations(catalog: Catalog) -> dict[str, float]:
    names = {"energy": "energy_prices_correlation", "calibration": "one_calibration_correlation"}
    return {name: catalog.figure("risk", key)[0].value for name, key in names.items()}


def _ties(catalog: Catalog) -> tuple[Tie, ...]:
    found = []
    for key, name in (
        ("utilisation_ratio", "Utilisation reached over planned, P10 to P90"),
        ("energy_prices_correlation", "Correlation of a site's prices of energy"),
        ("one_calibration_correlation", "Correlation of one calibration's bands"),
    ):
        figure, source = catalog.figure("risk", key)
        value = f"{figure.low:g} to {figure.high:g}" if key == "utilisation_ratio" else f"{figure.value:g}"
        found.append(Tie(name, value, _told(source), figure.note))
    return tuple(found)


def _told(source: Source) -> str:
    return (
        f"{source.where}, {source.basis.value}{'' if source.verified else ', not verified'}, {source.as_of}"
    )

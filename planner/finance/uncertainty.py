"""What draws of a plan's inputs say about one of its results: plain data, worked out by `planner.study.risk`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Factor:
    """Inputs that are drawn together, independently of all others.

    Attributes:
        name: What a person reads.
        keys: Their ledger lines, the widest range first.
        columns: The independent scores they are drawn from; one where they move as one.
        correlation: Between the scores of any two of several columns.
        why: What ties them together; empty for a single input.
        low: P10 of a single input; None where they are several. `high` is its P90.
    """

    name: str
    keys: tuple[str, ...]
    columns: tuple[int, ...]
    correlation: float = 1.0
    why: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Swing:
    """The result with one factor at its P10 and at its P90, everything else as planned."""

    factor: Factor
    at_low: float
    at_high: float

    @property
    def width(self) -> float:
        """How far apart the two are."""
        return abs(self.at_high - self.at_low)


@dataclass(frozen=True, slots=True)
class VarianceShare:
    """Sobol indices of a factor, with their standard errors.

    Attributes:
        factor: None for all the factors that aren't listed, taken together.
        first: Share of the result's variance that goes if the factor is known.
        total: Share that stays if everything else is known; more than `first` where factors work on each other.
    """

    factor: Factor | None
    first: float
    first_error: float
    total: float
    total_error: float


class StepKind(StrEnum):
    """What makes an input better known."""

    MEASURE = "measure"
    NEGOTIATE = "negotiate"
    FIX = "fix"
    DECIDE = "decide"
    READ = "look up"


@dataclass(frozen=True, slots=True)
class NextStep:
    """What to do about a factor, and what it would bring.

    Attributes:
        factor: The inputs.
        kind: The kind of deed.
        words: What to do, with the command or field that takes the answer.
        share: Share of the result's variance that goes with it; None where shares weren't asked for.
        narrower_fraction: How much narrower P10 to P90 of the result would be on average, were the factor known;
            None where it wasn't worked out.
    """

    factor: Factor
    kind: StepKind
    words: str
    share: float | None = None
    narrower_fraction: float | None = None


@dataclass(frozen=True, slots=True)
class MissedOdds:
    """How often the draws go over a limit.

    Attributes:
        field: Field of the scenario that states the limit.
        key: Ledger line that is judged.
        limit: In the line's unit.
        missed_fraction: Share of the draws over it; `error` is its standard error.
    """

    field: str
    key: str
    limit: float
    missed_fraction: float
    error: float


@dataclass(frozen=True, slots=True)
class Errors:
    """Standard errors of a result's quantiles, from independent hypercubes."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Convergence:
    """Quantiles of the result after so many draws; no errors after a single hypercube."""

    draws: int
    p10: float
    p50: float
    p90: float
    errors: Errors | None


@dataclass(frozen=True, slots=True)
class Tie:
    """An assumption that draws rest on beside the ranges: its value, and where it stands."""

    name: str
    value: str
    where: str
    note: str


@dataclass(frozen=True, slots=True)
class Uncertainty:
    """Everything about one result.

    Attributes:
        key: The result; `value` is the plan's.
        draws: How many, in `cubes` independent Latin hypercubes, from one seed.
        inputs: Given lines that are drawn.
        errors: Standard errors of the quantiles of every result, by key.
        convergence: The result's quantiles after 1, 2, 4 ... of the hypercubes.
        swings: The widest first; `rest` is what those after the tenth do together, by the root of their squares.
        shares: The largest total first, the rest last; empty where they weren't asked for.
        steps: What to do next, what narrows the result most first.
        odds: Of every limit the scenario states.
        share_rows: Evaluations behind each index.
    """

    key: str
    value: float
    draws: int
    cubes: int
    seed: int
    inputs: int
    swings: tuple[Swing, ...]
    rest: Swing | None = None
    odds: tuple[MissedOdds, ...] = ()
    errors: Mapping[str, Errors] = field(default_factory=dict)
    convergence: tuple[Convergence, ...] = ()
    shares: tuple[VarianceShare, ...] = ()
    share_rows: int = 0
    steps: tuple[NextStep, ...] = ()
    ties: tuple[Tie, ...] = ()

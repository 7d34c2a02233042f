"""What the JSON of a plan holds: its classes are the contract, and `json_schema` prints it.

`planner.present.json_output` fills them as plain data, so a run doesn't build them.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Network(_Strict):
    """The scale-out network in counts; links are port pairs at the endpoint's rate, all planes together."""

    topology: str
    """Topology as built."""
    tiers: int
    """Switch tiers; 0 without switches."""
    planes: int
    """Networks side by side."""
    nodes: int
    """Servers, or trays of rack-scale systems."""
    link_rate_gbit_per_s: float
    """Rate of a link, one direction."""
    oversubscription: float
    """Bandwidth down over bandwidth up of a leaf."""
    switches: dict[str, int]
    """Switches by tier."""
    links: dict[str, int]
    """Links by the tiers they join, those of none left out."""
    ports_free: dict[str, int]
    """Ports with nothing in them, by tier."""


class CableClass(_Strict):
    """Links of one pair of tiers that are ordered in one length."""

    between: str
    """Tiers the links join."""
    parts: str
    """Modules, cable or assembly, by their ids."""
    ordered_m: float
    """Length that is ordered."""
    longest_m: float
    """Longest link among them."""
    links: int
    """Links."""


class RackKind(_Strict):
    """Racks filled alike."""

    holds: str
    """What stands in them."""
    racks: int
    """Racks."""
    items: int
    """Items in all of them."""
    items_per_rack: int
    """Items in a full one."""
    power_kw_max: float
    """Draw of the fullest at peak."""


class PowerStage(_Strict):
    """A ledger line of the chain from the utility to the parts."""

    key: str
    """Ledger key."""
    label: str
    """Name for people."""
    unit: str
    """Unit."""
    value: float
    """Value."""


class Design(_Strict):
    """What is built, folded by likeness."""

    network: Network
    """The scale-out network."""
    cabling: tuple[CableClass, ...]
    """The cable schedule."""
    racks: tuple[RackKind, ...]
    """Racks by kind."""
    power_chain: tuple[PowerStage, ...]
    """Losses and sizes from the utility to the parts, and what moves heat."""


class Hashes(_Strict):
    """What the numbers depend on: equal hashes and tool version give equal numbers."""

    scenario: str
    """Hash of the merged scenario."""
    catalog: str
    """Hash of the catalog items that were read."""
    calibration: str
    """Hash of the calibration profiles that were read, and of the anchors' runs."""
    quotes: str | None = None
    """Hash of the quotes that the scenario names; none where it names no quotes."""


class Calibration(_Strict):
    """Measured profiles."""

    profiles: tuple[str, ...]
    """Ids of the profiles that may speak, those of this very accelerator first."""
    refused: tuple[str, ...]
    """Profiles the scenario names that can't speak for its accelerator, and why."""


class Problem(_Strict):
    """Why a plan can't be built."""

    message: str
    """What is wrong."""
    place: str
    """File, line and column, where there is one."""
    key: str
    """Field or ledger key it is about."""
    remedies: tuple[str, ...]
    """What would put it right, one by one."""


class Edit(_Strict):
    """A field of the scenario to write."""

    path: tuple[str | int, ...]
    """Keys and item numbers."""
    value: bool | int | float | str | list[str] | None
    """What to write; null for the planner's own choice."""


class TriedRemedy(_Strict):
    """A remedy that was applied to a copy of the scenario and evaluated."""

    problem: str
    """Field that the problem it cures speaks of."""
    message: str
    """The problem."""
    words: str
    """The remedy."""
    edits: tuple[Edit, ...]
    """Fields to write."""
    builds: bool
    """Whether the plan can be built with it; where it can't, something else is in the way besides."""
    misses: tuple[str, ...]
    """Limits that the plan would miss with it, besides those it misses already."""
    values: dict[str, float | None]
    """Outcomes with it, by ledger key."""
    changes: dict[str, float | None]
    """The same less those of the plan as it stands; empty where that can't be built."""


class Headline(_Strict):
    """One cell of the outcomes bar."""

    key: str
    """Key of the ledger line."""
    name: str
    """Name for people."""
    unit: str | None
    """Unit of the value and the limit; null where the plan has no such outcome."""
    better: Literal["higher", "lower"]
    """Which direction is good."""
    value: float | None
    """Value; null where the plan has no such outcome."""
    low: float | None
    """P10 over draws of the inputs."""
    p50: float | None
    """Median over the same draws."""
    high: float | None
    """P90 over the same draws."""
    limit: float | None
    """Limit of the scenario."""
    met: bool | None
    """Whether the limit is met; null without a limit or a value."""
    odds: float | None
    """Share of the draws that meet the limit."""
    judged_key: str | None
    """Line that the limit is judged by where it isn't ``key``, such as power at peak; null where it is."""
    judged_value: float | None
    """Value of that line; ``met`` and ``odds`` are judged by it."""
    saturated: bool | None
    """True for a latency where the stated load is more than the replicas answer: ``value``, ``low`` and ``high`` are then
    those within the objective, at fewer requests, and the limit is missed. Null otherwise."""
    basis: str
    """Letter of the weakest basis that carries it; empty without a value."""


class Source(_Strict):
    """Where a given value comes from."""

    where: str
    """File and line, ``default`` or ``--set``."""
    source: str
    """Id in ``sources``; empty for a user's value."""
    basis: Literal["measured", "datasheet", "published", "quote", "claim", "estimate", "user"]
    """How it is known."""
    as_of: str
    """Date of the figure, as precise as its source gives it."""
    verified: bool
    """False where nobody read the figure in a source."""
    note: str
    """Why, for estimates and defaults."""


class LedgerLine(_Strict):
    """One number or series of the ledger."""

    key: str
    """Stable name."""
    label: str
    """Name for people."""
    unit: str
    """Unit; ``1`` for counts and ratios."""
    axis: Literal["scalar", "month", "table"]
    """Shape of the value: a number, one for each month, or a table."""
    kind: Literal["given", "computed", "derived"]
    """Where it comes from."""
    sign: Literal["none", "cost", "cash"]
    """Whether it is a cost (positive) or cash (in positive)."""
    value: float | tuple[float | None, ...] | None
    """Number, or a list along the axis; null for what has no value."""
    low: float | None
    """P10: of a given line as its source says, of a result over draws of the inputs."""
    p50: float | None
    """Median of a result over the same draws."""
    high: float | None
    """P90, as the P10."""
    source: Source | None
    """Of a given line."""
    function: str
    """Model function of a computed line; empty otherwise."""
    inputs: tuple[str, ...]
    """Keys it is made from."""
    words: str
    """How it came about, in words."""


class Publication(_Strict):
    """A publication that figures rest on."""

    title: str
    """Title."""
    publisher: str
    """Who published it."""
    locator: str
    """Address, page or commit."""
    date: str
    """Date, empty where unknown."""


class Output(_Strict):
    """What `planner run --format json` writes for one scenario."""

    schema_version: Literal[1]
    """Version of this layout."""
    tool: Literal["cluster-planner"]
    """What wrote it."""
    tool_version: str
    """Version of the tool."""
    name: str
    """Name of the scenario."""
    scenario: str
    """File of the scenario."""
    as_of: str
    """Date against which prices are stale and parts orderable."""
    hashes: Hashes
    """What the numbers depend on."""
    calibration: Calibration
    """Measured profiles that may speak for the accelerator, and those that were named and can't."""
    feasible: bool
    """Whether the cluster can be built."""
    finding: str
    """The plan in a sentence."""
    verdict: str
    """Limits met and missed."""
    meets_limits: bool
    """Whether all limits are met; false where the plan can't be built."""
    problems: tuple[Problem, ...]
    """Why it can't be built; empty where it can."""
    remedies: tuple[TriedRemedy, ...]
    """Remedies of a refused plan or a missed limit that were tried, the cheapest of each problem first."""
    headlines: tuple[Headline, ...]
    """The outcomes bar."""
    design: Design | None
    """What is built, folded by likeness; null where the plan can't be built."""
    months: int = Field(ge=1)
    """Length of the time axis, month 0 included."""
    lines: tuple[LedgerLine, ...]
    """The ledger, in the order of the calculation."""
    sources: dict[str, Publication]
    """Publications by id, those that lines rest on."""


def json_schema() -> dict[str, Any]:
    """JSON Schema of the output."""
    return Output.model_json_schema()

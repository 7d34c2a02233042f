"""What would make an input better known: the command that measures it, the quote or the contract that fixes it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.finance.uncertainty import StepKind
from planner.ledger import Line
from planner.sourced import Basis

KNOWN_BY = {
    Basis.MEASURED: "measured elsewhere",
    Basis.DATASHEET: "from a data sheet",
    Basis.PUBLISHED: "published",
    Basis.QUOTE: "from a quote",
    Basis.CLAIM: "a vendor's claim",
    Basis.ESTIMATE: "an estimate",
    Basis.USER: "typed by you",
}


@dataclass(frozen=True, slots=True)
class _Rule:
    """What lines it is for, by a beginning or a word of their key, and what to do about them."""

    words: tuple[str, ...]
    kind: StepKind
    deed: str


_RULES = (
    _Rule(("price.",), StepKind.NEGOTIATE, "a dated quote for {part} (a file under quotes, or overrides.{key})"),
    _Rule(
        ("electricity", "fuel", "carbon_price", "demand_charge"), StepKind.FIX,
        "a supply contract at a fixed price (give it as {field})",
    ),
    _Rule(("colocation",), StepKind.NEGOTIATE, "an offer of the colocation site, with its escalator ({field})"),
    _Rule(("construction_usd",), StepKind.NEGOTIATE, "a contractor's offer for the building ({field})"),
    _Rule(("residual", "resale"), StepKind.NEGOTIATE, "a buy-back price in the purchase contract (overrides.{key})"),
    _Rule(("support_fraction",), StepKind.NEGOTIATE, "the support terms of the quote (overrides.{key})"),
    _Rule(("insurance", "installation", "freight"), StepKind.NEGOTIATE, "an offer for it (overrides.{key})"),
    _Rule(
        ("money.utilisation",), StepKind.DECIDE,
        "what is to run and when; a year of the scheduler's accounting says what such a fleet reaches "
        "(money.utilisation_fraction)",
    ),
    _Rule(("discount_rate",), StepKind.DECIDE, "your cost of capital, from finance (money.discount_rate_fraction)"),
    _Rule(("_life_years",), StepKind.DECIDE, "the book life, with finance (money.depreciation)"),
    _Rule(("staff_",), StepKind.DECIDE, "who runs it: a staffing plan (money.staff_fte, or overrides.{key})"),
    _Rule(
        ("training.model_error", "training_", "permute_", "expert_", "sparse_layer", "grouped_gemm", "overlap"),
        StepKind.MEASURE, "a run of your own model: planner bench train, then planner bench anchor and --anchor",
    ),
    _Rule(
        ("serving.", "serving_", "tail_"), StepKind.MEASURE,
        "a load test of your own engine and model: its rates and tails (overrides.{key})",
    ),
    _Rule(("gemm",), StepKind.MEASURE, "planner bench gemm on such a GPU, then planner calibrate"),
    _Rule(("attention",), StepKind.MEASURE, "planner bench attention on such a GPU, then planner calibrate"),
    _Rule(("memory_bandwidth", "memory_share"), StepKind.MEASURE, "planner bench memory on such a GPU"),
    _Rule(
        ("calibration.", "scale_up", "scale_out", "link_efficiency", "network.", "spine_efficiency", "nic_efficiency",
         "in_network", "hierarchical"),
        StepKind.MEASURE, "planner bench nccl on two nodes or more, or logs of nccl-tests, then planner calibrate",
    ),
    _Rule(
        ("failures", "repair", "restart"), StepKind.MEASURE,
        "a log of interruptions of a cluster of this kind (overrides.{key}); repair times also by contract",
    ),
    _Rule(
        ("watts.", "idle_w", "share_of_limit", "power_error", "accelerator_", "cpu_", "host_", "fan_share"),
        StepKind.MEASURE, "planner bench power, or a metered node under your load (overrides.{key})",
    ),
    _Rule(
        ("conversion.", "cooling", "chiller", "tower", "cooler", "pue", "cdu", "air_rise", "water_rise", "pad_"),
        StepKind.NEGOTIATE, "guaranteed figures of the plant from its maker or the colocation site (site.pue where known)",
    ),
    _Rule(("site.",), StepKind.READ, "the figure of the site itself ({field}, or overrides.{key})"),
)  # fmt: skip


def next_step(line: Line) -> tuple[StepKind, str]:
    """What to do about an input, and how it is known so far.

    >>> from planner.ledger import Axis, Kind
    >>> from planner.sourced import Source
    >>> source = Source("catalog/switches/qm9700.yaml:19", basis=Basis.ESTIMATE, as_of="2026")
    >>> kind, words = next_step(Line("price.qm9700.price_usd", "QM9700", "USD", Axis.SCALAR, Kind.GIVEN, source=source))
    >>> kind.value, words
    ('negotiate', 'a dated quote for qm9700 (a file under quotes, or overrides.price.qm9700.price_usd); so far an estimate, 2026')
    """
    for rule in _RULES:
        if any(line.key.startswith(word) or word in line.key for word in rule.words):
            return rule.kind, f"{_filled(rule.deed, line)}{_so_far(line)}"
    return StepKind.READ, f"a source or a figure of your own (overrides.{line.key}){_so_far(line)}"


def _filled(deed: str, line: Line) -> str:
    part = line.key.split(".")[1] if line.key.count(".") > 1 else line.label
    return deed.format(
        key=line.key, part=part, field=line.key if line.key.startswith("site.") else f"overrides.{line.key}"
    )


def _so_far(line: Line) -> str:
    source = line.source
    if source is None:
        return ""
    dated = f", {source.as_of}" if source.as_of else ""
    return f"; so far {KNOWN_BY[source.basis]}{dated}{'' if source.verified else ', not verified'}"

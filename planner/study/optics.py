"""The optics decision: one scenario in copper, pluggable, linear and co-packaged optics, side by side.

Each variant is the scenario with fields of its network edited, and one evaluation of its own, so its design,
its power and its money are those of any other plan. What differs in running it is entered as further lines
(`planner.study.optics_lines`). Optics get no credit for latency: fibre and copper are as fast as each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.store import Catalog
from planner.errors import DesignError, PlannerError, Problem
from planner.evaluate import Built, Evaluation, evaluate
from planner.ledger import Ledger
from planner.scenario.load import Loaded
from planner.sourced import Source
from planner.study.optics_claims import Claim, vendor_claims
from planner.study.optics_even import CopperEven, break_even_lengths, break_even_usd_per_kwh
from planner.study.optics_lines import HourValue, enter_optics
from planner.study.optics_variants import Approach, Plan, order_day, plans
from planner.study.optics_wait import WaitOrBuy, wait_or_buy
from planner.study.optics_watts import SavedWatts, saved_watts


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant and its evaluation; ``why_not`` where there is none."""

    plan: Plan
    evaluation: Evaluation | None
    why_not: str

    @property
    def approach(self) -> Approach:
        """How its switches are joined."""
        return self.plan.approach

    @property
    def orderable(self) -> bool:
        """Whether it is built of parts that can be ordered on the day."""
        return self.evaluation is not None and not self.plan.roadmap

    @property
    def ledger(self) -> Ledger:
        """Lines of its evaluation, those of the comparison included."""
        assert self.evaluation is not None
        return self.evaluation.ledger

    @property
    def built(self) -> Built:
        """Its design."""
        assert self.evaluation is not None and self.evaluation.built is not None
        return self.evaluation.built

    def value(self, key: str) -> float:
        """A scalar of its ledger."""
        return self.ledger.scalar(key)


@dataclass(frozen=True, slots=True)
class EnergyEven:
    """Energy price at which two variants cost the same.

    Attributes:
        frugal: The one that draws less: it costs less above that price.
        usd_per_kwh: None where one of them costs less at every price.
        always: That one; None where there is a price, or where they cost the same.
    """

    frugal: Approach
    thirsty: Approach
    usd_per_kwh: float | None
    always: Approach | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole comparison.

    Attributes:
        day: Order date.
        variants: In the order of `Approach`.
        reference: Built variant that differences are taken against: pluggable, else the first that is built.
        best: Orderable variant of the lowest present value, lost work included.
        saved: What watts saved against the reference allow, by approach.
    """

    loaded: Loaded
    day: str
    hour: HourValue
    variants: tuple[Variant, ...]
    reference: Variant
    best: Variant | None
    energy: tuple[EnergyEven, ...]
    lengths: tuple[CopperEven, ...]
    saved: dict[Approach, SavedWatts]
    claims: tuple[Claim, ...]
    wait: WaitOrBuy | None

    @property
    def built(self) -> tuple[Variant, ...]:
        """Variants that were evaluated."""
        return tuple(one for one in self.variants if one.evaluation is not None)


def compare_optics(
    loaded: Loaded, catalog: Catalog, *, claims: bool = False, until: str | None = None
) -> Comparison:
    """Evaluate every variant of a scenario and set them against each other.

    Args:
        loaded: The scenario.
        catalog: Where its parts are looked up.
        claims: Add a variant that saves the power its maker claims.
        until: Date to take for roadmap parts that state none, YYYY-MM.

    Raises:
        ScenarioError: Parts that are missing or don't belong together.
        DesignError: The scenario has no fabric, or no variant can be built.
    """
    planned = evaluate(loaded, catalog)
    if not planned.parts.tiers:
        raise DesignError(
            Problem(
                "the plan has no switches, so there are no optics to decide on", key="network.topology",
                remedy="name network.leaf.switch and a topology that has one",
            )
        )  # fmt: skip
    drawn = [_evaluated(plan) for plan in plans(planned.parts, claims=claims)]
    built = [one for one in drawn if one.evaluation is not None]
    if not built and planned.refusal is not None:
        raise planned.refusal
    if not built:
        raise DesignError(Problem(f"{one.approach}: {one.why_not}", key="network") for one in drawn)
    day = order_day(planned.parts)
    hour = _hour_value(loaded, planned if planned.feasible else built[0].evaluation)
    for one in built:
        assert one.evaluation is not None
        enter_optics(one.evaluation, hour)
    reference = next((one for one in built if one.approach is Approach.PLUGGABLE), built[0])
    ready = [one for one in built if one.orderable and one.approach is not Approach.CLAIMED]
    best = min(ready, key=lambda one: one.value("optics.npv_with_lost_work_usd"), default=None)
    return Comparison(
        loaded, day, hour, tuple(drawn), reference, best, _energy(built, reference),
        break_even_lengths(catalog, reference.ledger),
        {
            one.approach: saved_watts(reference.evaluation, one.evaluation)
            for one in built
            if one is not reference and reference.evaluation is not None and one.evaluation is not None
        },
        vendor_claims(catalog, used=claims),
        _wait(best, built, day, hour, until),
    )  # fmt: skip


def _evaluated(plan: Plan) -> Variant:
    if plan.loaded is None:
        return Variant(plan, None, plan.why_not)
    try:
        found = evaluate(plan.loaded, plan.shelf)
    except PlannerError as error:
        return Variant(plan, None, "; ".join(problem.message for problem in error.problems))
    if found.refusal is not None:
        return Variant(plan, None, "; ".join(problem.message for problem in found.refusal.problems))
    return Variant(plan, found, "")


def _hour_value(loaded: Loaded, evaluation: Evaluation | None) -> HourValue:
    """Worth of a GPU-hour: its price, else what it would cost to rent, else what it costs to own."""
    assert evaluation is not None
    ledger = evaluation.ledger
    for key, said in (
        ("money.sell_usd_per_gpu_hour", "at the price it is sold for"),
        ("rent.usd_per_gpu_hour", "at what renting it would cost"),
    ):
        if key in ledger and (source := ledger[key].source) is not None:
            return HourValue(ledger.scalar(key), source, said)
    cost = ledger.scalar("unit.usd_per_gpu_hour_sold")
    return HourValue(
        cost, Source(f"{loaded.document.path}, unit.usd_per_gpu_hour_sold"), "at what it costs to own"
    )


def _energy(built: list[Variant], reference: Variant) -> tuple[EnergyEven, ...]:
    found = []
    for one in built:
        if one is reference:
            continue
        price = break_even_usd_per_kwh(
            price=reference.value("site.electricity_usd_per_kwh"),
            npv_usd=reference.value("optics.npv_usd"),
            kwh=reference.value("optics.npv_kwh"),
            other_npv_usd=one.value("optics.npv_usd"),
            other_kwh=one.value("optics.npv_kwh"),
        )
        less = one.value("optics.npv_kwh") < reference.value("optics.npv_kwh")
        frugal, thirsty = (one, reference) if less else (reference, one)
        gap = one.value("optics.npv_usd") - reference.value("optics.npv_usd")
        cheaper = None if price is not None or gap == 0 else (one if gap < 0 else reference).approach
        found.append(EnergyEven(frugal.approach, thirsty.approach, price, cheaper))
    return tuple(found)


def _wait(
    best: Variant | None, built: list[Variant], day: str, hour: HourValue, until: str | None
) -> WaitOrBuy | None:
    if best is None or best.evaluation is None:
        return None
    gains = {}
    for one in built:
        if one.plan.roadmap and one.approach is Approach.PACKAGED:
            name = one.built.cluster.parts.tiers[0].switch.item.id
            gains[name] = best.value("optics.npv_usd") - one.value("optics.npv_usd")
    return wait_or_buy(best.evaluation, best.approach, day=day, hour=hour, gains=gains, until=until)

"""Own, lease or rent: the same GPU-hours over the same months, each way side by side.

Every option is monthly cash before income tax, in lines ``options.<id>.*`` of the plan's own ledger, so that each
number is explained down to a price and its date. All deliver the plan's scheduled GPU-hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.errors import DesignError, InputError, PlannerError, Problem, nearest
from planner.evaluate import Evaluation, evaluate
from planner.finance.options import (
    break_even_month,
    break_even_utilisation_fraction,
    difference_rate_fraction,
)
from planner.finance.returns import RateOfReturn, why_no_rate
from planner.ledger import Ledger
from planner.scenario.load import Loaded
from planner.study.options_housing import other_housing
from planner.study.options_lease import enter_leased
from planner.study.options_lines import Entered, enter_other_housing, enter_owned, enter_rented
from planner.study.options_offers import Offer, offers


class Way(StrEnum):
    """How the GPUs are held."""

    OWNED = "owned"
    LEASED = "leased"
    ON_DEMAND = "on demand"
    COMMITTED = "committed"


@dataclass(frozen=True, slots=True)
class Option:
    """One way to the hours.

    Attributes:
        id: Its name in ledger keys, ``options.<id>.*``.
        label: Its name for readers.
        offer: The rental offer; None for what is owned or leased.
        notes: What was assumed.
    """

    id: str
    label: str
    way: Way
    ledger: Ledger
    offer: Offer | None = None
    notes: tuple[str, ...] = ()

    def value(self, name: str) -> float:
        """A scalar of its lines, such as ``npv_usd``."""
        return self.ledger.scalar(f"options.{self.id}.{name}")

    @property
    def can_be_had(self) -> bool:
        """Whether somebody stated the price as an offer; an analyst's estimate of rents is none."""
        return self.offer is None or self.offer.stated

    @property
    def cash(self) -> Floats:
        """Cash by month, shape (months,), cash in positive."""
        return np.asarray(self.ledger.value(f"options.{self.id}.cash_usd")[0])


@dataclass(frozen=True, slots=True)
class Pair:
    """Where one option breaks even with another.

    Attributes:
        utilisation_fraction: Utilisation at which both cost the same; None where none does.
        month: Month by whose end the first has cost no more than the other, for good; None where it never has.
    """

    option: Option
    other: Option
    utilisation_fraction: float | None
    month: int | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every option against a reference.

    Attributes:
        evaluation: The plan, its ledger with the options' lines.
        options: The reference first, then by present value.
        left_out: Ways that can't be compared, with the reason.
        pairs: Every pair of options, both ways.
    """

    evaluation: Evaluation
    options: tuple[Option, ...]
    reference: Option
    left_out: tuple[tuple[str, str], ...]
    pairs: tuple[Pair, ...]

    @property
    def ledger(self) -> Ledger:
        """Lines of the plan and of the options."""
        return self.evaluation.ledger

    def pair(self, option: Option, other: Option) -> Pair:
        """Where an option breaks even with another."""
        return next(one for one in self.pairs if one.option is option and one.other is other)


def own_or_rent(loaded: Loaded, catalog: Catalog, *, reference: str | None = None) -> Comparison:
    """Evaluate a plan, enter every option into its ledger, and compare them.

    Args:
        loaded: The scenario.
        catalog: Where its parts and the rental offers are looked up.
        reference: Id of the option that differences are taken against; the plan as it stands by default.

    Raises:
        InputError: No option of this name.
        DesignError: The plan can't be built.
    """
    plan = evaluate(loaded, catalog)
    if plan.refusal is not None or plan.built is None:
        raise plan.refusal or DesignError(Problem("the plan can't be built", key="cluster"))
    found, left_out = _options(plan, catalog)
    against = _reference(found, reference)
    for one in found:
        _differences(plan.ledger, one, against)
    ranked = sorted(
        (one for one in found if one is not against), key=lambda one: (one.value("npv_usd"), one.id)
    )
    ordered = (against, *ranked)
    return Comparison(plan, ordered, against, tuple(left_out), _pairs(plan.ledger, ordered))


def _options(plan: Evaluation, catalog: Catalog) -> tuple[list[Option], list[tuple[str, str]]]:
    ledger, left_out = plan.ledger, []

    def option(entered: Entered, way: Way, offer: Offer | None = None) -> Option:
        return Option(entered.id, entered.label, way, ledger, offer, entered.notes)

    found = [option(enter_owned(plan), Way.OWNED)]
    try:
        other = evaluate(other_housing(plan), catalog)
        if other.refusal is not None:
            raise other.refusal
        found.append(option(enter_other_housing(plan, other), Way.OWNED))
    except PlannerError as error:
        left_out.append(("the other housing", "; ".join(one.message for one in error.problems)))
    found.append(option(enter_leased(plan), Way.LEASED))
    chosen, refused = offers(plan.parts)
    for offer in chosen:
        way = Way.COMMITTED if offer.term_months else Way.ON_DEMAND
        found.append(option(enter_rented(plan, offer), way, offer))
    return found, [*left_out, *refused]


def _reference(found: list[Option], name: str | None) -> Option:
    if name is None:
        return found[0]
    known = {one.id: one for one in found}
    if name not in known:
        raise InputError(
            Problem(
                f"--reference: no option '{name}'",
                remedy=nearest(name, known) or f"one of {', '.join(known)}",
            )
        )
    return known[name]


def _differences(ledger: Ledger, one: Option, against: Option) -> None:
    """Saving against the reference and the rate of return of choosing the option over it."""
    ledger.derive(
        f"options.{one.id}.saved_npv_usd", f"Saved by {one.label} against {against.label}, present value", "USD",
        ledger[f"options.{against.id}.npv_usd"] - ledger[f"options.{one.id}.npv_usd"],
    )  # fmt: skip
    if one is against:
        return
    flows, other = ledger.value(f"options.{one.id}.cash_usd"), ledger.value(f"options.{against.id}.cash_usd")
    ledger.compute(
        f"options.{one.id}.difference_rate_fraction",
        f"Rate of return of the difference of {one.label} to {against.label}", "fraction/year",
        difference_rate_fraction(flows=flows, reference_flows=other), function=difference_rate_fraction,
        inputs=[f"options.{one.id}.cash_usd", f"options.{against.id}.cash_usd"],
        note=why_no_difference_rate(flows, other),
    )  # fmt: skip


def why_no_difference_rate(flows: Floats, other: Floats) -> str:
    """Why two options' difference has no rate of return; empty where it has one."""
    reason = RateOfReturn(int(why_no_rate(flows=flows - other)[0]))
    return {
        RateOfReturn.PURE_COST: "it costs more in every month: no rate",
        RateOfReturn.NOTHING_PAID: "it costs less in every month: no rate",
    }.get(reason, reason.words)


def _pairs(ledger: Ledger, found: tuple[Option, ...]) -> tuple[Pair, ...]:
    used = ledger.value("money.utilisation_fraction")
    return tuple(
        Pair(one, other, *_break_even(ledger, one, other, used))
        for one in found
        for other in found
        if one is not other
    )


def _break_even(ledger: Ledger, one: Option, other: Option, used: Floats) -> tuple[float | None, int | None]:
    def line(option: Option, name: str) -> Floats:
        return ledger.value(f"options.{option.id}.{name}")

    share = break_even_utilisation_fraction(
        utilisation_fraction=used, npv_usd=line(one, "npv_usd"), varying_usd=line(one, "varying_npv_usd"),
        other_npv_usd=line(other, "npv_usd"), other_varying_usd=line(other, "varying_npv_usd"),
    )[0]  # fmt: skip
    month = break_even_month(flows=line(one, "cash_usd"), other_flows=line(other, "cash_usd"))[0]
    return (
        None if np.isnan(share) else float(share),
        None if np.isnan(month) else int(month),
    )


__all__ = [
    "Comparison",
    "Offer",
    "Option",
    "Pair",
    "Way",
    "own_or_rent",
    "why_no_difference_rate",
]

"""What the planner takes where a plan leaves a field open, read off the last evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from planner.documents import Path_
from planner.ledger import Axis
from planner.present import format as fmt
from planner.units import TERA

if TYPE_CHECKING:
    from planner.evaluate import Built, Evaluation
    from planner.ledger import Line
    from planner.scenario.parts import Parts


@dataclass(frozen=True, slots=True)
class Used:
    """A value that no file states.

    Attributes:
        value: As shown, without its unit.
        origin: Where it comes from, such as ``from air``; empty where the value says it.
    """

    value: str
    origin: str = ""

    @property
    def text(self) -> str:
        """Value and origin."""
        return f"{self.value} {self.origin}".strip()

    def within(self, width: int) -> str:
        """In parentheses, without the origin where there is no room for it."""
        whole = f"({self.text})"
        if len(whole) <= width or len(self.value) + 2 <= width:
            return whole if len(whole) <= width else f"({self.value})"
        first, *others = self.value.split(", ")
        return f"({first} +{len(others)})" if others else f"({self.value})"


_LINES: Final[Mapping[Path_, tuple[str, ...]]] = {
    ("cluster", "spare_fraction"): ("cluster.spare_fraction",),
    ("site", "pue"): ("power.pue",),
    ("site", "mean_temperature_c"): ("site.mean_temperature_c",),
    ("site", "electricity_usd_per_kwh"): ("site.electricity_usd_per_kwh",),
    ("site", "colocation_usd_per_kw_month"): ("site.colocation_usd_per_kw_month",),
    ("money", "discount_rate_fraction"): ("assumption.discount_rate_fraction",),
    ("money", "staff_fte"): ("money.staff_fte",),
    ("money", "depreciation", "server_years"): ("assumption.server_life_years",),
    ("money", "depreciation", "network_years"): ("assumption.network_life_years",),
    ("money", "depreciation", "facility_years"): ("assumption.facility_life_years",),
    ("money", "depreciation", "residual_fraction"): tuple(
        f"assumption.residual_fraction_year{year}" for year in range(1, 21)
    ),
}
"""Ledger lines that hold a field's value; the first one that was entered counts."""
_BY: Final = {"money.staff_fte": "by size"}
"""How a line that is no figure of the catalog came about."""
_TIERS: Final = ("leaf", "spine", "core")


def used_values(evaluation: Evaluation) -> dict[Path_, Used]:
    """Values taken for fields that the plan leaves open, by path; fields that stay without one are left out."""
    found: dict[Path_, Used] = {}
    for path, keys in _LINES.items():
        key = next((one for one in keys if one in evaluation.ledger), None)
        if key is not None:
            found[path] = _of_line(evaluation, key)
    found.update(_of_workloads(evaluation))
    found.update(_of_parts(evaluation.parts))
    if evaluation.built is not None:
        found.update(_of_build(evaluation.built))
    return {path: used for path, used in found.items() if used.value != fmt.NOTHING}


def _of_line(evaluation: Evaluation, key: str) -> Used:
    ledger = evaluation.ledger
    line: Line = ledger[key]
    if line.axis is not Axis.SCALAR:
        return Used(fmt.NOTHING)
    value = ledger.scalar(key)
    if key in ledger.overrides:
        return Used(fmt.plain(value), "from overrides")
    if line.source is None:
        return Used(fmt.significant(value), _BY.get(key, ""))
    where = line.source.where.partition(":")[0]
    return Used(fmt.plain(value), f"from {PurePath(where).stem}" if where not in ("", "default") else "")


def _of_workloads(evaluation: Evaluation) -> dict[Path_, Used]:
    found: dict[Path_, Used] = {}
    ledger = evaluation.ledger
    for index, workload in enumerate(evaluation.loaded.scenario.workloads):
        path, key = ("workloads", index), f"workload.{workload.id}"
        if workload.kind != "training":
            continue
        if f"{key}.batch_sequences" in ledger:
            found[(*path, "batch_sequences")] = Used(fmt.count(ledger.scalar(f"{key}.batch_sequences")))
        axes = [
            f"{name}{fmt.count(ledger.scalar(f'{key}.plan.{axis}'))}"
            for name, axis in (("TP", "tensor"), ("PP", "pipeline"), ("EP", "expert"), ("DP", "data"))
            if f"{key}.plan.{axis}" in ledger
            and (axis != "expert" or ledger.scalar(f"{key}.plan.{axis}") > 1)
        ]
        if axes:
            found[(*path, "plan")] = Used(" ".join(axes))
        model = evaluation.parts.models.get(workload.model)
        tokens = model.item.training_tokens if model is not None else None
        if tokens is not None:
            found[(*path, "tokens_trillion")] = Used(fmt.plain(tokens.value / TERA), f"from {workload.model}")
    return found


def _of_parts(parts: Parts) -> dict[Path_, Used]:
    found: dict[Path_, Used] = {("as_of",): Used(parts.as_of, "from the catalog")}
    nics = dict.fromkeys(group.nic.item.id for group in parts.groups)
    if nics:
        found[("network", "nic")] = Used(", ".join(nics))
    if parts.behaviour is not None:
        found[("network", "behaviour")] = Used(parts.behaviour.item.id)
    limit = parts.cooling.item.rack_limit_kw
    if limit is not None:
        found[("site", "rack_limit_kw")] = Used(fmt.plain(limit.value), f"from {parts.cooling.item.id}")
    phase: Callable[[Any], Any] = parts.loaded.scenario.phase_of
    for index, group in enumerate(parts.groups):
        bought = phase(group.wish)
        if bought is not None:
            found[("cluster", "groups", index, "phase")] = Used(bought.id)
    return found


def _of_build(built: Built) -> dict[Path_, Used]:
    """Switches, ports and modules of the fabric as drawn."""
    cluster = built.cluster
    found: dict[Path_, Used] = {}
    if cluster.parts.tiers:
        found[("network", "reserved_ports")] = Used(
            fmt.count(cluster.fabric.request.reserved_ports),
            f"by {cluster.parts.tiers[0].switch.item.fabric}",
        )
    counts = cluster.switch_counts
    for tier, name in zip(cluster.parts.tiers, _TIERS, strict=False):
        if name != "leaf":
            found[("network", name, "switch")] = (
                Used(tier.switch.item.id) if counts[name] else Used("none built")
            )
    modules: dict[Path_, dict[str, None]] = {}
    for row in cluster.cabling.rows:
        bought = cluster.media.get((row.tier, row.medium))
        ends = row.tier.split("-")
        if bought is None or not set(ends) <= {"node", *_TIERS}:
            continue  # networks beside the fabric have no modules of the scenario's choice
        for end, part in zip(ends, (bought.lower, bought.upper), strict=True):
            path: Path_ = ("network", "endpoint_optic") if end == "node" else ("network", end, "optic")
            if part is not None:
                modules.setdefault(path, {})[part.item.id] = None
            else:
                modules.setdefault(path, {})
    for path, names in modules.items():
        found[path] = Used(", ".join(names) or "no module")
    return found

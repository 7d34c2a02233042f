"""Shares of purchases whose servers are of several kinds: by what servers cost and draw, where GPUs alone would mislead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from planner.design.bom import BomRow
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, added, ref
from planner.scenario.parts import GroupParts, Parts


@dataclass(frozen=True, slots=True)
class KindShares:
    """Of each phase, by its id.

    Attributes:
        cost: Its servers, share of the cost of all servers and their adapters.
        load: Its servers, share of the draw of all servers under load.
    """

    cost: Mapping[str, Expr]
    load: Mapping[str, Expr]


def kind_shares(
    ledger: Ledger, parts: Parts, bom: Sequence[BomRow], phases: Sequence[str]
) -> KindShares | None:
    """Enter the servers that each phase buys of each kind, and what follows of its shares.

    Args:
        ledger: Holds the counts, costs and draws of servers.
        parts: The groups, each of one kind and one phase.
        bom: The bill of materials.
        phases: Ids of the purchases.

    Returns:
        None where servers are of one kind, or one purchase buys all: shares go by GPUs then.
    """
    if len(parts.kinds) < 2 or len(phases) < 2:
        return None
    bought = {
        (phase, kind.server.item.id): _bought(ledger, parts, phase, kind)
        for phase in phases
        for kind in parts.kinds
    }
    return KindShares(
        _of_all(ledger, parts, phases, bought, lambda kind: _cost(bom, kind)),
        _of_all(ledger, parts, phases, bought, lambda kind: _draw(ledger, kind)),
    )


def _bought(ledger: Ledger, parts: Parts, phase: str, kind: GroupParts) -> Line:
    scenario, item = parts.loaded.scenario, kind.server.item
    number = sum(
        one.servers
        for one in parts.groups
        if one.server.item.id == item.id
        and (at := scenario.phase_of(one.wish)) is not None
        and at.id == phase
    )
    return ledger.compute(
        f"phase.{phase}.{item.id}.servers", f"{item.name} in service, phase {phase}", "1", number,
        function=kind_shares, inputs=[f"bom.{item.id}.designed"], note="groups of the phase, as the scenario says",
    )  # fmt: skip


def _of_all(
    ledger: Ledger, parts: Parts, phases: Sequence[str], bought: Mapping[tuple[str, str], Line],
    worth: Callable[[GroupParts], Expr],
) -> dict[str, Expr]:  # fmt: skip
    """Each phase's share of what all servers are worth, every kind by the servers of it that the phase buys."""
    whole = added(worth(kind) for kind in parts.kinds)
    return {
        phase: added(
            bought[phase, kind.server.item.id] / ledger[f"bom.{kind.server.item.id}.designed"] * worth(kind)
            for kind in parts.kinds
        )
        / whole
        for phase in phases
    }


def _cost(bom: Sequence[BomRow], kind: GroupParts) -> Expr:
    return added(row.cost for row in bom if row.demand.server == kind.server.item.id)


def _draw(ledger: Ledger, kind: GroupParts) -> Expr:
    return ref(ledger[f"power.{kind.server.item.id}.typical_w"])

"""What accelerators do with their time, from predicted steps and iterations, or for measured runs by kind of work."""

from __future__ import annotations

import numpy as np

from planner.arrays import Floats
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Const, Expr, added, maximum, minimum, ref
from planner.power.figures import Figures
from planner.power.states import Activity
from planner.scenario.givens import assume
from planner.scenario.parts import GroupParts, Parts
from planner.scenario.schema import Workload, WorkloadKind

PARTS = ("arithmetic", "memory", "waiting")
WAITING_PARTS = ("tensor", "pipeline", "data", "expert", "context")
"""Kinds of communication whose exposed time a predicted step holds."""


def waiting_between_nodes(*, nodes: Floats, endless_fraction: Floats) -> Floats:
    """Share of the time that a run of fixed batch waits for other nodes.

    A ring's traffic for each rank goes with 1 - 1/n.

    Args:
        nodes: Nodes of the run.
        endless_fraction: The share on endlessly many nodes.

    Source:
        mlperf-training-v4.0-power (runs on 1, 8 and 9 nodes).

    >>> import numpy as np
    >>> waiting_between_nodes(nodes=np.array([1.0, 8.0]), endless_fraction=np.array([0.4, 0.4]))
    array([0.  , 0.35])
    """
    return np.asarray(endless_fraction * (1.0 - 1.0 / nodes))


def usual_activity(figures: Figures, *, serving: bool, nodes: int = 1) -> Activity:
    """Activity of a loaded run of which no step is predicted, such as a measured benchmark."""
    kind = "inference" if serving else "training"
    arithmetic, memory = (figures(f"{kind}_{part}_time_fraction") for part in ("arithmetic", "memory"))
    waiting = np.zeros(1)
    if not serving and nodes > 1:
        waiting = waiting_between_nodes(
            nodes=np.array([float(nodes)]),
            endless_fraction=figures("training_between_nodes_waiting_fraction"),
        )
    at_work = 1.0 - waiting
    return Activity(
        arithmetic_fraction=arithmetic * at_work,
        memory_fraction=memory * at_work,
        waiting_fraction=1.0 - (arithmetic + memory) * at_work,
    )


def activity_lines(
    ledger: Ledger, parts: Parts, workload: Workload, kind: GroupParts
) -> tuple[Line, Line, Line]:
    """Enter shares of a workload's time in matrix products, bound by memory and waiting, as predicted.

    Matrix products take what the utilisation says at the rate of work that is nothing else; what neither
    computes at that rate nor waits is bound by memory. Where prompts and answers have pools of their own, a kind of
    server does what the pools on it do, by its shares in them, and is ready for the rest of its time.
    """
    own, key = f"workload.{workload.id}", f"power.activity.{workload.id}"
    if f"{own}.pools.prefill_replicas" in ledger:
        return _pooled(ledger, parts, workload, kind)
    if f"{key}.waiting_fraction" not in ledger:
        used = "hfu_fraction" if workload.kind is WorkloadKind.TRAINING else "mfu_fraction"
        waiting = _waiting(ledger, own, workload.kind)
        _enter(ledger, parts, key, workload.id, waiting, ledger[f"{own}.{used}"], Const(1.0))
    return _known(ledger, key)


def _known(ledger: Ledger, key: str) -> tuple[Line, Line, Line]:
    arithmetic, memory, waiting = (ledger[f"{key}.{part}_fraction"] for part in PARTS)
    return arithmetic, memory, waiting


def _enter(
    ledger: Ledger, parts: Parts, key: str, name: str, waiting: Expr, used: Expr, at_work: Expr
) -> None:
    """Lines of one activity: of the time at work, what waits, what the utilisation says, and the rest."""
    full = assume(
        ledger, parts.catalog, "facility", "arithmetic_share_of_peak_fraction",
        "Utilisation of work that is all matrix products", "fraction",
    )  # fmt: skip
    whole: Expr | int = 1 if isinstance(at_work, Const) else at_work
    waited = ledger.derive(f"{key}.waiting_fraction", f"{name}: time waiting", "fraction", waiting)
    arithmetic = ledger.derive(
        f"{key}.arithmetic_fraction", f"{name}: time in matrix products", "fraction",
        minimum(used / full, maximum(0.0, whole - waited)),
    )  # fmt: skip
    ledger.derive(
        f"{key}.memory_fraction", f"{name}: time bound by memory", "fraction",
        maximum(0.0, whole - waited - arithmetic),
    )  # fmt: skip


def _pooled(ledger: Ledger, parts: Parts, workload: Workload, kind: GroupParts) -> tuple[Line, Line, Line]:
    """Activity of a kind of server between the two pools."""
    own, key, name = f"workload.{workload.id}.pools", f"power.activity.{workload.id}", workload.id
    if f"{key}.prefill.waiting_fraction" not in ledger:
        busy = minimum(1.0, ledger[f"{own}.prefill_busy_fraction"])
        for pool, said, at_work in (
            ("prefill", "computing prompts", busy),
            ("decode", "decoding", Const(1.0)),
        ):
            waiting = at_work * ledger[f"{own}.{pool}_communication_fraction"]
            _enter(
                ledger, parts, f"{key}.{pool}", f"{name}, {said}", waiting,
                ref(ledger[f"{own}.{pool}_mfu_fraction"]), at_work,
            )  # fmt: skip
    server = kind.server.item
    mine = key if len(parts.kinds) == 1 else f"{key}.{server.id}"
    on = "" if len(parts.kinds) == 1 else f" on {server.name}"
    labels = ("time in matrix products", "time bound by memory", "time waiting")
    shares = [ledger[f"{own}.{server.id}.{pool}_share_fraction"] for pool in ("prefill", "decode")]
    for part, label in zip(PARTS, labels, strict=True):
        if f"{mine}.{part}_fraction" not in ledger:
            prefill, decode = (ledger[f"{key}.{pool}.{part}_fraction"] for pool in ("prefill", "decode"))
            ledger.derive(
                f"{mine}.{part}_fraction", f"{name}{on}: {label}", "fraction",
                shares[0] * prefill + shares[1] * decode, note="by the shares of its GPUs in the pools",
            )  # fmt: skip
    return _known(ledger, mine)


def _waiting(ledger: Ledger, own: str, kind: WorkloadKind) -> Expr:
    """Time within a step, or a decode iteration, that isn't computing."""
    if kind is WorkloadKind.SERVING:
        return minimum(1.0, ledger[f"{own}.communication_fraction"])
    exposed = [ledger[f"{own}.parts.{name}_exposed_s"] for name in WAITING_PARTS]
    lost = added([*exposed, ledger[f"{own}.parts.bubble_s"], ledger[f"{own}.parts.other_s"]])
    return minimum(1.0, lost / ledger[f"{own}.step_s"])

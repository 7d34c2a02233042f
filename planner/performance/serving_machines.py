"""Machines of a plan as a serving workload finds them: one of every kind, and what its replicas are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from planner.arrays import Floats
from planner.choices import KvCache, Precision
from planner.design.cluster import Cluster
from planner.performance.assumed import Assumed, rows
from planner.performance.hardware import Hardware, engine_link, hardware
from planner.performance.inference import Layout
from planner.performance.queueing import Tails
from planner.performance.serving import Requests, Server, ServingChoice, replica_layouts
from planner.performance.serving_choice import Need, best_replicas
from planner.performance.serving_engines import ServingSetting, serving_constants
from planner.performance.serving_formats import formats_of
from planner.performance.serving_points import Objective
from planner.performance.serving_speculation import Speculation
from planner.performance.shapes import shape_of
from planner.scenario.parts import GroupParts
from planner.scenario.schema import Workload


@dataclass(frozen=True, slots=True)
class Placed:
    """A kind of machine with the workload on it.

    Attributes:
        group: The first group of this kind.
        gpus: Of all groups of this kind, the workload's share of them.
        server: What a replica is made of there: model, machine, engine and formats.
    """

    group: GroupParts
    gpus: int
    machine: Hardware
    server: Server

    @property
    def name(self) -> str:
        """Its accelerator."""
        return self.group.accelerator.item.name


def placed_servers(
    assumed: Assumed, cluster: Cluster, workload: Workload, share: float
) -> tuple[Placed, ...]:
    """Every kind of machine of a plan, in the scenario's order.

    Args:
        assumed: Takes the lines of all of them.
        cluster: What is built.
        workload: Its model, engine and precision.
        share: Of the GPUs that are the workload's.

    Raises:
        DesignError: An accelerator lacks the workload's arithmetic.
    """
    parts, found = cluster.parts, []
    for kind in parts.machines:
        machine = hardware(assumed, cluster, workload.precision, kind)
        gpus = sum(one.wish.gpus for one in parts.groups if one.machine == kind.machine)
        server = served_by(assumed, cluster, workload, machine)
        found.append(Placed(kind, int(gpus * share + 1e-9), machine, server))
    return tuple(found)


def served_by(assumed: Assumed, cluster: Cluster, workload: Workload, machine: Hardware) -> Server:
    """What a workload's replicas are made of, but their size and batch: model, machine, engine and formats."""
    model = cluster.parts.models[workload.model].item
    sparse, widened = bool(model.experts), workload.precision is Precision.BF16
    formats = formats_of(
        workload.precision, sparse=sparse, generation=machine.generation, weights=workload.weights,
        kv=workload.kv_cache or (KvCache.BF16 if widened else None),
    )  # fmt: skip
    setting = ServingSetting(workload.engine, machine.generation, formats, sparse=sparse, weight_only=widened)
    constants = serving_constants(
        assumed, setting, machine.chip,
        gemm_ratio=machine.gemm_ratio, cap_ratio=machine.cap_ratio,
    )  # fmt: skip
    draft = Speculation(
        np.array([float(workload.draft_tokens)]),
        np.array([workload.acceptance_fraction]),
        np.array([1.0 / model.layers]),
    )
    return Server(
        shape_of(model),
        machine.chip,
        engine_link(assumed, machine),
        constants,
        formats.bytes,
        _tails(assumed),
        draft,
    )


def _tails(assumed: Assumed) -> Tails:
    return Tails(**{field.name: assumed(f"tail_{field.name}") for field in fields(Tails)})


def one_draw(server: Server) -> Server:
    """The first draw of a server, by which plans are chosen; the model has none."""
    return Server(
        server.shape, rows(server.chip, 1), rows(server.link, 1), rows(server.constants, 1), server.form,
        rows(server.tails, 1), server.speculation,
    )  # fmt: skip


def layouts_of(cluster: Cluster, group: GroupParts) -> Layout:
    """Replicas to try inside a scale-up domain of a group's servers."""
    return replica_layouts(min(group.server.item.scaleup_domain_gpus, cluster.parts.gpus))


def best_alone(
    cluster: Cluster, placed: Placed, workload: Workload, requests: Requests, *,
    per_token_ratio: float = 1.0, first_token_ratio: float = 1.0,
) -> ServingChoice:  # fmt: skip
    """The best replicas of one kind of machine that do prompts and answers: for its load, where the workload states one.

    Args:
        cluster, placed, workload, requests: Of the scenario.
        per_token_ratio, first_token_ratio: True over predicted times, which the limits are held against.
    """
    return best_replicas(
        one_draw(placed.server),
        requests=rows(requests, 1),
        layouts=layouts_of(cluster, placed.group),
        objective=Objective(workload.slo.ttft_p99_s, workload.slo.tpot_p99_s),
        need=None if workload.disaggregated is not None else need_of(workload, placed.group.server.item.gpus),
        per_token_ratio=per_token_ratio,
        first_token_ratio=first_token_ratio,
    )


def need_of(workload: Workload, server_gpus: int) -> Need | None:
    """The load that a workload states, None where it states none."""
    load = workload.load
    if load is None:
        return None
    shares = [one.share_fraction for one in load.regions] or [1.0]
    return Need(tuple(load.requests_per_s * share for share in shares), load.spare_replicas, server_gpus)


def mean_peak_flop_per_s(placed: Sequence[Placed]) -> Floats:
    """Dense peak of an accelerator, mean over all of the plan."""
    if len(placed) == 1:
        return placed[0].server.chip.peak_flop_per_s
    gpus = sum(one.gpus for one in placed)
    return np.asarray(sum(one.server.chip.peak_flop_per_s * (one.gpus / gpus) for one in placed))

"""All workloads of a scenario: what they deliver, what fails, and the outcomes plans are judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.design.cluster import Cluster
from planner.design.storage import checkpoint_bytes
from planner.ledger import Ledger
from planner.ledger.nodes import Const, Expr, added, maximum
from planner.performance.assumed import Assumed
from planner.performance.availability import enter_availability, failure_rates
from planner.performance.domain import ScaleUpDomain
from planner.performance.hardware import cluster_domain, cluster_links
from planner.performance.links import Links
from planner.performance.models import parameters
from planner.performance.reliability import (
    best_interval_s,
    checkpoint_write_s,
    down_fraction,
    goodput,
    interruptions_per_s,
    mean_time_between_s,
)  # fmt: skip
from planner.performance.serve import Served, serve
from planner.performance.serving_lines import serving_lines
from planner.performance.train import PARTS, Trained, train
from planner.scenario.givens import assume, figure_line
from planner.scenario.limits import LOAD_OUTCOME
from planner.scenario.schema import TokenBudget, WorkloadKind
from planner.units import GIGA, MEGA, SECONDS_PER_DAY, SECONDS_PER_HOUR

LEAST_INTERVAL_S = 60.0


@dataclass(frozen=True, slots=True)
class Performance:
    """Predictions of all workloads, in the scenario's order."""

    trained: tuple[Trained, ...]
    served: tuple[Served, ...]
    domain: ScaleUpDomain
    """Curves of collectives in a server or rack, with what they rest on."""
    links: Links
    """The same with the network between servers, where there is one."""
    further: tuple[tuple[str, ScaleUpDomain], ...] = ()
    """Accelerator and curves of every further kind, where servers are of several."""

    @property
    def domains(self) -> tuple[ScaleUpDomain, ...]:
        """Curves of every kind of accelerator."""
        return (self.domain, *(domain for _, domain in self.further))

    @property
    def refused(self) -> tuple[str, ...]:
        """Profiles that the scenario names and that speak for none of its accelerators, with the reason."""
        shelves = [one.shelf for one in self.domains]
        used = {entry.item.id for one in shelves for entry in (*one.own, *one.siblings)}
        said = dict.fromkeys(text for one in shelves for text in one.refused)
        return tuple(text for text in said if text.partition(":")[0] not in used)


def predict(ledger: Ledger, cluster: Cluster, like: Performance | None = None) -> Performance:
    """Enter every workload, availability and goodput, and the outcome lines.

    Headline keys speak of the first workload of each kind; all of them stand under ``workload.<id>``.

    Args:
        ledger: Takes the lines.
        cluster: What is built.
        like: What an earlier call for the same cluster gave, whose training plans are kept.

    Raises:
        DesignError: A workload can't run on the cluster.
    """
    trained: list[Trained] = []
    served: list[Served] = []
    for index, workload in enumerate(cluster.parts.loaded.scenario.workloads):
        known = trained if workload.kind is WorkloadKind.TRAINING else served
        first, before = not known, len(ledger.lines)
        key = f"performance.{workload.kind.value}" if first else f"workload.{workload.id}"
        if workload.kind is WorkloadKind.TRAINING:
            choice = like.trained[len(trained)].choice if like is not None else None
            trained.append(train(ledger, cluster, workload, index, key, choice))
        else:
            served.append(serve(ledger, cluster, workload, index, key))
            serving_lines(ledger, cluster, served[-1], index)
        if first:
            _mirror(ledger, key, f"workload.{workload.id}", before)
    enter_availability(ledger, cluster)
    for one in trained:
        _job_availability(ledger, cluster, one)
        _training_goodput(ledger, cluster, one)
    for other in served:
        _serving_goodput(ledger, cluster, other)
    _outcomes(ledger, trained, served)
    assumed = Assumed(ledger, cluster.parts.catalog)
    domain = cluster_domain(assumed, cluster)
    links = cluster_links(assumed, cluster, domain)
    kinds = {one.accelerator.item.id: one for one in reversed(cluster.parts.machines)}
    kinds.pop(cluster.parts.groups[0].accelerator.item.id)
    further = [
        (one.accelerator.item.name, cluster_domain(assumed, cluster, one))
        for one in cluster.parts.machines
        if kinds.get(one.accelerator.item.id) is one
    ]
    return Performance(tuple(trained), tuple(served), domain, links, tuple(further))


def _mirror(ledger: Ledger, key: str, own: str, before: int) -> None:
    """Repeat a first workload's lines under its own id."""
    for line in list(ledger.lines.values())[before:]:
        if line.key.startswith(f"{key}."):
            ledger.derive(own + line.key.removeprefix(key), line.label, line.unit, line)


def _job_availability(ledger: Ledger, cluster: Cluster, found: Trained) -> None:
    """A missing node stops the whole model replica it belongs to; the other replicas go on."""
    plan, mean = found.plan, ledger.value("performance.availability_fraction")
    per_node = cluster.parts.gpus / cluster.nodes
    replica = plan.tensor_ranks * plan.pipeline_ranks * plan.context_ranks / per_node
    ledger.compute(
        f"{found.key}.availability_fraction", "Share of the job's GPUs at work", "fraction",
        mean ** np.maximum(replica, 1.0), function=_job_availability,
        inputs=[
            "performance.availability_fraction",
            *(f"{found.key}.plan.{axis}" for axis in ("tensor", "pipeline", "context")),
        ],
        note="a replica works while all of its nodes do; nodes short of spares take theirs with them; where all states are shared out, the job is "
        "taken to be laid out again over the rest",
    )  # fmt: skip


def _training_goodput(ledger: Ledger, cluster: Cluster, found: Trained) -> None:
    assumed, parts = Assumed(ledger, cluster.parts.catalog), cluster.parts
    rates = {name: assumed.use(line) / SECONDS_PER_HOUR for name, line in failure_rates(assumed).items()}
    gpus, nodes = assumed.use(ledger["cluster.gpus"]), np.array([float(cluster.nodes)])
    rate = interruptions_per_s(
        gpus=gpus, nodes=nodes, links=np.array([float(cluster.fabric.node_leaf_links)]),
        gpu_failures_per_s=rates["gpu"], node_failures_per_s=rates["node"] + rates["software"],
        link_failures_per_s=rates["link"], job_failures_per_s=np.zeros(1),
    )  # fmt: skip
    between = mean_time_between_s(interruptions_per_s=rate)
    per_parameter = assume(
        ledger,
        parts.catalog,
        "operations",
        "checkpoint_bytes_per_parameter",
        "Checkpoint of a parameter",
        "byte",
    )
    writer = assume(
        ledger, parts.catalog, "operations", "checkpoint_write_gbyte_per_s_per_gpu",
        "Rate at which a GPU writes a checkpoint", "GB/s",
    )  # fmt: skip
    size = np.asarray(
        checkpoint_bytes(parameters=parameters(found.shape), bytes_per_parameter=assumed.use(per_parameter))
    )
    writer_rate = assumed.use(writer) * GIGA
    storage_rate = writer_rate * gpus
    if parts.storage is not None:
        write = figure_line(
            ledger, "storage.write_gbyte_per_s", "Write rate of a storage block", "GB/s", parts.storage,
            "write_gbyte_per_s",
        )  # fmt: skip
        blocks = assumed.use(ledger[f"bom.{parts.storage.item.id}.designed"])
        storage_rate = assumed.use(write) * GIGA * blocks
    stall = checkpoint_write_s(
        checkpoint_bytes=size, storage_bytes_per_s=storage_rate, writers=gpus, writer_bytes_per_s=writer_rate
    )
    restart = assume(ledger, parts.catalog, "performance", "restart_s", "From a failure to work again", "s")
    restart_s = assumed.use(restart)
    interval = best_interval_s(
        stall_s=stall, mean_time_between_s=between, least_s=np.array([LEAST_INTERVAL_S])
    )
    shares = goodput(
        interval_s=interval, stall_s=stall, commit_lag_s=np.zeros(1), restart_s=restart_s,
        mean_time_between_s=between,
    )  # fmt: skip
    key, inputs = found.key, assumed.lines
    for name, label, unit, value, function in (
        (
            "mtbf_hours",
            "Mean time between interruptions",
            "h",
            between / SECONDS_PER_HOUR,
            mean_time_between_s,
        ),
        ("checkpoint_bytes", "Size of a checkpoint", "byte", size, checkpoint_bytes),
        ("checkpoint_write_s", "Writing a checkpoint", "s", stall, checkpoint_write_s),
        ("checkpoint_interval_s", "Best time between checkpoints", "s", interval, best_interval_s),
        ("goodput_fraction", "Goodput", "fraction", shares.useful_fraction, goodput),
        ("checkpoint_fraction", "Time in checkpoints", "fraction", shares.checkpoint_fraction, goodput),
        ("lost_work_fraction", "Work lost to failures", "fraction", shares.lost_work_fraction, goodput),
        ("restart_fraction", "Restarts", "fraction", shares.restart_fraction, goodput),
    ):
        ledger.compute(
            f"{key}.{name}", label, unit, value, function=function, inputs=inputs,
            note="any failure stops the job; the interval is the best for these rates",
        )  # fmt: skip
    _training_days(ledger, cluster, found)


def _training_days(ledger: Ledger, cluster: Cluster, found: Trained) -> None:
    workload, parts, key = found.workload, cluster.parts, found.key
    index = parts.loaded.scenario.workloads.index(workload)
    model = parts.models[workload.model]
    label = "Training tokens"
    if isinstance(workload.tokens_trillion, TokenBudget):
        each = assume(
            ledger, parts.catalog, "operations", "compute_optimal_tokens_per_parameter_ratio",
            "Tokens a parameter at which a training budget is best spent", "tokens",
        )  # fmt: skip
        count = ledger.compute(
            f"{key}.parameters", "Parameters of the model", "1", parameters(found.shape), function=parameters,
            inputs=[], note="counted from the model's dimensions",
        )  # fmt: skip
        tokens = ledger.derive(f"{key}.tokens", label, "Mtokens", count * each / MEGA)
    elif workload.tokens_trillion is not None:
        tokens = ledger.given(
            f"{key}.tokens", label, "Mtokens", workload.tokens_trillion * MEGA,
            parts.loaded.source("workloads", index, "tokens_trillion"),
        )  # fmt: skip
    elif model.item.training_tokens is not None:
        tokens = ledger.given(
            f"{key}.tokens", label, "Mtokens", model.item.training_tokens.value / MEGA,
            model.source("training_tokens"),
        )  # fmt: skip
    else:
        tokens = ledger.given(
            f"{key}.tokens", label, "Mtokens", MEGA,
            parts.loaded.source("workloads", index, "tokens_trillion", note="10^12 where nothing is stated"),
        )  # fmt: skip
    share = ledger[f"workload.{workload.id}.scheduled_fraction"]
    working = ledger[f"{key}.availability_fraction"]
    per_day = ledger.derive(
        f"{key}.mtokens_per_day", "Tokens learnt in a day", "Mtokens/day",
        ledger[f"{key}.tokens_per_s"] * ledger[f"{key}.goodput_fraction"] * SECONDS_PER_DAY / MEGA,
    )  # fmt: skip
    days = ledger.derive(
        f"{key}.days_to_train", "Training time", "days", tokens / (per_day * share * working),
        note="while the job is scheduled: hours that nothing runs on lie between jobs, not in them",
    )  # fmt: skip
    ledger.derive(
        f"{key}.gpu_hours", "GPU-hours the training run uses", "GPU-h",
        days * share * working * ledger["cluster.gpus"] * (SECONDS_PER_DAY / SECONDS_PER_HOUR),
    )  # fmt: skip


def _serving_goodput(ledger: Ledger, cluster: Cluster, found: Served) -> None:
    assumed = Assumed(ledger, cluster.parts.catalog)
    rates = {name: assumed.use(line) / SECONDS_PER_HOUR for name, line in failure_rates(assumed).items()}
    ranks = found.layout.replica_ranks
    nodes = ranks * cluster.nodes / cluster.parts.gpus
    rate = interruptions_per_s(
        gpus=ranks, nodes=nodes, links=ranks, gpu_failures_per_s=rates["gpu"],
        node_failures_per_s=rates["node"] + rates["software"], link_failures_per_s=rates["link"],
        job_failures_per_s=np.zeros(1),
    )  # fmt: skip
    restart = assume(
        ledger, cluster.parts.catalog, "performance", "restart_s", "From a failure to work again", "s"
    )
    lost = down_fraction(failures_per_s=rate, repair_s=assumed.use(restart))
    ledger.compute(
        f"{found.key}.goodput_fraction", "Goodput while serving", "fraction", 1.0 - lost,
        function=down_fraction, inputs=assumed.lines, note="replicas that are not restarting after a failure",
    )  # fmt: skip


PARTS_OF_TIME = {
    "computing": "Computing",
    "recompute": "Recompute",
    "exposed_communication": "Exposed communication",
    "bubble": "Pipeline bubble",
    "stragglers": "Stragglers, host",
    "checkpoints": "Checkpoints",
    "failures": "Failures, restart",
}
"""Where a scheduled GPU-hour goes; all but the first two are waiting."""
WAITING = tuple(PARTS_OF_TIME)[2:]


def _outcomes(ledger: Ledger, trained: list[Trained], served: list[Served]) -> None:
    """Outcomes of the scheduled GPU-hours: every workload counts by its share of them."""
    found: list[Trained | Served] = [*trained, *served]
    shares = [ledger[f"workload.{one.workload.id}.scheduled_fraction"] for one in found]
    total = ledger["workload.scheduled_fraction"]
    parts = [_training_parts(ledger, one.key) for one in trained]
    parts += [_serving_parts(ledger, one.key) for one in served]
    keys = [one.key for one in found]
    working = [
        *(ledger[f"{one.key}.availability_fraction"] for one in trained),
        *(ledger["performance.availability_fraction"] for _ in served),
    ]

    def mean(values: Sequence[Expr]) -> Expr:
        if len(values) == 1:
            return values[0]
        return added(share * value for share, value in zip(shares, values, strict=True)) / total

    for name, label in PARTS_OF_TIME.items():
        if any(name in part for part in parts):
            share = mean([part.get(name, Const(0.0)) for part in parts])
            ledger.derive(f"outcome.parts.{name}_fraction", label, "fraction", share)
    ledger.derive(
        "performance.goodput_fraction", "Goodput", "fraction",
        mean([ledger[f"{key}.goodput_fraction"] for key in keys]),
    )  # fmt: skip
    ledger.derive(
        "outcome.waiting_fraction", "Scheduled GPU time spent waiting", "fraction",
        added(
            ledger[f"outcome.parts.{name}_fraction"]
            for name in WAITING
            if f"outcome.parts.{name}_fraction" in ledger
        ),
    )  # fmt: skip
    ledger.derive(
        "outcome.gpu_utilisation_fraction", "GPU utilisation", "fraction",
        mean([
            ledger[f"{key}.mfu_fraction"] * ledger[f"{key}.goodput_fraction"] * available
            for key, available in zip(keys, working, strict=True)
        ]),
        note="useful model FLOP over peak FLOP of the scheduled GPU-hours",
    )  # fmt: skip
    for one in served[:1]:
        for name in ("output_tokens_per_s", "ttft_p99_s", "tpot_p99_s"):
            line = ledger[f"{one.key}.{name}"]
            key = f"outcome.{'serving_' if name == 'output_tokens_per_s' else ''}{name}"
            ledger.derive(key, line.label, line.unit, line)
    _load_outcome(ledger, served)


def _load_outcome(ledger: Ledger, served: Sequence[Served]) -> None:
    """GPUs that stated loads take over those their workloads get; the fullest one, as a plan that is short of any is short."""
    taken = [
        ledger[f"{one.key}.load.gpus"]
        / (ledger["cluster.gpus"] * ledger[f"workload.{one.workload.id}.scheduled_fraction"])
        for one in served
        if one.workload.load is not None
    ]
    if taken:
        ledger.derive(
            LOAD_OUTCOME, "GPUs for the load over those it gets", "fraction",
            taken[0] if len(taken) == 1 else maximum(*taken),
            note="above 1 the plan can't carry the load with its spare replicas within the objective",
        )  # fmt: skip


def _serving_parts(ledger: Ledger, key: str) -> dict[str, Expr]:
    useful, talking = ledger[f"{key}.goodput_fraction"], ledger[f"{key}.communication_fraction"]
    return {
        "computing": useful * (1 - talking),
        "exposed_communication": useful * talking,
        "failures": 1 - useful,
    }


def _training_parts(ledger: Ledger, key: str) -> dict[str, Expr]:
    """Shares that add up to one."""
    step, useful = ledger[f"{key}.step_s"], ledger[f"{key}.goodput_fraction"]
    groups = {
        "computing": ["computing_s", "optimiser_s"],
        "recompute": ["recompute_s"],
        "exposed_communication": [name for name in PARTS if name.endswith("exposed_s")],
        "bubble": ["bubble_s"],
        "stragglers": ["other_s"],
    }
    found: dict[str, Expr] = {
        name: useful * added(ledger[f"{key}.parts.{part}"] for part in parts) / step
        for name, parts in groups.items()
    }
    found["checkpoints"] = ledger[f"{key}.checkpoint_fraction"]
    found["failures"] = ledger[f"{key}.lost_work_fraction"] + ledger[f"{key}.restart_fraction"]
    return found

"""All workloads of a scenario: what they deliver, what fails, and the outcomes plans are judged on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.design.cluster import Cluster
from planner.ledger import Ledger, Line
from planner.ledger.nodes import added
from planner.performance.assumed import Assumed
from planner.performance.models import parameters
from planner.performance.reliability import (
    availability_with_spares,
    best_interval_s,
    checkpoint_write_s,
    down_fraction,
    goodput,
    interruptions_per_s,
    mean_time_between_s,
)  # fmt: skip
from planner.performance.serve import Served, serve
from planner.performance.train import PARTS, Trained, train
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.schema import WorkloadKind
from planner.units import GIGA, MEGA, SECONDS_PER_DAY, SECONDS_PER_HOUR

LEAST_INTERVAL_S = 60.0


@dataclass(frozen=True, slots=True)
class Performance:
    """Predictions of all workloads, in the scenario's order."""

    trained: tuple[Trained, ...]
    served: tuple[Served, ...]


def predict(ledger: Ledger, cluster: Cluster) -> Performance:
    """Enter every workload, availability and goodput, and the outcome lines.

    Headline keys speak of the first workload of each kind; all of them stand under ``workload.<id>``.

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
            trained.append(train(ledger, cluster, workload, index, key))
        else:
            served.append(serve(ledger, cluster, workload, index, key))
        if first:
            _mirror(ledger, key, f"workload.{workload.id}", before)
    _availability(ledger, cluster)
    for one in trained:
        _training_goodput(ledger, cluster, one)
    for other in served:
        _serving_goodput(ledger, cluster, other)
    _outcomes(ledger, trained, served)
    return Performance(tuple(trained), tuple(served))


def _mirror(ledger: Ledger, key: str, own: str, before: int) -> None:
    """Repeat a first workload's lines under its own id."""
    for line in list(ledger.lines.values())[before:]:
        if line.key.startswith(f"{key}."):
            ledger.derive(own + line.key.removeprefix(key), line.label, line.unit, line)


def _rates(assumed: Assumed) -> dict[str, Line]:
    names = {
        "gpu": ("gpu_failures_per_gpu_hour", "Failures of a GPU"),
        "node": ("node_failures_per_node_hour", "Hardware failures of a node, without its GPUs"),
        "software": ("software_failures_per_node_hour", "Software and host interruptions of a node"),
        "link": ("link_failures_per_link_hour", "Failures of a link"),
    }
    return {
        name: assume(assumed.ledger, assumed.catalog, "performance", key, label, "1/h")
        for name, (key, label) in names.items()
    }


def _availability(ledger: Ledger, cluster: Cluster) -> None:
    assumed = Assumed(ledger, cluster.parts.catalog)
    rates = _rates(assumed)
    repair = assume(
        ledger, cluster.parts.catalog, "performance", "node_repair_hours", "Repair of a node", "h"
    )
    per_node = cluster.parts.gpus / cluster.nodes
    hourly = assumed.use(rates["gpu"]) * per_node + assumed.use(rates["node"])
    down = down_fraction(
        failures_per_s=hourly / SECONDS_PER_HOUR, repair_s=assumed.use(repair) * SECONDS_PER_HOUR
    )
    nodes = np.array([float(cluster.nodes)])
    planned = wish_line(
        ledger, cluster.parts.loaded, "performance.spare_fraction", "Spare servers availability is computed with",
        "fraction", cluster.parts.loaded.scenario.cluster.spare_fraction, "cluster", "spare_fraction",
    )  # fmt: skip
    spare = assumed.use(planned) * nodes
    spares = availability_with_spares(wanted_nodes=nodes, spare_nodes=spare, down_fraction=down)
    ledger.compute(
        "performance.availability_fraction", "Share of GPU-hours available", "fraction",
        spares.available_fraction, function=availability_with_spares,
        inputs=[*assumed.lines, ledger["cluster.gpus"]],
        note="nodes under repair, less those that spares replace",
    )  # fmt: skip


def _training_goodput(ledger: Ledger, cluster: Cluster, found: Trained) -> None:
    assumed, parts = Assumed(ledger, cluster.parts.catalog), cluster.parts
    rates = {name: assumed.use(line) / SECONDS_PER_HOUR for name, line in _rates(assumed).items()}
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
    size = assumed.use(per_parameter) * parameters(found.shape)
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
        ("checkpoint_bytes", "Size of a checkpoint", "byte", size, checkpoint_write_s),
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
    if workload.tokens_trillion is not None:
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
    share = ledger.given(
        f"{key}.share_fraction", "Share of the scheduled time", "fraction", workload.share_fraction,
        parts.loaded.source("workloads", index, "share_fraction"),
    )  # fmt: skip
    per_day = ledger.derive(
        f"{key}.mtokens_per_day", "Tokens learnt in a day", "Mtokens/day",
        ledger[f"{key}.tokens_per_s"] * ledger[f"{key}.goodput_fraction"] * SECONDS_PER_DAY / MEGA,
    )  # fmt: skip
    days = ledger.derive(
        f"{key}.days_to_train", "Training time", "days",
        tokens / (per_day * share * ledger["performance.availability_fraction"]),
    )  # fmt: skip
    ledger.derive(
        f"{key}.gpu_hours", "GPU-hours of the training run", "GPU-h",
        days * share * ledger["cluster.gpus"] * (SECONDS_PER_DAY / SECONDS_PER_HOUR),
    )  # fmt: skip


def _serving_goodput(ledger: Ledger, cluster: Cluster, found: Served) -> None:
    assumed = Assumed(ledger, cluster.parts.catalog)
    rates = {name: assumed.use(line) / SECONDS_PER_HOUR for name, line in _rates(assumed).items()}
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


def _outcomes(ledger: Ledger, trained: list[Trained], served: list[Served]) -> None:
    """The first training workload speaks for the GPUs, else the first serving one."""
    available = ledger["performance.availability_fraction"]
    if trained:
        key = trained[0].key
        useful = ledger.derive(
            "performance.goodput_fraction", "Goodput", "fraction", ledger[f"{key}.goodput_fraction"]
        )
        _training_parts(ledger, key)
        waiting = added(
            ledger[f"outcome.parts.{name}_fraction"]
            for name in ("exposed_communication", "bubble", "stragglers", "checkpoints", "failures")
        )
        ledger.derive("outcome.waiting_fraction", "Scheduled GPU time spent waiting", "fraction", waiting)
    else:
        key = served[0].key
        useful = ledger.derive(
            "performance.goodput_fraction", "Goodput", "fraction", ledger[f"{key}.goodput_fraction"]
        )
        talking = ledger[f"{key}.communication_fraction"]
        for name, label, share in (
            ("computing", "Computing", useful * (1 - talking)),
            ("exposed_communication", "Exposed communication", useful * talking),
            ("failures", "Failures, restart", 1 - useful),
        ):
            ledger.derive(f"outcome.parts.{name}_fraction", label, "fraction", share)
        ledger.derive(
            "outcome.waiting_fraction", "Scheduled GPU time spent waiting", "fraction",
            ledger["outcome.parts.exposed_communication_fraction"] + ledger["outcome.parts.failures_fraction"],
        )  # fmt: skip
    ledger.derive(
        "outcome.gpu_utilisation_fraction", "GPU utilisation", "fraction",
        ledger[f"{key}.mfu_fraction"] * useful * available,
        note="useful model FLOP over peak FLOP of the scheduled GPU-hours",
    )  # fmt: skip
    for found in served[:1]:
        for name, source in (
            ("serving_output_tokens_per_s", "output_tokens_per_s"),
            ("ttft_p99_s", "ttft_p99_s"),
            ("tpot_p99_s", "tpot_p99_s"),
        ):
            line = ledger[f"{found.key}.{source}"]
            ledger.derive(f"outcome.{name}", line.label, line.unit, line)


def _training_parts(ledger: Ledger, key: str) -> None:
    """Where a scheduled GPU-hour goes; the parts add up to one."""
    step, useful = ledger[f"{key}.step_s"], ledger[f"{key}.goodput_fraction"]
    groups = {
        "computing": ("Computing", ["computing_s", "optimiser_s"]),
        "recompute": ("Recompute", ["recompute_s"]),
        "exposed_communication": (
            "Exposed communication", [name for name in PARTS if name.endswith("exposed_s")],
        ),
        "bubble": ("Pipeline bubble", ["bubble_s"]),
        "stragglers": ("Stragglers, host", ["other_s"]),
    }  # fmt: skip
    for name, (label, parts) in groups.items():
        seconds = added(ledger[f"{key}.parts.{part}"] for part in parts)
        ledger.derive(f"outcome.parts.{name}_fraction", label, "fraction", useful * seconds / step)
    ledger.derive(
        "outcome.parts.checkpoints_fraction", "Checkpoints", "fraction", ledger[f"{key}.checkpoint_fraction"]
    )
    ledger.derive(
        "outcome.parts.failures_fraction", "Failures, restart", "fraction",
        ledger[f"{key}.lost_work_fraction"] + ledger[f"{key}.restart_fraction"],
    )  # fmt: skip

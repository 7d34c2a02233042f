"""How much storage the workloads need: checkpoint bursts, loading, dataset reads, and room for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from planner.arrays import Floats
from planner.catalog.schema import Accelerator, Storage
from planner.choices import Precision
from planner.scenario.parts import Parts
from planner.scenario.schema import Workload, WorkloadKind
from planner.units import BITS_PER_BYTE, GIGA, TERA

WEIGHT_BYTES = {Precision.BF16: 2.0, Precision.FP8: 1.0, Precision.FP4: 0.5}
"""Bytes of a weight as it is served, without scales (at most a sixteenth more)."""


def checkpoint_bytes(*, parameters: Floats | float, bytes_per_parameter: Floats | float) -> Floats | float:
    """Size of one full checkpoint: weights, master weights and moments of every parameter, once.

    Args:
        parameters: Of the whole model.
        bytes_per_parameter: Written for one; 13.8 was measured of a run with 32-bit states.

    Source:
        megatron-2021 (13.8 TB for 10^12 parameters).

    >>> checkpoint_bytes(parameters=70.6e9, bytes_per_parameter=13.8)
    974280000000.0
    """
    return parameters * bytes_per_parameter


class Amount(NamedTuple):
    """What storage gives or has to give: rates in GB/s, room in TB."""

    write_gbyte_per_s: float
    read_gbyte_per_s: float
    capacity_tb: float


NAMES = Amount._fields
WORDS = {"write_gbyte_per_s": "writing", "read_gbyte_per_s": "reading", "capacity_tb": "room"}


@dataclass(frozen=True, slots=True)
class StorageRules:
    """What storage is sized by, see ``catalog/assumptions``; rates are decimal."""

    bytes_per_parameter: float
    interval_s: float
    write_share_fraction: float
    writer_gbyte_per_s_per_gpu: float
    checkpoints_kept: float
    stored_bytes_per_token: float
    read_bytes_per_token: float
    load_target_s: float
    node_gbyte_per_s: float


@dataclass(frozen=True, slots=True)
class WorkloadNeed:
    """What one workload asks of storage.

    Attributes:
        checkpoint_bytes: Of one checkpoint; 0 where nothing is trained.
        load_bytes: Read when all its nodes start: the checkpoint once, or the weights into every node.
        dataset_bytes: Stored for its tokens.
        token_gbyte_per_s: Read while it trains at the accelerators' dense peak, a ceiling.
        write_gbyte_per_s: Rate that writes a checkpoint in the wanted share of the interval, or as fast as the
            GPUs write.
    """

    workload: str
    checkpoint_bytes: float
    load_bytes: float
    dataset_bytes: float
    token_gbyte_per_s: float
    write_gbyte_per_s: float


@dataclass(frozen=True, slots=True)
class StoragePlan:
    """Building blocks of a storage system, and what they are for.

    Attributes:
        blocks: Built.
        needed: Blocks that meet every need.
        by_need: Blocks that each need alone would take.
        asked: What is needed in all.
        each: What one block gives.
        why: The need that binds, in a sentence.
        shortfalls: What follows where fewer blocks are built than needed, a sentence each.
    """

    blocks: int
    needed: int
    by_need: Amount
    asked: Amount
    each: Amount
    needs: tuple[WorkloadNeed, ...]
    why: str
    shortfalls: tuple[str, ...]


def storage_rules(parts: Parts) -> StorageRules:
    """The rules of the catalog in use."""

    def figure(file: str, key: str) -> float:
        return parts.catalog.figure(file, key)[0].value

    return StorageRules(
        bytes_per_parameter=figure("operations", "checkpoint_bytes_per_parameter"),
        interval_s=figure("operations", "checkpoint_interval_s"),
        write_share_fraction=figure("network", "checkpoint_write_share_of_interval_fraction"),
        writer_gbyte_per_s_per_gpu=figure("operations", "checkpoint_write_gbyte_per_s_per_gpu"),
        checkpoints_kept=figure("network", "checkpoints_kept_count"),
        stored_bytes_per_token=figure("network", "dataset_stored_bytes_per_token"),
        read_bytes_per_token=figure("network", "dataset_read_bytes_per_token"),
        load_target_s=figure("network", "model_load_target_s"),
        node_gbyte_per_s=figure("network", "storage_gbyte_per_s_per_node"),
    )


def plan_storage(parts: Parts, nodes: int) -> StoragePlan | None:
    """Blocks of the scenario's storage system: as wished, else as many as the workloads need.

    Checkpoints and loading come in bursts that don't fall together, so the largest of all workloads counts;
    room is for all of them. A node alone has to reach the reference rate of reading.

    Returns:
        None where the scenario has no storage.
    """
    wish = parts.loaded.scenario.network.storage
    if wish is None or parts.storage is None:
        return None
    rules = storage_rules(parts)
    needs = tuple(
        workload_need(parts, workload, rules, nodes) for workload in parts.loaded.scenario.workloads
    )
    asked = Amount(
        max(need.write_gbyte_per_s for need in needs),
        max(
            rules.node_gbyte_per_s,
            *(need.load_bytes / rules.load_target_s / GIGA for need in needs),
            *(need.token_gbyte_per_s for need in needs),
        ),
        sum(rules.checkpoints_kept * need.checkpoint_bytes + need.dataset_bytes for need in needs) / TERA,
    )
    return size_storage(
        asked=asked, each=block(parts.storage.item), count=wish.count, needs=needs, rules=rules
    )


def workload_need(parts: Parts, workload: Workload, rules: StorageRules, nodes: int) -> WorkloadNeed:
    """What one workload asks of storage on so many nodes.

    Tokens are read at most as fast as the dense peak trains them: 6 FLOP for each active parameter.
    """
    model = parts.models[workload.model].item
    total = model.parameters_stated.value
    if workload.kind is WorkloadKind.SERVING:
        load = nodes * total * WEIGHT_BYTES[workload.precision]
        return WorkloadNeed(workload.id, 0.0, load, total * WEIGHT_BYTES[workload.precision], 0.0, 0.0)
    size = float(checkpoint_bytes(parameters=total, bytes_per_parameter=rules.bytes_per_parameter))
    active = (model.active_parameters_stated or model.parameters_stated).value
    tokens_per_s = _peak_flop_per_s(parts, workload.precision) / (6.0 * active)
    write = size / GIGA / (rules.interval_s * rules.write_share_fraction)
    return WorkloadNeed(
        workload.id,
        size,
        size,
        _tokens(parts, workload) * rules.stored_bytes_per_token,
        tokens_per_s * rules.read_bytes_per_token / GIGA,
        min(write, parts.gpus * rules.writer_gbyte_per_s_per_gpu),
    )


def _peak_flop_per_s(parts: Parts, precision: Precision) -> float:
    """Dense peak of all accelerators together, of every group its own."""
    return sum(group.wish.gpus * _own_peak(group.accelerator.item, precision) for group in parts.groups)


def _own_peak(chip: Accelerator, precision: Precision) -> float:
    fast = {Precision.FP8: chip.fp8_tflop_per_s, Precision.FP4: chip.fp4_tflop_per_s}.get(precision)
    return (fast or chip.bf16_tflop_per_s).value * TERA


def _tokens(parts: Parts, workload: Workload) -> float:
    """Tokens of a training run: as wished, else published of its model, else 20 a parameter."""
    model, wished = parts.models[workload.model].item, workload.tokens_trillion
    if isinstance(wished, float | int):
        return wished * TERA
    if wished is None and model.training_tokens is not None:
        return model.training_tokens.value
    each = parts.catalog.figure("operations", "compute_optimal_tokens_per_parameter_ratio")[0].value
    return each * model.parameters_stated.value


def block(item: Storage) -> Amount:
    """What one building block gives."""
    return Amount(item.write_gbyte_per_s.value, item.read_gbyte_per_s.value, item.capacity_tb.value)


def size_storage(
    *,
    asked: Amount,
    each: Amount,
    count: int | None,
    needs: tuple[WorkloadNeed, ...],
    rules: StorageRules,
) -> StoragePlan:
    """Blocks for what is asked, or the count that is wished for and what it lacks.

    >>> rules = StorageRules(13.8, 1800.0, 0.05, 0.089, 10.0, 8.0, 4.0, 300.0, 40.0)
    >>> plan = size_storage(asked=Amount(62.1, 40.0, 181.0), each=Amount(30.0, 80.0, 500.0), count=None,
    ...     needs=(), rules=rules)
    >>> plan.blocks, plan.by_need, plan.why
    (3, Amount(write_gbyte_per_s=3, read_gbyte_per_s=1, capacity_tb=1), 'writing binds: 62.1 GB/s over 30 GB/s of a block.')
    """
    blocks = Amount(*(max(1, ceil(need / has - 1e-9)) for need, has in zip(asked, each, strict=True)))
    needed = int(max(blocks))
    name = max(NAMES, key=lambda one: getattr(asked, one) / getattr(each, one))
    unit = "TB" if name == "capacity_tb" else "GB/s"
    need, has = getattr(asked, name), getattr(each, name)
    why = f"{WORDS[name]} binds: {need:,.3g} {unit} over {has:,.3g} {unit} of a block."
    built = needed if count is None else count
    short = _shortfalls(built, asked, each, needs, rules) if built < needed else ()
    return StoragePlan(built, needed, blocks, asked, each, needs, why, short)


def _shortfalls(
    built: int, asked: Amount, each: Amount, needs: tuple[WorkloadNeed, ...], rules: StorageRules
) -> tuple[str, ...]:
    """A sentence for every need that the blocks don't meet, with what follows from it."""
    has = Amount(*(built * one for one in each))
    lacks = f"Storage of {built:,} block{'s' if built > 1 else ''} gives"
    found = []
    if has.write_gbyte_per_s < asked.write_gbyte_per_s:
        largest = max(need.checkpoint_bytes for need in needs)
        taken = largest / GIGA / has.write_gbyte_per_s
        found.append(
            f"{lacks} {has.write_gbyte_per_s:,.3g} GB/s of writing and {asked.write_gbyte_per_s:,.3g} are needed: "
            f"a checkpoint of {largest / TERA:,.3g} TB stops the job for {taken:,.0f} s."
        )
    if has.read_gbyte_per_s < asked.read_gbyte_per_s:
        largest = max(need.load_bytes for need in needs)
        taken = largest / GIGA / has.read_gbyte_per_s
        found.append(
            f"{lacks} {has.read_gbyte_per_s:,.3g} GB/s of reading and {asked.read_gbyte_per_s:,.3g} are needed: "
            f"all nodes load in {taken:,.0f} s, and one node alone reads at {has.read_gbyte_per_s:,.3g} GB/s at most."
        )
    if has.capacity_tb < asked.capacity_tb:
        data = sum(need.dataset_bytes for need in needs) / TERA
        one = sum(need.checkpoint_bytes for need in needs) / TERA
        left = max(0.0, has.capacity_tb - data)
        whole = min(int(left / one), int(rules.checkpoints_kept)) if one else 0
        kept = f"{whole:,} of {rules.checkpoints_kept:,.0f} checkpoints" if one else "nothing else"
        found.append(
            f"{lacks} room for {has.capacity_tb:,.3g} TB and {asked.capacity_tb:,.3g} are needed: datasets take "
            f"{data:,.3g} TB, which leaves room for {kept}."
        )
    return tuple(found)


def block_ports(*, block_gbyte_per_s: float, rate_gbit_per_s: float) -> int:
    """Network ports of a block: an even number that carries its faster direction.

    80 GB/s are 640 Gbit/s, four ports of 200G:

    >>> block_ports(block_gbyte_per_s=80.0, rate_gbit_per_s=200.0)
    4
    """
    return 2 * max(1, ceil(block_gbyte_per_s * BITS_PER_BYTE / (2.0 * rate_gbit_per_s) - 1e-9))

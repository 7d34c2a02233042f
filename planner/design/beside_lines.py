"""Ledger lines of the networks beside the fabric, of storage and of management."""

from __future__ import annotations

from planner.design.beside import Beside, frontend_nic, rate_key
from planner.design.frontend import PairedNetwork, design_out_of_band, design_paired
from planner.design.management import consoles, design_management
from planner.design.storage import (
    StoragePlan,
    WorkloadNeed,
    checkpoint_bytes,
    plan_storage,
    size_storage,
    workload_need,
)
from planner.ledger import Ledger, Line
from planner.scenario.givens import assume, figure_line, wish_line
from planner.scenario.parts import Parts

RULES = {
    "checkpoint_bytes_per_parameter": ("operations", "Checkpoint of a parameter", "byte"),
    "checkpoint_interval_s": ("operations", "Time between checkpoints that storage is sized for", "s"),
    "checkpoint_write_gbyte_per_s_per_gpu": ("operations", "Rate at which a GPU writes a checkpoint", "GB/s"),
    "checkpoint_write_share_of_interval_fraction": ("network", "Time to write a checkpoint, share of the interval", "fraction"),
    "checkpoints_kept_count": ("network", "Checkpoints that storage keeps", "1"),
    "dataset_stored_bytes_per_token": ("network", "Stored for a token of the dataset", "byte"),
    "dataset_read_bytes_per_token": ("network", "Read for a token that is trained", "byte"),
    "model_load_target_s": ("network", "Time in which all nodes load a model", "s"),
    "storage_gbyte_per_s_per_node": ("network", "Rate at which one node reads, reference target", "GB/s"),
}  # fmt: skip
"""What storage is sized by: file of assumptions, label and unit of each."""


def enter_beside(ledger: Ledger, parts: Parts, made: Beside) -> None:
    """Enter counts of in-band, storage and out-of-band networks, storage needs, and management.

    Needs ``cluster.gpus`` in the ledger.
    """
    if made.storage is not None:
        _enter_storage(ledger, parts, made.storage)
    for name, network in (("inband", made.inband), ("storage_network", made.storage_network)):
        if network is not None:
            _enter_paired(ledger, parts, name, network)
    _enter_out_of_band(ledger, parts, made)
    _enter_management(ledger, parts, made)


def _rule(ledger: Ledger, parts: Parts, key: str) -> Line:
    file, label, unit = RULES[key]
    return assume(ledger, parts.catalog, file, key, label, unit)


def _enter_storage(ledger: Ledger, parts: Parts, plan: StoragePlan) -> None:
    assert parts.storage is not None
    rules = [_rule(ledger, parts, key) for key in RULES]
    entered = [
        dict(zip((one[0] for one in NEEDS), _enter_need(ledger, parts, need, rules), strict=True))
        for need in plan.needs
    ]
    needs = {name: [lines[part] for lines in entered for part in of] for name, _, _, of, _ in QUANTITIES}
    asked = [
        ledger.compute(
            f"design.storage.needed_{name}", f"{label} that the workloads need", unit, getattr(plan.asked, name),
            function=plan_storage, inputs=[*needs[name], *(_rule(ledger, parts, key) for key in also)],
            note="the largest of all workloads, whose bursts don't fall together"
            if unit == "GB/s" else "of all workloads together",
        )
        for name, label, unit, _, also in QUANTITIES
    ]  # fmt: skip
    each = [
        figure_line(ledger, f"storage.{name}", f"{label} of a storage block", unit, parts.storage, name)
        for name, label, unit, _, _ in QUANTITIES
    ]
    needed = ledger.compute(
        "design.storage.needed_blocks", "Storage blocks that the workloads need", "1", plan.needed,
        function=size_storage, inputs=[*asked, *each], note=plan.why,
    )  # fmt: skip
    key, label = f"bom.{parts.storage.item.id}.designed", f"{parts.storage.item.name}, in service"
    wished = parts.loaded.scenario.network.storage
    if wished is not None and wished.count is not None:
        count = wish_line(ledger, parts.loaded, key, label, "1", plan.blocks, "network", "storage", "count")
    else:
        count = ledger.compute(
            key, label, "1", plan.blocks, function=size_storage, inputs=[needed], note=plan.why
        )
    for (name, label, unit, _, _), block in zip(QUANTITIES, each, strict=True):
        ledger.derive(f"design.storage.{name}", f"{label} of the storage", unit, count * block)


QUANTITIES = (
    ("write_gbyte_per_s", "Write rate", "GB/s", ("write_gbyte_per_s",), ()),
    (
        "read_gbyte_per_s", "Read rate", "GB/s", ("load_bytes", "token_gbyte_per_s"),
        ("model_load_target_s", "storage_gbyte_per_s_per_node"),
    ),
    ("capacity_tb", "Room", "TB", ("checkpoint_bytes", "dataset_bytes"), ("checkpoints_kept_count",)),
)  # fmt: skip
"""Figures of a storage block, with the needs of workloads and the rules that each is compared with."""


def _enter_need(ledger: Ledger, parts: Parts, need: WorkloadNeed, rules: list[Line]) -> list[Line]:
    workload = next(one for one in parts.loaded.scenario.workloads if one.id == need.workload)
    model = parts.models[workload.model]
    count = figure_line(
        ledger, f"model.{model.item.id}.parameters_stated", f"Parameters of {model.item.name}, as published", "1",
        model, "parameters_stated",
    )  # fmt: skip
    known = dict(zip(RULES, rules, strict=True))
    found: list[Line] = []
    for name, label, unit, rests_on in NEEDS:
        inputs = [
            "cluster.gpus",
            count.key,
            *(known[key].key for key in rests_on),
            *(line.key for line in found[:1]),
        ]
        found.append(
            ledger.compute(
                f"design.storage.{need.workload}.{name}", f"{label}, {need.workload}", unit, getattr(need, name),
                function=checkpoint_bytes if name == "checkpoint_bytes" else workload_need, inputs=inputs,
            )
        )  # fmt: skip
    return found


NEEDS = (
    ("checkpoint_bytes", "Size of a checkpoint", "byte", ("checkpoint_bytes_per_parameter",)),
    (
        "write_gbyte_per_s", "Rate that writes a checkpoint in time", "GB/s",
        (
            "checkpoint_interval_s", "checkpoint_write_share_of_interval_fraction",
            "checkpoint_write_gbyte_per_s_per_gpu",
        ),
    ),
    ("load_bytes", "Read when all nodes start", "byte", ()),
    ("dataset_bytes", "Size of the dataset or the weights", "byte", ("dataset_stored_bytes_per_token",)),
    (
        "token_gbyte_per_s", "Tokens read at the accelerators' peak, a ceiling", "GB/s",
        ("dataset_read_bytes_per_token",),
    ),
)  # fmt: skip
"""Needs of a workload: field, label, unit, and the rules each rests on beside the model."""


def _enter_paired(ledger: Ledger, parts: Parts, name: str, network: PairedNetwork) -> None:
    words = "Storage network" if name == "storage_network" else "In-band network"
    links = assume(
        ledger,
        parts.catalog,
        "network",
        "north_south_links_per_node_count",
        "Links of a node, in-band or storage",
        "1",
    )
    rate = assume(
        ledger,
        parts.catalog,
        "network",
        rate_key(parts),
        "Rate of such a link, servers of this class",
        "Gbit/s",
    )
    inputs = ["cluster.gpus", links.key, rate.key]
    nic = frontend_nic(parts)
    if nic is not None:
        port = figure_line(
            ledger, f"nic.{nic.item.id}.port_rate_gbit_per_s", f"Port rate of {nic.item.name}", "Gbit/s", nic,
            "port_rate_gbit_per_s",
        )  # fmt: skip
        inputs.append(port.key)
    for key, label, unit, value in (
        ("switches", "switches", "1", network.switches),
        ("links", "links", "1", network.cables),
        ("link_gbit_per_s", "rate of a link, one direction", "Gbit/s", network.rate_gbit_per_s),
        ("oversubscription", "leaf ports down over ports up", "1", network.oversubscription),
    ):
        ledger.compute(
            f"design.{name}.{key}", f"{words}, {label}", unit, value, function=design_paired, inputs=inputs,
            note=network.why,
        )  # fmt: skip


def _enter_out_of_band(ledger: Ledger, parts: Parts, made: Beside) -> None:
    if made.oob is None:
        return
    each = [
        assume(ledger, parts.catalog, "network", f"oob_links_per_{kind}_count", f"Management ports of a {words}", "1")
        for kind, words in (
            ("node", "node"), ("server", "management server"), ("switch", "switch"),
            ("storage_block", "storage block"), ("rack", "rack's power strips"),
        )
    ]  # fmt: skip
    said = ", ".join(f"{one.ports:,} of {one.kind}" for one in made.consoles)
    cables = ledger.compute(
        "design.oob.cables", "Out-of-band network, copper cables", "1", made.oob.cables, function=consoles,
        inputs=["cluster.gpus", *each], note=said,
    )  # fmt: skip
    ledger.compute(
        "design.oob.switches", "Out-of-band network, switches", "1", made.oob.switches,
        function=design_out_of_band, inputs=[cables], note=made.oob.why,
    )  # fmt: skip
    ledger.compute(
        "design.oob.uplinks", "Out-of-band network, uplinks", "1", made.oob.uplinks, function=design_out_of_band,
        inputs=[cables], note="to the in-band network",
    )  # fmt: skip


def _enter_management(ledger: Ledger, parts: Parts, made: Beside) -> None:
    inputs: list[Line | str] = ["cluster.gpus"]
    for key, label in (
        ("management_servers_count", "Management servers of a cluster"),
        ("ufm_appliances_per_fabric_count", "Fabric managers of an InfiniBand fabric"),
    ):
        inputs.append(assume(ledger, parts.catalog, "network", key, label, "1"))
    for name, label, value in (
        ("servers", "Management servers", made.management.servers),
        ("fabric_managers", "Fabric managers", made.management.managers),
    ):
        ledger.compute(
            f"design.management.{name}", label, "1", value, function=design_management, inputs=inputs,
            note=made.management.why,
        )  # fmt: skip

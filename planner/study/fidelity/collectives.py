"""Measured collectives, each as a request to the collective model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from planner.arrays import Floats
from planner.catalog.profiles import Mode
from planner.catalog.schema import Accelerator, FabricBehaviour, ScaleUp, Server
from planner.catalog.store import Catalog
from planner.curves.collective import curve_time_s, stack_curves
from planner.errors import DesignError, PlannerError, Problem
from planner.measure.parse.points import OP_OF_PROGRAM
from planner.performance.collective_model import CollectiveModel, Network, Prediction, System
from planner.performance.collectives import Collective, bus_factor
from planner.performance.exchange_model import ExchangePrediction, predict_exchange
from planner.performance.expert_exchange import ExchangeCase, case_of_words, token_bytes
from planner.performance.group_curves import Rung
from planner.performance.ladder import NARROW, regimes_of
from planner.performance.machines import own_nic_gbit_per_s
from planner.performance.shelf import shelf_for
from planner.study.fidelity.boxes import box_of, uneven, with_boxes
from planner.study.fidelity.machines import behaviour_of, nic_gbit_per_s_per_gpu, server_like
from planner.study.fidelity.names import Names
from planner.study.fidelity.schema import CollectiveRow
from planner.study.fidelity.scoring import Result, without
from planner.units import GIGA, bytes_per_s

LEAF_NODES = 32.0
"""Boxes of one leaf, which measured rows don't state: half the ports of a 64-port switch."""
CUSTOM = "custom_all_reduce"
EXCHANGES = ("moe_dispatch", "moe_combine")
FACTORS = {
    "all_reduce": Collective.ALL_REDUCE, "all_gather": Collective.ALL_GATHER,
    "reduce_scatter": Collective.REDUCE_SCATTER, "all_to_all": Collective.ALL_TO_ALL,
    "broadcast": Collective.BROADCAST, "sendrecv": Collective.SEND_RECEIVE, CUSTOM: Collective.ALL_REDUCE,
    # a chain towards the root carries what one from the root does
    "reduce": Collective.BROADCAST,
    # the root's own link carries all that the others send it, or it them
    "gather": Collective.SEND_RECEIVE, "scatter": Collective.SEND_RECEIVE,
}  # fmt: skip
"""Operations by the collective whose time they take."""
ROOTED = ("gather", "scatter")
"""Operations in which the root keeps its own share of the payload."""
_PLAIN = {re.sub("[^a-z]", "", name): op for name, op in OP_OF_PROGRAM.items() if op in FACTORS} | {
    "alltoallv": "all_to_all", "sendreceive": "sendrecv", "p2psendrecv": "sendrecv",
}  # fmt: skip
"""Operations by their names without case and marks."""


@dataclass(frozen=True, slots=True)
class CollectiveRequest:
    """A measured row as the collective model is asked.

    Attributes:
        operation: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, sendrecv, custom_all_reduce,
            moe_dispatch or moe_combine.
        bytes: Total payload in nccl-tests' convention; of an expert exchange what one rank sends.
        gpus, nodes: Ranks, and the nodes they stand in.
        accelerator: Item of the catalog.
        server: The server that brings it; None where the catalog has none.
        nic_gbit_per_s: Network rate of a GPU, one direction; None for the server's own.
        behaviour: How the fabric balances load, an item of the catalog.
        in_network: Whether reductions run in the switches; None where the row doesn't say.
        dtype: Element type, empty where not stated.
        graph: Replayed from a graph instead of launched.
        library: Version of the library, empty where not stated.
        fabric: The network in the row's own words.
        publisher: Short name of who published the row.
        case: Of an expert exchange: phase, kernel and tokens; None otherwise.
    """

    operation: str
    bytes: int
    gpus: int
    nodes: int
    accelerator: str
    server: str | None
    nic_gbit_per_s: float | None
    behaviour: str
    in_network: bool | None
    dtype: str
    graph: bool
    library: str
    fabric: str
    publisher: str = ""
    case: ExchangeCase | None = None


@dataclass(frozen=True, slots=True)
class CollectivePrediction:
    """The model's answer: time with P10 and P90, and the rung of the ladder it stands on.

    Attributes:
        in_sample: The row is a point that the model's curve was fitted on.
    """

    time_s: float
    low_s: float
    high_s: float
    rung: str
    in_sample: bool = False


class CollectivePredictor(Protocol):
    """A collective model as this group asks it: the answer, or why there is none."""

    def __call__(self, request: CollectiveRequest, catalog: Catalog) -> CollectivePrediction | str:
        """Answer one request."""
        ...


def collective_predictor() -> CollectivePredictor:
    """The shipped collective model, with models of systems kept between rows."""
    models: dict[tuple[object, ...], CollectiveModel] = {}

    def answer(request: CollectiveRequest, catalog: Catalog) -> CollectivePrediction | str:
        if request.operation == CUSTOM:
            return _engine_kernel(request, catalog)
        if request.case is not None:
            return _exchange(request, catalog)
        system = system_of(request, catalog)
        key = (
            system.accelerator.item.id, system.domain_ranks, system.node_ranks, request.dtype in NARROW,
            # a box alone has no network, and the next row's boxes of the same size do
            system.network and (request.behaviour, system.network.nic_bytes_per_s),
        )  # fmt: skip
        if key not in models:
            models[key] = CollectiveModel(system, dtype=request.dtype or "bf16")
        found = models[key].predict(
            FACTORS[request.operation], message_bytes=_moved_bytes(request), ranks=request.gpus,
            nodes=request.nodes, in_network=False if request.in_network is False else None,
        )  # fmt: skip
        known = _is_a_fitted_point(request, found, system)
        return CollectivePrediction(
            float(found.time_s[0]), float(found.low_s[0]), float(found.high_s[0]), found.rung.value, known
        )

    return answer


def _moved_bytes(request: CollectiveRequest) -> Floats:
    """Payload of the collective whose time is asked: of gather and scatter what crosses the root's link."""
    share = 1.0 - 1.0 / request.gpus if request.operation in ROOTED else 1.0
    return np.array([request.bytes * share])


def system_of(request: CollectiveRequest, catalog: Catalog) -> System:
    """The row's machine: boxes of its GPUs, and the network its words tell.

    Raises:
        CatalogError: The catalog lacks a part.
    """
    accelerator = catalog.entry(Accelerator, request.accelerator)
    scaleup = catalog.entry(ScaleUp, accelerator.item.scaleup) if accelerator.item.scaleup else None
    node_ranks = max(1, request.gpus // request.nodes)
    network = None
    if request.nodes > 1:
        rate = request.nic_gbit_per_s
        if rate is None:
            rate = _own_rate(request, catalog)
        network = Network(
            catalog.entry(FabricBehaviour, request.behaviour), bytes_per_s(rate), float("inf"), LEAF_NODES
        )
    domain = node_ranks
    if request.server is not None:
        domain = max(node_ranks, catalog.get(Server, request.server).scaleup_domain_gpus)
    return System(catalog, accelerator, scaleup, domain, node_ranks, network)


def _own_rate(request: CollectiveRequest, catalog: Catalog) -> float:
    """Rate of the NICs of the row's server for each accelerator, else of a server of its generation."""
    item = catalog.get(Server, request.server) if request.server is not None else None
    item = item or server_like(catalog, catalog.get(Accelerator, request.accelerator))
    if item is None:
        raise DesignError(
            Problem("the row states no network rate, and the catalog has no server of its GPUs")
        )
    return own_nic_gbit_per_s(catalog, item)


def _is_a_fitted_point(request: CollectiveRequest, found: Prediction, system: System) -> bool:
    """Whether the row is a point of the shipped tables: same box, same library release, a size that was fitted."""
    if found.rung is Rung.PHYSICS and request.nodes == 1 and system.scaleup is not None:
        # the figure of the link was read off this publisher's tables
        figure = system.scaleup.item.link_efficiency_fraction
        return figure is not None and bool(request.publisher) and figure.source.startswith(request.publisher)
    if found.rung is not Rung.MEASURED or request.nodes > 1 or not request.library:
        return False
    for entry in shelf_for(system.catalog, system.accelerator.item).own:
        for fit in entry.item.collectives:
            if (fit.op, fit.ranks, fit.nodes) == (FACTORS[request.operation].value, request.gpus, 1) and (
                fit.implementation.endswith(request.library)
                and fit.min_bytes <= request.bytes <= fit.max_bytes
            ):
                return True
    return False


def _exchange(request: CollectiveRequest, catalog: Catalog) -> CollectivePrediction:
    """An expert exchange: the payload's kernel, as published times hold it."""
    found = _predicted_exchange(request, catalog)
    scale = found.payload_s / found.time_s
    return CollectivePrediction(found.payload_s, found.low_s * scale, found.high_s * scale, found.rung.value)


def _predicted_exchange(request: CollectiveRequest, catalog: Catalog) -> ExchangePrediction:
    assert request.case is not None
    return predict_exchange(
        system_of(request, catalog), phase=request.case.phase, kernel=request.case.kernel,
        work=request.case.work, ranks=request.gpus, nodes=request.nodes,
    )  # fmt: skip


def _engine_kernel(request: CollectiveRequest, catalog: Catalog) -> CollectivePrediction | str:
    """A serving engine's own all-reduce, where the accelerator's profile has the engine's curve."""
    mode = Mode.DEVICE if request.graph else Mode.EAGER
    engine = request.library.split(" ", 1)[0]
    found = [
        fit
        for entry in shelf_for(catalog, catalog.get(Accelerator, request.accelerator)).own
        for fit in entry.item.collectives
        if fit.op == CUSTOM and fit.ranks == request.gpus and fit.implementation.startswith(engine)
    ]
    found = [fit for fit in found if fit.mode is mode] or found
    if not engine or not found:
        return "no curve of this engine's kernel for this accelerator and group"
    fit = next((one for one in found if one.implementation == request.library), found[-1])
    curve = stack_curves([regimes_of(fit)])
    time = float(
        curve_time_s(curve, curve=np.zeros(1, dtype=np.intp), message_bytes=np.array([float(request.bytes)]))[
            0
        ]
    )
    least, _ = catalog.figure("performance", "collective_band_measured_fraction")
    width = max(fit.errors.p90_fraction, least.value)
    same = fit.implementation == request.library
    return CollectivePrediction(
        time, time / (1 + width), time * (1 + width), "measured" if same else "scaled", same
    )


def predict_collectives(
    rows: Sequence[CollectiveRow], catalog: Catalog, *, predictor: CollectivePredictor | None = None
) -> list[Result]:
    """Predicted time beside the measured one, a result for each row.

    A row that states a bandwidth and no time is scored by the time that the bandwidth stands for.

    Args:
        rows: As read.
        catalog: For accelerators and servers.
        predictor: The collective model; the shipped one by default.
    """
    model = predictor or collective_predictor()
    names = Names(catalog)
    return [_one(row, names, model) for row in rows]


def _one(row: CollectiveRow, names: Names, model: CollectivePredictor | None) -> Result:
    empty = Result(row.id, "time_us", row.family, row.gpu, row.src, unit="us", measured=row.time_us)
    as_stated = empty
    if row.time_us is None:
        as_stated = replace(
            empty, target="busbw_GBps", unit="GB/s", measured=row.busbw_gbyte_per_s, rate=True
        )
    if row.kind == "acceptance_threshold":
        return without(as_stated, "an operator's floor for acceptance, not a measurement")
    request = request_of(row, names)
    if isinstance(request, str):
        return without(as_stated, request)
    target, measured = measured_us(row, request, names.catalog)
    if measured is None:
        return without(empty, "the row states no time and no bandwidth")
    empty = replace(empty, target=target, measured=measured)
    if model is None:
        return without(empty, "this version has no collective model")
    try:
        answer = model(request, names.catalog)
    except PlannerError as error:
        answer = "; ".join(problem.message for problem in error.problems)
    if isinstance(answer, str):
        return without(empty, answer)
    return replace(
        empty, predicted=answer.time_s * 1e6, low=answer.low_s * 1e6, high=answer.high_s * 1e6,
        in_sample=answer.in_sample, assumed=(f"rung: {answer.rung}",),
    )  # fmt: skip


def request_of(row: CollectiveRow, names: Names) -> CollectiveRequest | str:
    """The row as a request, or why it is none."""
    operation = operation_of(row.op)
    if operation is None:
        return f"'{row.op}' is no collective that is modelled"
    chip = names.chip(row.gpu)
    if isinstance(chip, str):
        return chip
    if row.n_gpus < 2:
        return "one GPU exchanges nothing"
    case = case_of_words(row.op, row.workload) if operation in EXCHANGES else None
    if operation in EXCHANGES and case is None:
        return "the row doesn't say what is exchanged"
    size = row.bytes
    if case is not None and size is None:
        size = int(case.work.tokens[0] * case.work.copies[0] * token_bytes(case.work)[0])
    if size is None:
        return "the row states no size"
    server = names.server(chip)
    box = box_of(names.catalog, chip.entry.item, None if server is None else server.item)
    row = with_boxes(row, box)
    if said := uneven(row, box):
        return said
    between = row.n_nodes > 1
    return CollectiveRequest(
        operation=operation, bytes=size, gpus=row.n_gpus, nodes=row.n_nodes,
        accelerator=chip.entry.item.id, server=None if server is None else server.item.id,
        nic_gbit_per_s=_nic(row) if between else None, behaviour=behaviour_of(row.fabric),
        in_network=in_network(row.fabric), dtype=row.dtype or "", graph=row.mode == "graph",
        library=row.nccl or "", fabric=row.fabric, publisher=row.src, case=case,
    )  # fmt: skip


def operation_of(text: str) -> str | None:
    """The model's name of an operation.

    >>> operation_of("alltoall"), operation_of("moe_dispatch_fp8_lowlatency"), operation_of("host_to_device_copy")
    ('all_to_all', 'moe_dispatch', None)
    >>> operation_of("ncclAllReduce"), operation_of("reduce_scatter_perf")
    ('all_reduce', 'reduce_scatter')
    """
    if text == CUSTOM:
        return text
    for name in EXCHANGES:
        if text.startswith(name):
            return name
    return _PLAIN.get(re.sub("^[nr]ccl|perf$|[^a-z]", "", text.lower().removesuffix("_perf")))


def in_network(fabric: str) -> bool | None:
    """Whether a network's description says that switches reduce.

    >>> in_network("NVLink4, NVLS disabled (ring)"), in_network("NVLink4, NVLS (SHARP)"), in_network("NVLink5")
    (False, True, None)
    """
    low = fabric.lower()
    if re.search(r"(nvls|sharp)\s+(disabled|off)", low) or re.search(r"\bring\b", low):
        return False
    return True if re.search(r"nvls|sharp", low) else None


def _nic(row: CollectiveRow) -> float | None:
    """Stated rate of a GPU; ``8x50 GB/s`` counts bytes."""
    node_gpus = max(row.n_gpus // row.n_nodes, 1)
    rate = nic_gbit_per_s_per_gpu(row.fabric, node_gpus=node_gpus)
    if rate is None:
        plain = re.search(r"(\d+)G\b", row.fabric)
        return float(plain[1]) if plain else None
    return rate


def measured_us(row: CollectiveRow, request: CollectiveRequest, catalog: Catalog) -> tuple[str, float | None]:
    """The figure that is scored and the microseconds it stands for."""
    if row.time_us is not None:
        return "time_us", row.time_us
    if row.algbw_gbyte_per_s is not None:
        return "algbw_GBps", request.bytes / (row.algbw_gbyte_per_s * GIGA) * 1e6
    if row.busbw_gbyte_per_s is None:
        return "busbw_GBps", None
    if request.case is not None:
        counted = _predicted_exchange(request, catalog).logical_bytes
        return "busbw_GBps", counted / (row.busbw_gbyte_per_s * GIGA) * 1e6
    factor = 1.0
    if request.operation in ROOTED:
        factor = 1.0 - 1.0 / request.gpus
    elif request.operation in FACTORS:
        factor = float(bus_factor(FACTORS[request.operation], ranks=np.array([float(request.gpus)]))[0])
    return "busbw_GBps", request.bytes * factor / (row.busbw_gbyte_per_s * GIGA) * 1e6

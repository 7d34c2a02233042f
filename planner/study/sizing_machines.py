"""Servers of the catalog as candidates of a sizing: the serving model on each, by precision.

A scenario's own server is taken as it stands in the plan. Another one is taken alone, without the plan's network,
which a replica inside one scale-up domain doesn't use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from planner.catalog.place import Cooling
from planner.catalog.schema import Accelerator, CoolingType, Server
from planner.catalog.store import Catalog
from planner.choices import Precision, WeightFormat
from planner.documents import Path_
from planner.errors import CatalogError, InputError, PlannerError, Problem, Remedy, nearest
from planner.evaluate import Evaluation, evaluate
from planner.performance.serve import Served
from planner.performance.serving import replica_layouts
from planner.performance.serving_corrected import endpoint_for, odd_points
from planner.scenario.alternatives import beside
from planner.scenario.load import Loaded
from planner.scenario.parts import Parts
from planner.scenario.remedies import applied
from planner.scenario.schema import Workload
from planner.scenario.workload import WEIGHTS_OF
from planner.study.sizing import Candidate

EVERY = "all"
ANY_LATENCY_S = 1e9
Edit = tuple[Path_, Any]


def servers_of(wanted: Sequence[str], parts: Parts) -> list[str]:
    """Servers to size: those named, every one that can be bought on the plan's date for ``all``, else the plan's own.

    Raises:
        InputError: Names that the catalog hasn't, all of them.
    """
    own = [kind.server.item.id for kind in parts.kinds]
    shelf = beside(parts.catalog)
    if not wanted:
        return own
    if EVERY in wanted:
        return [*own, *(name for name in _buyable(shelf, parts.as_of) if name not in own)]
    known = shelf.ids(Server)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise InputError(
            Problem(
                f"--server: no server '{name}' in the catalog",
                remedy=nearest(name, known) or "see planner catalog list servers, or write all",
            )
            for name in unknown
        )
    return list(dict.fromkeys(wanted))


def _buyable(shelf: Catalog, as_of: str) -> list[str]:
    """Servers with a price that can be ordered on a day, by id."""
    found = []
    for name in shelf.ids(Server):
        try:
            item = shelf.get(Server, name)
        except CatalogError:
            continue
        sold = item.available is None or item.available <= as_of[: len(item.available)]
        if item.orderable and sold and item.price_usd is not None:
            found.append(name)
    return found


def candidates_of(
    loaded: Loaded,
    catalog: Catalog,
    index: int,
    *,
    servers: Iterable[str],
    precisions: Sequence[Precision],
    weights: Sequence[WeightFormat] = (),
) -> tuple[list[Candidate], list[tuple[str, Precision, str]]]:
    """Candidates of a serving workload, and why some combinations are none.

    Args:
        loaded: The scenario.
        catalog: Where servers are looked up.
        index: Place of the workload.
        servers: Ids of the catalog.
        precisions: To try where the accelerator has them; all of them where empty.
        weights: Formats to try with each precision that takes them; where empty the workload's or the usual one, and
            with 16-bit products narrower ones beside it.

    Returns:
        Candidates in the order of servers, wide precisions first; and server, precision and reason of the rest.
    """
    found: list[Candidate] = []
    refused: list[tuple[str, Precision, str]] = []
    shelf = beside(catalog)
    for name in servers:
        server = shelf.get(Server, name)
        chip = shelf.get(Accelerator, server.accelerator)
        for precision in precisions or tuple(Precision):
            figure = getattr(chip, f"{precision.value}_tflop_per_s", None)
            if figure is None or figure.value <= 0.0:
                if precisions:
                    refused.append((name, precision, f"{chip.name} has no {precision.value} arithmetic"))
                continue
            stated = loaded.scenario.workloads[index].weights
            formats = formats_to_try(precision, stated, weights, narrow=chip.fp8_tflop_per_s is not None)
            if not formats:
                refused.append((name, precision, "takes none of the weights that are to be tried"))
            for one in formats:
                try:
                    found.append(_candidate(loaded, shelf, index, server, precision, one))
                except PlannerError as error:
                    said = "; ".join(problem.message for problem in error.problems)
                    refused.append((name, precision, f"with {one.value} weights: {said}" if one else said))
    return found, refused


def formats_to_try(
    precision: Precision, stated: WeightFormat | None, asked: Sequence[WeightFormat], *, narrow: bool
) -> list[WeightFormat | None]:
    """Formats of the weights with one precision, None for its usual one.

    With 16-bit products weights may be narrower and are widened on the way: 4 bits, and 8 bits where no narrow
    arithmetic does better.

    Args:
        precision: Of the products.
        stated: The workload's own format.
        asked: Formats to try instead.
        narrow: Whether the accelerator has 8-bit floating-point arithmetic.

    >>> [one and one.value for one in formats_to_try(Precision.BF16, None, [], narrow=True)]
    [None, 'int4']
    >>> formats_to_try(Precision.FP8, WeightFormat.INT4, [], narrow=True)
    [None]
    """
    known = WEIGHTS_OF.get(precision, tuple(WeightFormat))
    if asked:
        return [one for one in dict.fromkeys(asked) if one in known]
    found: list[WeightFormat | None] = [stated if stated in known else None]
    if precision is Precision.BF16:
        found += [WeightFormat.INT4] if narrow else [WeightFormat.INT8, WeightFormat.INT4]
    return list(dict.fromkeys(found))


def _candidate(
    loaded: Loaded,
    catalog: Catalog,
    index: int,
    server: Server,
    precision: Precision,
    weights: WeightFormat | None,
) -> Candidate:
    workload = loaded.scenario.workloads[index]
    own = all(group.server == server.id for group in loaded.scenario.cluster.groups)
    form = None if weights is None else weights.value
    edits = (
        _loose(index, precision, form)
        if own
        else alone(loaded, catalog, index, server, precision, weights=form)
    )
    evaluation = evaluate(edited(loaded, edits), catalog)
    served = served_of(evaluation, workload)
    first, token = (
        evaluation.ledger.scalar(f"{served.key}.{name}")
        for name in ("first_token_error_ratio", "model_error_ratio")
    )
    return Candidate(
        server_id=server.id, name=server.name, precision=precision, server=served.server,
        requests=served.requests, layouts=replica_layouts(server.scaleup_domain_gpus),
        server_gpus=server.gpus, first_token_ratio=first, per_token_ratio=token, weights=weights,
        odd_points=_odd_points(evaluation, served),
    )  # fmt: skip


def _odd_points(evaluation: Evaluation, served: Served) -> tuple[str, ...]:
    """Measured points of the workload's endpoint that are far from the model."""
    assert evaluation.built is not None
    found = endpoint_for(evaluation.built.cluster, served.workload)
    return () if found is None else tuple(odd_points(found))


def served_of(evaluation: Evaluation, workload: Workload) -> Served:
    """A workload's prediction.

    Raises:
        DesignError: The plan can't be built.
    """
    if evaluation.built is None:
        assert evaluation.refusal is not None
        raise evaluation.refusal
    return next(one for one in evaluation.built.performance.served if one.workload.id == workload.id)


def edited(loaded: Loaded, edits: Sequence[Edit]) -> Loaded:
    """The scenario with fields written, or left out where the value is None.

    Raises:
        ScenarioError: The edited scenario contradicts itself.
    """
    return applied(loaded, Remedy("", *edits[0], tuple(edits[1:]))) if edits else loaded


def _loose(index: int, precision: Precision, weights: str | None) -> list[Edit]:
    """Without limits, so that a plan is evaluated whatever its latency."""
    workload: Path_ = ("workloads", index)
    return [
        ((*workload, "precision"), precision.value),
        ((*workload, "weights"), weights),
        ((*workload, "disaggregated"), None),
        ((*workload, "slo"), {"ttft_p99_s": ANY_LATENCY_S, "tpot_p99_s": ANY_LATENCY_S}),
    ]


def alone(
    loaded: Loaded,
    catalog: Catalog,
    index: int,
    server: Server,
    precision: Precision,
    *,
    weights: str | None = None,
) -> list[Edit]:
    """Edits that leave one server without a fabric, and the workload alone on it."""
    wish = dict(loaded.document.data["workloads"][index])
    wish |= {
        "precision": precision.value, "share_fraction": 1.0,
        "slo": {"ttft_p99_s": ANY_LATENCY_S, "tpot_p99_s": ANY_LATENCY_S},
    }  # fmt: skip
    for name in ("load", "weights", "disaggregated"):
        wish.pop(name, None)
    if weights is not None:
        wish["weights"] = weights
    return [
        (("cluster",), {"groups": [{"id": "one", "server": server.id, "gpus": server.gpus}]}),
        (("workloads",), [wish]),
        (("network",), {"topology": "none"}),
        *((path, None) for path in ((key,) for key in ("phases", "overrides", "limits", "quotes"))),
        (("money", "rental"), None),
        *cooled(loaded, catalog, server),
    ]


def cooled(loaded: Loaded, catalog: Catalog, server: Server) -> list[Edit]:
    """Another cooling method where the plan's takes no liquid and the server needs it; no edit otherwise."""
    if server.cooling is not Cooling.LIQUID:
        return []
    now = catalog.get(CoolingType, loaded.scenario.site.cooling)
    if now.liquid:
        return []
    wet = sorted(
        (one for name in catalog.ids(CoolingType) if (one := catalog.get(CoolingType, name)).liquid),
        key=lambda one: (one.rack_limit_kw.value if one.rack_limit_kw else 1e9, one.id),
    )
    able = [one for one in wet if one.rack_limit_kw is None or one.rack_limit_kw.value >= _rack_kw(server)]
    return [(("site", "cooling"), (able or wet)[0].id)]


def _rack_kw(server: Server) -> float:
    return server.power_max_w.value / 1e3

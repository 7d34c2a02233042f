"""Serving anchors of a scenario: the ledger lines that correct its latencies, and what the model says without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from planner.design.cluster import Cluster
from planner.ledger import Line
from planner.performance.anchors import Ratio, widened
from planner.performance.assumed import SERVING_FILE, Assumed, prior
from planner.performance.queueing import Latency
from planner.performance.serving_anchors import Anchored, Endpoint, Factors, prepared_endpoints, priors
from planner.scenario.anchors import serving_anchors_of
from planner.scenario.schema import Workload
from planner.scenario.serving_points import ServedBy
from planner.sourced import Basis, Source

TOKEN, FIRST = "model_error_ratio", "first_token_error_ratio"
LABELS: Final = {
    TOKEN: "Measured over predicted time for each token",
    FIRST: "Measured over predicted time to first token",
}
BANDS: Final = {TOKEN: "serving_band_throughput_fraction", FIRST: "serving_band_first_token_fraction"}


def scenario_endpoints(cluster: Cluster) -> tuple[Anchored, ...]:
    """Endpoints whose points a scenario names.

    Raises:
        ScenarioError: Tables that are wrong, points that the catalog can't place, endpoints of fewer than three.
    """
    return prepared_endpoints(serving_anchors_of(cluster.parts.loaded), cluster.parts.catalog)


def endpoint_for(cluster: Cluster, workload: Workload) -> Anchored | None:
    """Points that speak for a workload: of its engine, else of plain PyTorch on the same accelerator."""
    gpu = cluster.parts.groups[0].accelerator.item.id
    known = {one.endpoint: one for one in scenario_endpoints(cluster)}
    own = Endpoint(gpu, ServedBy(workload.engine.value), workload.model, workload.precision)
    return known.get(own) or known.get(replace(own, engine=ServedBy.PLAIN_TORCH))


def error_ratio_lines(assumed: Assumed, cluster: Cluster, workload: Workload, key: str) -> tuple[Line, Line]:
    """True over predicted time for each token and to the first one, as ledger lines.

    From anchors of the workload's endpoint, else 1 with the band of like runs. Overriding a line calibrates by hand.

    Args:
        assumed: Takes the lines.
        cluster: Of the scenario.
        workload: Its model, engine and precision choose the points.
        key: Beginning of the workload's keys.
    """
    found = endpoint_for(cluster, workload)
    if found is None:
        others = [str(one.endpoint) for one in scenario_endpoints(cluster)]
        return _unmeasured(assumed, key, TOKEN, others), _unmeasured(assumed, key, FIRST, others)
    factors = found.factors(priors(assumed.catalog))
    token = _measured(assumed, key, TOKEN, factors.per_token, found, factors)
    if factors.first_token is None:
        return token, _unmeasured(assumed, key, FIRST, [f"{found.endpoint}, too few with a TTFT"])
    return token, _measured(assumed, key, FIRST, factors.first_token, found, factors)


def _unmeasured(assumed: Assumed, key: str, name: str, others: Sequence[str]) -> Line:
    figure, source = assumed.catalog.figure(SERVING_FILE, BANDS[name])
    said = prior(source)
    if others:
        said = replace(said, note=f"{said.note}; anchors are of another endpoint ({'; '.join(others)})")
    return assumed.ledger.given(
        f"{key}.{name}", LABELS[name], "1", 1.0, said, low=1.0 - figure.value, high=1.0 + figure.value
    )


def _measured(assumed: Assumed, key: str, name: str, ratio: Ratio, found: Anchored, factors: Factors) -> Line:
    points = factors.points if name == TOKEN else factors.first_points
    note = f"geometric mean over {points} measured points of {found.endpoint}, drawn towards 1 by their number and scatter"
    if found.endpoint.engine is ServedBy.PLAIN_TORCH:
        ratio = widened(ratio, assumed.catalog.figure(SERVING_FILE, BANDS[name])[0].value)
        note += "; bare steps speak for the accelerator, and the range holds what engines differ by"
    place = found.anchors[0].place
    dates = [one.point.date for one in found.anchors if one.point.date is not None]
    source = Source(
        where=f"{place.path}:{place.line}", basis=Basis.MEASURED, as_of=max(dates, default=""), note=note
    )
    return assumed.ledger.given(
        f"{key}.{name}", LABELS[name], "1", ratio.value, source, low=ratio.low, high=ratio.high
    )


def enter_without(
    assumed: Assumed,
    cluster: Cluster,
    workload: Workload,
    key: str,
    before: Latency,
    function: Callable[..., Any],
) -> None:
    """Latencies as the model says them before the correction, where anchors correct them."""
    if endpoint_for(cluster, workload) is None:
        return
    for name, label, value in (
        ("tpot_without_anchor_s", "Time for each token, mean, without the anchors' correction", before.per_token_mean_s),
        ("ttft_without_anchor_s", "Time to first token, mean, without the anchors' correction", before.first_token_mean_s),
    ):  # fmt: skip
        assumed.ledger.compute(
            f"{key}.{name}", label, "s", value, function=function, inputs=assumed.lines,
            note="what the model says of this endpoint by itself",
        )  # fmt: skip

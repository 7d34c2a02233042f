"""Serving anchors of a scenario: the ledger lines that correct its latencies, and what the model says without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.ledger import Line
from planner.performance.anchors import Ratio, widened
from planner.performance.assumed import SERVING_FILE, Assumed, prior
from planner.performance.queueing import Latency
from planner.performance.serving_anchors import (
    Anchored,
    Endpoint,
    Factors,
    Latencies,
    prepared_endpoints,
    priors,
)
from planner.scenario.anchors import serving_anchors_of
from planner.scenario.parts import GroupParts
from planner.scenario.schema import Workload
from planner.scenario.serving_points import ServedBy, ServingAnchor
from planner.sourced import Basis, Source

TOKEN, FIRST = "model_error_ratio", "first_token_error_ratio"
LABELS: Final = {
    TOKEN: "Measured over predicted time for each token",
    FIRST: "Measured over predicted time to first token",
}
ODD_RATIO: Final = 3.0
"""Measured over predicted time, either way, beyond which a point is rather mistyped than the model wrong: endpoints scatter
by far less (`catalog/assumptions/serving-anchors.yaml`)."""
BANDS: Final = {TOKEN: "serving_band_throughput_fraction", FIRST: "serving_band_first_token_fraction"}


def scenario_endpoints(cluster: Cluster) -> tuple[Anchored, ...]:
    """Endpoints whose points a scenario names.

    Raises:
        ScenarioError: Tables that are wrong, points that the catalog can't place, endpoints of fewer than three.
    """
    return prepared_endpoints(serving_anchors_of(cluster.parts.loaded), cluster.parts.catalog)


def endpoint_for(cluster: Cluster, workload: Workload, group: GroupParts | None = None) -> Anchored | None:
    """Points that speak for a workload on a group's accelerators, the first's by default: of its engine, else of plain
    PyTorch on the same accelerator."""
    gpu = (group or cluster.parts.groups[0]).accelerator.item.id
    known = {one.endpoint: one for one in scenario_endpoints(cluster)}
    own = Endpoint(gpu, ServedBy(workload.engine.value), workload.model, workload.precision)
    return known.get(own) or known.get(replace(own, engine=ServedBy.PLAIN_TORCH))


def error_ratio_lines(
    assumed: Assumed,
    cluster: Cluster,
    workload: Workload,
    key: str,
    *,
    of_token: GroupParts | None = None,
    of_first: GroupParts | None = None,
) -> tuple[Line, Line]:
    """True over predicted time for each token and to the first one, as ledger lines.

    From anchors of the workload's endpoint, else 1 with the band of like runs. Overriding a line calibrates by hand.

    Args:
        assumed: Takes the lines.
        cluster: Of the scenario.
        workload: Its model, engine and precision choose the points.
        key: Beginning of the workload's keys.
        of_token, of_first: Groups whose accelerators decode and compute prompts; the first of the plan by default.
    """
    others = [str(one.endpoint) for one in scenario_endpoints(cluster)]
    decode, prefill = (endpoint_for(cluster, workload, one) for one in (of_token, of_first))
    if decode is None:
        token = _unmeasured(assumed, key, TOKEN, others)
    else:
        factors = decode.factors(priors(assumed.catalog))
        token = _measured(assumed, key, TOKEN, factors.per_token, decode, factors)
    if prefill is None:
        return token, _unmeasured(assumed, key, FIRST, others)
    factors = prefill.factors(priors(assumed.catalog))
    if factors.first_token is None:
        return token, _unmeasured(assumed, key, FIRST, [f"{prefill.endpoint}, too few with a TTFT"])
    return token, _measured(assumed, key, FIRST, factors.first_token, prefill, factors)


def expected_ratios(
    assumed: Assumed,
    cluster: Cluster,
    workload: Workload,
    key: str,
    *,
    of_token: GroupParts,
    of_first: GroupParts,
) -> tuple[float, float]:
    """What `error_ratio_lines` would enter, for groups that a plan still chooses from.

    Args:
        assumed, cluster, workload, key: See there.
        of_token, of_first: Groups whose accelerators would decode and compute prompts.

    Returns:
        True over predicted time for each token and to the first one.
    """
    found = [1.0, 1.0]
    for place, (name, group) in enumerate(((TOKEN, of_token), (FIRST, of_first))):
        own = assumed.ledger.overrides.get(f"{key}.{name}")
        endpoint = endpoint_for(cluster, workload, group)
        if own is not None and isinstance(own.value, int | float):
            found[place] = float(own.value)
        elif endpoint is not None:
            factors = endpoint.factors(priors(assumed.catalog))
            ratio = factors.per_token if name == TOKEN else factors.first_token
            found[place] = 1.0 if ratio is None else ratio.value
    return found[0], found[1]


def off_by(anchor: ServingAnchor, said: Latencies) -> str:
    """What is odd about a measured point: a time that no wrong model explains, but a wrong unit or column would.

    Returns:
        Empty where measured and predicted times are within `ODD_RATIO` of each other.
    """
    found = []
    for name, measured, predicted in (
        ("TPOT", anchor.point.tpot_ms, float(said.per_token_s[0]) * 1e3),
        ("TTFT", anchor.point.ttft_ms, float(said.first_token_s[0]) * 1e3),
    ):
        if measured is None or not np.isfinite(predicted):
            continue
        ratio = measured / predicted
        if max(ratio, 1.0 / ratio) > ODD_RATIO:
            found.append(
                f"{name} is {ratio:.3g} times the model's: is it in milliseconds, and of this model and tp?"
            )
    return "; ".join(found)


def odd_points(found: Anchored) -> list[str]:
    """Points of an endpoint that are far from the model, each with its place and what is odd."""
    pairs = zip(found.anchors, found.latencies, strict=True)
    return [f"{one.place}: {said}" for one, two in pairs if (said := off_by(one, two))]


def token_ratio_of(
    assumed: Assumed, cluster: Cluster, workload: Workload, group: GroupParts, key: str
) -> Floats:
    """True over predicted time for each token on another group's accelerators, beside those of the workload's own line.

    Without anchors there the model is as wrong as the workload's line says where that has none either, else right.
    """
    found = endpoint_for(cluster, workload, group)
    if found is not None:
        return np.array([found.factors(priors(assumed.catalog)).per_token.value])
    line = assumed.ledger[f"{key}.{TOKEN}"]
    measured = line.source is not None and line.source.basis is Basis.MEASURED
    return np.ones(1) if measured else assumed.use(line)


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
    odd = len(odd_points(found))
    if odd:
        note += f"; {odd} of them more than {ODD_RATIO:g} times off the model, which speaks for a wrong unit or row"
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
    group: GroupParts | None = None,
) -> None:
    """Latencies as the model says them before the correction, where anchors of a group's accelerators correct them."""
    if endpoint_for(cluster, workload, group) is None:
        return
    for name, label, value in (
        ("tpot_without_anchor_s", "Time for each token, mean, without the anchors' correction", before.per_token_mean_s),
        ("ttft_without_anchor_s", "Time to first token, mean, without the anchors' correction", before.first_token_mean_s),
    ):  # fmt: skip
        assumed.ledger.compute(
            f"{key}.{name}", label, "s", value, function=function, inputs=assumed.lines,
            note="what the model says of this endpoint by itself",
        )  # fmt: skip

"""Anchors of a scenario: the software its plan stands for, and the ledger line that corrects its step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from planner.arrays import Floats
from planner.design.cluster import Cluster
from planner.errors import Problem, ScenarioError
from planner.ledger import Line
from planner.performance.anchors import AnchorStep, Kind, anchor_steps, like, ratio_of, widened
from planner.performance.assumed import Assumed, prior
from planner.performance.software import Software
from planner.performance.training import TrainingStep
from planner.scenario.anchors import anchors_of
from planner.scenario.schema import Workload
from planner.sourced import Basis, Source

UNMEASURED = "other"
"""Generation of accelerators without measured training runs."""
LABEL = "Measured over predicted step time"


def scenario_anchors(cluster: Cluster) -> tuple[AnchorStep, ...]:
    """Measured runs that a scenario names.

    Raises:
        ScenarioError: Files that are wrong, and runs that the catalog can't place.
    """
    return anchor_steps(anchors_of(cluster.parts.loaded), cluster.parts.catalog)


def software_of(cluster: Cluster, kind: Kind, workload: Workload) -> Software:
    """The stack that a workload names, or that anchors of its kind ran on; a present-day Megatron without any.

    A benchmark's bare steps speak for the accelerators, not for the stack that the plan will run.

    Raises:
        ScenarioError: The workload names another stack than its anchors ran on.
    """
    mine = [one for one in like(scenario_anchors(cluster), kind) if not one.anchor.run.bare]
    if not mine:
        return workload.software or Software.MEGATRON_CORE
    found = mine[0].setting.software
    if workload.software not in (None, found):
        raise ScenarioError(
            Problem(
                f"software is {workload.software}, and the anchors ran on {found}",
                mine[0].anchor.place,
                f"workloads.{workload.id}.software",
                "name anchors of the stack that the plan is for, or leave software out",
            )
        )
    return found


def error_ratio(assumed: Assumed, cluster: Cluster, key: str, kind: Kind, workload: Workload) -> Floats:
    """True over predicted step time as a ledger line: from anchors of the workload's kind, else 1 with a band.

    Overriding the line calibrates the prediction by hand.

    Args:
        assumed: Takes the line, and gives the figures that anchors are predicted with.
        cluster: Of the scenario.
        key: Beginning of the workload's keys.
        kind: Of the workload.
        workload: Says whether its stack is known.

    Returns:
        What the step is multiplied by, shape (n,). Draws of the model's figures move predictions of the anchors as
        they move that of the workload, which the ratio undoes.
    """

    def band(name: str) -> float:
        return assumed.catalog.figure("performance", name)[0].value

    anchors = scenario_anchors(cluster)
    mine = like(anchors, kind)
    if not mine:
        return assumed.use(_unmeasured(assumed, key, kind, anchors, workload.software))
    ratio, drift = ratio_of(mine, assumed, band)
    if all(one.anchor.run.bare for one in mine):
        ratio = widened(ratio, band("model_band_known_stack_fraction"))
    line = assumed.ledger.given(
        f"{key}.model_error_ratio", LABEL, "1", ratio.value, _measured(mine), low=ratio.low, high=ratio.high
    )
    return assumed.use(line) * drift


def _unmeasured(
    assumed: Assumed, key: str, kind: Kind, others: Sequence[AnchorStep], software: Software | None
) -> Line:
    """1, with the band that like measured runs showed."""
    name = f"model_band_{_known(kind, software)}_fraction"
    figure, source = assumed.catalog.figure("performance", name)
    said = prior(source)
    if others:
        known = "; ".join(dict.fromkeys(str(one.kind) for one in others))
        said = replace(said, note=f"{said.note}; anchors are of another kind ({known}) than this ({kind})")
    return assumed.ledger.given(
        f"{key}.model_error_ratio", LABEL, "1", 1.0, said, low=1.0 - figure.value, high=1.0 + figure.value
    )


def _known(kind: Kind, software: Software | None) -> str:
    """Which left-out errors speak for a prediction, as the fidelity table has it."""
    if kind.sparse:
        return "moe"
    if software is None:
        return "unknown_stack"
    return "new_generation" if kind.generation == UNMEASURED else "known_stack"


def _measured(anchors: Sequence[AnchorStep]) -> Source:
    first, runs = anchors[0].anchor, [one.anchor.run for one in anchors]
    end = f"predicted as {anchors[0].setting.software.value}"
    if all(run.bare for run in runs):
        end += "; a benchmark speaks for the accelerators, and the range holds what stacks differ by"
    stacks = ", ".join(dict.fromkeys(run.stack for run in runs))
    return Source(
        where=f"{first.place.path}:{first.place.line}", basis=Basis.MEASURED, as_of=max(run.date for run in runs),
        note=f"geometric mean over {len(runs)} measured runs of {stacks} ({anchors[0].kind}), drawn towards 1 by their "
        f"number and scatter; {end}",
    )  # fmt: skip


def enter_without(
    assumed: Assumed,
    cluster: Cluster,
    key: str,
    kind: Kind,
    before: TrainingStep,
    function: Callable[..., Any],
) -> None:
    """The step as the model says it before the correction, where anchors correct it."""
    if like(scenario_anchors(cluster), kind):
        assumed.ledger.compute(
            f"{key}.step_without_anchor_s", "Training step without the anchors' correction", "s", before.step_s,
            function=function, inputs=assumed.lines, note="what the model says of this stack by itself",
        )  # fmt: skip

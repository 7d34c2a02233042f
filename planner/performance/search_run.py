"""What a training run costs under a plan: days, GPU-hours, money and energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.ledger import Ledger
from planner.performance.parallelism import Plan, gpus_in_use
from planner.performance.search import Draw, Goal, Ranked, evaluate_plans, goal_values
from planner.performance.train import Trained
from planner.units import MEGA, SECONDS_PER_DAY, SECONDS_PER_HOUR

JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True, slots=True)
class RunRates:
    """What of a scenario turns a step into a run.

    Attributes:
        tokens: Of the whole run.
        goodput_fraction: Share of scheduled time that becomes progress.
        available_fraction: Mean share of GPU-hours that work.
        scheduled_fraction: Share of the scheduled GPU-hours that the workload gets.
        node_gpus: GPUs that fail together.
        usd_per_gpu_hour: Of a scheduled GPU-hour.
        draw: Power of a GPU at the meter.
        step_ratio: Measured over predicted step time, 1 without runs of one's own.
    """

    tokens: float
    goodput_fraction: float
    available_fraction: float
    scheduled_fraction: float
    node_gpus: float
    usd_per_gpu_hour: float
    draw: Draw
    step_ratio: float


@dataclass(frozen=True, slots=True)
class Run:
    """A run of all tokens under one plan.

    Attributes:
        days: Calendar days while the job is scheduled, failures and missing nodes included.
        gpu_hours, usd, kwh: Of the GPUs that the plan uses; kwh at the meter.
    """

    step_s: float
    tokens_per_s: float
    gpus: int
    days: float
    gpu_hours: float
    usd: float
    kwh: float


def run_rates(ledger: Ledger, found: Trained, *, gpus: int, nodes: int) -> RunRates:
    """Rates of a workload from an evaluation's ledger.

    Args:
        ledger: Evaluated.
        found: The workload.
        gpus, nodes: Of the cluster.
    """

    def value(key: str) -> float:
        return float(ledger.value(key)[0])

    raw = evaluate_plans(found.case, found.plan).step.step_s
    return RunRates(
        tokens=value(f"{found.key}.tokens") * MEGA,
        goodput_fraction=value(f"{found.key}.goodput_fraction"),
        available_fraction=value("performance.availability_fraction"),
        scheduled_fraction=value(f"workload.{found.workload.id}.scheduled_fraction"),
        node_gpus=gpus / nodes,
        usd_per_gpu_hour=value("unit.usd_per_gpu_hour_sold"),
        draw=Draw(
            np.array([value("power.facility_w") / gpus]), np.array([value("power.facility_idle_w") / gpus])
        ),
        step_ratio=float((found.step.step_s / raw)[0]),
    )


def run_of(rates: RunRates, one: Ranked) -> Run:
    """The run under a plan.

    A missing node stops the model replica it belongs to, so large replicas lose more of the GPUs that work.

    Args:
        rates: Of the scenario.
        one: A plan with its step.
    """
    step_s, plan = float(one.step.step_s[0]) * rates.step_ratio, one.plan
    step_tokens = float((plan.global_batch_sequences * plan.sequence_tokens)[0])
    steps, gpus = rates.tokens / step_tokens, float(gpus_in_use(plan)[0])
    busy_s = steps * step_s / rates.goodput_fraction
    energy_j = float(goal_values(Goal.ENERGY, plan, one.step, rates.draw)[0]) * rates.step_ratio
    gpu_hours = busy_s / SECONDS_PER_HOUR * gpus
    return Run(
        step_s=step_s,
        tokens_per_s=step_tokens / step_s,
        gpus=int(gpus),
        days=busy_s / SECONDS_PER_DAY / (rates.scheduled_fraction * _working_fraction(rates, plan)),
        gpu_hours=gpu_hours,
        usd=gpu_hours * rates.usd_per_gpu_hour,
        kwh=energy_j * steps / rates.goodput_fraction / JOULES_PER_KWH,
    )


def _working_fraction(rates: RunRates, plan: Plan) -> float:
    replica = float((plan.tensor_ranks * plan.pipeline_ranks * plan.context_ranks)[0])
    nodes = max(replica / rates.node_gpus, 1.0)
    return max(1.0 - (1.0 - rates.available_fraction) * nodes, 1e-9)

"""What a training workload is predicted with: model, machine, corrections of its software, formats of its states."""

from __future__ import annotations

from dataclasses import replace

from planner.choices import Gradients, OptimiserStates, Scaling, Software
from planner.design.cluster import Cluster
from planner.performance.anchored import software_of
from planner.performance.anchors import Kind, kind_of
from planner.performance.assumed import Assumed, family
from planner.performance.feature_figures import features_of
from planner.performance.hardware import hardware
from planner.performance.memory import MemoryConstants
from planner.performance.models import ModelShape
from planner.performance.search import Case
from planner.performance.settings import Stack, training_constants
from planner.performance.shapes import shape_of
from planner.performance.software import UNFUSED
from planner.performance.training import StateBytes
from planner.scenario.schema import PlanChoice as PlanWish
from planner.scenario.schema import Workload


def training_case(assumed: Assumed, cluster: Cluster, workload: Workload) -> Case:
    """Model, machine and corrections of a workload, from the catalog's figures."""
    machine = hardware(assumed, cluster, workload.precision)
    shape = shape_of(cluster.parts.models[workload.model].item)
    stack = _stack(cluster, workload, shape)
    constants = training_constants(
        assumed, cluster.parts.groups[0].accelerator, machine, workload.precision, stack
    )
    state = _state_bytes(assumed, workload, stack.software)
    if workload.optimiser_states is not OptimiserStates.FP32:
        # each byte of state less is one less to read and one less to write
        less = assumed("optimiser_bytes_per_parameter") - state.optimiser
        traffic = constants.optimiser_bytes_per_parameter - 2.0 * less
        constants = replace(constants, optimiser_bytes_per_parameter=traffic)
    memory = MemoryConstants(
        assumed("training_activation_factor"),
        assumed("training_logit_bytes_per_entry"),
        assumed("training_reserved_bytes"),
    )
    if stack.software in UNFUSED:
        scores = assumed("training_score_bytes_per_entry_unfused")
        memory = replace(memory, score_bytes_per_entry=scores)
    features = features_of(assumed, cluster, machine, workload)
    return Case(shape, machine.chip, machine.links, constants, state, memory, features)


def _state_bytes(assumed: Assumed, workload: Workload, software: Software) -> StateBytes:
    """Bytes of a parameter's state by the formats of a workload."""
    gradients, states = workload.gradients, workload.optimiser_states
    if gradients is None:
        # submissions of MLPerf add up gradients in the weights' 16 bits
        gradients = Gradients.BF16 if software is Software.MLPERF else Gradients.FP32
    end = "" if states is OptimiserStates.FP32 else f"_{states.replace('-', '_')}"
    return StateBytes(
        assumed("weight_bytes_per_parameter"),
        assumed(f"{'weight' if gradients is Gradients.BF16 else 'gradient'}_bytes_per_parameter"),
        assumed(f"optimiser_bytes_per_parameter{end}"),
    )


def _stack(cluster: Cluster, workload: Workload, shape: ModelShape) -> Stack:
    """Software of a workload: the one it names, else that of its anchors."""
    release = workload.release
    return Stack(
        software=software_of(cluster, kind_of_workload(cluster, workload, shape), workload),
        scaling=workload.scaling or Scaling.TENSOR,
        release=(int(release[:4]), int(release[5:])) if release else None,
        windowed=bool(shape.windowed_layers[0] > 0),
        async_tensor=isinstance(workload.plan, PlanWish) and workload.plan.async_tensor,
    )


def kind_of_workload(cluster: Cluster, workload: Workload, shape: ModelShape) -> Kind:
    """What anchors have to be alike in to speak for a workload."""
    generation = family(cluster.parts.groups[0].accelerator.item.generation)
    return kind_of(generation, workload.precision, shape)

"""What runs on the cluster: workloads, their plans and their objectives.

Every field's docstring is its help text in editors, in the TUI and in ``planner init``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from planner.choices import (
    ContextKind,
    Engine,
    Gradients,
    KvCache,
    Offload,
    OptimiserStates,
    Precision,
    Recompute,
    Routing,
    Scaling,
    Schedule,
    Sharding,
    Software,
    WeightFormat,
)
from planner.scenario.fields import Count, Fraction, Id, Month, Positive, Strict
from planner.scenario.serving_load import ServingLoad

WEIGHTS_OF = {
    Precision.FP8: (WeightFormat.FP8, WeightFormat.FP8_BLOCK, WeightFormat.INT8),
    Precision.FP4: (WeightFormat.NVFP4, WeightFormat.MXFP4),
}
"""Formats whose products run in a narrow precision; 16-bit products take all others."""


class WorkloadKind(StrEnum):
    """What the GPUs do."""

    TRAINING = "training"
    SERVING = "serving"


class TokenBudget(StrEnum):
    """A rule for the number of training tokens."""

    OPTIMAL = "optimal"


class PlanChoice(Strict):
    """A parallel execution plan; data parallelism fills what the other axes leave, unless data says less."""

    tensor: Count = 1
    """Tensor-parallel ranks."""
    sequence_parallel: Annotated[bool, Field(strict=True)] | None = None
    """Tensor ranks also share out norms and residuals; as the software has it by default."""
    async_tensor: Annotated[bool, Field(strict=True)] = False
    """Tensor-parallel communication runs in pieces beside the matrix products."""
    pipeline: Count = 1
    """Pipeline stages."""
    schedule: Schedule | None = None
    """Order of a pipeline's passes: 1f1b, interleaved (with virtual_stages above 1) or zero-bubble; 1f1b or
    interleaved by virtual_stages by default."""
    microbatch: Count = 1
    """Sequences in one microbatch of one rank."""
    virtual_stages: Count = 1
    """Interleaved chunks of layers on each pipeline stage."""
    context: Count = 1
    """Context-parallel ranks, which split each sequence."""
    context_kind: ContextKind = ContextKind.RING
    """How context ranks see each other's keys and values: ring or all-gather."""
    expert: Count = 1
    """Expert-parallel ranks."""
    expert_tensor: Count = 1
    """Ranks that split one expert."""
    data: Count | None = None
    """Data-parallel ranks; as many as the GPUs allow by default. Fewer leave GPUs idle."""
    recompute: Recompute = Recompute.NONE
    """Activations computed again in the backward pass: none, selective (attention), operators (every second matrix
    product and all element-wise work) or full."""
    recompute_layers_fraction: Fraction | None = None
    """Share of layers computed again whole, where recompute is full for some only; selective and operators then hold
    for the others."""
    sharding: Sharding = Sharding.ZERO1
    """What data-parallel ranks share out: none, zero1 (optimiser states), zero2 (gradients too), fsdp (weights too)
    or hybrid (all of them inside shard groups, which are replicas of each other)."""
    shard_ranks: Count | None = None
    """Data and context ranks of a shard group of hybrid sharding; those of one scale-up domain by default."""
    offload: tuple[Offload, ...] = Field(default=(), max_length=3)
    """What rests in the host's memory: optimiser, activations, weights, or several of them."""
    gradient_compression_ratio: Annotated[float, Field(ge=1, le=1000, allow_inf_nan=False, strict=True)] = 1.0
    """Bytes of a gradient before over after compression; what it does to learning isn't judged."""
    local_steps: Annotated[int, Field(ge=1, le=100_000, strict=True)] = 1
    """Optimiser steps between two exchanges of replicas (local SGD), a what-if: the tokens to train are taken as they
    are. Needs sharding none or hybrid."""
    asynchronous: Annotated[bool, Field(strict=True)] = False
    """Replicas go on while they exchange, a what-if like local_steps, with the same needs."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        """Fields that contradict each other.

        Raises:
            ValueError: The first contradiction.
        """
        chunks, schedule = self.virtual_stages, self.schedule
        if schedule is Schedule.INTERLEAVED and chunks == 1:
            raise ValueError("schedule interleaved needs virtual_stages of 2 or more")
        if schedule in (Schedule.ONE_F_ONE_B, Schedule.ZERO_BUBBLE) and chunks > 1:
            raise ValueError(f"schedule {schedule} has virtual_stages 1; interleaved takes {chunks}")
        if schedule not in (None, Schedule.ONE_F_ONE_B) and self.pipeline == 1:
            raise ValueError(f"schedule {schedule} needs pipeline of 2 or more")
        if self.recompute is Recompute.NONE and self.recompute_layers_fraction:
            raise ValueError("recompute_layers_fraction needs recompute: full, selective or operators")
        replicas = self.sharding in (Sharding.NONE, Sharding.HYBRID)
        if (self.local_steps > 1 or self.asynchronous) and not replicas:
            raise ValueError(
                "local_steps and asynchronous need replicas that hold all states: sharding none or hybrid"
            )
        if self.shard_ranks is not None and self.sharding is not Sharding.HYBRID:
            raise ValueError("shard_ranks is for sharding: hybrid")
        if len(set(self.offload)) < len(self.offload):
            raise ValueError("offload names something twice")
        return self


class Slo(Strict):
    """Service-level objective of an inference workload."""

    ttft_p99_s: Positive = 2.0
    """Time to first token that 99 of 100 requests meet, in seconds."""
    tpot_p99_s: Positive = 0.05
    """Time between output tokens that 99 of 100 requests meet, in seconds."""


class Disaggregated(Strict):
    """Separate pools of replicas for prompts (prefill) and answers (decode), caches moving between them."""

    prefill_group: Id | None = None
    """Group of servers that only computes prompts; with decode_group. By default both pools share all servers, and of two
    kinds of servers each pool gets the one that it serves most on."""
    decode_group: Id | None = None
    """Group of servers that only decodes."""
    prefill_replicas: Count | None = None
    """Replicas that compute prompts; what serves most within the objective by default."""
    decode_replicas: Count | None = None
    """Replicas that decode; what serves most within the objective by default."""
    prefill_replica_gpus: Count | None = None
    """GPUs of a replica that computes prompts, its tensor-parallel ranks; the best of 1, 2, 4 and 8 by default."""
    decode_replica_gpus: Count | None = None
    """GPUs of a replica that decodes, its tensor-parallel ranks; the best of 1, 2, 4 and 8 by default."""

    @model_validator(mode="after")
    def _two_groups_or_none(self) -> Self:
        """Groups of both pools, apart.

        Raises:
            ValueError: One is missing, or both are the same.
        """
        if (self.prefill_group is None) != (self.decode_group is None):
            raise ValueError("prefill_group and decode_group go together: state both, or neither")
        if self.prefill_group is not None and self.prefill_group == self.decode_group:
            raise ValueError(
                "prefill_group and decode_group are the same; state neither, and the pools share it"
            )
        return self


class Workload(Strict):
    """Something that runs on the cluster."""

    id: Id
    """Short name, used in keys such as workload.<id>."""
    kind: WorkloadKind
    """training or serving."""
    model: Id
    """Model architecture, an item of the catalog."""
    share_fraction: Annotated[float, Field(ge=0.001, le=1, allow_inf_nan=False, strict=True)] = 1.0
    """Share of the scheduled GPU-hours this workload gets; what is not given out stands idle."""
    precision: Precision = Precision.BF16
    """Arithmetic of the large matrix products: bf16, fp8 or fp4."""
    scaling: Scaling | None = None
    """Scaling of fp8 and fp4 in training: tensor, row or fine (blocks or MX); tensor by default."""
    software: Software | None = None
    """Training software: its kind decides kernels, what is hidden and how well steps are known; a present-day
    Megatron of unknown kind by default."""
    release: Month | None = None
    """Release of the software, YYYY-MM; mixtures of experts train faster on late ones. 2025 by default."""
    optimiser_states: OptimiserStates = OptimiserStates.FP32
    """Master weights and moments of training: fp32, bf16-moments, 8bit-moments or bf16 (without master weights)."""
    gradients: Gradients | None = None
    """Format in which gradients are added up and reduced: fp32 or bf16; by software by default."""
    routing: Routing = Routing.BALANCED
    """How tokens spread over experts in training: balanced (as in benchmarks), skewed (as routers of real runs do) or
    capacity (padded to a capacity factor)."""
    tokens_trillion: Positive | TokenBudget | None = None
    """Training tokens, in 10^12, or optimal for 20 a parameter; the model's published count by default."""
    sequence_tokens: Count = 8192
    """Tokens in one training sequence."""
    batch_sequences: Count | None = None
    """Sequences in one optimiser step; about 16 million tokens by default."""
    plan: Literal["auto"] | PlanChoice = "auto"
    """Parallel plan, or auto to search for the fastest that fits memory."""
    input_tokens: Count = 2048
    """Prompt length of a request."""
    output_tokens: Count = 512
    """Answer length of a request."""
    prefix_hit_fraction: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False, strict=True)] = 0.0
    """Share of prompt tokens found in the prefix cache, 0 to less than 1, as the engine counts it (whole blocks). Only the
    rest is computed; memory is held, and between pools moved, for whole prompts, as if none were shared."""
    slo: Slo = Slo()
    """Latency limits the serving throughput is found under."""
    load: ServingLoad | None = None
    """Requests to be answered, by which planner search sizes a fleet; none by default."""
    engine: Engine = Engine.VLLM
    """Serving engine: vllm, tensorrt-llm or sglang; another one goes by the class it is most like."""
    disaggregated: Literal["auto"] | Disaggregated | None = None
    """Separate pools for prefill and decode: auto for the split that serves most, or what is set of it; none by
    default."""
    weights: WeightFormat | None = None
    """Format of a served model's weights: bf16, fp8, fp8-block, int8, int4, nvfp4 or mxfp4; the usual one of the
    precision by default."""
    kv_cache: KvCache | None = None
    """Format of cached keys and values: bf16 or fp8; fp8 by default where some product is narrow."""
    draft_tokens: Annotated[int, Field(ge=0, le=16, strict=True)] = 0
    """Tokens drafted for each step of speculative decoding; 0 is none."""
    acceptance_fraction: Fraction = 0.7
    """Chance that a drafted token is accepted when those before it were."""

    @model_validator(mode="after")
    def _scaling_of_a_narrow_format(self) -> Self:
        if self.scaling is not None and self.precision is Precision.BF16:
            raise ValueError("scaling is for precision fp8 or fp4")
        return self

    @model_validator(mode="after")
    def _weights_of_the_precision(self) -> Self:
        known = WEIGHTS_OF.get(self.precision)
        if self.weights is not None and known is not None and self.weights not in known:
            said = " or ".join(one.value for one in known)
            raise ValueError(
                f"weights {self.weights.value} don't go with precision {self.precision.value}, which takes {said}; "
                "precision bf16 takes any and widens them"
            )
        return self

    @field_validator("tokens_trillion", mode="before")
    @classmethod
    def _number_or_rule(cls, given: object) -> object:
        """One message for what is neither a number of tokens nor a rule.

        Raises:
            ValueError: It is neither.
        """
        number = isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given <= 1e12
        if number or given in (None, *TokenBudget):
            return given
        raise ValueError(f"is {given}, and must be more than 0, at most 1e12, or the word optimal")

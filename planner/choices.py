"""Choices that a scenario offers and the models understand."""

from __future__ import annotations

from enum import StrEnum


class Topology(StrEnum):
    """Shape of the scale-out fabric. A cluster that fits on one switch is built on it."""

    RAIL_OPTIMISED = "rail-optimised"
    FAT_TREE = "fat-tree"
    RAIL_ONLY = "rail-only"
    DUAL_TOR = "dual-tor"
    DRAGONFLY = "dragonfly"
    TORUS = "torus"
    DIRECT = "direct"
    SINGLE_SWITCH = "single-switch"
    NONE = "none"


class Precision(StrEnum):
    """Arithmetic of the large matrix products."""

    BF16 = "bf16"
    FP8 = "fp8"
    FP4 = "fp4"


class Engine(StrEnum):
    """Serving engines whose figures the catalog has; another one is described by the class it is most like."""

    VLLM = "vllm"
    TENSORRT_LLM = "tensorrt-llm"
    SGLANG = "sglang"


class WeightFormat(StrEnum):
    """How the weights of a served model are stored."""

    BF16 = "bf16"
    FP8 = "fp8"
    """One scale a tensor."""
    FP8_BLOCK = "fp8-block"
    """One scale for each block of 128 x 128."""
    INT8 = "int8"
    INT4 = "int4"
    """Widened to 16 bits before they are multiplied."""
    NVFP4 = "nvfp4"
    MXFP4 = "mxfp4"


class KvCache(StrEnum):
    """How keys and values are cached."""

    BF16 = "bf16"
    FP8 = "fp8"


class Recompute(StrEnum):
    """Activations that are computed again in the backward pass."""

    NONE = "none"
    SELECTIVE = "selective"
    """Attention cores."""
    OPERATORS = "operators"
    """Every second matrix product and all that only moves bytes; attention is kept."""
    FULL = "full"


class Sharding(StrEnum):
    """What data-parallel ranks share out among themselves."""

    NONE = "none"
    """Nothing: every rank holds all states."""
    ZERO1 = "zero1"
    """Optimiser states."""
    ZERO2 = "zero2"
    """Gradients too."""
    FSDP = "fsdp"
    """Weights too."""
    HYBRID = "hybrid"
    """All states inside a shard group, which a scale-up domain holds; groups are replicas of each other."""


class Schedule(StrEnum):
    """Order of a pipeline's forward and backward passes."""

    ONE_F_ONE_B = "1f1b"
    INTERLEAVED = "interleaved"
    ZERO_BUBBLE = "zero-bubble"
    """Gradients of the weights wait, and fill a part of the bubble at the memory of 1f1b."""


class ContextKind(StrEnum):
    """How context ranks see each other's keys and values."""

    RING = "ring"
    """Blocks go round while attention runs."""
    ALL_GATHER = "all-gather"
    """All of them are gathered before attention."""


class Offload(StrEnum):
    """What rests in the host's memory."""

    OPTIMISER = "optimiser"
    ACTIVATIONS = "activations"
    WEIGHTS = "weights"


class Routing(StrEnum):
    """How tokens spread over experts."""

    BALANCED = "balanced"
    """Evenly, as in benchmarks that force it."""
    SKEWED = "skewed"
    """As routers of real runs do; the busiest rank sets the pace."""
    CAPACITY = "capacity"
    """Experts take so many tokens and are padded to them; what is beyond is dropped."""


class OptimiserStates(StrEnum):
    """Format of master weights and moments of Adam."""

    FP32 = "fp32"
    BF16_MOMENTS = "bf16-moments"
    """Master weights in 32 bits, moments in 16."""
    EIGHT_BIT_MOMENTS = "8bit-moments"
    """Master weights in 32 bits, moments in 8 with a scale for each block."""
    BF16 = "bf16"
    """Moments in 16 bits, and no master weights beside the weights themselves."""


class Gradients(StrEnum):
    """Format in which gradients are added up and reduced."""

    FP32 = "fp32"
    BF16 = "bf16"


class Software(StrEnum):
    """A kind of training software."""

    MEGATRON_CORE = "megatron-core"
    """Megatron Core and NeMo from 2023 on."""
    MLPERF = "mlperf"
    """Tuned submissions of that kind."""
    FSDP_COMPILED = "fsdp-compiled"
    """FSDP2 with torch.compile."""
    FSDP_EAGER = "fsdp-eager"
    """FSDP2 without a compiler."""
    FSDP_2023 = "fsdp-2023"
    """FSDP of 2023 with flash attention."""
    MEGATRON_2021 = "megatron-2021"
    """Megatron of 2021 and 2022: attention in steps, nothing hidden."""
    DEEPSPEED_2022 = "deepspeed-2022"
    """The same layers under DeepSpeed's pipeline."""
    ZERO3_2021 = "zero3-2021"
    """The same layers with all states sharded and no prefetch."""


class Scaling(StrEnum):
    """Scaling of a narrow format."""

    TENSOR = "tensor"
    ROW = "row"
    FINE = "fine"
    """Blocks or MX."""

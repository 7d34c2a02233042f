"""What a row of a measured-result file may say, one class for each group.

Fields that a prediction rests on are typed; further fields (remarks, how a number was read) may stand beside
them and are not looked at.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

Count = Annotated[int, Field(ge=1, le=100_000_000)]
Bytes = Annotated[int, Field(ge=1, le=2**60)]
Positive = Annotated[float, Field(gt=0, le=1e18, allow_inf_nan=False)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=400)]


class Group(StrEnum):
    """Groups of measured results, in the order they are reported."""

    TRAINING = "training"
    COLLECTIVES = "collectives"
    INFERENCE = "inference"
    GOODPUT = "goodput"
    POWER = "power"
    GEMM = "gemm"
    """Matrix products of a table; reported only where a table is given."""


LETTERS = {
    "A": Group.TRAINING,
    "B": Group.COLLECTIVES,
    "C": Group.INFERENCE,
    "D": Group.GOODPUT,
    "E": Group.POWER,
}
"""Groups as the rows write them."""


class Typed(BaseModel):
    """Base of the classes here: immutable, unknown fields left aside."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)


class Publication(Typed):
    """Where a row was read."""

    title: str = ""
    """Title."""
    url: str = ""
    """Address."""
    where: str = ""
    """Table, page or file within it."""


class Measured(Typed):
    """Fields of every row."""

    id: Word
    """Name of the row, unique in its file."""
    group: Literal["A", "B", "C", "D", "E"]
    """A training, B collectives, C inference, D goodput and failures, E power."""
    family: Word
    """Rows of one publication, model or sweep: families count alike in the errors."""
    src: Word
    """Short name of the publication."""
    source: Publication = Publication()
    """The publication."""
    scorable: bool = True
    """False for rows that say too little to be predicted; they are left out and counted."""


class Experts(Typed):
    """Mixture of experts of a model."""

    experts: Count
    """Routed experts of a sparse layer."""
    topk: Count
    """Experts a token visits."""
    moe_ffn: Count
    """Inner width of one expert."""
    shared_ffn: int = 0
    """Summed inner width of the experts that every token visits."""
    dense_layers: int = 0
    """Layers without experts."""


class Arch(Typed):
    """Published dimensions of a model."""

    layers: Count | None = None
    hidden: Count | None = None
    heads: Count | None = None
    kv_heads: Count | None = None
    head_size: Count | None = None
    """Width of a head where it isn't hidden / heads."""
    ffn: Count | None = None
    """Inner width of the dense feed-forward."""
    vocab: Count | None = None
    glu: bool | None = None
    """Feed-forwards have a gate."""
    moe: Experts | None = None


class Parallel(Typed):
    """Parallel degrees of a run; what is left out is not stated."""

    tp: Count | None = None
    """Tensor-parallel ranks."""
    pp: Count | None = None
    """Pipeline stages."""
    dp: Count | None = None
    """Data-parallel ranks."""
    cp: Count | None = None
    """Context-parallel ranks."""
    ep: Count | None = None
    """Expert-parallel ranks."""
    etp: Count | None = None
    """Ranks that split one expert."""
    vp: Count | str | None = None
    """Chunks of layers on each pipeline stage; a word where interleaving is stated without a number."""
    fsdp: int | str | bool | None = None
    """Ranks over which all states are sharded, or the name of the strategy."""
    zero: Annotated[int, Field(ge=0, le=3)] | None = None
    """Sharding stage."""
    ga: Positive | None = None
    """Microbatches of a step."""


class Rates(Typed):
    """Published or derived rates of a training run."""

    step_time_s: Positive | None = None
    tokens_per_s_per_gpu: Positive | None = None
    tokens_per_s: Positive | None = None
    model_tflops_per_gpu: Positive | None = None
    """Model FLOP without recompute."""
    hardware_tflops_per_gpu: Positive | None = None
    """FLOP with the recomputed forward pass counted."""
    mfu: Positive | None = None


class TrainingRow(Measured):
    """A measured training run."""

    model: Word
    arch: Arch = Arch()
    gpu: Word
    gpu_note: str = ""
    """Memory rate or power limit of a variant."""
    n_gpus: Count
    gpus_per_node: Count | None = None
    scale_out: str = ""
    """Network between nodes as published, such as ``8x400G``."""
    gbs: Count | None = None
    """Sequences of one optimiser step."""
    mbs: Count | None = None
    """Sequences of one microbatch."""
    local_batch: Count | None = None
    """Sequences of one data rank in a step, not split further."""
    seq_len: Count | None = None
    """Tokens of a sequence."""
    parallel: Parallel = Parallel()
    precision: Word
    recompute: str = ""
    framework: str = ""
    release: str = ""
    """Release of the framework, such as ``26.04``."""
    metrics: Rates = Rates()
    derived: Rates | None = None


class CollectiveRow(Measured):
    """A measured collective."""

    op: Word
    gpu: Word
    n_gpus: Count
    n_nodes: Count = 1
    fabric: str = ""
    bytes: Bytes | None = None
    """Total payload, nccl-tests convention."""
    dtype: str | None = None
    time_us: Positive | None = None
    algbw_gbyte_per_s: Positive | None = Field(default=None, alias="algbw_GBps")
    busbw_gbyte_per_s: Positive | None = Field(default=None, alias="busbw_GBps")
    nccl: str | None = None
    kind: str = "measurement"
    workload: str = ""
    """Tokens, hidden size and experts of an expert-parallel exchange."""
    sms: Count | None = None
    """Streaming multiprocessors that the exchange takes."""
    mode: Literal["eager", "graph"] = "eager"
    """Whether the call is launched or replayed from a graph."""
    impl: str = ""
    """Kernel, where it isn't NCCL's."""


class ServingRates(Typed):
    """Published rates of a serving run."""

    output_tokens_per_s_total: Positive | None = None
    output_tokens_per_s_per_gpu: Positive | None = None
    samples_per_s: Positive | None = None
    ttft_ms: Positive | None = None
    ttft_mean_ms: Positive | None = None
    ttft_p99_ms: Positive | None = None
    tpot_ms: Positive | None = None
    tpot_mean_ms: Positive | None = None
    tpot_p99_ms: Positive | None = None


class LatencyLimits(Typed):
    """Limits under which a submitter chose the rate, on 99th percentiles."""

    ttft_ms: Positive | None = None
    tpot_ms: Positive | None = None

    @property
    def stated(self) -> bool:
        """Whether there is any."""
        return self.ttft_ms is not None or self.tpot_ms is not None


class InferenceRow(Measured):
    """A measured serving run."""

    model: Word
    gpu: Word
    n_gpus: Count
    tp: Count | None = None
    pp: Count | None = None
    dp: Count | None = None
    ep: Count | str | None = None
    attention_dp: Count | None = None
    """Attention groups of a replica, each with its own sequences."""
    decode_workers: Count | None = None
    """Replicas that decode, where prefill runs on others; degrees are theirs."""
    precision: Word
    """Of the large matrix products."""
    expert_precision: str = ""
    """Of routed experts where it is another one."""
    isl: Positive | None = None
    osl: Positive | None = None
    concurrency: Positive | str | None = None
    """Requests in flight over all GPUs, or a word such as ``offline``."""
    num_requests: Count | None = None
    """Requests of an offline run."""
    lengths: Literal["", "fixed", "spread"] = ""
    """Whether all requests have the lengths given, or lengths between 0.8 and 1 of them."""
    draft_tokens: Annotated[int, Field(ge=1, le=32)] | None = None
    """Tokens drafted for each step of speculative decoding."""
    acceptance_fraction: Annotated[float, Field(ge=0, le=1)] | None = None
    """Chance that a drafted token is accepted when those before it were."""
    target_qps: Positive | None = None
    slo: LatencyLimits = LatencyLimits()
    engine: str = ""
    scenario: str = ""
    metrics: ServingRates = ServingRates()

    @field_validator("concurrency", mode="before")
    @classmethod
    def _counted(cls, value: Any) -> Any:
        """A number that was written as text counts as one."""
        try:
            number = float(value) if isinstance(value, str | int | float) else value
        except ValueError:
            return value
        if isinstance(number, float) and not 0.0 < number < math.inf:
            raise ValueError(f"is {value}, and requests in flight are above zero")
        return number


class GoodputRow(Measured):
    """A measured failure rate, interruption count, checkpoint or effective training time."""

    kind: Word
    system: str = ""
    component: str = ""
    category: str = ""
    n_gpus: Count | None = None
    n_gpus_approx: Count | None = None
    gpus_per_node: Count | None = None
    days: Positive | None = None
    months: Any = None
    hours: Any = None
    """Length of the observation; of lost work what was lost. Words may stand here."""
    value: Any = None
    total: Any = None
    """All interruptions, planned ones included."""
    planned: Any = None
    unexpected: Positive | None = None
    count: Positive | None = None
    failures_per_1000_node_days: Positive | None = None
    mttf_hours: Positive | None = None
    basis: str = ""
    """measured or projected."""
    ettr: Positive | None = None
    """Effective training time over wall time."""
    checkpoint_tb: Positive | None = Field(default=None, alias="checkpoint_TB")
    save_seconds: Positive | None = None
    save_gbyte_per_s: Positive | None = Field(default=None, alias="save_GBps")
    rate_per_month: Positive | None = None
    statement: str = ""
    derived: dict[str, Any] | None = None


class PowerRow(Measured):
    """A measured draw, nameplate, PUE or matrix-product rate."""

    kind: Word
    system: str = ""
    operator: str = ""
    gpu: str = ""
    n_nodes: Count = 1
    n_gpus: Count | None = None
    workload: str = ""
    measure: str = ""
    """Where it was measured: AC at the wall, or after conversion."""
    watts: Positive | None = None
    watts_per_node_under_load_mean: Positive | None = None
    nameplate_watts: Positive | None = None
    """Nameplate of a node; looked at where nothing is known of its accelerator."""
    pue: Positive | None = None
    cooling: str = ""
    """Cooling method, an item of the catalog."""
    site: str = ""
    """Location, an item of the catalog."""


class GemmRow(Typed):
    """A measured matrix product of a table, (m, k) by (k, n)."""

    id: Word
    family: Word
    src: Word
    gpu: str
    m: Count
    n: Count
    k: Count
    dtype: str
    time_us: Positive
    impl: str = ""
    """The library and its release that made it, where the table says."""


ROWS: dict[Group, type[Measured]] = {
    Group.TRAINING: TrainingRow,
    Group.COLLECTIVES: CollectiveRow,
    Group.INFERENCE: InferenceRow,
    Group.GOODPUT: GoodputRow,
    Group.POWER: PowerRow,
}

AnyRow = TrainingRow | CollectiveRow | InferenceRow | GoodputRow | PowerRow


def json_schema() -> dict[str, Any]:
    """JSON Schema of a measured-result file: a list of rows."""
    from pydantic import TypeAdapter

    found = TypeAdapter(list[AnyRow]).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Measured results"} | found

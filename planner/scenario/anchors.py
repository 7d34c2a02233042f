"""Anchors: measured training runs of one's own stack, which correct the predicted step.

An anchor file is a short YAML that people write by hand or `planner bench anchor` writes from a benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from planner.choices import Precision, Recompute
from planner.documents import Document, load_document
from planner.errors import InputError, Place, Problem, ScenarioError
from planner.scenario.load import Loaded
from planner.scenario.schema import Count, Day, Id, Name, Positive, Strict
from planner.scenario.serving_points import ServingAnchor, is_table, kept
from planner.schema_errors import problems_of

EXAMPLE = "runs: [{id: first, date: 2026-11-30, stack: torchtitan, model: llama-3.1-8b, gpus: 8, ...}]"


class Shards(StrEnum):
    """What data-parallel ranks share out among themselves."""

    NONE = "none"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    FSDP = "fsdp"


class Kernel(StrEnum):
    """Generation of the attention kernel."""

    STACK = "stack"
    """What the stack is known for."""
    CUDNN = "cudnn"
    """cuDNN's, or FlashAttention 3 and later."""


class AnchorExperts(Strict):
    """Mixture of experts of a measured model."""

    experts: Count
    """Routed experts of a sparse layer."""
    experts_per_token: Count
    """Experts a token visits."""
    expert_ffn: Count
    """Inner width of one expert."""
    shared_ffn: Annotated[int, Field(ge=0, strict=True)] = 0
    """Summed inner width of the experts that every token visits."""
    dense_layers: Annotated[int, Field(ge=0, strict=True)] = 0
    """Layers without experts."""


class AnchorArch(Strict):
    """Dimensions of a measured model that the catalog doesn't have."""

    layers: Count
    """Transformer layers."""
    hidden: Count
    """Width of the residual stream."""
    heads: Count
    """Query heads."""
    kv_heads: Count | None = None
    """Heads of keys and values; as many as query heads by default."""
    head_size: Count | None = None
    """Width of a head; hidden / heads by default."""
    ffn: Count | None = None
    """Inner width of the dense feed-forward."""
    vocabulary: Count
    """Rows of the embedding."""
    gated_ffn: Annotated[bool, Field(strict=True)] = True
    """Feed-forwards have a gate (three matrices instead of two)."""
    tied_embeddings: Annotated[bool, Field(strict=True)] = False
    """The output head is the embedding."""
    experts: AnchorExperts | None = None
    """Mixture of experts; none in a dense model."""


class AnchorPlan(Strict):
    """How a measured run was laid out; data parallelism fills what the other axes leave."""

    tensor: Count = 1
    """Tensor-parallel ranks."""
    pipeline: Count = 1
    """Pipeline stages."""
    context: Count = 1
    """Context-parallel ranks."""
    expert: Count = 1
    """Expert-parallel ranks."""
    expert_tensor: Count = 1
    """Ranks that split one expert."""
    virtual_stages: Count = 1
    """Interleaved chunks of layers on each pipeline stage."""
    microbatch: Count = 1
    """Sequences in one microbatch of one rank."""
    sharding: Shards = Shards.ZERO1
    """What data-parallel ranks share out: none, zero1 (optimiser states), zero2 (gradients too) or fsdp (all)."""
    sequence_parallel: Annotated[bool, Field(strict=True)] = True
    """Tensor ranks also share out norms and residuals."""


class AnchorRun(Strict):
    """One measured training run."""

    id: Id
    """Short name, unique in the file."""
    date: Day
    """When it was measured."""
    stack: Name
    """Name of the training software, such as Megatron Core or torchtitan; it says what kind the run is of."""
    model: Id | None = None
    """Model, an item of the catalog; or arch."""
    arch: AnchorArch | None = None
    """Dimensions of the model, where the catalog doesn't have it."""
    server: Id | None = None
    """Server or rack, an item of the catalog; or accelerator."""
    accelerator: Id | None = None
    """Accelerator, an item of the catalog; a server that brings it is taken."""
    gpus: Count
    """GPUs of the run."""
    nic_gbit_per_s_per_gpu: Positive | None = None
    """Network rate of a GPU, one direction; the server's own by default."""
    plan: AnchorPlan = AnchorPlan()
    """Layout."""
    batch_sequences: Count
    """Sequences in one optimiser step."""
    sequence_tokens: Count
    """Tokens in one sequence."""
    precision: Precision = Precision.BF16
    """Arithmetic of the large matrix products: bf16, fp8 or fp4."""
    recompute: Recompute = Recompute.NONE
    """Activations computed again in the backward pass."""
    attention: Kernel = Kernel.STACK
    """Attention kernel: cudnn, or stack for what the stack is known for."""
    bare: Annotated[bool, Field(strict=True)] = False
    """A benchmark's steps: no loader, no logging, no checkpoints between them."""
    step_s: Positive | None = None
    """Measured seconds of one optimiser step; or tokens_per_s."""
    tokens_per_s: Positive | None = None
    """Measured tokens a second of all GPUs together."""

    @property
    def data_ranks(self) -> int:
        """Data-parallel ranks."""
        return self.gpus // (self.plan.tensor * self.plan.pipeline * self.plan.context)

    @property
    def measured_s(self) -> float:
        """The measured step."""
        if self.step_s is not None:
            return self.step_s
        assert self.tokens_per_s is not None
        return self.batch_sequences * self.sequence_tokens / self.tokens_per_s


class AnchorFile(Strict):
    """Measured runs of one's own stack."""

    schema_version: Literal[1] = 1
    """Version of this layout."""
    name: Name = "Measured runs"
    """Title."""
    runs: tuple[AnchorRun, ...] = Field(min_length=1, max_length=200)
    """The runs."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A measured run and the line it stands on."""

    run: AnchorRun
    place: Place


def load_anchors(paths: Sequence[Path]) -> tuple[Anchor, ...]:
    """Runs of anchor files, in their order.

    Raises:
        InputError: Every problem of every file, each with file, line and remedy.
    """
    found: list[Anchor] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            document = load_document(path)
        except InputError as error:
            problems += error.problems
            continue
        runs, wrong = read_anchors(document)
        found += runs
        problems += wrong
    if problems:
        raise InputError(problems)
    return tuple(found)


def read_anchors(document: Document) -> tuple[list[Anchor], list[Problem]]:
    """Runs of a document that are right, and what is wrong with it and the others."""
    problems: list[Problem] = []
    try:
        AnchorFile.model_validate(document.data)
    except ValidationError as error:
        problems = problems_of(error, document, AnchorFile)
        if not isinstance(document.data, dict):
            where = Place(document.path, 1)
            return [], [Problem("an anchor file is a mapping with a list of runs", where, remedy=EXAMPLE)]
    runs: list[Anchor] = []
    listed = document.data.get("runs")
    for index, data in enumerate(listed if isinstance(listed, list) else []):
        run = _run(data)
        if run is None:
            continue
        problems += _disagreements(run, document, index)
        runs.append(Anchor(run, document.place(("runs", index))))
    return runs, problems + _twice(runs)


def _run(data: Any) -> AnchorRun | None:
    try:
        return AnchorRun.model_validate(data)
    except ValidationError:
        return None


def _twice(runs: Iterable[Anchor]) -> list[Problem]:
    seen: dict[str, Place] = {}
    problems = []
    for one in runs:
        if one.run.id in seen:
            first = seen[one.run.id].line
            problems.append(
                Problem(
                    f"'{one.run.id}' is used twice (first on line {first})", one.place, "id", "rename one"
                )
            )
        seen.setdefault(one.run.id, one.place)
    return problems


def _disagreements(run: AnchorRun, document: Document, index: int) -> list[Problem]:
    """What fields of a run say against each other."""
    problems: list[Problem] = []

    def wrong(message: str, field: str, remedy: str) -> None:
        place = document.place(("runs", index, *field.split(".")))
        problems.append(Problem(f"run '{run.id}' {message}", place, f"runs.{index}.{field}", remedy))

    for one, other in (("step_s", "tokens_per_s"), ("model", "arch"), ("server", "accelerator")):
        given = [name for name in (one, other) if getattr(run, name) is not None]
        if len(given) != 1:
            said = "states neither" if not given else "states both"
            wrong(f"{said} {one} {'nor' if not given else 'and'} {other}", given[0] if given else one,
                  f"give {one} or {other}")  # fmt: skip
    if run.arch is not None and run.arch.ffn is None and run.arch.experts is None:
        wrong("states no width of the feed-forward", "arch", "add ffn, or experts")
    plan = run.plan
    block = plan.tensor * plan.pipeline * plan.context
    if run.gpus % block:
        wrong(f"has {run.gpus} GPUs, which tensor x pipeline x context = {block} doesn't divide", "plan",
              "state the degrees of the run")  # fmt: skip
    elif run.batch_sequences % (run.data_ranks * plan.microbatch):
        wrong(
            f"has {run.batch_sequences} sequences in a step, which {run.data_ranks} data ranks x "
            f"{plan.microbatch} in a microbatch don't divide", "batch_sequences", "state the batch of all GPUs",
        )  # fmt: skip
    return problems


def anchors_of(loaded: Loaded) -> tuple[Anchor, ...]:
    """Training runs of the anchor files that a scenario names.

    A name in a file is looked up beside that file, one on the command line from the current folder.

    Raises:
        ScenarioError: Every problem of the files.
    """
    return _of_files(loaded, _kept, tables=False)


def serving_anchors_of(loaded: Loaded) -> tuple[ServingAnchor, ...]:
    """Serving points of the tables (CSV) among the anchor files that a scenario names.

    Raises:
        ScenarioError: Every problem of the files.
    """
    return _of_files(loaded, kept, tables=True)


Stamps = tuple[tuple[Path, int, int], ...]
Found = TypeVar("Found")


def _of_files(
    loaded: Loaded, read: Callable[[Stamps], tuple[Found, ...]], *, tables: bool
) -> tuple[Found, ...]:
    named = [
        (index, beside(name, loaded.document.place(("anchors", index))))
        for index, name in enumerate(loaded.scenario.anchors)
    ]
    paths = [path for _, path in named if is_table(path) is tables]
    if not paths:
        return ()
    try:
        return read(tuple((path, path.stat().st_mtime_ns, path.stat().st_size) for path in paths))
    except OSError:
        pass
    except InputError as error:
        raise ScenarioError(error.problems) from error
    problems = [
        Problem(f"no anchor file '{path}'", loaded.document.place(("anchors", index)), "anchors",
                "name a file of planner bench anchor, or one that planner schema anchor describes")
        for index, path in named if not path.is_file()
    ]  # fmt: skip
    raise ScenarioError(problems)


@lru_cache(maxsize=16)
def _kept(stamps: Stamps) -> tuple[Anchor, ...]:
    """Files as read, until one changes: a sweep evaluates a scenario thousands of times."""
    return load_anchors([path for path, _, _ in stamps])


def beside(name: str, place: Place) -> Path:
    """A file that a scenario names: beside the file that names it, or from the current folder for ``--set``."""
    if place.path.startswith("--set"):
        return Path(name)
    return Path(place.path).parent / name

"""Which measured serving runs say nothing about a model of serving, and why: every rule in words, so that it's counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from planner.study.fidelity.schema import InferenceRow

DUPLICATE: Final = "repeats another row: same model, GPU, engine, formats, degrees, lengths, requests in flight, TTFT and TPOT"
NO_CONCURRENCY: Final = "states no number of requests in flight; a batch size beside it is a limit of the engine, which few of such runs reach"
CAPPED: Final = (
    "the server takes fewer requests than are in flight: of 256 or more they wait longer than they decode"
)
SPECULATION: Final = (
    "unlabelled speculative decoding or a gain of one release, 1.4 times as fast at every load: DeepSeek-R1 on "
    "TensorRT-LLM 1.2.0rc6.post3"
)
NO_WORKERS: Final = (
    "prefill and decode on different GPUs, and the row doesn't state how many workers there are"
)
SATURATED: Final = (
    "at the edge of the memory (3 % below it to 20 % more requests than caches fit): the time to the first token is nothing "
    "on one side and the length of a queue on the other"
)
CHOSEN: Final = "latencies of a submission: its rate, replicas and batches were chosen so that they stay just within the limits"
OTHER_POOL: Final = "prefill runs on GPUs of another pool, of which the row says too little"
FULL_RATE: Final = "by the model the rate served is all that the replicas can do, or more: latencies there are lengths of a queue"
CAPPED_FROM: Final = 256.0
"""Requests in flight from which the rule for capped servers looks."""


def key_of(row: InferenceRow) -> tuple[object, ...]:
    """What makes two rows the same measurement."""
    rates = row.metrics
    return (
        row.model, row.gpu, row.engine.partition(" ")[0], row.precision, row.expert_precision, row.isl, row.osl,
        row.concurrency, row.n_gpus, row.tp, row.pp, row.ep, row.attention_dp, row.decode_workers, row.draft_tokens, row.scenario,
        rates.ttft_mean_ms, rates.tpot_mean_ms, rates.ttft_ms, rates.tpot_ms, rates.output_tokens_per_s_total,
    )  # fmt: skip


def exclusions(rows: Sequence[InferenceRow]) -> dict[int, str]:
    """Places of rows that aren't scored, and the rule that says so; of equal rows the first one counts."""
    found: dict[int, str] = {}
    seen: set[tuple[object, ...]] = set()
    for place, row in enumerate(rows):
        key = key_of(row)
        why = DUPLICATE if key in seen else rule_of(row)
        seen.add(key)
        if why:
            found[place] = why
    return found


def rule_of(row: InferenceRow) -> str:
    """The rule that leaves a row out by itself; empty where none does."""
    rates = row.metrics
    first, token = rates.ttft_mean_ms, rates.tpot_mean_ms
    if row.scenario == "disagg" and row.decode_workers is None:
        return NO_WORKERS
    if row.scenario in ("agg", "disagg") and row.concurrency is None:
        return NO_CONCURRENCY
    if "1.2.0rc6.post3" in row.engine and "deepseek-r1" in row.model.lower():
        return SPECULATION
    many = isinstance(row.concurrency, float) and row.concurrency >= CAPPED_FROM
    if many and first and token and row.osl and row.scenario == "agg" and first > row.osl * token:
        return CAPPED
    return ""


_NOT_FITTED: Final = (
    (
        "qwen3-235b",
        "H100",
        "less room for caches than any rule gives: the workspace of experts explains part of it",
    ),
    ("qwen3-30b", "GB200", "measured at 60 % of B200, whose part is the same but for a higher rate"),
)


def left_out_of_fits(row: InferenceRow) -> str:
    """Why a fit doesn't see an offline row that is predicted and scored all the same; empty where it does."""
    name = row.model.rpartition("/")[2].lower()
    return next(
        (why for model, gpu, why in _NOT_FITTED if name.startswith(model) and row.gpu.startswith(gpu)), ""
    )

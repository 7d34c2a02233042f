"""Named corrections of the catalog as ledger lines and arrays, with a record of which were used."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.errors import CatalogError
from planner.ledger import Ledger, Line
from planner.scenario.givens import assume
from planner.sourced import Basis, Source

FILE, SERVING_FILE = "performance", "serving"
OF_SERVING = ("serving_", "tail_", "tuned_submission")
"""How keys begin that stand in the file of serving."""
UNIT = re.compile(
    r"_(?P<unit>bytes_per_(?P<per>s|parameter|element|entry|value)|fraction(_per_(?P<each>doubling))?"
    r"|ratio|factor|exponent|bytes|tokens|s)(?=_|$)"
)
"""The unit within a key: what follows it says for which chip, format, stack or release."""
WORDS = {
    "ampere": "Ampere", "hopper": "Hopper", "blackwell": "Blackwell", "other": "other accelerators",
    "16bit": "16-bit", "fp8": "FP8", "fp8_block": "FP8 in blocks", "fixed_lengths": "equal lengths", "nvfp4": "NVFP4", "narrow": "8- and 4-bit",
    "nvlink": "NVLink", "nvlink3": "NVLink 3", "nvlink4": "NVLink 4", "nvlink5": "NVLink 5",
    "infiniband": "InfiniBand", "adaptive_infiniband": "InfiniBand with adaptive routing", "efa": "EFA",
    "spraying": "packet spraying", "tuned_ecmp": "tuned ECMP", "plain_ecmp": "plain ECMP",
    "megatron_core": "Megatron Core", "megatron_2021": "Megatron of 2021", "mlperf": "MLPerf stacks",
    "torchtitan": "TorchTitan", "fsdp_2023": "FSDP of 2023", "compiled": "compiled stacks", "older": "older stacks",
    "tensorrt_llm": "TensorRT-LLM", "vllm": "vLLM", "sglang": "SGLang", "2025": "releases of 2025",
    "before_2026": "releases before 2026", "from_2026": "releases from 2026 on",
    "before_2026_06": "releases before 2026-06", "from_2026_06": "releases from 2026-06 on",
}  # fmt: skip
"""Chips, formats, links, stacks and releases as people write them."""
MODES = ("training", "serving")
NAMES = {
    "gemm_share_of_peak": "GEMM share of peak",
    "gemm_rowwise": "GEMM rate with row-wise scaling",
    "gemm_fine_scaling": "GEMM rate with fine scaling",
    "gemm_shape_constant": "GEMM shape constant",
    "gemm_fixed": "Fixed time of a GEMM",
    "grouped_gemm_share": "Grouped GEMM rate over dense",
    "expert_gemm_share": "Expert GEMM rate over dense",
    "expert_tile": "Tile of an expert GEMM",
    "expert_skew": "Squared variation of the experts' popularity",
    "serving_expert_skew": "Squared variation of the experts' popularity",
    "expert_imbalance": "Spread between ranks that the busiest has",
    "traffic_share": "Share of the memory bandwidth that traffic reaches",
    "gemm_memory_share": "Share of the memory bandwidth that a GEMM reaches",
    "gemm_share": "GEMM rate in a step over the tables'",
    "gemm_fixed_ratio": "Fixed time of a GEMM in a step over the tables'",
    "quantise_fixed": "Fixed time of quantising in a step over the tables'",
    "kv_arithmetic_share": "Rate of queries against caches over 16-bit GEMM",
    "all_reduce": "All-reduces in a step over the kernels'",
    "query_key_norm": "Fixed time of norms on queries and keys",
    "replica_sequence_fixed": "Fixed time of a sequence, all ranks",
    "lockstep": "Share of others' prompts waited for before the first token",
    "offline_sequence": "Time of a sequence without streaming over with it",
    "memory_of_free": "Share of the free memory for caches",
    "power": "Exponent of the power ratio in the sustained rate",
    "attention_stack": "Attention rate of the stack",
    "attention_sinks": "Attention rate with sinks and windows",
    "attention_full_rate_head_dim": "Head width from which attention runs at the full rate",
    "attention_head_dim": "Exponent of narrow heads in the attention rate",
    "attention_backward_flop": "Attention FLOP, backward over forward",
    "attention_backward_rate": "Attention rate, backward over forward",
    "prefill_attention_share": "Prefill attention share of peak",
    "memory_share": "Share of the memory bandwidth reached",
    "memory_traffic": "Memory traffic factor",
    "memory_backward": "Memory traffic, backward over forward",
    "memory_use": "Share of the memory used",
    "cast": "Traffic of casts",
    "gradient_traffic": "Gradient traffic",
    "logit_traffic": "Logit traffic",
    "element": "Element-wise traffic",
    "expert_traffic": "Expert traffic factor",
    "training_optimiser": "Optimiser traffic",
    "weight": "Memory of weights",
    "gradient": "Memory of gradients",
    "optimiser": "Memory of optimiser states",
    "logit": "Memory of logits",
    "activation": "Activation memory over the plain count",
    "reserved": "Reserved memory",
    "layer_fixed": "Fixed time of a layer",
    "sparse_layer_fixed": "Fixed time of a sparse layer",
    "sparse_layer_host": "Host time of a sparse layer",
    "step_fixed": "Fixed time of a step",
    "sequence_fixed": "Fixed time of a sequence",
    "request_host": "Host time of a request",
    "first_token_fixed": "Fixed time to the first token",
    "first_token_decode_steps": "Decode steps before the first token",
    "tensor_overlap": "Hidden share of tensor-parallel communication",
    "data_overlap": "Hidden share of data-parallel communication",
    "data_overlap_slowdown": "Slowdown by hidden data-parallel communication",
    "pipeline_exposed": "Exposed share of pipeline communication",
    "pipeline_interleaved_exposed": "Exposed pipeline communication, interleaved over plain",
    "sharded_hiding": "Share of compute that hides gathers of weights",
    "sharded_slowdown": "Slowdown by hidden gathers of weights",
    "expert_transfer_efficiency": "Efficiency of expert transfers",
    "expert_exposed": "Exposed share of expert exchange",
    "expert_once_per_domain": "Share of tokens that cross once per domain",
    "permute_passes": "Permutation passes",
    "straggler": "Time lost to stragglers",
    "model_band_known_stack": "Band of the step time, known stack",
    "model_band_unknown_stack": "Band of the step time, unknown stack",
    "model_band_moe": "Band of the step time, mixture of experts",
    "model_scatter_dense": "Scatter of dense runs of one stack",
    "model_scatter_moe": "Scatter of runs of one stack, mixture of experts",
    "scale_up_start": "Scale-up start time",
    "scale_up_hop": "Scale-up time per hop",
    "collective_band_measured": "Band of measured collectives",
    "collective_band_scaled": "Band of scaled collectives",
    "collective_band_doubling": "Band of scaled collectives, more for each doubling",
    "collective_band_physics": "Band of collectives on unmeasured links",
    "collective_band_network": "Band of collectives between nodes",
    "hierarchical_pipeline_fill": "Filling time of a two-tier collective",
    "scale_up_half_rate": "Scale-up time at half rate",
    "scale_up_share_of_link": "Scale-up share of the link rate",
    "scale_out_start": "Scale-out start time",
    "scale_out_hop": "Scale-out time per hop",
    "scale_out_half_rate": "Scale-out message at half rate",
    "all_reduce_start": "All-reduce start time",
    "all_reduce_hop": "All-reduce time per hop",
    "all_reduce_half_rate": "All-reduce message at half rate",
    "in_network_gain": "Gain of in-network reduction",
    "nic_efficiency": "NIC efficiency",
    "rail_only_overhead": "Rail-only overhead",
    "dragonfly_adversarial": "Bandwidth between dragonfly groups under traffic to one other group",
    "kv_share": "KV-cache read rate over the memory share",
    "kv_fill_sequences": "Sequences that fill KV-cache reads",
    "tail_first_token": "TTFT p99 over its simulated value",
    "tail_per_token": "TPOT p99 over its simulated value",
    "tuned_submission": "Throughput of tuned submissions over other stacks",
    "band_throughput": "Band of TPOT and throughput",
    "band_first_token": "Band of TTFT",
}
"""Names of figures that read badly with their underscores taken out."""

T = TypeVar("T")


class Assumed:
    """Reads figures of ``performance.yaml`` and ``serving.yaml`` and remembers the lines for `inputs`."""

    def __init__(self, ledger: Ledger, catalog: Catalog) -> None:
        self.ledger, self.catalog = ledger, catalog
        self.lines: list[Line] = []

    def use(self, line: Line) -> Floats:
        """Values of a line, remembered as an input."""
        if line not in self.lines:
            self.lines.append(line)
        return self.ledger.value(line)

    def __call__(self, key: str) -> Floats:
        """Values of a figure, shape (n,)."""
        label, unit = label_and_unit(key)
        return self.use(assume(self.ledger, self.catalog, file_of(key), key, label, unit))

    def first_of(self, *keys: str) -> Floats:
        """The first of several figures that the catalog has: the special case before the general one.

        Raises:
            CatalogError: It has none of them.
        """
        for key in keys[:-1]:
            if f"assumption.{key}" in self.ledger:
                return self(key)
            try:
                self.catalog.figure(file_of(key), key)
            except CatalogError:
                continue
            return self(key)
        return self(keys[-1])


def file_of(key: str) -> str:
    """File of ``catalog/assumptions`` in which a figure stands.

    >>> file_of("serving_layer_fixed_s"), file_of("training_layer_fixed_s")
    ('serving', 'performance')
    """
    return SERVING_FILE if key.startswith(OF_SERVING) else FILE


@cache
def label_and_unit(key: str) -> tuple[str, str]:
    """What a person reads for a figure's key, and its unit.

    >>> label_and_unit("gemm_share_of_peak_blackwell_16bit_fraction")
    ('GEMM share of peak, Blackwell, 16-bit', 'fraction')
    >>> label_and_unit("scale_out_hop_s_efa"), label_and_unit("serving_step_fixed_s_vllm")
    (('Scale-out time per hop, EFA', 's'), ('Fixed time of a step, vLLM, serving', 's'))
    """
    found = UNIT.search(key)
    unit, name, rest = "1", key, ""
    if found is not None:
        unit, name, rest = _unit(found), key[: found.start()], key[found.end() + 1 :]
    # Chips and formats may also stand before the unit, at the end of the name.
    name, said = _without_words(name)
    left, more = _without_words(rest)
    said += ([left.replace("_", " ")] if left else []) + more
    mode, _, stem = name.partition("_")
    if mode in MODES:
        said.append(mode)
    else:
        stem = name
    label = NAMES.get(name) or NAMES.get(stem) or stem.replace("_", " ").capitalize()
    return ", ".join([label, *said]), unit


def _without_words(text: str) -> tuple[str, list[str]]:
    """Text without the known words at its end, and those words as people write them."""
    said: list[str] = []
    while text:
        end = max((word for word in WORDS if f"_{text}".endswith(f"_{word}")), key=len, default="")
        if not end:
            break
        said.insert(0, WORDS[end])
        text = text[: -len(end)].removesuffix("_")
    return text, said


def _unit(found: re.Match[str]) -> str:
    unit = found["unit"]
    if found["per"]:
        return f"byte/{found['per']}"
    if unit.startswith("fraction"):
        return f"fraction/{found['each']}" if found["each"] else "fraction"
    return {"bytes": "byte", "tokens": "tokens", "s": "s"}.get(unit, "1")


def prior(band: Source) -> Source:
    """Source of a factor that is 1 until somebody measures, with the band that like runs showed."""
    return Source(
        where=band.where, source=band.source, basis=Basis.ESTIMATE, as_of=band.as_of, verified=False,
        note="1 until a run of your own says otherwise; the range is the error of predictions of like runs",
    )  # fmt: skip


def rows(values: T, count: int) -> T:
    """The first rows of a dataclass of arrays: draws keep the plan that the first row chose."""
    assert is_dataclass(values) and not isinstance(values, type)
    cut: dict[str, Any] = {}
    for field in fields(values):
        value = getattr(values, field.name)
        if isinstance(value, np.ndarray):
            cut[field.name] = value[:count]
        elif is_dataclass(value):
            cut[field.name] = rows(value, count)
    return replace(values, **cut)


def family(generation: str) -> str:
    """Generation under which efficiencies are tabulated.

    >>> family("blackwell-ultra"), family("cdna3")
    ('blackwell', 'other')
    """
    known = next((name for name in ("ampere", "hopper", "blackwell") if generation.startswith(name)), "other")
    return "other" if generation == "blackwell-gb202" else known

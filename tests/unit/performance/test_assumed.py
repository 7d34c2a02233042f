"""Names and units of the performance model's factors."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from planner.documents import load_document
from planner.performance.assumed import FILE, label_and_unit
from planner.resources import shipped

DOCUMENT = load_document(Path(shipped("catalog")) / "assumptions" / f"{FILE}.yaml")
KEYS = tuple(DOCUMENT.data["figures"])


@pytest.mark.parametrize(
    ("key", "label", "unit"),
    [
        ("gemm_share_of_peak_blackwell_16bit_fraction", "GEMM share of peak, Blackwell, 16-bit", "fraction"),
        ("serving_gemm_fixed_s_hopper_fp8", "Fixed time of a GEMM, Hopper, FP8, serving", "s"),
        ("scale_out_half_rate_bytes", "Scale-out message at half rate", "byte"),
        ("in_network_gain_ratio_nvlink", "Gain of in-network reduction, NVLink", "1"),
        ("spine_efficiency_fraction_plain_ecmp", "Spine efficiency, plain ECMP", "fraction"),
        ("permute_passes_before_2026_06", "Permutation passes, releases before 2026-06", "1"),
        ("weight_bytes_per_parameter", "Memory of weights", "byte/parameter"),
        (
            "training_straggler_fraction_per_doubling",
            "Time lost to stragglers, training",
            "fraction/doubling",
        ),
        ("some_new_thing_ratio_of_tomorrow", "Some new thing, of tomorrow", "1"),
    ],
)
def test_a_key_becomes_words_and_a_unit(key: str, label: str, unit: str) -> None:
    assert label_and_unit(key) == (label, unit)


def test_every_factor_has_a_name_of_its_own_without_abbreviations_in_small_letters() -> None:
    labels = Counter(label_and_unit(key)[0] for key in KEYS)
    assert [label for label, times in labels.items() if times > 1] == []
    raw = r"_|\b(gemm|fp8|16bit|nvlink|kv|nic|hopper|blackwell|vllm|ecmp|moe|bytes)\b"
    assert [label for label in labels if re.search(raw, label)] == []


def test_notes_are_written_for_readers() -> None:
    notes = [figure["note"] for figure in DOCUMENT.data["figures"].values()]
    inside = r"lb-|As above|[Tt]he notes|[Tt]he same for|a proposal"
    assert [note for note in notes if re.search(inside, note)] == []

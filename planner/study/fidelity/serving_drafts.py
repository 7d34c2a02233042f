"""Speculative decoding of measured serving runs: what a row states of its draft."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from planner.performance.models import ModelShape
from planner.performance.serving_speculation import NO_SPECULATION, Speculation
from planner.study.fidelity.schema import InferenceRow

USUAL_DRAFT: Final = 3
"""Tokens drafted in the recipes of InferenceX that predict several tokens, where a row names no number."""
USUAL_ACCEPTANCE: Final = 0.65
"""Chance of a drafted token where a row states none: with three of them it explains the 47 runs of DeepSeek-R1 best that the
rule for unlabelled speculation leaves out (0.6 to 0.7; 10 % off in the median)."""
_NAMED: Final = re.compile(r"\bmtp\s*[=:-]?\s*(\d)?|\beagle|\bspec(?:ulative)?[- _]dec", re.IGNORECASE)


def speculation_of(row: InferenceRow, shape: ModelShape, said: list[str]) -> Speculation:
    """The draft of a row: as its fields state it, or as its engine's name mentions it.

    Args:
        row: With `draft_tokens` and `acceptance_fraction`, or ``MTP=3`` or ``EAGLE`` in its engine.
        shape: A prediction module takes about one layer's time of the model's.
        said: Takes what was settled.

    Returns:
        Fields of shape (1,).
    """
    named = _NAMED.search(row.engine)
    if row.draft_tokens is None and named is None:
        return NO_SPECULATION
    drafted = row.draft_tokens or int((named[1] if named is not None else None) or USUAL_DRAFT)
    chance = row.acceptance_fraction
    if row.draft_tokens is None:
        said.append(f"a draft of {drafted} tokens taken from the engine's name")
    if chance is None:
        chance = USUAL_ACCEPTANCE
        said.append(f"{chance:.0%} of the drafted tokens taken to be accepted, since the row states no share")
    return Speculation(np.array([float(drafted)]), np.array([chance]), 1.0 / shape.layers)

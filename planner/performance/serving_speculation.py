"""Speculative decoding: how many tokens a step yields when a draft is checked, and what drafting costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.arrays import Floats


@dataclass(frozen=True, slots=True)
class Speculation:
    """A draft of a few tokens that one step of the model checks; fields broadcast to shape (n,).

    Attributes:
        draft_tokens: Tokens drafted for each step, 0 for none.
        acceptance_fraction: Chance that a drafted token is accepted when those before it were.
        draft_ratio: Time of drafting one token over that of a step: a prediction module of one layer takes about one
            over the model's layers.
    """

    draft_tokens: Floats
    acceptance_fraction: Floats
    draft_ratio: Floats


NO_SPECULATION = Speculation(np.zeros(1), np.zeros(1), np.zeros(1))


def tokens_per_step(*, draft_tokens: Floats, acceptance_fraction: Floats) -> Floats:
    """Tokens that a step yields for each sequence: the accepted start of the draft, and one of the model's own.

    Acceptance is taken as independent from token to token, so the expected number is a geometric sum.

    Args:
        draft_tokens: Tokens drafted, 0 or more.
        acceptance_fraction: Chance of each, 0 to 1.

    Returns:
        Shape (n,), or whatever the arguments broadcast to; 1 without a draft.

    Source:
        Counted: 1 + a + ... + a^k.

    >>> tokens_per_step(draft_tokens=np.array([0.0, 3.0, 3.0]), acceptance_fraction=np.array([0.8, 0.5, 1.0]))
    array([1.   , 1.875, 4.   ])
    """
    sure = acceptance_fraction >= 1.0
    chance = np.where(sure, 0.5, acceptance_fraction)
    return np.where(sure, draft_tokens + 1.0, (1.0 - chance ** (draft_tokens + 1.0)) / (1.0 - chance))


def time_ratio(speculation: Speculation) -> Floats:
    """Time of a step with its draft over that of the checking alone, shape (n,).

    >>> time_ratio(Speculation(np.array([3.0]), np.array([0.8]), np.array([0.02])))
    array([1.06])
    """
    return np.asarray(1.0 + speculation.draft_tokens * speculation.draft_ratio)

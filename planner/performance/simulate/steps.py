"""Iteration times as a table, built once for a replica, so that a simulated step costs a look-up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from planner.arrays import Floats

StepTime = Callable[[Floats, Floats, Floats, Floats, Floats], Floats]
"""Seconds of a step from arrays: decode sequences, mean tokens in their caches, prompt tokens of the step, mean tokens
that one of those sees, prompts."""

COLUMNS = 128
CONTEXTS = 64
EXACT = 16
GROWTH = 1.12


@dataclass(frozen=True, slots=True)
class StepTable:
    """Seconds of a step by decode sequences and prompt tokens, and what contexts add to it.

    A step is base(sequences, prompt tokens) + cache(sequences, mean context) + prompt tokens x seen(mean seen), the last
    over the attention groups that fill in prompts beside each other. Between columns the values run straight.

    Attributes:
        base: Row for each number of sequences, column for each `width` prompt tokens.
        width: Prompt tokens between two columns.
        cache_factor: For each number of sequences, seconds of reading their caches over `cache` at its context.
        cache: By context, each `context_width` tokens.
        seen_s: Seconds for each prompt token by mean tokens seen, each `context_width` tokens; of one attention group.
        groups: Attention groups.
        mean_prompt_tokens: By which a step's prompt tokens are so many prompts.
    """

    base: tuple[tuple[float, ...], ...]
    width: float
    cache_factor: tuple[float, ...]
    cache: tuple[float, ...]
    seen_s: tuple[float, ...]
    context_width: float
    groups: float = 1.0
    mean_prompt_tokens: float = 1.0

    def slower(self, ratio: float) -> StepTable:
        """The table with every time so many times as long."""
        return replace(
            self,
            base=tuple(tuple(one * ratio for one in row) for row in self.base),
            cache=tuple(one * ratio for one in self.cache),
            seen_s=tuple(one * ratio for one in self.seen_s),
        )

    def step_s(
        self, sequences: int, context_tokens: float, prompt_tokens: float = 0.0, seen_tokens: float = 0.0
    ) -> float:
        """Seconds of one step of a replica.

        Args:
            sequences: That decode, at most the table's.
            context_tokens: Mean tokens in their caches.
            prompt_tokens: Computed in this step.
            seen_tokens: Mean tokens that one of those sees.
        """
        row = self.base[sequences]
        if prompt_tokens:
            at = prompt_tokens / self.width
            left = min(int(at), len(row) - 2)
            total = row[left] + (row[left + 1] - row[left]) * (at - left)
            at = seen_tokens / self.context_width
            left = min(int(at), CONTEXTS - 1)
            low = self.seen_s[left]
            beside = 1.0
            if self.groups > 1.0:
                beside = min(max(prompt_tokens / self.mean_prompt_tokens, 1.0), self.groups)
            total += prompt_tokens / beside * (low + (self.seen_s[left + 1] - low) * (at - left))
        else:
            total = row[0]
        if sequences:
            at = context_tokens / self.context_width
            left = min(int(at), CONTEXTS - 1)
            low = self.cache[left]
            total += self.cache_factor[sequences] * (low + (self.cache[left + 1] - low) * (at - left))
        return total


def step_table(
    time: StepTime,
    *,
    most_sequences: int,
    most_prompt_tokens: float,
    mean_prompt_tokens: float,
    most_context_tokens: float,
    groups: float = 1.0,
) -> StepTable:
    """Tabulate a step's time.

    The step is evaluated exactly up to 16 sequences and on a grid of ratio 1.12 beyond, and on a like grid of prompt
    tokens; the table is filled in by straight lines (error below 1 % of a step, tested).

    Args:
        time: The iteration model.
        most_sequences: Sequences that decode at once at most.
        most_prompt_tokens: Prompt tokens of one step at most.
        mean_prompt_tokens: By which a step's prompt tokens are so many prompts, at least one.
        most_context_tokens: Longest context.
        groups: Attention groups, each of which fills in other prompts.

    Returns:
        See `StepTable`.
    """
    width = max(1.0, most_prompt_tokens / COLUMNS)
    rows = _grid(most_sequences)
    columns = np.concatenate([[0.0], np.arange(1, COLUMNS + 1) * width])
    coarse = np.unique(columns[np.minimum(_grid(COLUMNS), COLUMNS).astype(int)])
    sequences, prompts = (part.ravel() for part in np.meshgrid(rows, coarse, indexing="ij"))
    nothing = np.zeros_like(sequences)
    several = np.minimum(np.maximum(prompts / mean_prompt_tokens, 1.0), prompts)
    known = time(sequences, nothing, prompts, nothing, several).reshape(rows.size, coarse.size)
    every: Floats = np.arange(most_sequences + 1.0, dtype=np.float64)
    wide = np.array([np.interp(columns, coarse, row) for row in known])
    base = np.array([np.interp(every, rows, column) for column in wide.T]).T
    context_width = max(1.0, most_context_tokens / CONTEXTS)
    contexts: Floats = np.asarray(np.arange(CONTEXTS + 1) * context_width, dtype=np.float64)
    return StepTable(
        tuple(map(tuple, base.tolist())), width, *_cache(time, rows, every, contexts),
        _seen(time, contexts, mean_prompt_tokens), context_width, groups, mean_prompt_tokens,
    )  # fmt: skip


def _grid(most: int) -> Floats:
    """Whole numbers up to the most, every one at first."""
    if most <= EXACT:
        return np.arange(most + 1.0)
    count = int(np.ceil(np.log(most / EXACT) / np.log(GROWTH))) + 1
    return np.unique(np.concatenate([np.arange(EXACT), np.rint(np.geomspace(EXACT, most, count))]))


def _cache(
    time: StepTime, rows: Floats, every: Floats, contexts: Floats
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Reading of caches: a factor by sequences, seconds by context for the most sequences."""
    none, last = np.zeros_like(rows), np.full_like(rows, contexts[-1])
    by_rows = time(rows, last, none, none, none) - time(rows, none, none, none, none)
    still = np.zeros_like(contexts)
    most = np.full_like(contexts, rows[-1])
    by_context = time(most, contexts, still, still, still) - time(most, still, still, still, still)
    factor = np.interp(every, rows, by_rows / by_rows[-1] if by_rows[-1] > 0.0 else none)
    return tuple(factor.tolist()), tuple(by_context.tolist())


def _seen(time: StepTime, contexts: Floats, tokens: float) -> tuple[float, ...]:
    """Attention of a prompt token by what it sees."""
    none, some, one = np.zeros_like(contexts), np.full_like(contexts, tokens), np.ones_like(contexts)
    added = time(none, none, some, contexts, one) - time(none, none, some, none, one)
    return tuple((added / tokens).tolist())

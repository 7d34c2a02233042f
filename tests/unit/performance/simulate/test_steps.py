"""The table of step times against the model it was made from."""

from __future__ import annotations

import numpy as np
import pytest

from planner.arrays import Floats
from planner.performance.simulate.steps import step_table


def seconds(decodes: Floats, context: Floats, prompt: Floats, seen: Floats, prompts: Floats) -> Floats:
    """Bound by memory or arithmetic, with a window of 2,000 tokens and few sequences that don't fill the machine."""
    del prompts
    bound = np.sqrt(0.01**2 + (2e-5 * (decodes + prompt)) ** 2)
    cache = (decodes + 8.0 * (decodes > 0)) * (context + np.minimum(context, 2000.0)) * 1e-9
    return bound + cache + prompt * (seen + np.minimum(seen, 2000.0)) * 1e-9


TABLE = step_table(
    seconds,
    most_sequences=500,
    most_prompt_tokens=8192.0,
    mean_prompt_tokens=1000.0,
    most_context_tokens=8000.0,
)


@pytest.mark.parametrize("decodes", [0, 1, 7, 33, 100, 499])
@pytest.mark.parametrize("prompt", [0.0, 60.0, 700.0, 8192.0])
@pytest.mark.parametrize("context", [300.0, 2500.0, 7900.0])
def test_steps_between_the_columns_are_within_one_percent(
    decodes: int, prompt: float, context: float
) -> None:
    if not decodes and not prompt:
        return
    one = np.ones(1)
    expected = seconds(decodes * one, context * one, prompt * one, context / 2 * one, one)[0]
    assert TABLE.step_s(decodes, context, prompt, context / 2) == pytest.approx(expected, rel=0.01)


def test_prompts_of_several_attention_groups_fill_in_beside_each_other() -> None:
    def beside(decodes: Floats, context: Floats, prompt: Floats, seen: Floats, prompts: Floats) -> Floats:
        return 0.01 + 1e-5 * (decodes + prompt) + prompt * seen * 1e-8 / np.clip(prompts, 1.0, 4.0)

    table = step_table(
        beside, most_sequences=8, most_prompt_tokens=8000.0, mean_prompt_tokens=1000.0, most_context_tokens=2000.0,
        groups=4.0,
    )  # fmt: skip
    one = np.ones(1)
    for prompt in (500.0, 1000.0, 3000.0, 8000.0):
        several = max(prompt / 1000.0, 1.0)
        expected = beside(2.0 * one, 0.0 * one, prompt * one, 500.0 * one, several * one)[0]
        assert table.step_s(2, 0.0, prompt, 500.0) == pytest.approx(expected, rel=0.01)

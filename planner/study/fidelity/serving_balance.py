"""What TensorRT-LLM's balance of attention groups costs a closed loop: prompts wait until every group has one."""

from __future__ import annotations

from typing import Final

import numpy as np

from planner.arrays import Floats

TIMEOUT_STEPS: Final = 60.0
"""Steps that a first prompt waits for the other groups' at most, in InferenceX's scripts and TensorRT-LLM's own examples
(``attention_dp_config: {enable_balance: true, batching_wait_iters: 0, timeout_iters: 60}``)."""


def balance_wait_steps(*, groups: Floats, arrivals_per_step: Floats) -> Floats:
    """Decode steps that a prompt waits in the mean before any group fills one in.

    A window opens with the first prompt and closes when there is one for each group, or after the timeout; those who
    come meanwhile wait half of it in the mean.

    Args:
        groups: Attention groups of the replica.
        arrivals_per_step: Prompts that come to the replica in a decode step: sequences in decode over tokens of an answer.

    Returns:
        Shape (n,), or whatever the arguments broadcast to; zero for one group.

    Source:
        Counted, with even arrivals. Runs of DeepSeek-R1 with 4 and 8 groups wait 15 to 48 steps longer than those of one
        group on releases of 2026, and 40 to 90 on earlier ones.

    >>> balance_wait_steps(groups=np.array([1.0, 8.0, 8.0]), arrivals_per_step=np.array([0.1, 0.07, 7.0])).round(1)
    array([ 0. , 35.8,  0.6])
    """
    others = groups - 1.0
    window = np.minimum(TIMEOUT_STEPS, others / np.maximum(arrivals_per_step, 1e-9))
    joining = arrivals_per_step * window
    waited = window * (1.0 + joining / 2.0) / (1.0 + joining)
    return np.where(others > 0.0, waited, 0.0)

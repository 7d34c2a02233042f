"""Kinds of training software by the names that people and publications give them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.performance.software import Software


@dataclass(frozen=True, slots=True)
class Stack:
    """A class of training software.

    Attributes:
        pattern: Framework names it stands for.
        zero_stage: Sharding where a row states none.
        interleaves: A pipeline without a stated number of chunks has two layers in each.
    """

    name: str
    pattern: str
    software: Software
    zero_stage: int = 1
    interleaves: bool = False


STACKS = (
    Stack("DeepSpeed ZeRO-3 of 2021", r"deepspeed zero", Software.ZERO3_2021, zero_stage=3),
    Stack("Megatron-DeepSpeed of 2022", r"megatron-deepspeed \(202[12]\)", Software.DEEPSPEED_2022),
    Stack("Megatron of 2021-22", r"megatron-lm \(202[12]\)", Software.MEGATRON_2021, zero_stage=0),
    Stack("FSDP of 2023", r"mosaicml|composer", Software.FSDP_2023, zero_stage=3),
    Stack("torch.compile with FSDP2", r"torchtitan", Software.FSDP_COMPILED, zero_stage=3),
    Stack("PyTorch without a compiler", r"planner bench.*eager", Software.FSDP_EAGER),
    Stack("PyTorch with torch.compile", r"planner bench", Software.FSDP_COMPILED),
    Stack("MLPerf submission", r"mlperf", Software.MLPERF, interleaves=True),
    Stack(
        "PyTorch",
        r"^(?!.*(megatron|nemo|primus)).*(fsdp|torchtune|\bpytorch\b|lightning)",
        Software.FSDP_COMPILED,
        zero_stage=3,
    ),
    Stack("Megatron Core", r"megatron|nemo|primus", Software.MEGATRON_CORE),
)


def stack_of(framework: str) -> Stack | None:
    """The class of a framework's name; None for one that isn't known.

    >>> stack_of("NeMo/Megatron-Core, v24.11.1").name, stack_of("MaxText")
    ('Megatron Core', None)
    """
    return next((one for one in STACKS if re.search(one.pattern, framework.lower())), None)


def release_month(text: str) -> tuple[int, int] | None:
    """Year and month of a release.

    >>> release_month("26.04.01"), release_month("")
    ((2026, 4), None)
    """
    found = re.match(r"(\d{2})\.(\d{2})", text)
    return (2000 + int(found[1]), int(found[2])) if found else None

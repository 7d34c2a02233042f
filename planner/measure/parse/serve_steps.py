"""Serving steps of a bench result: times of whole models from the measured layers, and points of an anchor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planner.measure.run.serve_cases import DECODE, HEAD, PREFILL

ENGINE = "plain-torch"
OUTPUT_OVER_INPUT = 2
"""Answers twice as long as prompts: the mean context is then twice the prompt, which was measured too."""


@dataclass(frozen=True)
class ServeStep:
    """A step of a whole model: its layers by the measured ones, and embedding and head as measured.

    `sequences` of `tokens` each: prompts in a prefill, caches in a decode step. `layer_s` is of one layer.
    """

    phase: str
    model: str
    ranks: int
    sequences: int
    tokens: int
    layers: int
    layer_s: float
    head_s: float

    @property
    def step_s(self) -> float:
        """The whole model's step.

        >>> round(ServeStep("decode", "m", 1, 1, 512, 32, 1e-4, 3e-4).step_s, 6)
        0.0035
        """
        return self.layers * self.layer_s + self.head_s


def measured_points(document: dict[str, Any], *phases: str) -> list[dict[str, Any]]:
    """Points of the section `serve` that hold a time, of some phases or all."""
    points = document["sections"].get("serve") or []
    return [
        one for one in points
        if isinstance(one, dict) and "median_us" in one and (not phases or one.get("phase") in phases)
    ]  # fmt: skip


def serve_steps(document: dict[str, Any]) -> list[ServeStep]:
    """Prefill and decode steps whose output head was measured too.

    Raises:
        KeyError: A point lacks part of its configuration.
    """
    heads = {_key(one, one["tokens"]): one["median_us"] for one in measured_points(document, HEAD)}
    found = []
    for one in measured_points(document, PREFILL, DECODE):
        head = heads.get(_key(one, one["tokens"] if one["phase"] == PREFILL else 1))
        if head is not None:
            layer_us = one["median_us"] / one["layers"]
            found.append(
                ServeStep(one["phase"], one["model"], one["tensor_ranks"], one["sequences"], one["tokens"],
                          one["model_layers"], layer_us / 1e6, head / 1e6)
            )  # fmt: skip
    return found


def _key(point: dict[str, Any], tokens: int) -> tuple[str, int, int, int]:
    return point["model"], point["tensor_ranks"], point["sequences"], tokens


def anchor_points(document: dict[str, Any], *, gpu: str, date: str) -> list[dict[str, Any]]:
    """Points of a serving anchor of the class plain-torch, plain data with the columns of its table.

    A point has the time for each token of so many sequences at a mean context of the prompt and half the answer.
    Without a scheduler nothing says how prompts of several requests queue, so only a single request has a time to the
    first token.
    """
    steps = {
        (one.phase, one.model, one.ranks, one.sequences, one.tokens): one for one in serve_steps(document)
    }
    found = []
    for (phase, model, ranks, sequences, context), decode in steps.items():
        prompt = context // OUTPUT_OVER_INPUT
        if phase != DECODE:
            continue
        first = steps.get((PREFILL, model, ranks, 1, prompt)) if sequences == 1 else None
        found.append({
            "model": model, "gpu": gpu, "engine": ENGINE, "precision": "bf16", "concurrency": sequences,
            "isl": prompt, "osl": prompt * OUTPUT_OVER_INPUT,
            "ttft_ms": f"{first.step_s * 1e3:.5g}" if first else "", "tpot_ms": f"{decode.step_s * 1e3:.5g}",
            "tp": ranks, "date": date,
        })  # fmt: skip
    return found

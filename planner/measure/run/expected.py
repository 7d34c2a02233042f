"""What hardware is expected to reach: a small file made from the catalog and from measured facts.

`expected.json` lies beside this module, so that a bare container has it; `tests/expected.py` writes it from the
catalog, the saved runs and the tables of others, and a test compares. Nothing here guesses: what the file lacks
is None.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("expected.json")


@dataclass(frozen=True)
class Range:
    """What is expected of a share; `high` is None where figures give a floor alone.

    >>> Range(0.7, 0.8).verdict(0.75), Range(0.7, 0.8).verdict(0.6), Range(0.7, None).verdict(0.9)
    ('within', 'below', 'within')
    """

    low: float
    high: float | None
    measured_on: tuple[str, ...] = ()

    def verdict(self, value: float) -> str:
        """Where a value lies: below, within or above."""
        if value < self.low:
            return "below"
        return "above" if self.high is not None and value > self.high else "within"


@dataclass(frozen=True)
class Expectation:
    """What one accelerator is expected to do, with the link and the arithmetic that it shares with others."""

    item: dict[str, Any]
    whole: dict[str, Any]

    @property
    def link_gbyte_per_s(self) -> float | None:
        """Scale-up rate of one accelerator, one way, decimal gigabytes."""
        return _number(self.item.get("scaleup_gbyte_per_s_one_way"))

    @property
    def memory_gbyte_per_s(self) -> float | None:
        """Memory bandwidth of the data sheet."""
        return _number(self.item.get("memory_gbyte_per_s"))

    @property
    def power_limit_w(self) -> float | None:
        """Power limit as sold."""
        return _number(self.item.get("power_limit_w"))

    def peak_tflop_per_s(self, dtype: str) -> float | None:
        """Dense peak of the data sheet."""
        return _number(self.item["peak_tflop_per_s"].get(dtype))

    def busbw(self, op: str, ranks: int, size_bytes: int) -> Range | None:
        """Bus bandwidth of a large message as a share of the link's one-way rate, inside one host."""
        link = self.whole["links"].get(self.item.get("scaleup"), {})
        by_ranks = link.get("busbw_share", {}).get(op, {})
        found = [at_size(by_ranks[str(count)], size_bytes) for count in _around(by_ranks, ranks)]
        known = [item for item in found if item is not None]
        if not known or len(known) < len(found):
            return None
        highs = [item.high for item in known]
        whole = None if None in highs else max(high for high in highs if high is not None)
        return Range(min(item.low for item in known), whole, tuple(link["measured_on"]))

    def share(self, quantity: str) -> Range | None:
        """A share of peak of this accelerator, such as square_8192_bf16 or memory_copy."""
        shares = self.item.get("shares", {}).get(quantity)
        return None if shares is None else Range(shares["low"], shares["high"], tuple(shares["measured_on"]))

    def host_link(self, generation: int | None) -> tuple[float, Range | None] | None:
        """Rate of a PCIe x16 slot of a generation one way, and the share that pinned copies reach."""
        link = self.whole["host_links"].get(str(generation))
        if link is None:
            return None
        share = link.get("pinned_share")
        found = share and Range(share["low"], share["high"], tuple(share["measured_on"]))
        return float(link["gbyte_per_s"]), found


def at_size(curve: Sequence[Sequence[float]], size_bytes: int) -> Range | None:
    """The range at a size, between points of size, low and high; beyond the last one a floor alone.

    >>> at_size([[1024, 0.4, 0.5], [4096, 0.6, 0.7]], 2048)
    Range(low=0.5, high=0.6, measured_on=())
    >>> at_size([[1024, 0.4, 0.5]], 4096), at_size([[1024, 0.4, 0.5]], 512)
    (Range(low=0.4, high=None, measured_on=()), None)
    """
    if not curve or size_bytes < curve[0][0]:
        return None
    for (size, low, high), (after, low_after, high_after) in pairwise(curve):
        if size <= size_bytes < after:
            part = math.log(size_bytes / size) / math.log(after / size)
            return Range(low + part * (low_after - low), high + part * (high_after - high))
    size, low, high = curve[-1]
    return Range(low, high if size_bytes == size else None)


def _around(by_ranks: dict[str, Any], ranks: int) -> list[int]:
    """The group sizes with figures that a group lies between, or its own."""
    known = sorted(int(count) for count in by_ranks)
    if ranks in known:
        return [ranks]
    below, above = [n for n in known if n < ranks], [n for n in known if n > ranks]
    return [below[-1], above[0]] if below and above else []


def _number(found: Any) -> float | None:
    return None if found is None else float(found)


@cache
def load() -> dict[str, Any]:
    """The whole file."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def expectation_for(name: str) -> Expectation | None:
    """The expectation for a device by the name its driver reports; None for one that isn't in the file.

    >>> expectation_for("NVIDIA H200").link_gbyte_per_s, expectation_for("Some GPU") is None
    (450.0, True)
    """
    whole = load()
    for item in whole["accelerators"]:
        if name.casefold() in (known.casefold() for known in item["names"]):
            return Expectation(item, whole)
    return None

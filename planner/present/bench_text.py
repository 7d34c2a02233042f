"""A step split for a terminal and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from planner.measure.parse.trace_split import CollectiveSplit, Explanation
from planner.measure.run.findings import op_text, percent, rate_text, size_text

WIDTH = 80
MOST_RATES = 2


def explanation_text(found: Explanation, *, modelled: bool, gpus_per_node: int | None = None) -> str:
    """Where the time goes, by rank and by collective, and whom everyone waits for.

    Args:
        found: The split.
        modelled: Whether a model was asked for expectations.
        gpus_per_node: To say whether a group lies inside one node.
    """
    lines = [*_rank_table(found), "", *_collective_table(found)]
    for sentence in _sentences(found, modelled, gpus_per_node):
        lines += ["", *textwrap.wrap(sentence, WIDTH, break_on_hyphens=False)]
    return "\n".join(lines) + "\n"


def explanation_data(found: Explanation, *, gpus_per_node: int | None = None) -> dict[str, Any]:
    """The same for programs: microseconds, bytes, decimal GB/s and Gbit/s."""
    data = asdict(found)
    for item, told in zip(data["collectives"], found.collectives, strict=True):
        item["exposed_us"], item["waiting_us"] = told.exposed_us, told.waiting_us
        rate = told.busbw_gbyte_per_s
        item["busbw_gbit_per_s"] = None if rate is None else rate * 8
        item["verdict"] = verdict(told)
        item["place"] = _place(told, gpus_per_node)
    return data


def verdict(item: CollectiveSplit) -> str | None:
    """How a transfer stands to what the model expects; None where it expects nothing, or waiting is included."""
    if item.expected_s is None or not item.separated:
        return None
    low, _, high = item.expected_s
    seconds = item.transfer_us / 1e6
    return "slower" if seconds > high else "faster" if seconds < low else "as expected"


def time_text(microseconds: float) -> str:
    """A time in the unit that suits it.

    >>> time_text(253.7), time_text(6494.8), time_text(2.5e6), time_text(0)
    ('254 us', '6.49 ms', '2.5 s', '0 us')
    """
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= scale:
            return f"{microseconds / scale:.3g} {unit}"
    return f"{microseconds:.3g} us"


def _rank_table(found: Explanation) -> list[str]:
    heads = ("rank", "wall", "computing", "waiting", "exchange", "copies", "idle", "hidden")
    lines = ["{:>4} {:>9} {:>10} {:>9} {:>9} {:>8} {:>7} {:>10}".format(*heads)]
    for one in found.ranks:
        parts = (one.compute_us, one.waiting_us, one.exchange_us, one.copy_us, one.idle_us)
        shares = [percent(part / one.wall_us) if one.wall_us else "-" for part in parts]
        if not found.matched:
            shares[1] = "-"
        lines.append(
            f"{one.rank:>4} {time_text(one.wall_us):>9} {shares[0]:>10} {shares[1]:>9} {shares[2]:>9} {shares[3]:>8} "
            f"{shares[4]:>7} {time_text(one.hidden_us):>10}"
        )
    return lines


def _collective_table(found: Explanation) -> list[str]:
    if not found.collectives:
        return ["no collective in these traces"]
    heads = ("collective", "size", "ranks", "calls", "transfer", "bus GB/s", "exposed", "waiting")
    lines = ["{:<15} {:>9} {:>6} {:>6} {:>9} {:>9} {:>9} {:>9}".format(*heads)]
    for item in found.collectives:
        ranks = len(item.by_rank)
        rate = "-" if item.busbw_gbyte_per_s is None else f"{item.busbw_gbyte_per_s:.4g}"
        size = "-" if item.bytes is None else size_text(item.bytes)
        mark = "" if item.separated else "*"
        lines.append(
            f"{op_text(item.op)[:15]:<15} {size:>9} {item.ranks or '-':>6} {item.calls:>6} "
            f"{time_text(item.transfer_us) + mark:>9} {rate + mark if rate != '-' else rate:>9} "
            f"{time_text(item.exposed_us / ranks):>9} {time_text(item.waiting_us / ranks) if item.separated else '-':>9}"
        )
    if not all(item.separated for item in found.collectives):
        lines.append("* waiting included: whole durations, since ranks could not be compared")
    lines.append("exposed and waiting: not behind compute, the mean of the ranks")
    return lines


def _sentences(found: Explanation, modelled: bool, gpus_per_node: int | None) -> Iterator[str]:
    waited = _waited_for(found)
    if waited:
        yield waited
    costly = next((item for item in found.collectives if item.exposed_us > 0), None)
    if costly is not None:
        place = _place(costly, gpus_per_node)
        waiting = f", {time_text(costly.waiting_us)} of it waiting" if costly.separated else ""
        yield (
            f"The collective that costs most wall time is {_named(costly)}{f' ({place})' if place else ''}: "
            f"{time_text(costly.exposed_us)} exposed over all ranks{waiting}."
        )
    rated = [item for item in found.collectives if item.separated and item.busbw_gbyte_per_s is not None]
    # Without a model the table says the same; the costliest stand here for their rate in bits.
    for item in rated if modelled else rated[:MOST_RATES]:
        yield _beside_the_model(item, gpus_per_node)
    if not modelled and found.collectives:
        yield "No expectation: give --system and --nodes to set the model's beside these."
    for note in found.notes:
        yield f"Note: {note}."


def _named(item: CollectiveSplit) -> str:
    size = "" if item.bytes is None else f" of {size_text(item.bytes)}"
    return f"{op_text(item.op)}{size}" + (f" over {item.ranks} ranks" if item.ranks else "")


def _waited_for(found: Explanation) -> str:
    if len(found.ranks) == 1:
        return (
            "One rank alone: waiting can't be told from the exchange. Give the traces of all ranks."
            if found.collectives
            else ""
        )
    if not found.matched:
        return (
            "No collective could be compared between the ranks, so whom they wait for isn't known."
            if found.collectives
            else ""
        )
    rank = max(found.waited_for_us, key=lambda one: found.waited_for_us[one])
    waited, whole = found.waited_for_us[rank], sum(found.waited_for_us.values())
    worst = max((item for item in found.collectives if item.separated), key=lambda item: item.waiting_us)
    where = f", most in {_named(worst)}" if worst.waiting_us > 0 else ", all of it behind compute"
    came = f"it arrived last in {found.last_to_arrive[rank]} of {found.matched} collectives"
    if 2 * waited > whole:
        return f"Everyone waits for rank {rank}: {came}, and the others waited {time_text(waited)} for it in all{where}."
    return (
        f"No one rank is waited for: the last to arrive changes. Ranks waited {time_text(whole)} in all{where}; "
        f"{time_text(waited)} of it for rank {rank} ({came})."
    )


def _beside_the_model(item: CollectiveSplit, gpus_per_node: int | None) -> str:
    assert item.busbw_gbyte_per_s is not None
    name = _named(item)
    said = f"{name[0].upper()}{name[1:]}: the transfer takes {time_text(item.transfer_us)}, bus bandwidth {rate_text(item.busbw_gbyte_per_s)}"
    if item.expected_s is None:
        return f"{said}."
    low, typical, high = (time_text(value * 1e6) for value in item.expected_s)
    place = _place(item, gpus_per_node)
    link = {"inside one node": "the scale-up link", "": "the link"}.get(place, "the fabric")
    end = {
        "slower": f"slower than the model, so look at {link}",
        "faster": "faster than the model",
        "as expected": "as expected",
    }
    return f"{said}; expected {typical} ({low} to {high}): {end[verdict(item) or 'as expected']}."


def _place(item: CollectiveSplit, gpus_per_node: int | None) -> str:
    if not gpus_per_node or not item.members:
        return ""
    nodes = len({rank // gpus_per_node for rank in item.members})
    return "inside one node" if nodes == 1 else f"across {nodes} nodes"

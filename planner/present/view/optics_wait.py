"""Wait for optics or buy now, as tables and in words."""

from __future__ import annotations

from planner.present import format as fmt
from planner.present.view.model import Cell, Column, Table
from planner.present.view.reading import words
from planner.study.optics import Comparison
from planner.study.optics_wait import Awaited


def wait_words(comparison: Comparison) -> str:
    """The answer in a sentence or two; empty where nothing can be bought now."""
    wait = comparison.wait
    if wait is None:
        return ""
    dated = [one for one in wait.awaited if one.net_usd is not None]
    paying = [one for one in dated if one.pays]
    sure = [one for one in paying if not one.bound]
    buy = f"{wait.buy} with {wait.scale_up}"
    if sure:
        best = max(sure, key=lambda one: one.net_usd or 0.0)
        return f"Waiting for {best.id} until {best.date} pays: {fmt.money(best.net_usd or 0.0)} over buying {buy} now."
    if paying:
        names = ", ".join(one.id for one in paying)
        return (
            f"Buy {buy} now unless {names} can be ordered by its date at the price of nothing: only the upper bound of "
            "what it could save would pay for the wait."
        )
    longest = max((one.longest_months or 0.0 for one in wait.awaited), default=0.0)
    date = next((one.latest for one in wait.awaited if (one.longest_months or 0.0) == longest), "")
    later = (
        "it would pay at no date"
        if longest <= 0 or not date
        else (f"even with optics for nothing it would have to end by {date}")
    )
    return f"Buy {buy} now: no wait for a roadmap part pays, {later}."


def wait_tables(comparison: Comparison) -> tuple[Table, ...]:
    """Roadmap parts with what waiting does, and the numbers it rests on."""
    wait = comparison.wait
    if wait is None:
        return ()
    parts = Table(
        "optics-wait",
        f"Waiting against buying {wait.buy} on {wait.day} ({wait.scale_up}); no order holds a roadmap part",
        (
            Column("Roadmap part", numeric=False), Column("From", numeric=False), Column("Saves", "M USD"),
            Column("Waiting", "M USD"), Column("+ servers", "M USD"), Column("Faster", "%"),
            Column("Until", numeric=False), Column("Why no order", numeric=False),
        ),
        tuple(_row(one) for one in wait.awaited),
    )  # fmt: skip
    rests = Table(
        "optics-wait-assumed", "What waiting rests on",
        (
            Column("Number", numeric=False), Column("Value"), Column("Unit", numeric=False), Column("Source", numeric=False),
        ),
        tuple(
            (
                words(one.label), Cell(fmt.significant(one.value), one.value), words(one.unit),
                words(", ".join(part for part in (one.source.where, one.source.source, one.source.as_of) if part)),
            )
            for one in wait.assumed
        ),
    )  # fmt: skip
    return parts, rests


def _row(one: Awaited) -> tuple[Cell, ...]:
    def millions(value: float | None) -> Cell:
        return words(fmt.NOTHING) if value is None else Cell(fmt.signed(value / 1e6), value / 1e6)

    most = "<= " if one.bound else ""
    faster = (
        words(fmt.NOTHING) if one.speed_up is None else Cell(fmt.percent(one.speed_up), one.speed_up * 100)
    )
    return (
        words(one.id), words(one.date or "no date"), Cell(f"{most}{fmt.significant(one.gain_usd / 1e6)}", one.gain_usd / 1e6),
        millions(one.net_usd), millions(one.net_with_servers_usd), faster, words(one.latest or "never"), words(one.why_not),
    )  # fmt: skip

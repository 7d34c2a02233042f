"""Short peaks of synchronous work, and the feeds of a rack that have to carry them.

Accelerators of a job start and stop together, so a rack swings above its steady draw for fractions of a second.
Circuits are sized for the sustained peak, derated, and for the swing within what a breaker lets pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from planner.arrays import Floats
from planner.catalog.conversion import PowerConversion
from planner.catalog.schema import Server
from planner.catalog.store import Entry
from planner.design.cluster import Cluster
from planner.design.inventory import State
from planner.design.ports import refusal
from planner.errors import Remedy
from planner.ledger import Ledger, Line
from planner.ledger.nodes import Expr, added
from planner.power.figures import Figures
from planner.power.it_load import Load
from planner.scenario.givens import figure_line
from planner.scenario.schema import Redundancy
from planner.units import KILO

FEEDS = ("rack-pdu", "busway-tap")
"""Items of ``power_conversion`` that feed racks, the smallest first; a plan takes the first that suffices."""


@dataclass(frozen=True, slots=True)
class Feed:
    """Feeds of each rack of one kind of server.

    Attributes:
        feeds: Ledger line with the feeds of a rack, all paths together.
        racks: Racks so fed.
        peak_w: Ledger line with a full rack's sustained peak.
    """

    entry: Entry[PowerConversion]
    feeds: Line
    racks: int
    peak_w: Line


def transient_w(*, steady_w: Floats, ratio: Floats) -> Floats:
    """Short draw of what runs one synchronous job.

    Source:
        ai-infrastructure-readiness (1.4 for GB300 racks).

    >>> import numpy as np
    >>> transient_w(steady_w=np.array([115e3]), ratio=np.array([1.4])).round()
    array([161000.])
    """
    return np.asarray(steady_w * ratio)


def feeds_needed(
    *, peak_w: Floats, short_w: Floats, rating_w: Floats, derating: Floats, overload_ratio: Floats
) -> Floats:
    """Feeds of one path that carry a rack alone, for as long as the other path is gone.

    Args:
        peak_w: Sustained peak of the rack.
        short_w: Its transient.
        rating_w: Of one feed.
        derating: Share of the rating that may flow for long.
        overload_ratio: Multiple of the rating that passes for seconds.

    >>> import numpy as np
    >>> feeds_needed(peak_w=np.array([34e3]), short_w=np.array([48e3]), rating_w=np.array([43e3]),
    ...     derating=np.array([0.8]), overload_ratio=np.array([1.25]))
    array([1.])
    """
    asked = np.maximum(peak_w / derating, short_w / overload_ratio)
    return np.maximum(np.ceil(asked / rating_w - 1e-9), 1.0)


def transients(ledger: Ledger, cluster: Cluster, loads: Sequence[Load]) -> tuple[Feed, ...]:
    """Enter transients of racks and of the hall, and the feeds of every kind of server rack.

    Raises:
        DesignError: A rack swings above what its feeds, or the stated limit of a rack, let pass.
    """
    figures = Figures(ledger, cluster.parts.catalog)
    servers = {group.server.item.id: group.server for group in cluster.parts.groups}
    short: list[Expr] = []
    feeds: list[Feed] = []
    for load in loads:
        server = servers.get(load.consumer.slug)
        typical = load.watts[State.TYPICAL]
        if server is None:
            short.append(load.watts[State.PEAK])
            continue
        ratio = _ratio(figures, server)
        short.append(typical * ratio)
        feeds.append(_rack(ledger, figures, cluster, load, server, ratio))
    ledger.derive(
        "power.it_transient_w", "IT power, short peak of all servers in step", "W", added(short),
        note="fractions of a second; breakers and the overload of the UPS are held against it, meters don't see it",
    )  # fmt: skip
    return tuple(feeds)


def _ratio(figures: Figures, server: Entry[Server]) -> Line:
    """Short over steady draw: the server's own figure, else that of racks or of servers."""
    item = server.item
    if item.power_transient_ratio is not None:
        return figure_line(
            figures.ledger, f"watts.{item.id}.transient_ratio", f"Short over steady draw of {item.name}", "1",
            server, "power_transient_ratio",
        )  # fmt: skip
    key = "power_transient_ratio" if item.is_rack else "power_transient_server_ratio"
    figures(key)
    return figures.ledger[f"assumption.{key}"]


def _rack(
    ledger: Ledger, figures: Figures, cluster: Cluster, load: Load, server: Entry[Server], ratio: Line
) -> Feed:
    item = server.item
    group = next(one for one in cluster.layout.groups if one.id == item.id)
    held = ledger.compute(
        f"power.rack.{item.id}.servers", f"{item.name} in a full rack", "1", group.items_per_rack,
        function=transients, inputs=["design.racks"], note="the most that units, power and weight allow",
    )  # fmt: skip
    peak = ledger.derive(
        f"power.rack.{item.id}.peak_w", f"Sustained peak of a rack of {item.name}", "W",
        held * load.each[State.PEAK],
    )  # fmt: skip
    short = ledger.derive(
        f"power.rack.{item.id}.transient_w", f"Short peak of a rack of {item.name}", "W",
        held * load.each[State.TYPICAL] * ratio,
    )  # fmt: skip
    _refuse_over_limit(cluster, item, group.items_per_rack, ledger.value(short), figures)
    return _feed(ledger, figures, cluster, server, (peak, short), group.racks)


def _feed(
    ledger: Ledger,
    figures: Figures,
    cluster: Cluster,
    server: Entry[Server],
    draws: tuple[Line, Line],
    racks: int,
) -> Feed:
    item, (peak, short) = server.item, draws
    paths = 1 if cluster.parts.loaded.scenario.site.redundancy is Redundancy.N else 2
    chosen, each = _choose(cluster, figures, item.name, ledger.value(peak), ledger.value(short))
    feeds = ledger.compute(
        f"power.rack.{item.id}.feeds", f"Feeds of a rack of {item.name}: {chosen.item.name}", "1", paths * each,
        function=feeds_needed, inputs=[peak, short, *figures.lines],
        note=f"{paths} path{'s' if paths > 1 else ''}, each of which carries the rack alone",
    )  # fmt: skip
    return Feed(chosen, feeds, racks, peak)


def _choose(
    cluster: Cluster, figures: Figures, name: str, peak_w: Floats, short_w: Floats
) -> tuple[Entry[PowerConversion], Floats]:
    """The smallest feed of which a rack takes enough."""
    most_kw = 0.0
    for feed in FEEDS:
        entry = cluster.parts.catalog.entry(PowerConversion, feed)
        allowed = float(entry.item.per_path_max or 1)
        rating = _conversion(figures, entry, "rating_kw", "Rating", "kW")
        overload = _conversion(figures, entry, "overload_ratio", "Short draw over rating", "1")
        each = feeds_needed(
            peak_w=peak_w, short_w=short_w, rating_w=rating * KILO,
            derating=figures("circuit_derating_fraction"), overload_ratio=overload,
        )  # fmt: skip
        # draws keep the design: the feed is refused only where no draw of the numbers fits it
        if float(np.min(each)) <= allowed:
            return entry, np.minimum(each, allowed)
        most_kw = max(most_kw, allowed * float(rating[0]) * float(figures("circuit_derating_fraction")[0]))
    kw = float(np.min(peak_w)) / KILO
    raise refusal(
        f"a rack of {name} peaks at {kw:,.0f} kW, and its feeds carry {most_kw:,.0f} kW on one path",
        *_cooler(cluster, most_kw / kw),
        Remedy(f"racks of at most {most_kw:,.0f} kW", ("site", "rack_limit_kw"), float(np.floor(most_kw))),
        key="site.rack_limit_kw",
    )


def _refuse_over_limit(
    cluster: Cluster, server: Server, held: int, short_w: Floats, figures: Figures
) -> None:
    """A stated limit of a rack is its feed's rating: a short peak may pass it only by what breakers allow."""
    limit = cluster.parts.loaded.scenario.site.rack_limit_kw
    if limit is None:
        return
    first = cluster.parts.catalog.entry(PowerConversion, FEEDS[0])
    overload = _conversion(figures, first, "overload_ratio", "Short draw over rating", "1")[0]
    kw, allowed = float(np.min(short_w)) / KILO, limit * float(overload)
    if kw <= allowed:
        return
    raise refusal(
        f"a rack of {server.name} swings to {kw:,.0f} kW for a moment, and feeds of {limit:,.0f} kW let "
        f"{allowed:,.0f} kW pass",
        *_cooler(cluster, allowed / kw),
        _larger_feed(server, held, kw / held / float(overload)),
        key="site.rack_limit_kw",
    )


def _larger_feed(server: Server, held: int, each_kw: float) -> Remedy:
    """Feeds that the swing of a rack fits, where a larger limit doesn't bring more servers into it.

    Args:
        held: Servers in a rack now.
        each_kw: Rating that the swing of one server asks for.
    """
    plate = server.power_max_w.value / KILO
    for servers in range(held, 0, -1):
        wanted = ceil(servers * each_kw * 10.0) / 10.0
        if server.is_rack or wanted < (servers + 1) * plate:
            wanted = max(wanted, servers * plate)
            return Remedy(f"feeds of {wanted:,.1f} kW a rack", ("site", "rack_limit_kw"), wanted)
    return Remedy(f"feeds that let {each_kw:,.1f} kW pass for each server")


def _cooler(cluster: Cluster, share: float) -> list[Remedy]:
    """A power limit on accelerators that brings a rack within a share of its draw, where one may be set."""
    now = cluster.parts.loaded.scenario.site.power_cap_fraction
    # the host's draw stays, so the accelerators give somewhat more than the rack has to
    wanted = float(np.floor(max(0.0, now * (1.0 - 1.3 * (1.0 - share))) * 100.0)) / 100.0
    if wanted < 0.3:
        return []
    return [Remedy(f"a power limit of {wanted:.0%} on accelerators", ("site", "power_cap_fraction"), wanted)]


def _conversion(figures: Figures, entry: Entry[PowerConversion], field: str, label: str, unit: str) -> Floats:
    line = figure_line(
        figures.ledger, f"conversion.{entry.item.id}.{field}", f"{label} of {entry.item.name}", unit, entry, field,
        missing=1.0,
    )  # fmt: skip
    return figures.use(line)

"""Where a step's time goes: computing, exchanging, waiting for others, copying, idle.

Collectives of one group end together, so a rank's time in one is its wait for the last rank to arrive and then
the transfer; the least time over the ranks is the transfer, and the rank that has it is the one that the others wait
for. Durations alone are compared, so that the ranks' clocks needn't agree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from planner.measure.parse.trace_spans import (
    COLLECTIVE,
    MEMORY,
    NAMELESS,
    Interval,
    RankTrace,
    Span,
    length,
    of_spans,
    union,
    without,
)
from planner.measure.run.rules import bus_factor
from planner.measure.run.stats import percentile

Expected = Callable[[str, int, int], tuple[float, float, float] | None]
"""Low, typical and high seconds of a collective, by op, bytes and ranks; None where the model has none."""


PAIR = "pair"

Key = tuple[str, int | None, int | None]


@dataclass(frozen=True)
class RankSplit:
    """Microseconds of one rank; computing, waiting, exchanging, copying and idle add up to the whole.

    `hidden_us` is time in collectives behind compute, which costs no wall time. Waiting is what of the exposed
    time is known to be a wait for others; in a single trace it can't be told from the exchange.
    """

    rank: int
    wall_us: float
    compute_us: float
    waiting_us: float
    exchange_us: float
    copy_us: float
    idle_us: float
    hidden_us: float
    steps: int = 0


@dataclass(frozen=True)
class RankShare:
    """One collective on one rank: calls, time, and what of it was exposed or known to be waiting."""

    rank: int
    calls: int
    total_us: float
    exposed_us: float
    waiting_us: float


@dataclass(frozen=True)
class CollectiveSplit:
    """One collective of one size over groups of one size.

    `transfer_us` is the middle over the calls of the least time over the ranks; where `separated` is false it is
    the middle of the durations, waiting included. The bus bandwidth follows from it.
    """

    op: str
    bytes: int | None
    ranks: int | None
    members: tuple[int, ...]
    calls: int
    separated: bool
    transfer_us: float
    busbw_gbyte_per_s: float | None
    expected_s: tuple[float, float, float] | None
    by_rank: tuple[RankShare, ...]

    @property
    def exposed_us(self) -> float:
        """Over all ranks."""
        return sum(share.exposed_us for share in self.by_rank)

    @property
    def waiting_us(self) -> float:
        """Over all ranks."""
        return sum(share.waiting_us for share in self.by_rank)


@dataclass(frozen=True)
class Explanation:
    """A step split. `waited_for_us` is, for each rank, the time others spent waiting for it to arrive."""

    ranks: tuple[RankSplit, ...]
    collectives: tuple[CollectiveSplit, ...]
    waited_for_us: dict[int, float]
    last_to_arrive: dict[int, int]
    matched: int
    notes: tuple[str, ...] = ()


@dataclass
class _Waits:
    """What matching the ranks' collectives gave: the transfer of each span by identity, and who came last."""

    transfer_us: dict[int, float] = field(default_factory=dict)
    per_key: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    waited_for_us: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    last: Counter[int] = field(default_factory=Counter)
    matched: int = 0
    notes: list[str] = field(default_factory=list)


def explain(traces: Sequence[RankTrace], expected: Expected | None = None) -> Explanation:
    """Split the time of every rank, match their collectives, and set the model's expectation beside them."""
    waits = _match(traces)
    keys = sorted(
        {_key(span) for trace in traces for span in trace.of(COLLECTIVE)},
        key=lambda key: (key[0], key[1] or 0, key[2] or 0),
    )
    collectives = [_collective(traces, key, waits, expected) for key in keys]
    return Explanation(
        ranks=tuple(_rank(trace, waits) for trace in traces),
        collectives=tuple(sorted(collectives, key=lambda item: -item.exposed_us)),
        waited_for_us=dict(sorted(waits.waited_for_us.items())),
        last_to_arrive=dict(sorted(waits.last.items())),
        matched=waits.matched,
        notes=tuple(dict.fromkeys(waits.notes)),
    )


def _key(span: Span) -> Key:
    return span.op, span.bytes, span.ranks


def _match(traces: Sequence[RankTrace]) -> _Waits:
    waits = _Waits()
    if len(traces) < 2:
        return waits
    by_group: dict[tuple[str, Key], dict[int, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for trace in traces:
        for span in trace.of(COLLECTIVE):
            group = _group(trace.rank, span)
            if group is not None:
                by_group[group, _key(span)][trace.rank].append(span)
    for (group, key), rows in by_group.items():
        present = {rank: spans for rank, spans in rows.items() if spans}
        whole = 2 if group.startswith(PAIR) else key[2] or len(traces)
        if len(present) < 2:
            continue
        if len(present) < whole:
            waits.notes.append(
                f"{whole - len(present)} of {whole} ranks of a group are not among the traces, so the last to arrive may be missing"
            )
        for instance in _instances(present, waits):
            _one_instance(instance, key, waits)
    return waits


def _group(rank: int, span: Span) -> str | None:
    """What tells the groups apart whose collectives end together; None for what can't be matched.

    A send and its receive end together too, where the trace says who the other is.
    """
    if span.op == "sendrecv":
        if span.peer is None or span.peer == rank:
            return None
        return f"{PAIR} {min(rank, span.peer)} {max(rank, span.peer)} of {span.group}"
    return None if span.op == NAMELESS else span.group


def _instances(rows: dict[int, list[Span]], waits: _Waits) -> list[dict[int, Span]]:
    """The same call on every rank: by its number in the group, else by its place where all made as many."""
    if all(span.sequence is not None for spans in rows.values() for span in spans):
        numbered = {rank: {span.sequence: span for span in spans} for rank, spans in rows.items()}
        shared = set.intersection(*(set(row) for row in numbered.values()))
        return [
            {rank: row[number] for rank, row in numbered.items()}
            for number in sorted(shared, key=lambda n: n or 0)
        ]
    if len({len(spans) for spans in rows.values()}) > 1:
        op = next(iter(rows.values()))[0].op
        waits.notes.append(f"the ranks show different numbers of {op}, so these are not compared")
        return []
    count = len(next(iter(rows.values())))
    return [{rank: spans[place] for rank, spans in rows.items()} for place in range(count)]


def _one_instance(instance: dict[int, Span], key: Key, waits: _Waits) -> None:
    last = min(instance, key=lambda rank: (instance[rank].duration_us, rank))
    transfer = instance[last].duration_us
    waits.matched += 1
    waits.last[last] += 1
    waits.per_key[key].append(transfer)
    for span in instance.values():
        waits.transfer_us[id(span)] = transfer
        waits.waited_for_us[last] += span.duration_us - transfer


def _waiting(span: Span, waits: _Waits) -> Interval:
    """The first part of a collective, before the last rank came; empty where that isn't known."""
    transfer = waits.transfer_us.get(id(span), span.duration_us)
    return span.start_us, span.end_us - transfer


def _rank(trace: RankTrace, waits: _Waits) -> RankSplit:
    start, end = trace.window
    collectives = trace.of(COLLECTIVE)
    compute = trace.computing
    exchange = of_spans(collectives)
    waiting = without(union(_waiting(span, waits) for span in collectives), compute)
    exposed = without(exchange, compute)
    copies = without(of_spans(trace.of(MEMORY)), union([*compute, *exchange]))
    busy = length(compute) + length(exposed) + length(copies)
    return RankSplit(
        rank=trace.rank,
        wall_us=end - start,
        compute_us=length(compute),
        waiting_us=length(waiting),
        exchange_us=length(without(exposed, waiting)),
        copy_us=length(copies),
        idle_us=end - start - busy,
        hidden_us=length(exchange) - length(exposed),
        steps=trace.steps,
    )


def _collective(
    traces: Sequence[RankTrace], key: Key, waits: _Waits, expected: Expected | None
) -> CollectiveSplit:
    op, size, ranks = key
    shares, durations = [], []
    members: set[tuple[int, ...]] = set()
    for trace in traces:
        spans = [span for span in trace.of(COLLECTIVE) if _key(span) == key]
        if spans:
            durations += [span.duration_us for span in spans]
            members |= {span.members for span in spans}
            shares.append(_share(trace, spans, waits))
    separated = bool(waits.per_key.get(key))
    transfer = percentile(waits.per_key[key] if separated else durations, 50)
    return CollectiveSplit(
        op=op,
        bytes=size,
        ranks=ranks,
        members=members.pop() if len(members) == 1 else (),
        calls=max(share.calls for share in shares),
        separated=separated,
        transfer_us=transfer,
        busbw_gbyte_per_s=_busbw(op, size, ranks, transfer),
        expected_s=expected(op, size, ranks) if expected and size and ranks and ranks > 1 else None,
        by_rank=tuple(shares),
    )


def _share(trace: RankTrace, spans: list[Span], waits: _Waits) -> RankShare:
    compute = trace.computing
    return RankShare(
        rank=trace.rank,
        calls=len(spans),
        total_us=sum(span.duration_us for span in spans),
        exposed_us=length(without(of_spans(spans), compute)),
        waiting_us=length(without(union(_waiting(span, waits) for span in spans), compute)),
    )


def _busbw(op: str, size: int | None, ranks: int | None, transfer_us: float) -> float | None:
    if not size or not ranks or ranks < 2 or transfer_us <= 0:
        return None
    try:
        return size / transfer_us / 1e3 * bus_factor(op, ranks)
    except ValueError:
        return None

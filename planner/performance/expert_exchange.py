"""Times of expert dispatch and combine by kernels made for it, as DeepEP's.

Low-latency kernels, for decoding, send a message for every (token, expert). Normal kernels, for training and
prefill, send a token once to every node that holds one of its experts and forward it there over the scale-up
links. All rates are per rank and one direction.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np

from planner.arrays import Floats

PREFIX = "expert_exchange_"
"""Figures of `catalog/assumptions/performance.yaml` are the constants' names after this."""
SCALE_BYTES, SCALED_ELEMENTS = 4.0, 128.0
"""Formats narrower than 16 bits carry one float32 for each 128 elements."""
USUAL_EXPERTS, USUAL_SMS = 256, 20.0
"""Experts and communication SMs of DeepEP's benchmarks and of its buffers, where nothing else is said."""
_WORDS = re.compile(r"(\d+) tokens?, hidden (\d+), top-(\d+)")
_GROUPS, _EXPERTS = re.compile(r"top-(\d+) groups?"), re.compile(r"(\d+) experts?")


class Phase(StrEnum):
    """Tokens to their experts, and results back."""

    DISPATCH = "dispatch"
    COMBINE = "combine"


class Kernel(StrEnum):
    """Which kernels carry the exchange."""

    LOW_LATENCY = "low_latency"
    NORMAL = "normal"


@dataclass(frozen=True, slots=True)
class TokenWork:
    """What each rank routes; fields broadcast to shape (n,).

    Attributes:
        tokens: Tokens of one rank.
        hidden: Elements of a token.
        copies: Experts that a token goes to, drawn evenly.
        experts: Routed experts in all, `copies` or more.
        element_bytes: Of the dispatched (1 for FP8) or combined (2 for BF16) element, scales apart.
        node_limit: Most nodes a token may go to (group-limited routing); infinity for no limit.
    """

    tokens: Floats
    hidden: Floats
    copies: Floats
    experts: Floats
    element_bytes: Floats
    node_limit: Floats


@dataclass(frozen=True, slots=True)
class ExchangeGroup:
    """Where the ranks stand; fields broadcast to shape (n,).

    Attributes:
        ranks: Ranks that hold the experts.
        ranks_per_node: Ranks that share scale-up links.
        nic_bytes_per_s: Line rate of a rank's NIC; any positive number inside one node.
        scale_up_bytes_per_s: Line rate of a rank's scale-up links.
        sms: Multiprocessors a normal kernel may use; low-latency kernels take all.
    """

    ranks: Floats
    ranks_per_node: Floats
    nic_bytes_per_s: Floats
    scale_up_bytes_per_s: Floats
    sms: Floats


@dataclass(frozen=True, slots=True)
class ExchangeConstants:
    """Constants of the kernels, shape (n,) or one; a figure's name is `PREFIX` and the field's.

    Attributes:
        network_share_fraction: Share of the NIC's line rate that payload reaches.
        scale_up_share_fraction: Share of the scale-up line rate that payload reaches.
        low_latency_start_s: A low-latency kernel that moves nothing, inside a node.
        low_latency_network_start_s: The same across two nodes.
        low_latency_doubling_s: More for each doubling of the nodes beyond two.
        low_latency_dispatch_bytes_per_s: Rate at which a GPU casts, sends and packs all messages.
        low_latency_combine_bytes_per_s: Rate at which a GPU sends and sums all messages.
        low_latency_token_s: Time of a token on the multiprocessor of one expert; binds where experts are few.
        dispatch_start_s, combine_start_s: A normal kernel that moves nothing, inside a node.
        doubling_s: More for each doubling of the nodes.
        notify_s: Kernels that exchange counts before a normal one, for each doubling of the nodes.
        fill_tokens: Tokens in flight before the stages of a normal kernel overlap.
        copy_rate_bytes_per_s: A multiprocessor's rate for the copies that go to ranks.
        dispatch_copy_s: A multiprocessor's fixed time for such a copy in dispatch.
        dispatch_token_bytes_per_s: A multiprocessor's rate in reading (and forwarding) tokens.
        combine_token_bytes_per_s: A multiprocessor's rate in writing sums.
        forwarding_ratio: Multiprocessor time of a kernel across nodes over the same work inside one.
    """

    network_share_fraction: Floats
    scale_up_share_fraction: Floats
    low_latency_start_s: Floats
    low_latency_network_start_s: Floats
    low_latency_doubling_s: Floats
    low_latency_dispatch_bytes_per_s: Floats
    low_latency_combine_bytes_per_s: Floats
    low_latency_token_s: Floats
    dispatch_start_s: Floats
    combine_start_s: Floats
    doubling_s: Floats
    notify_s: Floats
    fill_tokens: Floats
    copy_rate_bytes_per_s: Floats
    dispatch_copy_s: Floats
    dispatch_token_bytes_per_s: Floats
    combine_token_bytes_per_s: Floats
    forwarding_ratio: Floats


def exchange_constants(read: Callable[[str], Floats]) -> ExchangeConstants:
    """Constants from whatever reads a figure by its name, such as `planner.performance.assumed.Assumed`.

    >>> exchange_constants(lambda name: np.array([float(len(name))])).notify_s
    array([24.])
    """
    return ExchangeConstants(**{field.name: read(PREFIX + field.name) for field in fields(ExchangeConstants)})


def dispatch_time_s(
    *, kernel: Kernel, work: TokenWork, group: ExchangeGroup, constants: ExchangeConstants
) -> Floats:
    """Time to bring every token to its experts.

    Args:
        kernel: Low-latency or normal.
        work: What each rank routes; `element_bytes` is the dispatched format's.
        group: Where the ranks stand.
        constants: Of the kernels.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        planner-exchange-tables; physics in `transmit_time_s`.

    A low-latency FP8 dispatch of 128 tokens of 7168, top-8, two nodes of 8: half of the 7.57 MB goes through the NIC
    at 94.5 % of 50 GB/s, after a start of 22 us.

    >>> work = TokenWork(*(np.array([value]) for value in (128.0, 7168.0, 8.0, 256.0, 1.0, np.inf)))
    >>> group = ExchangeGroup(*(np.array([value]) for value in (16.0, 8.0, 50e9, 450e9, 20.0)))
    >>> shares, starts = (0.945, 0.675), (11.5e-6, 22e-6, 2.9e-6)
    >>> kernels = (283e9, 248e9, 2.2e-6, 24.5e-6, 40e-6, 5.3e-6, 28e-6, 80.0, 34e9, 1.2e-7, 22e9, 8.8e9, 1.16)
    >>> constants = ExchangeConstants(*(np.array([value]) for value in shares + starts + kernels))
    >>> dispatch_time_s(kernel=Kernel.LOW_LATENCY, work=work, group=group, constants=constants).round(6)
    array([0.000102])
    """
    moving = transmit_time_s(phase=Phase.DISPATCH, kernel=kernel, work=work, group=group, constants=constants)
    return moving + notify_time_s(kernel=kernel, group=group, constants=constants)


def combine_time_s(
    *, kernel: Kernel, work: TokenWork, group: ExchangeGroup, constants: ExchangeConstants
) -> Floats:
    """Time to bring the experts' results back and sum them; arguments and source as of `dispatch_time_s`.

    >>> one = np.ones(1)
    >>> work = TokenWork(*(value * one for value in (4096, 7168, 8, 256, 2, np.inf)))
    >>> alone = ExchangeGroup(*(value * one for value in (1, 8, 50e9, 450e9, 20)))
    >>> combine_time_s(kernel=Kernel.NORMAL, work=work, group=alone, constants=exchange_constants(lambda _: one))
    array([0.])
    """
    moving = transmit_time_s(phase=Phase.COMBINE, kernel=kernel, work=work, group=group, constants=constants)
    return moving + notify_time_s(kernel=kernel, group=group, constants=constants)


def notify_time_s(*, kernel: Kernel, group: ExchangeGroup, constants: ExchangeConstants) -> Floats:
    """Time of the kernels that exchange counts across nodes before a normal one; zero for low-latency kernels.

    >>> group = ExchangeGroup(*(np.array([value]) for value in (32.0, 8.0, 50e9, 450e9, 20.0)))
    >>> notify_time_s(kernel=Kernel.NORMAL, group=group, constants=exchange_constants(lambda _: np.array([1e-5])))
    array([2.e-05])
    """
    per_doubling = constants.notify_s if kernel is Kernel.NORMAL else 0.0 * constants.notify_s
    return per_doubling * np.log2(_nodes(group))


def transmit_time_s(
    *, phase: Phase, kernel: Kernel, work: TokenWork, group: ExchangeGroup, constants: ExchangeConstants
) -> Floats:
    """Time of the kernel that moves the payload, which published bandwidths stand for.

    A start, then the slowest of three: the NIC, the scale-up links, and the GPU's own handling of the messages.
    Routing is even: a share 1 - node/group of what a rank sends leaves the node.

    Returns:
        Shape (n,), or whatever the arguments broadcast to. Zero where there is one rank.

    Source:
        planner-exchange-tables. On the H100 table low-latency kernels are off by 4.5 % in the median and 16 % at P90
        (1 to 8 nodes), normal ones by 5.7 % and 18 % (1 to 4 nodes). Its 8-node rows of normal kernels, where even the
        exchange of counts takes milliseconds, were left out: such a network needs up to 2.9 times the time told here.
    """
    timed = _low_latency_time_s if kernel is Kernel.LOW_LATENCY else _normal_time_s
    return np.where(group.ranks > 1.0, timed(phase, work, group, constants), 0.0)


def token_bytes(work: TokenWork) -> Floats:
    """Bytes of one copy of a token, with scales.

    >>> token_bytes(TokenWork(*(np.array([value]) for value in (1.0, 7168.0, 8.0, 256.0, 1.0, 4.0))))
    array([7392.])
    """
    scale = np.where(work.element_bytes < 2.0, SCALE_BYTES / SCALED_ELEMENTS, 0.0)
    return work.hidden * (work.element_bytes + scale)


def places_hit(*, places: Floats, copies: Floats, experts: Floats) -> Floats:
    """Places that at least one of a token's experts stands in, on average: even draws without putting back.

    Args:
        places: Ranks or nodes that share the experts evenly.
        copies: Experts drawn.
        experts: Experts in all.

    >>> places_hit(places=np.array([2.0, 8.0]), copies=np.array([8.0]), experts=np.array([256.0])).round(2)
    array([1.99, 5.29])
    """
    elsewhere = experts - experts / places
    missed = np.ones(np.broadcast_shapes(np.shape(places), np.shape(copies), np.shape(experts)))
    for drawn in range(int(np.ceil(np.max(copies)))):
        left = np.maximum(elsewhere - drawn, 0.0) / np.maximum(experts - drawn, 1.0)
        missed = np.where(copies > drawn, missed * left, missed)
    return places * (1.0 - missed)


def logical_bytes(*, kernel: Kernel, work: TokenWork, group: ExchangeGroup) -> Floats:
    """Bytes of one rank that DeepEP's published bandwidths count, those that stay on the rank included.

    Low-latency kernels count every (token, expert). Normal ones across nodes count every (token, node), called RDMA
    bandwidth; inside a node every (token, rank), called NVLink bandwidth. A busbw is this over `transmit_time_s`.

    Source:
        deepep-benchmarks (`test_low_latency.py`, `test_internode.py`, `test_intranode.py`).

    >>> two_nodes = ExchangeGroup(*(np.array([value]) for value in (16.0, 8.0, 50e9, 200e9, 20.0)))
    >>> work = TokenWork(*(np.array([value]) for value in (4096.0, 7168.0, 8.0, 256.0, 1.0, 4.0)))
    >>> (logical_bytes(kernel=Kernel.NORMAL, work=work, group=two_nodes) / 1e6).round(1)
    array([60.3])
    """
    sent = work.tokens * token_bytes(work)
    if kernel is Kernel.LOW_LATENCY:
        return sent * work.copies
    to_nodes, to_ranks = _hits(work, group)
    return sent * np.where(_nodes(group) > 1.0, to_nodes, to_ranks)


def _nodes(group: ExchangeGroup) -> Floats:
    return np.maximum(group.ranks / group.ranks_per_node, 1.0)


def _near(group: ExchangeGroup) -> Floats:
    return np.minimum(group.ranks, group.ranks_per_node)


def _hits(work: TokenWork, group: ExchangeGroup) -> tuple[Floats, Floats]:
    """Nodes and ranks that a token goes to.

    Group-limited routing takes the groups with the best experts, so that it goes to nearly every group it may
    (3.98 of 4 in DeepEP's benchmark at 8 nodes); free routing goes where the draws fall.
    """
    nodes = _nodes(group)
    allowed = np.minimum(nodes, work.node_limit)
    drawn = places_hit(places=allowed, copies=work.copies, experts=work.experts)
    to_nodes = np.where(nodes > work.node_limit, np.minimum(allowed, work.copies), drawn)
    ranks = places_hit(places=allowed * _near(group), copies=work.copies, experts=work.experts)
    return to_nodes, np.maximum(ranks, to_nodes)


def _low_latency_time_s(
    phase: Phase, work: TokenWork, group: ExchangeGroup, constants: ExchangeConstants
) -> Floats:
    nodes, near = _nodes(group), _near(group)
    sent = work.tokens * work.copies * token_bytes(work)
    dispatch = phase is Phase.DISPATCH
    handled = (
        constants.low_latency_dispatch_bytes_per_s if dispatch else constants.low_latency_combine_bytes_per_s
    )
    # Each expert has a multiprocessor of its own, and dispatch walks the tokens over them.
    walked = work.tokens * constants.low_latency_token_s / work.experts if dispatch else 0.0
    moving = _slowest(
        sent * (1.0 - near / group.ranks) / (group.nic_bytes_per_s * constants.network_share_fraction),
        sent * (near - 1.0) / group.ranks / (group.scale_up_bytes_per_s * constants.scale_up_share_fraction),
        np.maximum(sent / handled, walked),
    )
    across = constants.low_latency_network_start_s + constants.low_latency_doubling_s * np.log2(
        np.maximum(nodes / 2.0, 1.0)
    )
    return np.where(nodes > 1.0, across, constants.low_latency_start_s) + moving


def _normal_time_s(
    phase: Phase, work: TokenWork, group: ExchangeGroup, constants: ExchangeConstants
) -> Floats:
    nodes, near = _nodes(group), _near(group)
    to_nodes, to_ranks = _hits(work, group)
    sent = work.tokens * token_bytes(work)
    moving = _slowest(
        sent * to_nodes * (1.0 - 1.0 / nodes) / (group.nic_bytes_per_s * constants.network_share_fraction),
        sent
        * to_ranks
        * (1.0 - 1.0 / near)
        / (group.scale_up_bytes_per_s * constants.scale_up_share_fraction),
        work.tokens * _handling_s(phase, work, group, constants) / group.sms,
    )
    start = constants.dispatch_start_s if phase is Phase.DISPATCH else constants.combine_start_s
    # The second stage waits for the first tokens: nearly all of them where they are few.
    filled = 1.0 + constants.fill_tokens / (work.tokens + constants.fill_tokens)
    return start + constants.doubling_s * np.log2(nodes) + moving * filled


def _handling_s(phase: Phase, work: TokenWork, group: ExchangeGroup, constants: ExchangeConstants) -> Floats:
    """Multiprocessor time of one token: copies to ranks, and reading it or writing sums, at forwarders too."""
    nodes = _nodes(group)
    to_nodes, to_ranks = _hits(work, group)
    size = token_bytes(work)
    dispatch = phase is Phase.DISPATCH
    fixed = constants.dispatch_copy_s if dispatch else 0.0
    rate = constants.dispatch_token_bytes_per_s if dispatch else constants.combine_token_bytes_per_s
    stops = np.where(nodes > 1.0, to_nodes + 1.0, 1.0)
    inside = to_ranks * (size / constants.copy_rate_bytes_per_s + fixed) + stops * size / rate
    return inside * np.where(nodes > 1.0, constants.forwarding_ratio, 1.0)


def _slowest(network: Floats, scale_up: Floats, gpu: Floats) -> Floats:
    return np.maximum(np.maximum(network, scale_up), gpu)


@dataclass(frozen=True, slots=True)
class ExchangeCase:
    """A published exchange: which phase, which kernel, and what each rank routes, shape (1,)."""

    phase: Phase
    kernel: Kernel
    work: TokenWork


def case_of_words(operation: str, workload: str) -> ExchangeCase | None:
    """A measured row's operation and workload as a case; None where they don't say enough.

    Dispatch is FP8 unless the operation says bf16, combine BF16 unless it says fp8. Where no experts are stated,
    256, those of the models that such kernels are published with.

    >>> case = case_of_words("moe_dispatch_fp8", "normal kernels: 4096 tokens, hidden 7168, top-8, top-4 groups")
    >>> case.phase.value, case.kernel.value, float(case.work.tokens[0]), float(case.work.node_limit[0])
    ('dispatch', 'normal', 4096.0, 4.0)
    >>> case_of_words("moe_combine_bf16_lowlatency", "128 tokens, hidden 7168, top-8").kernel.value
    'low_latency'
    """
    phase = next((one for one in Phase if operation.startswith(f"moe_{one}")), None)
    found = _WORDS.search(workload)
    if phase is None or found is None:
        return None
    narrow = "fp8" in operation or (phase is Phase.DISPATCH and "bf16" not in operation)
    groups, experts = _GROUPS.search(workload), _EXPERTS.search(workload)
    numbers = (
        *found.groups(), experts[1] if experts else USUAL_EXPERTS, 1 if narrow else 2,
        groups[1] if groups else np.inf,
    )  # fmt: skip
    work = TokenWork(*(np.array([float(number)]) for number in numbers))
    kernel = Kernel.LOW_LATENCY if "lowlatency" in operation else Kernel.NORMAL
    return ExchangeCase(phase, kernel, work)

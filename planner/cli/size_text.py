"""What a sizing found, for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.cli.size_object import COSTS, batch_limit, dotted
from planner.present.format import out_of_100
from planner.study.serving_search import Answer, FleetGoal
from planner.study.sizing import Fleet
from planner.study.sizing_machines import Edit
from planner.study.sizing_pools_price import PricedPools
from planner.study.sizing_price import Priced

WIDTH: Final = 80
TITLES: Final = {
    FleetGoal.GPUS: "the fewest GPUs",
    FleetGoal.COST: "the least cost of a token at the load",
    FleetGoal.ENERGY: "the most tokens for a joule",
}


def as_text(found: Answer) -> str:
    """The answer at 80 columns."""
    best = found.best
    written = best if found.sure is None else found.sure.fleet
    lines = [*_head(found), "", *_table(found), *_anchored(found), *_odds(found), ""]
    lines += [
        *_regions(best.fleet),
        *_spares(best),
        "",
        *_costs(best),
        "",
        *_front(best.fleet),
        "",
        *_network(found),
    ]
    lines += ["", *pools_text(found.pools)]
    lines += [
        "",
        *_wrapped("to have it  ", fields_in_words(written.edits) or "the plan is this fleet already"),
    ]
    if found.sizing.refused:
        lines += ["", "refused"]
        for server, precision, why in found.sizing.refused:
            lines += _wrapped(f"  {server}, {precision.value}: ", why)
    return "\n".join(lines)


def _head(found: Answer) -> list[str]:
    load, objective, one = (
        found.sizing.load,
        found.sizing.objective,
        found.loaded.scenario.workloads[found.index],
    )
    rate = f"{_rate(load.peak_requests_per_s)} requests/s at the peak, {_rate(load.mean_requests_per_s)} in the mean"
    if len(load.regions) > 1:
        rate += f"; {_rate(load.joint_peak_requests_per_s)} at most at one time"
    hits = f" ({one.prefix_hit_fraction:.0%} of them in caches)" if one.prefix_hit_fraction else ""
    lines = _wrapped(
        "", f"{one.model}, {one.input_tokens:,} tokens in{hits} and {one.output_tokens:,} out: {rate}"
    )
    if not found.stated:
        lines += _wrapped(
            "", "no load is stated (--rate, or the workload's load): this is what the plan's own GPUs carry"
        )
    lines += _wrapped(
        "",
        f"TTFT p99 within {objective.first_token_p99_s:g} s, TPOT p99 within {objective.per_token_p99_s * 1e3:g} ms, "
        f"N+{load.spare_replicas} replicas in {_counted(len(load.regions), 'region')}, start-up {load.startup_s:g} s",
    )
    meeting, fleets = sum(one.meeting for one in found.sizing.fleets), len(found.sizing.fleets)
    of = "one pair" if fleets == 1 else f"{fleets} pairs"
    lines += _wrapped(
        "", f"{found.sizing.tried:,} points tried; {meeting:,} keep both limits, of {of} of server and format"
    )
    return lines


def _table(found: Answer) -> list[str]:
    lines = [
        f"by {found.goal.value}: {TITLES[found.goal]}",
        f"{'':>3} {'server':<13} {'format':<7} {'GPUs':>5} {'replicas':>10} {'batch':>5} {'TTFT':>5} {'TPOT':>5} "
        f"{'tok/s':>6} {'USD':>6} {'tok':>5}",
        f"{'':>3} {'':<13} {'':<7} {'':>5} {'need x GPU':>10} {'limit':>5} {'s':>5} {'ms':>5} {'/GPU':>6} "
        f"{'/Mtok':>6} {'/J':>5}",
    ]
    for rank, one in enumerate(found.fleets, start=1):
        fleet, point = one.fleet, one.fleet.capacity.point
        lines.append(
            f"{rank:>3} {fleet.candidate.server_id[:13]:<13} {_marked(fleet):<7} {fleet.gpus:>5} "
            f"{f'{fleet.replicas} x {fleet.replica_gpus}':>10} {batch_limit(fleet.capacity):>5} "
            f"{fleet.busiest.latency.first_token_p99_s[0]:>5.2f} "
            f"{fleet.busiest.latency.per_token_p99_s[0] * 1e3:>5.1f} "
            f"{point.output_tokens_per_s_per_gpu[0]:>6,.0f} {_short(one.value('usd_per_mtoken_output')):>6} "
            f"{_short(one.value('tokens_per_j')):>5}"
        )
        if one.why_not:
            lines += _wrapped("      not priced: ", one.why_not)
    lines += _wrapped(
        "", "TTFT and TPOT are 99th percentiles at the peak without the spare replicas; tokens are output tokens, "
        "prompts charged to them; what a format does to answers isn't judged",
    )  # fmt: skip
    formats = dict.fromkeys(
        (one.fleet.candidate.format_name, one.fleet.candidate.weights) for one in found.fleets
    )
    for name, weights in formats:
        if weights is not None and name != weights.value:
            lines += _wrapped("", f"{name}: {weights.value} weights, widened for 16-bit products")
    return lines


def _rate(value: float) -> str:
    """Four digits, all of those before the point.

    >>> _rate(21.504), _rate(30123.4)
    ('21.5', '30,123')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _regions(fleet: Fleet) -> list[str]:
    lines = [
        f"{'region':<12} {'req/s':>8} {'replicas':>9} {'standing':>9} {'servers':>8} {'autoscaled':>11}",
    ]
    for one in fleet.regions:
        lines.append(
            f"{one.id[:12]:<12} {_rate(one.peak_requests_per_s):>8} {one.replicas:>9,} {one.standing:>9,} "
            f"{one.servers:>8,} {one.mean_replicas:>11,.1f}"
        )
    saved = 1.0 - fleet.mean_gpus / fleet.gpus
    lines += _wrapped(
        "", f"autoscaled is the mean that runs or starts over the day: {fleet.mean_gpus:,.1f} of {fleet.gpus:,} GPUs, "
        f"{saved:.0%} less than all of them all day",
    )  # fmt: skip
    spare = min(one.standing - one.replicas for one in fleet.regions)
    if spare < fleet.replicas_per_server:
        lines += _wrapped(
            "", f"a server that fails takes {_counted(fleet.replicas_per_server, 'replica')}, and {spare} more than needed "
            "stand: at the peak the objective doesn't hold until it is back",
        )  # fmt: skip
    return lines


def _marked(fleet: Fleet) -> str:
    """A format, with a star where measured runs correct it."""
    return fleet.candidate.format_name + "*" * fleet.candidate.corrected_by_runs


def _anchored(found: Answer) -> list[str]:
    """Which figures are corrected by measured runs, by how much, and what is odd about the runs."""
    own = [one.fleet.candidate for one in found.fleets if one.fleet.candidate.corrected_by_runs]
    if not own:
        return []
    lines = []
    for one in own:
        lines += _wrapped(
            "", f"* {one.server_id}, {one.format_name}: corrected by measured runs of it, TPOT x {one.per_token_ratio:.3g}, "
            f"TTFT x {one.first_token_ratio:.3g}",
        )  # fmt: skip
    if len(own) < len(found.fleets):
        lines += _wrapped("", "the others are the model's own: between a corrected and another fleet a difference of the "
                          "size of the correction says nothing")  # fmt: skip
    for said in dict.fromkeys(said for one in own for said in one.odd_points):
        lines += _wrapped("look  ", said)
    return lines


def _odds(found: Answer) -> list[str]:
    """How sure the best fleets are, and the fleet for a wanted share of draws."""
    known = [(rank, share) for rank, share in enumerate(found.odds, start=1) if share is not None]
    lines: list[str] = []
    if known:
        said = ", ".join(f"fleet {rank} in {out_of_100(share)}" for rank, share in known)
        lines += _wrapped(
            "", f"met in draws of all that is uncertain: {said}; --sure 0.9 sizes for 90 of 100"
        )
    if found.sure is None:
        return lines
    sure = found.sure
    fleet = sure.fleet.fleet
    cost = sure.fleet.value("usd_per_mtoken_output")
    said = (
        f"{fleet.gpus:,} GPUs in {_counted(fleet.servers, 'server')}, replicas for {sure.margin:.3g} times the load, meet it in "
        f"{out_of_100(sure.odds)} draws, at {_short(cost)} USD for a million output tokens"
    )
    if not sure.enough:
        said += "; more replicas don't help: single requests are too slow in the other draws, so a wider objective, a faster "
        said += "format or another server has to"
    return lines + _wrapped("sure  ", said)


def _spares(best: Priced) -> list[str]:
    """Servers that the plan buys beyond those that serve."""
    if best.evaluation is None or not (bought := best.spare_servers):
        return []
    share = best.evaluation.ledger.scalar("cluster.spare_fraction")
    said = (
        f"{best.fleet.servers + bought} servers are bought and paid: {best.fleet.servers} that serve and "
        f"{_counted(bought, 'spare server')} (cluster.spare_fraction {share:.3g}) to put in for one that fails; standing "
        "replicas are those of the servers that serve"
    )
    return _wrapped("", said)


def _costs(best: Priced) -> list[str]:
    if best.evaluation is None:
        return _wrapped("", f"the best fleet isn't priced: {best.why_not}")
    lines = ["USD for a million tokens"]
    for name, said, defined in COSTS:
        value = best.value(name)
        if value is not None:
            lines += _wrapped(f"  {said:<26} {value:>7.3f}  ", defined)
    if best.rental is not None:
        lines += _wrapped(
            "  ",
            f"rent: {best.rental.usd_per_gpu_hour:g} USD a GPU-hour, {best.rental.id}, {best.rental.as_of}",
        )
    if best.api:
        even = best.value("api_even_requests_per_s") or 0.0
        most = best.fleet.standing * float(best.fleet.capacity.point.rate_per_s[0])
        prices = "; ".join(
            f"{one.entry.item.name} {one.usd_per_mtoken:.3g} ({one.as_of})" for one in best.api
        )
        lines += _wrapped("  ", f"API: {prices}")
        if even <= most:
            said = f"the fleet costs as much as the cheapest at {_rate(even)} requests/s in the mean"
        else:
            said = f"the cheapest costs less at any load: the fleet would need {_rate(even)} requests/s, and carries {_rate(most)}"
        lines += _wrapped("  ", said)
    power = best.value("power_w") or 0.0
    lines.append(
        f"power at the meter {power / 1e3:,.1f} kW in the mean, {_short(best.value('tokens_per_j'))} tokens/J"
    )
    return lines


def _front(fleet: Fleet) -> list[str]:
    lines = [
        f"throughput against interactivity, {fleet.candidate.server_id}, {fleet.candidate.format_name}",
        f"{'tok/s/user':>11} {'tok/s/GPU':>10} {'replica':>8} {'attention':>10} {'batch':>6} {'TTFT p99':>9} "
        f"{'TPOT p99':>9}",
    ]
    for one in fleet.front:
        latency = one.point.latency
        lines.append(
            f"{1.0 / latency.per_token_mean_s[0]:>11.1f} {one.point.output_tokens_per_s_per_gpu[0]:>10,.0f} "
            f"{int(one.layout.gpus[0]):>8} {int(one.layout.attention_ranks[0]):>10} {batch_limit(one):>6,} "
            f"{latency.first_token_p99_s[0]:>7.2f} s {latency.per_token_p99_s[0] * 1e3:>6.1f} ms"
        )
    return lines


def _network(found: Answer) -> list[str]:
    if not found.domain:
        return ["the network's effect needs a priced fleet"]
    lines = [
        "the network: replicas of at most so many GPUs",
        f"{'GPUs':>6} {'joined by':<22} {'least TPOT p99':>15} {'tok/s/GPU':>10} {'USD/Mtok':>9}",
    ]
    for one in (*found.domain, *found.spanning):
        by = "scale-up domain" if one.nic_gbit_per_s is None else f"NICs, {one.nic_gbit_per_s:g} Gbit/s a GPU"
        least = (
            "-" if not np.isfinite(one.least_per_token_p99_s) else f"{one.least_per_token_p99_s * 1e3:.1f} ms"
        )
        none = one.output_tokens_per_s_per_gpu <= 0.0
        lines.append(
            f"{one.replica_gpus:>6} {by:<22} {least:>15} "
            f"{'-' if none else f'{one.output_tokens_per_s_per_gpu:,.0f}':>10} "
            f"{'-' if none else f'{one.usd_per_mtoken_output:.3f}':>9}"
        )
    lines += _wrapped(
        "",
        "tok/s/GPU and USD/Mtok within the objective, replicas full; a replica inside a domain doesn't use the NIC",
    )
    if found.moved is not None:
        lines += _wrapped(
            "", f"moving a prompt's cache of {found.moved.cache_bytes / 1e6:,.0f} MB to another server takes "
            f"{found.moved.seconds * 1e3:.1f} ms at {found.moved.nic_gbit_per_s:g} Gbit/s a GPU",
        )  # fmt: skip
    return lines


def pools_text(one: PricedPools | None) -> list[str]:
    """Whether separate pools need fewer GPUs, and how to have them."""
    if one is None:
        return _wrapped(
            "", "separate pools: none that keep the objective, or no network between servers for their caches"
        )
    fleet, wish = one.fleet, one.fleet.wish
    pays = f"{one.saved_fraction:.0%} fewer" if one.saved_fraction > 0.0 else "which don't pay"
    cost = one.value("usd_per_mtoken_output")
    said = (
        f"separate pools: {fleet.gpus:,} GPUs of {fleet.candidate.server_id}, {fleet.candidate.format_name}, against "
        f"{one.together_gpus:,} that do both, {pays}: {wish['prefill_replicas']} prefill replicas of "
        f"{wish['prefill_replica_gpus']} and {wish['decode_replicas']} decode replicas of {wish['decode_replica_gpus']} "
        f"carry {_rate(fleet.plan.split.rate_per_s)} requests/s with all of them"
    )
    said += (
        f", {cost:.3f} USD for a million output tokens"
        if cost is not None
        else f"; not priced: {one.why_not}"
    )
    return [
        *_wrapped("", said),
        *_wrapped("", "--pools --write FILE writes them, caches moving over the plan's network"),
    ]


def fields_in_words(edits: Sequence[Edit]) -> str:
    """Edits as ``--set`` takes them."""
    return ", ".join(f"{dotted(path)}={'null' if value is None else value}" for path, value in edits)


def _wrapped(start: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=start, subsequent_indent=" " * len(start)) or [start]

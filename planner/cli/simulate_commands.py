"""The command that simulates a serving workload request by request."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.options import Anchors, AsJson, Calibrations, Changes, Folders, OneScenario, with_profiles


def add_simulate(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        "simulate", epilog="Example: planner simulate h200-serving-fleet --requests 4000 --arrivals bursty"
    )(simulate)


def simulate(
    scenario: OneScenario,
    workload: Annotated[
        str | None, typer.Option(metavar="ID", help="Serving workload; the first one by default.")
    ] = None,
    requests: Annotated[int, typer.Option(min=100, max=1_000_000, help="Requests of the run.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same answer.")] = 20261130,
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="PER_S",
            help="Requests a second of the fleet; the workload's load, or what the plan serves, by default.",
        ),
    ] = None,
    arrivals: Annotated[
        str, typer.Option(help="poisson, bursty, switching, daily (load.hourly_fraction) or trace (--trace).")
    ] = "poisson",
    variation: Annotated[
        float,
        typer.Option(min=0.1, max=20, help="Bursty: deviation of gaps over mean; switching: peak over mean."),
    ] = 2.0,
    lengths: Annotated[
        str, typer.Option(help="fixed, uniform (0.8 to 1.0 of the longest) or lognormal.")
    ] = "uniform",
    length_variation: Annotated[
        float, typer.Option("--length-variation", min=0.01, max=5, help="Lognormal: deviation over mean.")
    ] = 1.0,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="CSV of input_tokens, output_tokens and, for --arrivals trace, arrival_s."
        ),
    ] = None,
    clients: Annotated[
        int,
        typer.Option(min=0, help="Closed loop: so many clients that wait for answers, instead of arrivals."),
    ] = 0,
    think: Annotated[float, typer.Option(metavar="S", min=0, help="Their pause between requests.")] = 0.0,
    routing: Annotated[
        str, typer.Option(help="random, round-robin, least-queue or prefix-aware.")
    ] = "least-queue",
    schedule: Annotated[
        str | None, typer.Option(help="mixed or prefill-first; as the workload's engine does by default.")
    ] = None,
    whole_prompts: Annotated[
        bool, typer.Option("--whole-prompts", help="Prompts aren't split over steps.")
    ] = False,
    eviction: Annotated[
        str, typer.Option(help="When caches overflow: recompute, swap, or reserve so that it can't happen.")
    ] = "recompute",
    prefixes: Annotated[
        str | None,
        typer.Option(
            metavar="N:TOKENS:SHARE",
            help="Shared prefixes, such as 50:1500:0.8, in place of the plan's prefix_hit_fraction.",
        ),
    ] = None,
    prefix_hits: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=0.99,
            help="Share of every prompt's tokens found in caches, in place of --prefixes; the plan's prefix_hit_fraction by default.",
        ),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(metavar="SHARES", help="Priority classes, first in line first, such as 0.2,0.8."),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Replicas to simulate; at most 8 of the fleet's by default."),
    ] = None,
    pools: Annotated[
        bool, typer.Option("--pools", help="Separate pools for prefill and decode too, and whether they pay.")
    ] = False,
    change: Changes = None,
    calibration: Calibrations = None,
    anchor: Anchors = None,
    catalog: Folders = None,
    as_json: AsJson = False,
) -> int:
    """Simulate a serving workload step by step. Tails of both latencies, hits, evictions, what saturates.

    Replicas of the plan run continuous batching on the plan's step times; the closed form at the same load stands
    beside. A fleet that can't carry the load is said to be saturated, with its capacity and what binds, and has no
    latencies; nor has a run in which they go on rising. Anchors correct both as they do in planner run. Exit code 1 where
    it is saturated, hasn't settled or misses the objective.
    """
    from planner.cli.anchor import with_anchors
    from planner.cli.simulate import Options, simulate_scenario

    changes, folders = with_profiles(change or [], catalog or [], calibration or [])
    changes = with_anchors(changes, anchor or [])
    options = Options(
        requests=requests, seed=seed, rate=rate, arrivals=arrivals, variation=variation, lengths=lengths,
        length_variation=length_variation, trace=trace, clients=clients, think_s=think, routing=routing,
        schedule=schedule, chunked=not whole_prompts, eviction=eviction, prefixes=prefixes, prefix_hits=prefix_hits, classes=classes,
        replicas=replicas, pools=pools,
    )  # fmt: skip
    return simulate_scenario(
        scenario, workload=workload, options=options, changes=changes, catalog=folders, as_json=as_json
    )

"""What a million tokens cost, in and out, at the objective and at saturation, and what a joule brings.

The scheduled GPU-hour is split by time: the share that goes into prompts is the cost of input tokens, the rest that
of output tokens. The two together are the whole cost; `unit.usd_per_mtoken_output` charges all of it to the output.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from planner.ledger import Ledger, Line, Sign
from planner.ledger.nodes import Expr, added
from planner.power.facility import facility_power_w
from planner.units import MEGA, SECONDS_PER_HOUR

KEY: Final = "performance.serving"


def token_costs(ledger: Ledger, scheduled: Line, servers: Sequence[str] = ()) -> None:
    """Enter the unit costs of the first serving workload.

    Args:
        ledger: Holds the workload's operating point.
        scheduled: Cost of a GPU-hour scheduled.
        servers: Ids of the kinds of servers, where they are several.
    """
    useful = ledger[f"{KEY}.goodput_fraction"]
    ledger.derive(
        "unit.usd_per_mtoken_output", "Cost of a million output tokens", "USD/Mtoken",
        per_mtoken(scheduled, ledger[f"{KEY}.output_tokens_per_s_per_gpu"], useful), sign=Sign.COST,
        note="all GPU time over the output tokens, as if all that the plan could serve in its scheduled hours were sold: "
        "prompts are charged to the answers",
    )  # fmt: skip
    _split(ledger, servers)
    _saturated(ledger, scheduled, useful)
    _energy(ledger, useful)
    if f"{KEY}.load.requests_per_s" in ledger:
        _under_load(ledger)


def per_mtoken(hour: Line, tokens_per_s_per_gpu: Line, useful: Line) -> Expr:
    """Cost of a million tokens from that of a GPU-hour and the tokens that one GPU makes."""
    return hour * MEGA / (tokens_per_s_per_gpu * SECONDS_PER_HOUR * useful)


def _split(ledger: Ledger, servers: Sequence[str]) -> None:
    """Input and output apart, by GPU time."""
    whole, prompts = ledger["unit.usd_per_mtoken_output"], ledger[f"{KEY}.prefill_share_fraction"]
    of = "the share of GPU time"
    if len(servers) > 1 and f"{KEY}.pools.prefill_replicas" in ledger:
        prompts, of = _share_of_cost(ledger, servers), "the share of the servers' cost"
    asked, answered = ledger[f"{KEY}.input_tokens"], ledger[f"{KEY}.output_tokens"]
    ledger.derive(
        "unit.usd_per_mtoken_input", "Cost of a million input tokens", "USD/Mtoken",
        whole * prompts * answered / asked, sign=Sign.COST,
        note=f"{of} in prompts, over the input tokens",
    )  # fmt: skip
    ledger.derive(
        "unit.usd_per_mtoken_output_decode", "Cost of a million output tokens without their prompts",
        "USD/Mtoken", whole * (1 - prompts), sign=Sign.COST,
        note=f"{of} that isn't in prompts, over the output tokens",
    )  # fmt: skip
    ledger.derive(
        "unit.usd_per_mtoken_total", "Cost of a million tokens, input and output together", "USD/Mtoken",
        whole * answered / (asked + answered), sign=Sign.COST, note="all GPU time over all tokens",
    )  # fmt: skip


def _share_of_cost(ledger: Ledger, servers: Sequence[str]) -> Line:
    """What prompts take of servers of several kinds, by their price: an hour of one doesn't cost what the other's does."""
    prefill, decode = (
        added(
            ledger[f"capex.{server}_usd"] * ledger[f"{KEY}.pools.{server}.{pool}_share_fraction"]
            for server in servers
        )
        for pool in ("prefill", "decode")
    )
    return ledger.derive(
        "unit.prefill_cost_share_fraction", "Prefill pool, share of the cost of both pools' servers", "fraction",
        prefill / (prefill + decode),
    )  # fmt: skip


def _saturated(ledger: Ledger, scheduled: Line, useful: Line) -> None:
    """The same without latency limits, and what the objective costs."""
    most = ledger[f"{KEY}.output_tokens_per_s_per_gpu_saturated"]
    floor = ledger.derive(
        "unit.usd_per_mtoken_output_saturated", "Cost of a million output tokens at saturation", "USD/Mtoken",
        per_mtoken(scheduled, most, useful), sign=Sign.COST,
        note="requests always wait, so no latency is promised; the floor of the cost",
    )  # fmt: skip
    ledger.derive(
        "unit.objective_premium_fraction", "What the objective adds to the cost of a token", "fraction",
        ledger["unit.usd_per_mtoken_output"] / floor - 1, note="cost at the objective over cost at saturation, less 1",
    )  # fmt: skip


def _energy(ledger: Ledger, useful: Line) -> None:
    """Tokens for a joule at the meter, while all of the cluster serves at its operating point."""
    meter = ledger.derive(
        "power.facility_inference_w", "Power at the meter while serving", "W",
        facility_power_w(ledger, ledger["power.it_inference_w"]),
    )  # fmt: skip
    out = ledger.derive(
        "unit.tokens_per_j", "Output tokens for a joule", "tokens/J",
        ledger[f"{KEY}.output_tokens_per_s_per_gpu"] * useful * ledger["cluster.gpus"] / meter,
        note="output tokens over energy at the meter, everything in the building included",
    )  # fmt: skip
    ledger.derive(
        "unit.total_tokens_per_j", "Input and output tokens for a joule", "tokens/J",
        out * (ledger[f"{KEY}.input_tokens"] + ledger[f"{KEY}.output_tokens"]) / ledger[f"{KEY}.output_tokens"],
        note="all tokens over the same energy",
    )  # fmt: skip


def _under_load(ledger: Ledger) -> None:
    """What tokens cost where the installed GPUs answer the stated load and nothing else."""
    served = ledger[f"{KEY}.load.mean_requests_per_s"] * ledger[f"{KEY}.output_tokens"]
    ledger.derive(
        "unit.usd_per_mtoken_output_at_load", "Cost of a million output tokens at the load", "USD/Mtoken",
        ledger["unit.usd_per_gpu_hour"] * ledger["cluster.gpus"] * MEGA / (served * SECONDS_PER_HOUR),
        sign=Sign.COST,
        note="every installed GPU-hour over the tokens of the load's mean; prompts are charged to the answers",
    )  # fmt: skip

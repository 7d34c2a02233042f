"""Watts that each stage of the power chain loses under load, for the drawing of where a watt goes."""

from __future__ import annotations

from planner.ledger import Ledger
from planner.power.chain import STAGES


def stage_losses(ledger: Ledger) -> None:
    """Enter ``power.chain.<stage>_loss_w`` of every stage; together they are ``power.distribution_loss_w``.

    Shares of IT power are those of an average year's load, and follow a typed PUE as all its parts do.
    """
    it_w, scale = ledger["power.it_w"], ledger["power.overhead_scale_ratio"]
    for stage, words in STAGES.items():
        share = f"power.chain.{stage}_loss_fraction"
        if share in ledger:
            ledger.derive(
                f"power.chain.{stage}_loss_w",
                f"Lost in {words} under load",
                "W",
                it_w * ledger[share] * scale,
            )

"""What saved watts allow: GPUs in the same power budget, and what limits them before power does."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

from planner.design.inventory import State
from planner.evaluate import Built, Evaluation


@dataclass(frozen=True, slots=True)
class SavedWatts:
    """GPUs that the watts saved against another variant would feed, and what else they need.

    Attributes:
        saved_w: IT power saved at peak, the state circuits are sized for.
        by_power: GPUs those watts would feed, whole servers: the arithmetic of a vendor, who stops here.
        by_rack: GPUs for which racks already there have a free place.
        by_cooling: GPUs whose heat to air fits into the heat to air that went away.
        by_money: GPUs that the saved purchase would pay for.
        cost_usd: Purchase of ``by_power`` GPUs, installed.
    """

    saved_w: float
    by_power: int
    by_rack: int
    by_cooling: int
    by_money: int
    cost_usd: float

    @property
    def gpus(self) -> int:
        """GPUs that all four allow."""
        return min(self.by_power, self.by_rack, self.by_cooling, self.by_money)

    @property
    def limited_by(self) -> str:
        """What allows the fewest."""
        limits = {
            "power": self.by_power, "racks": self.by_rack, "cooling": self.by_cooling, "money": self.by_money
        }  # fmt: skip
        return min(limits, key=lambda name: limits[name])


def saved_watts(reference: Evaluation, other: Evaluation) -> SavedWatts:
    """What a variant's lower draw would feed, against a reference."""
    one, two = reference.ledger, other.ledger
    assert reference.built is not None and other.built is not None
    group = other.parts.groups[0]
    server = group.server.item
    peak = _peak_w(other, server.id)
    saved = one.scalar("power.it_peak_w") - two.scalar("power.it_peak_w") - two.scalar("optics.pumps_w")
    heat = saved - (one.scalar("optics.liquid_w") - two.scalar("optics.liquid_w"))
    to_air = peak * (1 - (server.liquid_fraction.value if server.liquid_fraction else 0.0))
    price = two.scalar(f"price.{server.id}.price_usd") * (1 + two.scalar("assumption.installation_fraction"))
    bought = one.scalar("capex.total_usd") + one.scalar("optics.liquid_usd")
    money = bought - two.scalar("capex.total_usd") - two.scalar("optics.liquid_usd")
    by_power = whole_servers(saved, peak) * server.gpus
    return SavedWatts(
        saved_w=saved,
        by_power=by_power,
        by_rack=_free_places(other.built, server.id) * server.gpus,
        by_cooling=whole_servers(heat, to_air) * server.gpus,
        by_money=whole_servers(money, price) * server.gpus,
        cost_usd=by_power / server.gpus * price,
    )


def whole_servers(amount: float, each: float) -> int:
    """Whole servers that an amount is enough for; none where it is negative.

    >>> whole_servers(25_000.0, 10_000.0), whole_servers(-1.0, 10_000.0)
    (2, 0)
    """
    return max(0, floor(amount / each + 1e-9)) if each > 0 else 0


def _peak_w(evaluation: Evaluation, server: str) -> float:
    """Highest sustained draw of one server."""
    assert evaluation.built is not None
    load = next(load for load in evaluation.built.loads if load.consumer.slug == server)
    return evaluation.ledger.scalar(load.watts[State.PEAK]) / evaluation.ledger.scalar(load.consumer.count)


def _free_places(built: Built, server: str) -> int:
    """Servers that still fit into racks that hold servers."""
    groups = [group for group in built.cluster.layout.groups if group.id == server]
    return sum(max(0, group.racks * group.items_per_rack - group.items) for group in groups)

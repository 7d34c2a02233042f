"""Machines of measured serving runs: a server of the catalog, or eight accelerators on a bare host where it has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from planner.catalog.figure import Figure
from planner.catalog.schema import Accelerator, Server
from planner.catalog.store import Catalog, Entry
from planner.choices import Precision
from planner.performance.assumed import Assumed, family
from planner.performance.collectives import Link
from planner.performance.engine_reduce import EngineReduce
from planner.performance.hardware import Hardware, engine_link
from planner.performance.machines import Machine, Machines, power_per_flop_ratio
from planner.study.fidelity.machines import power_limit_w

REFERENCE: Final = {"hopper": "h100-sxm5-80gb", "blackwell": "b200-sxm-180gb"}
"""Accelerators whose matrix products are tabulated."""
POWER_EXPONENT: Final = ("performance", "power_exponent")
"""Of the rate that a power limit leaves."""


@dataclass(frozen=True, slots=True)
class ServingMachine:
    """What a measured serving run stands on.

    Attributes:
        name: Server of the catalog, or the accelerator with the words for a bare host.
        accelerator: Item of the catalog.
        assumed: For further figures of the catalog.
        hardware: Chip and links inside the domain.
        domain_gpus: Accelerators that reach each other without a network.
        server: As drawn; None of a bare host, which has no network either.
        wide_ratio, narrow_ratio: Share of peak that large products reach, 16-bit and 8-bit ones, over that of the part on
            which this generation's figures were found: as measured, else what the power for each FLOP leaves.
    """

    name: str
    accelerator: str
    assumed: Assumed
    hardware: Hardware
    domain_gpus: int
    server: Machine | None
    wide_ratio: float
    narrow_ratio: float

    @property
    def inside(self) -> Link | EngineReduce:
        """All-reduces inside the domain."""
        return engine_link(self.assumed, self.hardware)


class ServingMachines:
    """Machines by accelerator and precision, each drawn once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog, self._drawn = catalog, Machines(catalog)
        self._served: dict[tuple[str, Precision], ServingMachine] = {}

    def get(
        self, chip: Entry[Accelerator], box: Entry[Server] | None, precision: Precision, *, ranks: float
    ) -> ServingMachine:
        """The machine under a replica.

        Args:
            chip: Accelerator.
            box: Server that brings it; None where the catalog has none.
            precision: Arithmetic of the narrowest products.
            ranks: Accelerators of the replica; more than a bridge joins talk over the host's slots.

        Raises:
            DesignError: The accelerator has no such arithmetic.
        """
        if box is None:
            return self._on_a_host(chip, precision, ranks)
        key = (box.item.id, precision)
        if key not in self._served:
            drawn = self._drawn.get(box, precision)
            self._served[key] = ServingMachine(
                box.item.id, chip.item.id, drawn.assumed, drawn.hardware, box.item.scaleup_domain_gpus, drawn,
                *self._product_ratios(chip.item),
            )  # fmt: skip
        return self._served[key]

    def _on_a_host(self, chip: Entry[Accelerator], precision: Precision, ranks: float) -> ServingMachine:
        bare = self._drawn.bare(chip, precision, ranks=int(ranks))
        size = int(bare.hardware.links.domain_ranks[0])
        return ServingMachine(
            bare.name, chip.item.id, bare.assumed, bare.hardware, size, None, *self._product_ratios(chip.item)
        )

    def _product_ratios(self, chip: Accelerator) -> tuple[float, float]:
        """Large products of an accelerator over those of the tables' part, 16-bit and 8-bit."""
        known = REFERENCE["blackwell" if family(chip.generation) == "blackwell" else "hopper"]
        reference = self.catalog.get(Accelerator, known)
        wide = share_ratio(chip.gemm_bf16_share_of_peak_fraction, reference.gemm_bf16_share_of_peak_fraction)
        narrow = share_ratio(chip.gemm_fp8_share_of_peak_fraction, reference.gemm_fp8_share_of_peak_fraction)
        cooler = 1.0 if family(chip.generation) == "other" else self._power_ratio(chip, reference)
        return wide or cooler, narrow or wide or cooler

    def _power_ratio(self, chip: Accelerator, reference: Accelerator) -> float:
        """What less power for each FLOP than the reference has leaves of the rate, as under a limit."""
        return float(power_per_flop_ratio(chip, reference) ** self.catalog.figure(*POWER_EXPONENT)[0].value)

    def limit_ratio(self, chip: Accelerator, text: str, place: str, said: list[str]) -> float:
        """What a power limit leaves of the rate of products: one that the accelerator's name states, or that of a setting
        named MaxQ.

        Args:
            chip: Accelerator.
            text: As the row calls it.
            place: Where the row was read; submissions name their setting there.
            said: Takes what was settled.
        """
        exponent = self.catalog.figure(*POWER_EXPONENT)[0].value
        if "maxq" in place.lower():
            share = self.catalog.figure("facility", "efficient_setting_power_cap_fraction")[0].value
            said.append(f"a power limit of {share:.0%} taken, since the submission is named MaxQ")
            return float(share**exponent)
        limit = power_limit_w(chip, text)
        if limit is None or chip.tdp_w is None:
            return 1.0
        said.append(f"a power limit of {limit:.0f} W taken from the accelerator's name")
        return float(min(limit / chip.tdp_w.value, 1.0) ** exponent)


def share_ratio(own: Figure | None, reference: Figure | None) -> float | None:
    """One measured share over another; None where either wasn't measured."""
    return None if own is None or reference is None else own.value / reference.value

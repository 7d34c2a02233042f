"""Named figures of the power model, as ledger lines and as arrays."""

from __future__ import annotations

from planner.arrays import Floats
from planner.catalog.store import Catalog
from planner.ledger import Ledger, Line
from planner.scenario.givens import assume

FILE = "facility"
NAMES: dict[str, tuple[str, str]] = {
    "accelerator_arithmetic_share_of_limit_fraction": (
        "Draw in matrix products, share of the limit",
        "fraction",
    ),
    "accelerator_ready_share_of_limit_fraction": ("Draw ready for work, share of the limit", "fraction"),
    "accelerator_memory_w_per_tbyte_per_s": ("Draw of memory traffic beyond a ready one", "W per TB/s"),
    "accelerator_memory_least_share_of_limit_fraction": ("Least draw of memory-bound work", "fraction"),
    "accelerator_waiting_share_of_range_fraction": (
        "Draw while waiting, between ready and limit",
        "fraction",
    ),
    "accelerator_idle_share_of_limit_fraction": (
        "Idle draw where none is known, share of the limit",
        "fraction",
    ),
    "arithmetic_share_of_peak_fraction": ("Utilisation of work that is all matrix products", "fraction"),
    "training_arithmetic_time_fraction": ("Training time in matrix products", "fraction"),
    "training_memory_time_fraction": ("Training time bound by memory", "fraction"),
    "training_between_nodes_waiting_fraction": ("Training time waiting for other nodes", "fraction"),
    "inference_arithmetic_time_fraction": ("Inference time in matrix products", "fraction"),
    "inference_memory_time_fraction": ("Inference time bound by memory", "fraction"),
    "efficient_setting_power_cap_fraction": ("Power cap of efficient settings", "fraction"),
    "cpu_limit_w": ("Power limit of a CPU", "W"),
    "cpu_busy_share_of_limit_fraction": ("Draw of CPUs beside working accelerators", "fraction"),
    "cpu_idle_share_of_limit_fraction": ("Draw of idle CPUs", "fraction"),
    "host_memory_w_per_tb": ("Draw of host memory", "W/TB"),
    "host_memory_tb": ("Host memory where none is stated", "TB"),
    "host_board_w_per_cpu": ("Draw of boards and drives for each CPU", "W"),
    "scaleup_switch_pj_per_bit": ("Energy of scale-up switches", "pJ/bit"),
    "fan_share_of_air_heat_fraction": ("Fans over the heat that leaves in air", "fraction"),
    "psu_capacity_over_maximum_ratio": ("Rating of the supplies over the nameplate", "1"),
    "server_power_error_ratio": ("Measured over predicted draw of a server", "1"),
    "power_transient_ratio": ("Short draw of a rack-scale system over its steady one", "1"),
    "power_transient_server_ratio": ("Short draw of a rack of servers over its steady one", "1"),
    "power_factor_fraction": ("Power factor at the meter", "fraction"),
    "transformer_load_limit_fraction": ("Planned load of transformers and UPS at the peak", "fraction"),
    "colocation_building_it_kw": ("IT power of a colocation building", "kW"),
    "colocation_building_load_fraction": ("Average load of its other tenants, share of theirs", "fraction"),
    "circuit_derating_fraction": ("Continuous load of a circuit, share of its rating", "fraction"),
}
"""Label and unit of each figure."""


class Figures:
    """Looks figures up and remembers which were used."""

    def __init__(self, ledger: Ledger, catalog: Catalog) -> None:
        self.ledger, self.catalog = ledger, catalog
        self.lines: list[Line] = []

    def __call__(self, key: str) -> Floats:
        """Values of a figure, shape (n,)."""
        label, unit = NAMES[key]
        return self.use(assume(self.ledger, self.catalog, FILE, key, label, unit))

    def use(self, line: Line) -> Floats:
        """Values of any line, remembered too."""
        if line not in self.lines:
            self.lines.append(line)
        return self.ledger.value(line)

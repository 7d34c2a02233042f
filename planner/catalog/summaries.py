"""One line about a catalog item, for lists and pickers, and the unit that a field's name ends in."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from planner.catalog.figure import Figure

_UNITS: Final = {
    "tflop": "TFLOP", "gbyte": "GB", "gbit": "Gb", "tbit": "Tb", "mib": "MiB", "mb": "MB", "gb": "GB", "tb": "TB",
    "kw": "kW", "w": "W", "mw": "MW", "kwh": "kWh", "pj": "pJ", "bit": "bit", "kg": "kg", "l": "l", "usd": "USD",
    "s": "s", "ms": "ms", "us": "us", "ns": "ns", "m": "m", "hour": "h", "hours": "h", "weeks": "weeks",
    "month": "month", "months": "months", "year": "year", "years": "years", "units": "U", "days": "days",
    "gpu": "GPU", "node": "node", "link": "link", "fte": "FTE", "min": "min", "1000": "1000", "percent": "%",
}  # fmt: skip


@cache
def unit_of(field: str) -> str:
    """Unit that the end of a field's name states; empty for shares, ratios and counts.

    >>> unit_of("memory_bandwidth_gbyte_per_s"), unit_of("colocation_usd_per_kw_month")
    ('GB/s', 'USD/kW/month')
    >>> unit_of("pue"), unit_of("afr_fraction"), unit_of("support_fraction_per_year")
    ('', '', '1/year')
    """
    words = field.split("_")
    start = len(words)
    while start and (words[start - 1] in _UNITS or words[start - 1] == "per"):
        start -= 1
    run = words[start:]
    if not run or run[-1] == "per":
        return ""
    if "per" not in run:
        return _UNITS[run[-1]]
    first = run.index("per")
    top = _UNITS[run[first - 1]] if first else "1"
    return "/".join([top, *(_UNITS[word] for word in run[first:] if word != "per")])


def summary_of(item: Any) -> str:
    """What an item is, in a few words."""
    describe = _DESCRIBE.get(item.family)
    return ", ".join(part for part in describe(item) if part) if describe else item.note.partition(".")[0]


def _n(figure: Figure | float | None, unit: str = "") -> str:
    if figure is None:
        return ""
    value = figure.value if isinstance(figure, Figure) else figure
    return f"{value:g}{unit}"


def _usd(figure: Figure | None) -> str:
    return "" if figure is None else f"{figure.value:,.0f} USD"


def _rate(figure: Figure | float | None) -> str:
    """A rate in Gbit/s the way parts are named: 400G, 1.6T."""
    if figure is None:
        return ""
    value = figure.value if isinstance(figure, Figure) else figure
    return f"{value / 1000:g}T" if value >= 1000 else f"{value:g}G"


def _nic(item: Any) -> list[str]:
    pcie = f"PCIe {item.pcie_gen} x{item.pcie_lanes}" if item.pcie_gen and item.pcie_lanes else ""
    return [f"{item.ports} x {_rate(item.port_rate_gbit_per_s)}", "/".join(item.fabrics), item.cage, pcie]


def _asic(item: Any) -> list[str]:
    lanes = f"{item.lanes} lanes of {_rate(item.lane_rate_gbit_per_s)}"
    return [_rate(item.capacity_gbit_per_s), lanes, item.fabric]


def _switch(item: Any) -> list[str]:
    rate = f"{item.cages} x {_rate(item.cage_rate_gbit_per_s)}"
    split = f"{item.links_per_cage_max} links a cage" if item.links_per_cage_max > 1 else ""
    optics = "co-packaged optics" if item.optics else item.cage
    return [rate, split, item.fabric, optics, f"{item.rack_units:g}U", item.cooling, _usd(item.price_usd)]


def _transceiver(item: Any) -> list[str]:
    rate = (
        f"{_rate(item.rate_gbit_per_s)} in {item.links} links"
        if item.links > 1
        else _rate(item.rate_gbit_per_s)
    )
    reach = f"{_n(item.reach_m)} m {item.medium}"
    return [rate, item.cage, reach, _n(item.power_w, " W"), _usd(item.price_usd)]


def _cable(item: Any) -> list[str]:
    return [
        item.kind.upper() if item.kind != "fibre" else "fibre",
        _rate(item.rate_gbit_per_s),
        item.medium or "",
        f"{_n(item.reach_m)} m",
        _usd(item.price_usd),
    ]


def _engine(item: Any) -> list[str]:
    return [_rate(item.rate_gbit_per_s), _n(item.power_w, " W"), _n(item.energy_pj_per_bit, " pJ/bit")]


def _fabric(item: Any) -> list[str]:
    gain = _n(item.in_network_reduction_gain, " x all-reduce gain")
    return [
        item.fabric,
        _n(item.bandwidth_efficiency_fraction, " of link rate"),
        _n(item.hop_latency_us, " us a hop"),
        gain,
    ]


def _accelerator(item: Any) -> list[str]:
    return [
        item.generation,
        item.form_factor,
        _n(item.memory_mib.value / 1024, " GiB"),
        _n(item.bf16_tflop_per_s, " TFLOP/s bf16"),
        _n(item.memory_bandwidth_gbyte_per_s, " GB/s"),
    ]


def _server(item: Any) -> list[str]:
    nics = f"{item.compute_nics.count} x {item.compute_nics.nic}" if item.compute_nics else ""
    power = f"{item.power_max_w.value / 1000:g} kW"
    return [f"{item.gpus} x {item.accelerator}", nics, power, item.cooling, _usd(item.price_usd)]


def _scaleup(item: Any) -> list[str]:
    domain = f"up to {item.domain_gpus_max} GPUs" if item.domain_gpus_max else ""
    return [
        _n(item.gbyte_per_s, " GB/s a GPU and direction"),
        "switched" if item.switched else "mesh",
        domain,
    ]


def _storage(item: Any) -> list[str]:
    return [
        _n(item.capacity_tb, " TB"),
        _n(item.read_gbyte_per_s, " GB/s read"),
        _n(item.write_gbyte_per_s, " GB/s write"),
    ]


def _site(item: Any) -> list[str]:
    return [
        item.country,
        _n(item.electricity_usd_per_kwh, " USD/kWh"),
        _n(item.carbon_kg_per_kwh, " kg CO2/kWh"),
    ]


def _model(item: Any) -> list[str]:
    experts = f"{item.experts} experts, {item.experts_per_token} a token" if item.experts else "dense"
    return [
        f"{item.parameters_stated.value / 1e9:.4g}B parameters",
        experts,
        f"{item.layers} layers",
        f"{item.context:,} context",
    ]


def _conversion(item: Any) -> list[str]:
    best = max(efficiency for _, efficiency in item.curve)
    rating = _n(item.rating_kw, " kW")
    return [item.kind.value, f"{best:.1%} at best", rating and f"up to {rating}"]


def _rental(item: Any) -> list[str]:
    term = f"{item.term_months} months" if item.term_months else "on demand"
    return [item.provider, item.accelerator, term, _n(item.usd_per_gpu_hour, " USD/GPU-hour")]


def _api_price(item: Any) -> list[str]:
    return [
        item.provider,
        item.model,
        _n(item.usd_per_mtoken_input, " USD/Mtoken in"),
        _n(item.usd_per_mtoken_output, " USD/Mtoken out"),
    ]


def _profile(item: Any) -> list[str]:
    groups = sorted({(one.nodes, one.ranks) for one in item.collectives})
    ranks = "/".join(str(ranks) if nodes == 1 else f"{ranks} on {nodes}" for nodes, ranks in groups)
    fitted = [
        f"collectives of {ranks} ranks" if ranks else "",
        *(word for word in ("gemm", "attention", "memory", "power", "overlap") if getattr(item, word)),
    ]
    return [item.accelerator, item.scaleup or "", item.as_of, " + ".join(part for part in fitted if part)]


_DESCRIBE: Final[dict[str, Callable[[Any], list[str]]]] = {
    "accelerators": _accelerator,
    "scaleup": _scaleup,
    "servers": _server,
    "nics": _nic,
    "switch_asics": _asic,
    "switches": _switch,
    "transceivers": _transceiver,
    "cables": _cable,
    "optical_engines": _engine,
    "fabrics": _fabric,
    "storage": _storage,
    "sites": _site,
    "cooling": lambda item: [
        "liquid" if item.liquid else "air",
        f"PUE {item.pue.value:g}",
        _n(item.rack_limit_kw, " kW a rack"),
    ],
    "power_conversion": _conversion,
    "rentals": _rental,
    "api_prices": _api_price,
    "depreciation": lambda item: (
        [f"recovery periods of {'/'.join(str(one) for one in item.columns)} years"]
        if item.columns
        else [_n(item.life_years, " years")]
    ),
    "models": _model,
    "profiles": _profile,
    "assumptions": lambda item: [f"{len(item.figures)} figures"],
}

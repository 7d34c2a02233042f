"""Bounds of figures by the unit in their name: beyond them is a typing error, and no arithmetic survives it."""

from __future__ import annotations

from planner.catalog.figure import Figure

LARGEST = 1e18
"""Of any figure."""
BOUNDS: tuple[tuple[str, float, float], ...] = (
    ("checkpoint_write_share_of_interval_fraction", 1e-6, 1.0),
    ("model_load_target_s", 1e-3, 1e6),
    ("cabling_technicians_count", 1.0, 1e5),
    ("shift_hours_per_day", 0.1, 24.0),
    ("power_factor_fraction", 0.1, 1.0),
    ("_fraction", 0.0, 1.0),
    ("_temperature_c", -90.0, 60.0),
    ("_gbit_per_s", 1e-3, 1e7),
    ("_gbyte_per_s", 1e-3, 1e7),
    ("_ratio", 1e-3, 1e4),
    ("_count", 0.0, 1e5),
    ("_bytes_per_token", 0.0, 1e7),
    ("_tb", 1e-3, 1e7),
    ("approach_k", 0.0, 100.0),
    ("rating_kw", 1e-3, 1e7),
    ("step_kw", 1e-3, 1e6),
)
"""Ends of names with the least and the largest value; the first that fits holds. What something is divided by is
never 0."""


def beyond(name: str, figure: Figure) -> str:
    """What is wrong with a figure's value or range; empty where nothing is.

    >>> fields = {"source": "s", "basis": "estimate", "as_of": "2026", "note": "n"}
    >>> beyond("liquid_fraction", Figure(value=1.2, **fields))
    'liquid_fraction is 1.2, and must be from 0 to 1'
    >>> beyond("price_usd", Figure(value=0, **fields))
    'price_usd is 0, and must be more than 0'
    """
    least = figure.value if figure.low is None else figure.low
    most = figure.value if figure.high is None else figure.high
    if "_usd" in name and figure.value <= 0:
        return f"{name} is {figure.value:g}, and must be more than 0"
    low, high = next(((low, high) for end, low, high in BOUNDS if name.endswith(end)), (0.0, LARGEST))
    if least < 0 and low >= 0:
        return f"{name} goes down to {least:g}, and must not be negative"
    odd = next((one for one in (figure.value, least, most) if not low <= one <= high), None)
    return "" if odd is None else f"{name} is {odd:g}, and must be from {low:g} to {high:g}"

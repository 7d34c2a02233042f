"""How much of the purchase rests on quotes, publications and estimates."""

from __future__ import annotations

from planner.present import format as fmt
from planner.present.view.reading import Reading, months_old

NAMES = {
    "M": "measured", "D": "from data sheets", "P": "published", "Q": "quoted", "E": "estimated", "u": "typed by the user",
}  # fmt: skip


def capex_shares(reading: Reading) -> tuple[tuple[str, float], ...]:
    """Share of the purchase by the letter of its price, strongest basis first."""
    sums: dict[str, float] = {}
    for row in reading.built.bom:
        letter = reading.letters[row.price.key]
        sums[letter] = sums.get(letter, 0.0) + reading.value(row.cost)
    for key, rate in (
        ("capex.installation_usd", "assumption.installation_fraction"),
        ("capex.cooling_usd", "assumption.cdu_price_usd_per_kw"),
        ("capex.facility_usd", "site.construction_usd_per_w"),
    ):
        if reading.has(key):
            letter = reading.letters[rate] if reading.has(rate) else reading.letters[key]
            sums[letter] = sums.get(letter, 0.0) + reading.value(key)
    total = reading.value("capex.total_usd")
    return tuple((letter, sums[letter] / total) for letter in NAMES if sums.get(letter, 0.0) > 0)


def oldest_price(reading: Reading) -> tuple[str, int] | None:
    """Date of the oldest price of the bill of materials, and its age in months."""
    ages = []
    for row in reading.built.bom:
        source = row.price_source
        if source is not None and (age := months_old(source.as_of, reading.as_of)) is not None:
            ages.append((age, source.as_of))
    if not ages:
        return None
    age, when = max(ages)
    return when, age


def evidence_line(reading: Reading) -> str:
    """The evidence in a sentence."""
    said = ", ".join(f"{fmt.percent(part, 0)} % {NAMES[letter]}" for letter, part in capex_shares(reading))
    oldest = oldest_price(reading)
    age = f", oldest price {oldest[1]} months ({oldest[0]})" if oldest else ""
    return f"Of the purchase: {said}{age}."

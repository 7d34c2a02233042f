"""Random scenarios for the workbook: servers, sizes, phases, terms and workloads, the same for a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from planner.catalog.store import Catalog
from planner.errors import InputError
from planner.evaluate import Evaluation, evaluate
from planner.scenario.load import load_texts
from planner.scenario.yamltext import block

_PLANTS: tuple[dict[str, Any], ...] = (
    {"server": "hgx-h200", "step": 8, "cooling": "air", "rental": "crusoe-h200",
     "network": {"topology": "rail-optimised", "leaf": {"switch": "qm9700"}, "spine": {"switch": "qm9700"},
                 "storage": {"system": "flash-parallel-500tb", "count": 4}}},
    {"server": "dgx-h100", "step": 8, "cooling": "air", "rental": "nebius-h100",
     "network": {"topology": "fat-tree", "leaf": {"switch": "sn5600"}, "spine": {"switch": "sn5600"}}},
    {"server": "hgx-b200", "step": 8, "cooling": "air", "rental": "nebius-b200",
     "network": {"topology": "rail-only", "leaf": {"switch": "sn5600"}}},
    {"server": "dgx-a100", "step": 8, "cooling": "air", "rental": None,
     "network": {"leaf": {"switch": "qm8700"}, "spine": {"switch": "qm8700"}}},
    {"server": "gb200-nvl72", "step": 72, "cooling": "direct-liquid", "rental": "oci-gb200",
     "network": {"leaf": {"switch": "qm9700"}, "spine": {"switch": "qm9700"}}},
)  # fmt: skip
_MODELS = ("llama-3.1-8b", "llama-3.1-70b", "mixtral-8x7b")
_SITES = ("us-virginia", "ireland", "germany", "us-texas", "norway", "singapore", "japan")
_ROUNDS = 400
"""Tries after which a generator that makes nothing that can be built gives up."""


def random_plans(seed: int, count: int, catalog: Catalog) -> Iterator[tuple[str, Evaluation]]:
    """So many plans that can be built, with the text each was read from; what can't be built is drawn again."""
    dice, made = random.Random(seed), 0
    for number in range(_ROUNDS * count):
        if made == count:
            return
        text = scenario_text(dice, f"Random {seed}-{number}")
        try:
            evaluation = evaluate(load_texts([(f"random-{seed}-{number}.yaml", text)]), catalog)
        except InputError:
            continue  # parts that don't belong together
        if evaluation.feasible:
            made += 1
            yield text, evaluation
    raise AssertionError(f"only {made} of {count} plans can be built")


def scenario_text(dice: random.Random, name: str) -> str:
    """One scenario as YAML, which need not be one that can be built."""
    plant = dice.choice(_PLANTS)
    phases = _phases(dice)
    data: dict[str, Any] = {
        "schema_version": 1,
        "name": name,
        "as_of": "2026-11-30",
        "workloads": _workloads(dice),
        "cluster": _cluster(dice, plant, phases),
        "network": plant["network"],
        "site": _site(dice, plant),
        "money": _money(dice, plant),
    }
    if phases:
        data["phases"] = phases
    if dice.random() < 0.3:
        data["limits"] = {"capex_usd": round(dice.uniform(1e6, 3e8), 2)}
    if dice.random() < 0.3:
        data["overrides"] = {
            "assumption.insurance_fraction_per_year": {
                "value": round(dice.uniform(0, 0.02), 4), "unit": "fraction/year", "reason": "our broker's offer",
            }
        }  # fmt: skip
    return "\n".join(block(data)) + "\n"


def _phases(dice: random.Random) -> list[dict[str, Any]]:
    found, month = [], dice.randrange(12)
    for number in range(dice.choice((0, 0, 1, 2, 3, 4))):
        month += dice.randrange(10) if number else 0
        start = month + dice.randrange(7)
        found.append({"id": f"p{number}", "order": _day(month), "in_service": _day(start)})
    return found


def _day(month: int) -> str:
    return f"{2026 + month // 12}-{month % 12 + 1:02}"


def _cluster(dice: random.Random, plant: dict[str, Any], phases: list[dict[str, Any]]) -> dict[str, Any]:
    step = plant["step"]
    sizes = (2, 4, 8, 16, 32) if step == 8 else (1, 2, 4)
    groups = [
        {"id": f"g{number}", "server": plant["server"], "gpus": step * dice.choice(sizes),
         **({"phase": phases[number]["id"]} if phases else {})}
        for number in range(max(1, len(phases)))
    ]  # fmt: skip
    found: dict[str, Any] = {"groups": groups}
    if dice.random() < 0.6:
        found["spare_fraction"] = round(dice.uniform(0, 0.1), 3)
    return found


def _workloads(dice: random.Random) -> list[dict[str, Any]]:
    training = {
        "id": "train", "kind": "training", "model": dice.choice(_MODELS), "sequence_tokens": 4096,
        "tokens_trillion": round(dice.uniform(0.05, 5), 3),
    }  # fmt: skip
    serving = {
        "id": "serve", "kind": "serving", "model": dice.choice(_MODELS[:2]), "precision": "fp8",
        "input_tokens": dice.choice((512, 2048)), "output_tokens": dice.choice((128, 512)),
        "slo": {"ttft_p99_s": 3.0, "tpot_p99_s": 0.1},
    }  # fmt: skip
    kind = dice.randrange(3)
    if kind == 2:
        return [{**training, "share_fraction": 0.6}, {**serving, "share_fraction": 0.4}]
    return [serving if kind else training]


def _site(dice: random.Random, plant: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"location": dice.choice(_SITES), "cooling": plant["cooling"]}
    if dice.random() < 0.3:
        found["housing"] = "own"
    if dice.random() < 0.5:
        found["electricity_usd_per_kwh"] = round(dice.uniform(0.02, 0.3), 4)
    if dice.random() < 0.3:
        found["pue"] = round(dice.uniform(1.05, 1.6), 3)
    if dice.random() < 0.3:
        found["renewable_fraction"] = round(dice.random(), 2)
    return found


def _money(dice: random.Random, plant: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "horizon_months": dice.choice((24, 36, 48, 60, 72, 120)),
        "utilisation_fraction": round(dice.uniform(0.3, 1.0), 2),
        "deposit_fraction": dice.choice((0.0, 0.2, 0.3, 0.5)),
    }
    wishes: dict[str, Any] = {
        "discount_rate_fraction": round(dice.uniform(0.0, 0.2), 3),
        "rental": plant["rental"],
        "sell_usd_per_gpu_hour": round(dice.uniform(1.0, 6.0), 2),
        "staff_fte": round(dice.uniform(0, 12), 1),
        "software_usd_per_gpu_year": round(dice.uniform(0, 5000), 0),
        "depreciation": {"server_years": dice.choice((3.0, 4.0, 5.5)), "residual_fraction": round(dice.uniform(0, 0.3), 2)},
        **_terms(dice),
    }  # fmt: skip
    return {
        **found,
        **{key: value for key, value in wishes.items() if value is not None and dice.random() < 0.4},
    }


def _terms(dice: random.Random) -> dict[str, Any]:
    """Terms of finance: tax, loan, tariff, payment, and what hardware costs until it stands."""
    return {
        "warranty_months": dice.choice((0, 12, 36)),
        "inflation_fraction": round(dice.uniform(0, 0.05), 3),
        "escalation": {"energy_fraction": round(dice.uniform(-0.02, 0.06), 3), "labour_fraction": 0.03},
        "landed": {"freight_fraction": 0.02, "insurance_fraction": 0.005, "duty_fraction": round(dice.uniform(0, 0.1), 3),
                   "tax_fraction": 0.19, "recovered_fraction": dice.choice((0.0, 1.0))},
        "contingency": {"fraction": round(dice.uniform(0, 0.15), 3), "spent_fraction": 0.5},
        "working_capital": {"receivable_days": 45.0, "payable_days": 30.0},
        "tariff": {"demand_usd_per_kw_month": round(dice.uniform(0, 20), 2), "ratchet_fraction": 0.8, "fixed_usd_per_month": 500.0},
        "tax": {"rate_fraction": round(dice.uniform(0.1, 0.35), 3), "method": dice.choice(("macrs", "straight-line")),
                "losses": dice.choice(("used", "carried-forward", "lost"))},
        "debt": {"share_fraction": round(dice.uniform(0.2, 0.9), 2), "rate_fraction": 0.08, "term_months": dice.choice((24, 36)),
                 "grace_months": dice.choice((0, 6)), "fee_fraction": 0.01},
        "lease": {"payment_fraction_per_month": 0.025, "term_months": 24, "timing": dice.choice(("advance", "arrears"))},
        "price_erosion": {"server_fraction_per_year": round(dice.uniform(0, 0.3), 3)},
        "payment": {"shipped_fraction": 0.3, "accepted_months_after_service": dice.choice((0, 2))},
        "costs": {"water": {"amount": 20000.0}, "land": {"amount": 300000.0}, "decommissioning": {"amount": 0.01, "per": "hardware"}},
    }  # fmt: skip

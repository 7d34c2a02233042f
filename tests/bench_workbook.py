"""Size and speed of the largest workbook: fifteen years of months, four purchases, tax, a loan and a lease."""

from __future__ import annotations

import io
import time
from functools import cache

SCENARIO = "h200-1024-ndr"
CHANGES = (
    "money.horizon_months=180",
    "cluster.groups=[{id: a, server: hgx-h200, gpus: 256, phase: a}, {id: b, server: hgx-h200, gpus: 256, phase: b}, "
    "{id: c, server: hgx-h200, gpus: 256, phase: c}, {id: d, server: hgx-h200, gpus: 256, phase: d}]",
    "phases=[{id: a, order: 2026-12, in_service: 2027-03}, {id: b, order: 2027-06, in_service: 2027-10}, "
    "{id: c, order: 2028-01, in_service: 2028-06}, {id: d, order: 2028-09, in_service: 2029-01}]",
    "money.tax={rate_fraction: 0.25}",
    "money.debt={share_fraction: 0.6, term_months: 48}",
    "money.lease={payment_fraction_per_month: 0.025}",
    "money.sell_usd_per_gpu_hour=3.0",
    "money.tariff={demand_usd_per_kw_month: 12.0, ratchet_fraction: 0.8}",
    "money.working_capital={receivable_days: 45.0, payable_days: 30.0}",
    "money.escalation={energy_fraction: 0.02, labour_fraction: 0.03}",
    "money.inflation_fraction=0.02",
    "money.costs={water: {amount: 20000.0}, land: {amount: 300000.0}, decommissioning: {amount: 0.01, per: hardware}}",
)


@cache
def measured() -> tuple[float, float, int]:
    """CPU seconds for 40,000 formulas, their megabytes, and how many the workbook has."""
    import openpyxl

    from planner.catalog.store import open_catalog
    from planner.evaluate import evaluate
    from planner.present.workbook import workbook_bytes
    from planner.scenario.load import load_scenario

    evaluation = evaluate(load_scenario(SCENARIO, changes=list(CHANGES)), open_catalog())
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        content = workbook_bytes(evaluation)
        best = min(best, time.process_time() - start)
    book = openpyxl.load_workbook(io.BytesIO(content))
    count = sum(
        cell.data_type == "f" for sheet in book.worksheets for row in sheet.iter_rows() for cell in row
    )
    print(f"  {count:,} formulas in {best:.2f} CPU s and {len(content) / 1e6:.2f} MB")
    return best * 40_000 / count, len(content) / 1e6 * 40_000 / count, count


MEASURES = [
    ("workbook of 40,000 formulas, CPU s", "4", lambda: measured()[0]),
    ("workbook of 40,000 formulas, MB", "3", lambda: measured()[1]),
]

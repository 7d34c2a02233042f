"""The workbook for finance: every formula live, every input marked, checks that add up.

It is drawn from the ledger: `layout` gives each line its place, `cells` renders formulas for those
places, the other modules draw one sheet or one kind of sheet each.
"""

from planner.present.workbook.write import workbook_bytes

__all__ = ["workbook_bytes"]

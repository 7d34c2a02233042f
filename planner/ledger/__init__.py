"""Named lines and their formulas: the one place where a reported number lives.

One expression gives the array in Python, the live formula in the workbook and the sentence in the
report.
"""

from planner.ledger.lines import Axis, Kind, Ledger, Line, Override, Sign

__all__ = ["Axis", "Kind", "Ledger", "Line", "Override", "Sign"]

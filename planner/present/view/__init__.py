"""An evaluation as tables and figures of plain data, in one order and one vocabulary.

HTML, terminal text and the TUI draw this view; the workbook is drawn from the ledger.
"""

"""Capex, opex, depreciation, cash flow and unit costs."""

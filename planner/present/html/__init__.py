"""The report: one HTML file that asks for nothing from anywhere."""

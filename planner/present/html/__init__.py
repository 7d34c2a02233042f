"""The report as one self-contained page."""

from planner.present.html.page import html_text

__all__ = ["html_text"]

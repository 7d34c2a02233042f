"""Fitted constants written into the catalog's file of figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from planner.study.fit.joint import Evidence

DETERMINED_FRACTION: Final = 0.3
"""Share that rows determine from which a figure counts as measured and not as a guess."""
_ENTRY: Final = r"(?P<head>^  {key}:\n    \{{value: )[^,]+(?P<range>, low: [^,]+, high: [^,]+, source: [^,]+, basis: )\w+(?P<date>, as_of: [\d-]+, verified: )\w+(?P<mid>,\n     note: \")(?P<note>[^\"]*)\"\}}"
_SAID: Final = re.compile(
    r"\s*(Well determined by the fit on measured training rows\.|Mostly a prior: few measured rows determine it\.|"
    r"In the joint fit rows determine .*$)\s*"
)


def with_figures(text: str, found: Iterable[Evidence]) -> str:
    """The text of a file of figures with fitted values and what they rest on; ranges, which are priors, stay.

    Raises:
        AssertionError: A constant isn't there, or isn't written over two lines as the others are.
    """
    for one in found:
        entry = re.compile(_ENTRY.format(key=re.escape(one.key)), re.MULTILINE)
        match = entry.search(text)
        assert match is not None, f"the file has no figure {one.key} over two lines"
        sure = one.data_fraction >= DETERMINED_FRACTION
        basis, verified = ("measured", "true") if sure else ("estimate", "false")
        pieces = (
            match["head"], rounded(one.value), match["range"], basis, match["date"], verified, match["mid"],
            note(match["note"], one), '"}',
        )  # fmt: skip
        text = text[: match.start()] + "".join(pieces) + text[match.end() :]
    return text


def note(before: str, one: Evidence) -> str:
    """A figure's remark with what a fit says of it.

    >>> note("Before the shape factor.", Evidence("a", 0.7, 0.6, 0.8, 0.62, ("llama3", "mpt")))
    'Before the shape factor. In the joint fit rows determine 62 % of it, above all llama3 and mpt.'
    """
    kept = _SAID.sub(" ", before).strip()
    *others, last = one.families or ("",)
    names = f"{', '.join(others)} and {last}" if others else last
    above = f", above all {names}" if names else ""
    said = f"In the joint fit rows determine {100.0 * one.data_fraction:.0f} % of it{above}."
    return f"{kept} {said}".strip()


def rounded(value: float) -> str:
    """Three digits, as the file writes numbers.

    >>> rounded(0.71753), rounded(7.089e-05), rounded(521.2)
    ('0.718', '7.09e-05', '521')
    """
    return f"{value:.3g}"

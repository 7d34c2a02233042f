"""Kinds of values that a scenario's fields take, and the base of its classes."""

from __future__ import annotations

import unicodedata
from datetime import date
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]


def _printable(text: str) -> str:
    """A line that a terminal, a page and a sheet show as it is.

    Raises:
        ValueError: Nothing to see, or characters that steer what shows them.
    """
    if not text.strip():
        raise ValueError("is blank, and a title is needed")
    odd = [one for one in text if unicodedata.category(one) in ("Cc", "Zl", "Zp", "Cs", "Cn") or one in BIDI]
    if odd:
        raise ValueError(f"holds the control character U+{ord(odd[0]):04X}; write plain text on one line")
    return text


def _day(text: str) -> str:
    """A month or day of this century.

    Raises:
        ValueError: No such day, or outside 2000 to 2100.
    """
    try:
        found = date.fromisoformat(text if len(text) == 10 else f"{text}-01")
    except ValueError as error:
        raise ValueError(f"'{text}' is no month or day; write YYYY-MM or YYYY-MM-DD") from error
    if not 2000 <= found.year <= 2100:
        raise ValueError(f"'{text}' is outside 2000 to 2100")
    return text


BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
Name = Annotated[str, StringConstraints(max_length=120), AfterValidator(_printable)]
Day = Annotated[str, AfterValidator(_day)]
Month = Annotated[str, StringConstraints(pattern=r"^20\d\d-(0[1-9]|1[0-2])$")]
AnchorPath = Annotated[str, StringConstraints(min_length=1, max_length=400), AfterValidator(_printable)]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Positive = Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False, strict=True)]
NotNegative = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False, strict=True)]
Count = Annotated[int, Field(ge=1, le=10_000_000, strict=True)]


class Strict(BaseModel):
    """Immutable; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, defer_build=True)

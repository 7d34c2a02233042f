"""Plain data as YAML text that this reader and others read back as the same data."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, Final

from planner.documents import parse_document
from planner.errors import InputError
from planner.sourced import DATE

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9 ._/()+-]*")
_ID: Final = re.compile(r"[0-9]+[a-z-][a-z0-9.-]*")
_NUMBER_ELSEWHERE: Final = re.compile(r"0[xob][0-9a-f_]+|[0-9][0-9_]*e[-+]?[0-9]+|[0-9:_.]+", re.IGNORECASE)
_OTHER_READERS: Final = {
    "yes", "no", "on", "off", "y", "n", "true", "false", "null",
}  # fmt: skip
"""Words that YAML 1.1 readers take for truth values, whatever their capitals."""


def scalar(value: Any) -> str:
    """One value on one line.

    >>> scalar(60000000.0), scalar(0.000012), scalar("yes"), scalar("1e9"), scalar("qm9790"), scalar(None)
    ('60000000.0', '0.000012', '"yes"', '"1e9"', 'qm9790', 'null')

    Raises:
        ValueError: A number that is not finite, or text with half a surrogate pair.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    text = str(value)
    return text if _plain(text) else _quoted(text)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    if value == 0 or 1e-12 <= abs(value) < 1e16:
        text = format(Decimal(repr(value)), "f")
        return text if "." in text else f"{text}.0"
    mantissa, exponent = repr(value).split("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"


def _plain(text: str) -> bool:
    """Whether text may stand without quotes, also for readers of older YAML."""
    if text.strip() != text or text.lower() in _OTHER_READERS or ": " in text or len(text) > 200:
        return False
    if DATE.fullmatch(text):
        return "-" in text
    if _NUMBER_ELSEWHERE.fullmatch(text):
        return False
    return bool(_WORD.fullmatch(text) or _ID.fullmatch(text))


_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


def _quoted(text: str) -> str:
    made = []
    for letter in text:
        code = ord(letter)
        if 0xD800 <= code <= 0xDFFF:
            raise ValueError("text holds half a character")
        if letter in _ESCAPES:
            made.append(_ESCAPES[letter])
        elif letter.isprintable() and code not in (0xFEFF, 0x2028, 0x2029, 0x85):
            made.append(letter)
        else:
            made.append(
                f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
            )
    return f'"{"".join(made)}"'


def inline(value: Any) -> str:
    """Any plain data on one line, collections in brackets.

    >>> inline({"system": "flash", "count": 4}), inline(["a", "b"])
    ('{system: flash, count: 4}', '[a, b]')
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return scalar(value)


def block(value: Any, step: int = 2) -> list[str]:
    """Lines of a mapping or a list, indented from column 0; a list of plain values stays in brackets.

    >>> block({"groups": [{"id": "a", "gpus": 8}], "spare_fraction": 0.02})
    ['groups:', '  - id: a', '    gpus: 8', 'spare_fraction: 0.02']
    """
    if isinstance(value, dict):
        lines: list[str] = []
        for key, item in value.items():
            if is_block(item):
                lines += [f"{scalar(key)}:", *(" " * step + line for line in block(item, step))]
            else:
                lines.append(f"{scalar(key)}: {inline(item)}")
        return lines
    lines = []
    for item in value:
        if isinstance(item, dict) and item:
            first, *rest = block(item, step)
            lines += [f"- {first}", *(f"  {line}" for line in rest)]
        else:
            lines.append(f"- {inline(item)}")
    return lines


def is_block(value: Any) -> bool:
    """Whether data is written over several lines rather than in brackets."""
    if isinstance(value, dict):
        return bool(value)
    return isinstance(value, list | tuple) and any(isinstance(item, dict) and item for item in value)


def typed(text: str) -> Any:
    """What a person's typing in a field means: a number, true, null, or else the text itself.

    >>> typed("1,024"), typed("2.5"), typed("=SUM(1)"), typed(" qm9790 "), typed("60M"), typed("15%")
    (1024, 2.5, '=SUM(1)', 'qm9790', 60000000, 0.15)
    """
    text = text.strip()
    grouped = re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", text)
    scaled = re.fullmatch(r"([-+]?\d+(?:\.\d+)?) ?([kMB%])", text)
    if scaled:
        exponent = {"k": 3, "M": 6, "B": 9, "%": -2}[scaled[2]]
        number = Decimal(scaled[1]).scaleb(exponent)
        return int(number) if number == number.to_integral_value() else float(number)
    try:
        found = parse_document(text.replace(",", "") if grouped else text, name="typed").data
    except InputError:
        return text
    return text if isinstance(found, str | dict) else found

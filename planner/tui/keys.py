"""The user's own keys: a small YAML file that names actions and the keys that do them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from textual.binding import Binding
from textual.keys import KEY_ALIASES, Keys

from planner.documents import load_document
from planner.errors import InputError, Problem, nearest

FILE: Final = "keymap.yaml"
_KEY: Final = re.compile(r"(?:(?:ctrl|alt|shift|super)\+)*(?:f[0-9]{1,2}|[a-z_]+|\S)")


def keymap_file() -> Path:
    """The user's file of keys."""
    from platformdirs import user_config_path

    return user_config_path("cluster-planner") / FILE


def read_keymap(path: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Keys by action, from a file such as ``edit.undo: u,ctrl+z``.

    Args:
        known: Actions that there are, with their default keys.

    Raises:
        InputError: The file can't be read, names an action that there isn't, or a key that no keyboard has.
    """
    document = load_document(path)
    if document.data in (None, {}):
        return {}
    if not isinstance(document.data, dict):
        raise InputError(
            Problem("must hold actions with their keys, such as 'edit.undo: u'", document.place(()))
        )
    problems: list[Problem] = []
    found: dict[str, str] = {}
    for name, value in document.data.items():
        keys = ",".join(map(str, value)) if isinstance(value, list) else str(value)
        place = document.place((name,))
        if name not in known:
            problems.append(Problem("no action has this name", place, str(name), nearest(str(name), known)))
        elif wrong := [one for one in _split(keys) if not _is_key(one)]:
            problems.append(
                Problem(
                    f"'{wrong[0]}' is no key", place, str(name), "write one such as u, ctrl+z, f5 or shift+up"
                )
            )
        else:
            found[str(name)] = ",".join(_split(keys))
    problems += _taken_twice(found, known, document.path)
    if problems:
        raise InputError(problems)
    return found


def _taken_twice(found: Mapping[str, str], known: Mapping[str, str], path: str) -> list[Problem]:
    """Keys that two actions of the same scope would have: the whole program's, or one screen's."""
    problems = []
    merged = {**known, **found}
    for name, keys in found.items():
        for other, others in merged.items():
            same = other.partition(".")[0] == name.partition(".")[0] or not _of_a_screen(name, other)
            shared = set(_split(keys)) & set(_split(others)) if other != name and same else set()
            if shared:
                problems.append(
                    Problem(f"'{sorted(shared)[0]}' is the key of {other} too", key=name, remedy=f"give {other} another key in {path}")
                )  # fmt: skip
    return problems


_SCREENS: Final = (
    "plan",
    "where",
    "catalog",
    "export",
    "start",
    "network",
    "compare",
    "study",
    "calibration",
    "search",
    "sensitivity",
    "list",
    "overlay",
    "picker",
)


def _of_a_screen(*names: str) -> bool:
    """Whether one of the actions belongs to a single screen, where it may stand before the program's."""
    return any(name.partition(".")[0] in _SCREENS for name in names)


def _split(keys: str) -> list[str]:
    return [one.strip() for one in keys.split(",") if one.strip()]


def _is_key(key: str) -> bool:
    last = key.rpartition("+")[2] or key
    known = {one.value for one in Keys} | set(KEY_ALIASES)
    return bool(_KEY.fullmatch(key)) and (len(last) == 1 or last in known or key in known or last in _NAMED)


_NAMED: Final = {
    "space", "slash", "question_mark", "full_stop", "comma", "minus", "plus", "less_than_sign", "greater_than_sign",
    "left_square_bracket", "right_square_bracket", "semicolon", "colon", "asterisk", "ampersand", "number_sign",
}  # fmt: skip


def default_keys(bindings: Iterable[object]) -> dict[str, str]:
    """Default keys by action of a list of bindings."""
    return {one.id: one.key for one in bindings if isinstance(one, Binding) and one.id}


def key_text(keys: str) -> str:
    """Keys as a footer writes them: the first one, short.

    >>> key_text("ctrl+s"), key_text("slash"), key_text("question_mark,f1"), key_text("delete")
    ('^s', '/', '?', 'del')
    """
    first = keys.split(",", maxsplit=1)[0]
    short = {
        "slash": "/",
        "question_mark": "?",
        "delete": "del",
        "escape": "esc",
        "full_stop": ".",
        "left": "←",
        "right": "→",
    }
    return short.get(first, first.replace("ctrl+", "^"))

"""A scenario laid over the one that it extends, each value with the place it stands at."""

from __future__ import annotations

from typing import Any

from planner.documents import Document, Path_
from planner.errors import Problem, ScenarioError


def laid_over(base: Document, document: Document) -> Document:
    """A scenario merged with the one it extends: mappings field by field, lists of items with ids by their ids.

    Raises:
        ScenarioError: An id stands twice in a list.

    >>> from planner.documents import parse_document
    >>> base = parse_document("site: {pue: 1.2, row_racks: 8}", name="base.yaml")
    >>> laid_over(base, parse_document("site: {pue: 1.1}", name="over.yaml")).data
    {'site': {'pue': 1.1, 'row_racks': 8}}
    """
    merged = Document({}, document.path, texts=(*document.texts, *base.texts))
    merged.data = _overlay(base.data, document.data, (), (), base, document, merged)
    merged.places[()] = document.place(())
    return merged


def _overlay(
    base: Any, over: Any, base_path: Path_, over_path: Path_, old: Document, new: Document, out: Document,
    out_path: Path_ = (),
) -> Any:  # fmt: skip
    """Deep merge; items of a list that have ids are matched by them, other lists are replaced."""
    if isinstance(base, dict) and isinstance(over, dict):
        found: dict[str, Any] = {}
        for key in (*base, *(key for key in over if key not in base)):
            here = (*out_path, key)
            if key in over and key in base:
                found[key] = _overlay(
                    base[key], over[key], (*base_path, key), (*over_path, key), old, new, out, here
                )
            elif key in over:
                found[key] = _copy(over[key], (*over_path, key), new, out, here)
            else:
                found[key] = _copy(base[key], (*base_path, key), old, out, here)
            source = new.places.get((*over_path, key)) or old.places.get((*base_path, key))
            if source:
                out.places.setdefault(here, source)
        return found
    if _keyed(base) and _keyed(over):
        items: list[Any] = []
        by_id: dict[str, int] = {}
        for index, item in enumerate(over):
            if item["id"] in by_id:
                place = new.place((*over_path, index, "id"))
                raise ScenarioError(
                    Problem(f"id '{item['id']}' is used twice", place, remedy="rename one of them")
                )
            by_id[item["id"]] = index
        for index, item in enumerate(base):
            here = (*out_path, len(items))
            mine = by_id.pop(item["id"], None)
            if mine is not None and (*over_path, mine) in new.places:
                out.places[here] = new.places[(*over_path, mine)]
            items.append(
                _copy(item, (*base_path, index), old, out, here)
                if mine is None
                else _overlay(item, over[mine], (*base_path, index), (*over_path, mine), old, new, out, here)
            )
        for index in by_id.values():
            items.append(_copy(over[index], (*over_path, index), new, out, (*out_path, len(items))))
        return items
    return _copy(over, over_path, new, out, out_path)


def _keyed(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("id"), str) for item in value)
    )


def _copy(value: Any, path: Path_, source: Document, out: Document, out_path: Path_) -> Any:
    place = source.places.get(path)
    if place:
        out.places[out_path] = place
    if isinstance(value, dict):
        return {k: _copy(v, (*path, k), source, out, (*out_path, k)) for k, v in value.items()}
    if isinstance(value, list):
        return [_copy(v, (*path, i), source, out, (*out_path, i)) for i, v in enumerate(value)]
    return value

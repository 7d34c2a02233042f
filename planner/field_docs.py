"""What the texts under a schema's fields say, read from its source when somebody asks.

pydantic can read them while it makes a class, and would then do so in every run, at a twentieth of its time. Only
schemas for editors, the commented template and the terminal's help need them.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema


class DescribedSchema(GenerateJsonSchema):
    """Makes a JSON Schema whose fields say what their texts say."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        """Schema of one class, with a description of each field that has a text."""
        found = super().model_schema(schema)
        docs = field_docs(schema["cls"])
        for name, field in found.get("properties", {}).items():
            if name in docs:
                field.setdefault("description", docs[name])
        return found


def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Texts of a class's fields by name, inherited ones included; fields without a text are left out.

    >>> from planner.catalog.item import Item
    >>> field_docs(Item)["orderable"]
    'False for roadmap and withdrawn parts: a bill of materials refuses them.'
    """
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        texts = _texts(kind.__module__).get(kind.__qualname__, {}) if issubclass(kind, BaseModel) else {}
        for name in inspect.get_annotations(kind):
            found.pop(name, None)
            if name in texts:
                found[name] = texts[name]
    return found


@cache
def _texts(module: str) -> Mapping[str, Mapping[str, str]]:
    """Texts under the annotated names of a module's classes; none where its source isn't there."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}
    return {one.name: dict(_of_class(one)) for one in tree.body if isinstance(one, ast.ClassDef)}


def _of_class(tree: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, after in zip(tree.body, tree.body[1:], strict=False):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)

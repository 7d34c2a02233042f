"""Texts under fields: own, inherited, overridden, absent; as pydantic itself would read them; in a JSON Schema."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from planner.catalog.schema import FAMILIES
from planner.field_docs import DescribedSchema, field_docs
from planner.scenario.schema import Scenario


class Part(BaseModel):
    """A class of its own."""

    watts: float = 0.0
    """Draw under load."""


class Server(Part):
    """Inherits a field."""

    name: str = ""
    """What it is called,
    on two lines."""
    gpus: int = 8
    fan: Part | None = None
    """A part inside."""


class Tray(Server):
    """Says one field again without a text, and one with another."""

    name: str = "tray"
    watts: float = 1.0
    """Draw of a tray."""


class ReadByPydantic(BaseModel):
    """The same fields, read by pydantic while the class is made."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: str = ""
    """What it is called,
    on two lines."""
    gpus: int = 8
    fan: Part | None = None
    """A part inside."""


def test_own_and_inherited_fields_have_their_texts() -> None:
    assert field_docs(Server) == {
        "watts": "Draw under load.",
        "name": "What it is called,\non two lines.",
        "fan": "A part inside.",
    }


def test_a_field_said_again_has_its_new_text_or_none() -> None:
    assert field_docs(Tray) == {"watts": "Draw of a tray.", "fan": "A part inside."}


def test_texts_are_those_that_pydantic_reads() -> None:
    read = {
        name: one.description
        for name, one in ReadByPydantic.model_fields.items()
        if one.description is not None
    }
    assert field_docs(ReadByPydantic) == read
    assert len(read) == 2


def test_a_schema_says_the_texts_of_nested_classes_too() -> None:
    found = Server.model_json_schema(schema_generator=DescribedSchema)
    assert found["properties"]["fan"]["description"] == "A part inside."
    assert "description" not in found["properties"]["gpus"]
    assert found["$defs"]["Part"]["properties"]["watts"]["description"] == "Draw under load."


def test_fields_of_scenario_and_catalog_are_described() -> None:
    assert field_docs(Scenario)["workloads"]
    schemas = [kind.model_json_schema(schema_generator=DescribedSchema) for kind in FAMILIES.values()]
    described = sum("description" in field for one in schemas for field in one["properties"].values())
    assert described > len(schemas)

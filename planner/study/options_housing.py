"""The same plan in the other housing: a building of its own in place of colocation, or the other way round."""

from __future__ import annotations

from copy import deepcopy

from planner.documents import Document
from planner.errors import Place
from planner.evaluate import Evaluation
from planner.scenario.load import Loaded, validated
from planner.scenario.part_checks import ONLY_IN_OTHER
from planner.scenario.site import Housing


def other_housing(plan: Evaluation) -> Loaded:
    """The scenario with the other housing, without the fields that only the present one has.

    Raises:
        ScenarioError: The changed scenario contradicts itself.
    """
    loaded = plan.loaded
    owned = loaded.scenario.site.housing is Housing.OWN
    wanted = Housing.COLOCATION if owned else Housing.OWN
    old = loaded.document
    document = Document(deepcopy(old.data), old.path, dict(old.places))
    document.data["site"]["housing"] = wanted.value
    document.places["site", "housing"] = Place(f"--set site.housing={wanted.value} (own or rent)")
    for *way, last in ONLY_IN_OTHER[wanted]:
        here = document.data
        for step in way:
            here = here.get(step) or {}
        if isinstance(here, dict):
            here.pop(last, None)
    return validated(document, loaded.path, loaded.bases)

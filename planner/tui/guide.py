"""The guided start: four goals, five questions each, and the scenario that the answers make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner.scenario.yamltext import typed
from planner.study.first_plan import scenario_text

SWITCH: Final = "qm9700"
"""Tried first: what the shipped template builds with."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        default: What is taken for an empty answer.
        family: Family of the catalog that the answer is an item of; empty for a value that is typed.
        number: Whether it is a number.
    """

    key: str
    text: str
    default: str
    note: str = ""
    family: str = ""
    number: bool = False

    def wrong(self, answer: str) -> str:
        """What is wrong with an answer; empty where nothing is."""
        value = typed(answer)
        if self.number and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
            return f"'{answer}' is no number over 0"
        return "" if answer.strip() else "an answer is needed"


@dataclass(frozen=True, slots=True)
class Goal:
    """What somebody wants of a plan."""

    id: str
    title: str
    told: str
    questions: tuple[Question, ...]


_MODEL: Final = Question("model", "Which model?", "llama-3.1-70b", "An item of the catalog.", "models")
_SERVER: Final = Question(
    "server", "Which server or rack?", "hgx-h200", "Its GPUs and NICs come with it.", "servers"
)
_PLACE: Final = Question(
    "location", "Where does it stand?", "us-virginia", "Sets energy price, rent and climate.", "sites"
)
_GPUS: Final = Question(
    "gpus",
    "How many GPUs to begin with?",
    "256",
    "Whole servers; the plan says whether more are needed.",
    number=True,
)

GOALS: Final = (
    Goal("train", "Train a model by a date", "how many GPUs it takes, and what that costs", (
        _MODEL,
        Question("days", "In how many days must it be trained?", "60", "The plan is judged by it.", number=True),
        _SERVER, _GPUS, _PLACE,
    )),
    Goal("serve", "Serve a load", "tokens a second, the tail latency and the price of a token", (
        _MODEL,
        Question("requests", "How many requests a second, in the busiest hour?", "50",
                 "Of 2,048 tokens in and 512 out; the plan can say otherwise.", number=True),
        _SERVER, _GPUS, _PLACE,
    )),
    Goal("power", "Fill a power budget", "as many GPUs as the megawatts carry", (
        Question("limit_mw", "How many megawatts at the meter?", "2", "The peak stays within it.", number=True),
        _SERVER, _MODEL, _PLACE,
        Question("cooling", "How is it cooled?", "air", "Liquid-cooled racks need a liquid loop.", "cooling"),
    )),
    Goal("quotes", "Compare two quotes", "the same plan at two vendors' prices", (
        Question("first", "File of the first quote?", "quote-a.csv", "CSV or workbook, beside the plan."),
        Question("second", "File of the second quote?", "quote-b.csv", "CSV or workbook, beside the plan."),
        _SERVER, _GPUS, _PLACE,
    )),
)  # fmt: skip


def values(goal: Goal, answers: Mapping[str, str]) -> dict[str, Any]:
    """Answers as values, defaults where none was given."""
    found: dict[str, Any] = {}
    for one in goal.questions:
        text = answers.get(one.key, "").strip() or one.default
        found[one.key] = typed(text) if one.number else text
    return found


def data_of(goal: Goal, answers: Mapping[str, str], title: str) -> dict[str, Any]:
    """The plan that answers make, as plain data; without a switch yet, which has to fit the server."""
    got = values(goal, answers)
    serving = goal.id == "serve"
    workload: dict[str, Any] = {
        "id": "serve" if serving else "train", "kind": "serving" if serving else "training",
        "model": got.get("model", _MODEL.default),
    }  # fmt: skip
    if serving:
        workload["load"] = {"requests_per_s": got["requests"]}
    site: dict[str, Any] = {"location": got["location"]}
    limits: dict[str, Any] = {}
    if goal.id == "train":
        limits["days"] = got["days"]
    if goal.id == "power":
        site |= {"cooling": got["cooling"], "limit_mw": got["limit_mw"]}
        limits["site_mw"] = got["limit_mw"]
    plan: dict[str, Any] = {
        "name": title,
        "workloads": [workload],
        "cluster": {"groups": [{"id": "main", "server": got["server"], "gpus": got.get("gpus", 8)}]},
        "network": {"leaf": {"switch": SWITCH}},
        "site": site,
    }
    if limits:
        plan["limits"] = limits
    return plan


def files_of(goal: Goal, data: Mapping[str, Any], answers: Mapping[str, str], stem: str) -> dict[str, str]:
    """Name and text of each file: one plan, or for quotes a plan and a second one that changes its quote.

    >>> goal = GOALS[3]
    >>> found = files_of(goal, data_of(goal, {}, "Two quotes"), {}, "quotes")
    >>> list(found), found["quotes-b.yaml"].splitlines()[2:]
    (['quotes.yaml', 'quotes-b.yaml'], ['extends: quotes.yaml', 'name: "Two quotes, second quote"', '', 'quotes: [quote-b.csv]'])
    """
    head = f"{goal.title}: made by the guided start. Every field can be edited; what isn't here stands at its default."
    if goal.id != "quotes":
        return {f"{stem}.yaml": scenario_text(data, head=head)}
    got = values(goal, answers)
    first = {**data, "quotes": [got["first"]]}
    second = {"extends": f"{stem}.yaml", "name": f"{data['name']}, second quote", "quotes": [got["second"]]}
    return {
        f"{stem}.yaml": scenario_text(first, head=head),
        f"{stem}-b.yaml": scenario_text(second, head=f"The same plan at the prices of {got['second']}."),
    }

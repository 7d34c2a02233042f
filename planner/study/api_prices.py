"""Prices of a model's tokens at providers' interfaces, as the catalog has them on a plan's date."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.schema import ApiPrice
from planner.catalog.store import Catalog, Entry


@dataclass(frozen=True, slots=True)
class ApiOffer:
    """What a provider asks.

    Attributes:
        usd_per_mtoken: Million output tokens with their prompts, at the workload's lengths.
        as_of: Date of the older one of both prices.
    """

    entry: Entry[ApiPrice]
    usd_per_mtoken: float
    as_of: str

    @property
    def id(self) -> str:
        """Id of the catalog item."""
        return self.entry.item.id


def api_offers(
    catalog: Catalog, model: str, *, input_tokens: float, output_tokens: float, as_of: str
) -> list[ApiOffer]:
    """Every provider's price of a model's tokens, the cheapest for these lengths first.

    Args:
        catalog: Prices that are not taken leave no trace in what a report rests on.
        model: Item of ``models``.
        input_tokens, output_tokens: Lengths of a request.
        as_of: The plan's date; a price of a later one is none yet.
    """
    shelf = Catalog(catalog.folders)
    found = []
    for name in shelf.ids(ApiPrice):
        item = shelf.get(ApiPrice, name)
        date = min(str(item.usd_per_mtoken_input.as_of), str(item.usd_per_mtoken_output.as_of))
        size = min(len(date), len(as_of))
        if item.model != model or date[:size] > as_of[:size]:
            continue
        price = api_usd_per_mtoken(
            item.usd_per_mtoken_input.value, item.usd_per_mtoken_output.value, input_tokens, output_tokens
        )
        found.append(ApiOffer(catalog.entry(ApiPrice, name), price, date))
    return sorted(found, key=lambda one: (one.usd_per_mtoken, one.id))


def api_usd_per_mtoken(
    usd_per_mtoken_input: float, usd_per_mtoken_output: float, input_tokens: float, output_tokens: float
) -> float:
    """Price of a million output tokens with the prompts they answer.

    >>> api_usd_per_mtoken(0.5, 1.5, 2000.0, 500.0)
    3.5
    """
    return usd_per_mtoken_output + usd_per_mtoken_input * input_tokens / output_tokens

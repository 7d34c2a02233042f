"""Models of measured training runs: the row's own dimensions, or those of a catalog model."""

from __future__ import annotations

from planner.catalog.llm import Attention, Model
from planner.catalog.store import Entry
from planner.performance.models import ModelShape, model_shape
from planner.performance.shapes import shape_of
from planner.study.fidelity.names import Names
from planner.study.fidelity.training_draft import Draft
from planner.study.fidelity.unfit import UnfitError

USUAL_VOCABULARY = 50_000.0
USUAL_HEAD = 128


def model_of(draft: Draft, names: Names) -> ModelShape:
    """Shape of a row's model.

    A catalog model of the stated dimensions adds what the row leaves out (latent attention, windows, shared
    experts). Where a row states none or too few, the model that it names is taken if nothing stated speaks against it.

    Raises:
        UnfitError: The row states too little, and names no model of the catalog.
    """
    arch = draft.row.arch
    known = names.model_of_shape(arch)
    if known is not None:
        return shape_of(known.item)
    named = names.model(draft.row.model)
    if named is not None and _agrees(named, draft):
        draft.settle(f"dimensions of {named.item.id} taken, as named")
        return shape_of(named.item)
    if arch.layers is None or arch.hidden is None or (arch.ffn is None and arch.moe is None):
        raise UnfitError(
            "the row doesn't state the model's layers and widths, and the catalog has no such model"
        )
    return _stated(draft, arch.layers, arch.hidden)


def _agrees(named: Entry[Model], draft: Draft) -> bool:
    """Whether the layers, width and experts that a row states are those of the model it names."""
    arch, item = draft.row.arch, named.item
    stated = [(arch.layers, item.layers), (arch.hidden, item.hidden)]
    if arch.moe is not None:
        stated += [(arch.moe.experts, item.experts), (arch.moe.topk, item.experts_per_token)]
    if any(given is not None and given != own for given, own in stated):
        return False
    whole = arch.layers is not None and arch.hidden is not None and (arch.ffn or arch.moe)
    # published dimensions have no field for latent attention, windows and shared experts
    return not whole or item.attention is Attention.LATENT or item.window > 0 or item.shared_experts > 0


def _stated(draft: Draft, layers: int, hidden: int) -> ModelShape:
    arch = draft.row.arch
    heads = arch.heads
    if heads is None:
        heads = max(1, round(hidden / USUAL_HEAD))
        draft.settle(f"heads of {USUAL_HEAD} taken, since the row states none")
    experts = arch.moe
    dense = None if experts is None else experts.dense_layers
    return model_shape(
        layers=layers, hidden=hidden, heads=heads, kv_heads=arch.kv_heads or heads,
        head_dim=arch.head_size or 0.0, vocab=arch.vocab or _vocabulary(draft),
        ffn=0.0 if experts is not None and not dense else arch.ffn or 0.0, dense_layers=dense,
        experts=experts.experts if experts else 0, experts_per_token=experts.topk if experts else 0,
        expert_ffn=experts.moe_ffn if experts else 0, shared_expert_ffn=experts.shared_ffn if experts else 0,
        glu=arch.glu if arch.glu is not None else True,
    )  # fmt: skip


def _vocabulary(draft: Draft) -> float:
    draft.settle(f"a vocabulary of {USUAL_VOCABULARY:,.0f} taken, since the row states none")
    return USUAL_VOCABULARY

"""The benchmark's own table of model sizes says what the catalog says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from planner.measure.run.model_shapes import MODELS, shapes

CATALOG = Path(__file__).parents[3] / "catalog" / "models"


def _catalog(model: str) -> dict[str, Any]:
    found = YAML(typ="safe").load((CATALOG / f"{model}.yaml").read_text())
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("model", MODELS)
def test_sizes_equal_the_catalogs(model: str) -> None:
    sizes, item = MODELS[model], _catalog(model)
    for key in ("hidden", "heads", "kv_heads", "head_size"):
        assert getattr(sizes, key) == item[key], key
    assert sizes.ffn == (item["expert_ffn"] if sizes.experts else item["ffn"])
    for key in ("q_latent", "kv_latent", "rope_head_size"):
        assert getattr(sizes, key) == item.get(key, 0), key


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("parallel", [1, 2, 4, 8])
def test_every_weight_has_sides_that_fp8_kernels_take(model: str, parallel: int) -> None:
    assert all(shape.k % 16 == 0 and shape.n % 16 == 0 and shape.n > 0 for shape in shapes(model, parallel))


def test_splitting_a_dense_layer_over_ranks_splits_its_feed_forward_weights() -> None:
    whole = {shape.role: shape.k * shape.n for shape in shapes("llama-3.1-70b", 1)}
    part = {shape.role: shape.k * shape.n for shape in shapes("llama-3.1-70b", 8)}
    assert part["gate_up"] * 8 == whole["gate_up"]
    assert part["down"] * 8 == whole["down"]

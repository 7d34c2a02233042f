"""The ratio that measured runs of one's own stack give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.catalog.store import Catalog, open_catalog
from planner.errors import ScenarioError
from planner.performance.anchors import AnchorStep, anchor_ratio, anchor_steps, like
from planner.performance.software import Software
from planner.scenario.anchors import Anchor, load_anchors
from planner.study.anchored import catalog_ratio, predicted_s
from planner.study.fidelity.training import catalog_figures

RUN = """\
  - {{id: {id}, date: 2026-11-30, stack: "{stack}", model: {model}, {where}, gpus: 8,
     plan: {{sharding: fsdp, microbatch: {microbatch}}}, batch_sequences: 8, sequence_tokens: {tokens}, step_s: 9.0}}
"""
bias = st.floats(min_value=0.6, max_value=1.6)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


def anchors(folder: Path, *runs: dict[str, object]) -> tuple[Anchor, ...]:
    default = {"stack": "torchtitan", "model": "llama-3.1-8b", "where": "server: hgx-h200", "microbatch": 1}
    texts = [
        RUN.format(**default | {"id": f"r{index}", "tokens": 4096 + 1024 * index} | one) for index, one in enumerate(runs)
    ]  # fmt: skip
    path = folder / "a.yaml"
    path.write_text("runs:\n" + "".join(texts))
    return load_anchors([path])


def measured(step: AnchorStep, factor: float, catalog: Catalog) -> AnchorStep:
    """The same run, had it taken so many times its prediction."""
    run = step.anchor.run.model_copy(update={"step_s": predicted_s(step, catalog) * factor})
    return replace(step, anchor=Anchor(run, step.anchor.place))


def test_runs_as_predicted_leave_the_prediction_as_it_is(tmp_path: Path, catalog: Catalog) -> None:
    steps = [measured(one, 1.0, catalog) for one in anchor_steps(anchors(tmp_path, {}, {}, {}), catalog)]
    assert catalog_ratio(steps, catalog).value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_many_runs_that_agree_reproduce_their_measured_time(
    tmp_path: Path, catalog: Catalog, factor: float
) -> None:
    steps = anchor_steps(anchors(tmp_path, *[{} for _ in range(40)]), catalog)
    made = [measured(one, factor, catalog) for one in steps]
    ratio = catalog_ratio(made, catalog)
    for one in made:
        assert predicted_s(one, catalog) * ratio.value == pytest.approx(one.anchor.run.measured_s, rel=0.002)


@given(factor=bias, runs=st.integers(min_value=1, max_value=30))
def test_a_further_run_that_agrees_narrows_the_band_and_draws_less_towards_one(
    factor: float, runs: int
) -> None:
    few = anchor_ratio(log_ratios=np.full(runs, np.log(factor)), stack_deviation=0.15, run_deviation=0.04)
    more = anchor_ratio(
        log_ratios=np.full(runs + 1, np.log(factor)), stack_deviation=0.15, run_deviation=0.04
    )
    assert more.high / more.low < few.high / few.low
    assert abs(np.log(more.value / factor)) <= abs(np.log(few.value / factor))
    assert min(1.0, factor) <= few.value <= max(1.0, factor)
    assert few.low < few.value < few.high


@given(factor=bias, spread=st.floats(min_value=0.01, max_value=0.3))
def test_runs_that_scatter_say_less(factor: float, spread: float) -> None:
    logs = np.log(factor) + spread * np.array([-1.0, 0.0, 1.0])
    tight = anchor_ratio(log_ratios=np.full(3, np.log(factor)), stack_deviation=0.15, run_deviation=0.04)
    wide = anchor_ratio(log_ratios=logs, stack_deviation=0.15, run_deviation=0.04)
    assert wide.high / wide.low > tight.high / tight.low
    assert abs(np.log(wide.value)) <= abs(np.log(tight.value)) + 1e-12


@settings(max_examples=30, deadline=None)
@given(logs=st.lists(st.floats(min_value=-0.4, max_value=0.4), min_size=1, max_size=8), order=st.randoms())
def test_the_order_of_runs_does_not_matter(logs: list[float], order: object) -> None:
    shuffled = list(logs)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    first, other = (
        anchor_ratio(log_ratios=np.array(one), stack_deviation=0.15, run_deviation=0.04) for one in (logs, shuffled)
    )  # fmt: skip
    assert first.value == pytest.approx(other.value)
    assert first.high == pytest.approx(other.high)


def test_the_band_of_a_lone_run_is_wider_than_the_scatter_and_narrower_than_an_unknown_stack() -> None:
    one = anchor_ratio(log_ratios=np.zeros(1), stack_deviation=0.2 / 1.2816, run_deviation=0.04)
    assert 0.04 * 1.2816 < np.log(one.high) < 0.2


def test_the_name_of_the_stack_says_what_kind_it_is(tmp_path: Path, catalog: Catalog) -> None:
    for stack, software in (
        ("torchtitan 0.2", Software.FSDP_COMPILED), ("NeMo 25.04", Software.MEGATRON_CORE),
        ("planner bench, eager", Software.FSDP_EAGER), ("our own", Software.MEGATRON_CORE),
    ):  # fmt: skip
        (step,) = anchor_steps(anchors(tmp_path, {"stack": stack}), catalog)
        assert step.setting.software is software


def test_an_accelerator_stands_for_a_server_that_brings_it(tmp_path: Path, catalog: Catalog) -> None:
    by_chip, by_server = (
        anchor_steps(anchors(tmp_path, {"where": where}), catalog)[0]
        for where in ("accelerator: h200-sxm-141gb", "server: hgx-h200")
    )
    figure = catalog_figures(catalog)
    assert by_chip.predicted_s(figure) == pytest.approx(by_server.predicted_s(figure), rel=0.02)


def test_only_runs_of_the_same_kind_correct(tmp_path: Path, catalog: Catalog) -> None:
    steps = anchor_steps(
        anchors(tmp_path, {}, {"where": "server: hgx-a100"}, {"model": "qwen3-30b-a3b"}), catalog
    )
    kinds = [one.kind for one in steps]
    assert len(set(kinds)) == 3
    assert [len(like(steps, kind)) for kind in kinds] == [1, 1, 1]
    assert like(steps, replace(kinds[0], form="fp8")) == ()


def test_draws_of_the_figures_move_the_ratio_the_other_way(tmp_path: Path, catalog: Catalog) -> None:
    from planner.performance.anchors import ratio_of

    steps = anchor_steps(anchors(tmp_path, {}, {}), catalog)
    plain = catalog_figures(catalog)

    def figure(key: str) -> np.ndarray:
        return np.concatenate([plain(key), plain(key) * (0.8 if key.startswith("gemm_share") else 1.0)])

    ratio, drift = ratio_of(steps, figure, lambda key: catalog.figure("performance", key)[0].value)
    predicted = np.stack([one.predicted_s(figure) for one in steps])
    assert drift[0] == 1.0
    assert predicted[0, 1] > predicted[0, 0]
    np.testing.assert_allclose(
        np.exp(np.log(predicted).mean(axis=0)) * drift, np.exp(np.log(predicted[:, 0]).mean())
    )
    assert ratio.value > 0


@pytest.mark.parametrize(
    ("runs", "words"),
    [([{"where": "server: hgx-h20"}], "nearest: "), ([{"model": "llama-9"}], "no item 'llama-9'"),
     ([{"where": "accelerator: h200"}], "accelerators"), ([{}, {"stack": "Megatron Core"}], "several kinds of software")],
)  # fmt: skip
def test_what_the_catalog_cannot_place_is_said_with_the_line_of_the_run(
    tmp_path: Path, catalog: Catalog, runs: list[dict[str, object]], words: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        anchor_steps(anchors(tmp_path, *runs), catalog)
    said = str(refused.value)
    assert "a.yaml:" in said
    assert words in said, said


def test_all_runs_that_cannot_be_placed_are_named_together(tmp_path: Path, catalog: Catalog) -> None:
    with pytest.raises(ScenarioError) as refused:
        anchor_steps(anchors(tmp_path, {"model": "none-1"}, {"model": "none-2"}), catalog)
    assert "none-1" in str(refused.value)
    assert "none-2" in str(refused.value)

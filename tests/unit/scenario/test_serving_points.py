"""Tables of serving points: what is read, and what is refused with line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import InputError
from planner.scenario.serving_points import (
    COLUMNS,
    EXAMPLE,
    ServedBy,
    is_table,
    load_serving_anchors,
    read_serving_anchors,
)  # fmt: skip

HEAD = "model,gpu,engine,precision,concurrency,isl,osl,ttft_ms,tpot_ms,tp"


def test_a_row_is_a_point_with_its_line() -> None:
    found, wrong = read_serving_anchors(f"# mine\n{HEAD}\n{EXAMPLE}\n", "mine.csv")
    assert not wrong
    (one,) = found
    assert (one.point.engine, one.point.concurrency, one.point.isl, one.point.tp) == (
        ServedBy.VLLM,
        16.0,
        1024,
        1,
    )
    assert one.place.line == 3


def test_ttft_tensor_ranks_and_date_may_be_left_out() -> None:
    text = "model,gpu,engine,precision,concurrency,isl,osl,tpot_ms\nm,g,sglang,bf16,1,10,20,5\n"
    ((one,), wrong) = read_serving_anchors(text, "mine.csv")
    assert not wrong
    assert (one.point.ttft_ms, one.point.tp, one.point.date) == (None, 1, None)
    ((same,), _) = read_serving_anchors(f"{','.join(COLUMNS)}\nm,g,sglang,bf16,1,10,20,,5,,\n", "mine.csv")
    assert same.point == one.point


def test_columns_may_stand_in_any_order_and_cells_have_blanks() -> None:
    text = "tpot_ms, model\n".replace(", ", ",") + "5,m\n"
    _, wrong = read_serving_anchors(text, "mine.csv")
    assert "needs the columns gpu, engine" in wrong[0].message
    text = "tp,tpot_ms,osl,isl,concurrency,precision,engine,gpu,model\n 2 , 5,20,10,1,bf16,vllm,g,m\n"
    ((one,), wrong) = read_serving_anchors(text, "mine.csv")
    assert not wrong
    assert one.point.tp == 2


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(
        f"{HEAD}\nm,g,vlm,bf16,x,10,20,,-5,1\nm,g,vllm,fp9,1,1.5,20,,5\nm,g,vllm,bf16,1,10,20,,,1\n"
    )
    with pytest.raises(InputError) as caught:
        load_serving_anchors([path, tmp_path / "gone.csv"])
    said = [f"{one.place.line if one.place else 0}:{one.key}:{one.message}" for one in caught.value.problems]
    assert any(line.startswith("2:engine:is 'vlm'") for line in said)
    assert any(line.startswith("2:concurrency:is 'x'") for line in said)
    assert any(line.startswith("2:tpot_ms:is -5") for line in said)
    assert any(line.startswith("3::has another number of columns") for line in said)
    assert any(line.startswith("4:tpot_ms") for line in said)
    assert any("can't be read" in line for line in said)


@pytest.mark.parametrize("text", ["", "\n", f"{HEAD}\n", "<html></html>"])
def test_a_file_without_a_point_is_refused(text: str) -> None:
    found, wrong = read_serving_anchors(text, "mine.csv")
    assert not found
    assert wrong


def test_a_mistyped_column_is_named_with_the_nearest() -> None:
    _, wrong = read_serving_anchors(HEAD.replace("engine", "engin") + "\n", "mine.csv")
    assert wrong[0].message.startswith("no column 'engin'")
    assert "engine" in wrong[0].remedy


def test_tables_are_told_by_their_ending() -> None:
    assert is_table(Path("a/B.CSV"))
    assert not is_table(Path("a.yaml"))

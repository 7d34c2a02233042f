"""Request traces: what is read, and what is refused with line and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.errors import InputError
from planner.scenario.request_trace import read_request_trace


def test_requests_come_in_order_from_time_zero(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("arrival_s,input_tokens,output_tokens\n12.5,100,7\n10,50,3\n")
    trace = read_request_trace(path)
    assert trace.arrival_s is not None
    assert trace.arrival_s.tolist() == [0.0, 2.5]
    assert trace.prompt_tokens.tolist() == [50.0, 100.0]


def test_every_wrong_cell_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("input_tokens,output_tokens\n100,0\nten,5\n3,2.5\n4,4\n")
    with pytest.raises(InputError) as caught:
        read_request_trace(path)
    assert [problem.place.line for problem in caught.value.problems if problem.place] == [2, 3, 4]


@pytest.mark.parametrize("text", ["", "input_tokens,output_tokens\n", "prompt,answer\n1,2\n"])
def test_a_file_without_requests_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=r"the trace has no"):
        read_request_trace(path)

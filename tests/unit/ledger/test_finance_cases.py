"""Published and hand-checked finance cases, worked out by the ledger."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ledger_cases import BUILDERS, LATER, PARTLY, PROOFS, Bench, built, cases


def assert_answers(bench: Bench) -> None:
    for check in bench.checks:
        found = bench.ledger.value(check.key)[0]
        expected = np.asarray(check.expected, dtype=np.float64)
        found = found[: expected.shape[0]] if expected.ndim else found
        np.testing.assert_allclose(found, expected, rtol=0, atol=check.tolerance, err_msg=check.key)


@pytest.mark.parametrize("case_id", BUILDERS)
def test_the_ledger_gives_the_known_answer(case_id: str) -> None:
    assert built(case_id).checks
    assert_answers(built(case_id))


def test_every_case_is_either_worked_out_or_left_for_a_reason() -> None:
    assert not set(BUILDERS) & set(LATER)
    assert set(cases()) == set(BUILDERS) | set(LATER)
    assert set(PARTLY) <= set(BUILDERS)


@pytest.mark.parametrize("case_id", BUILDERS)
def test_every_answer_of_a_case_is_compared(case_id: str) -> None:
    if case_id not in PARTLY:
        assert len(built(case_id).checks) >= len(cases()[case_id]["expected"])


def test_every_case_names_its_source() -> None:
    for case in cases().values():
        assert case["source"]


@pytest.mark.parametrize("name", PROOFS)
def test_the_ledger_agrees_with_a_plain_loop(name: str) -> None:
    assert_answers(PROOFS[name]())

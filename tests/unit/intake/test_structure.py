"""What counts as the same cell, whatever program saved it."""

from __future__ import annotations

import openpyxl

from planner.intake.structure import alike, normal, structure_problems


def book(value: object) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.title = "One"
    sheet["A1"], sheet["B1"], sheet["C1"] = "Name", "USD", value
    return made


def test_a_formula_is_the_same_in_any_case_and_spacing_but_its_texts_are_not() -> None:
    assert normal('=sum( A1:A3 ) & "a b"') == normal('=SUM(A1:A3)&"a b"')
    assert normal('="a b"') != normal('="ab"')
    assert structure_problems(book("=SUM( a1 )"), book("=SUM(A1)"), "x", ()) == []
    assert len(structure_problems(book("=SUM(A2)"), book("=SUM(A1)"), "x", ())) == 1


def test_fifteen_digits_of_a_number_are_enough() -> None:
    assert alike(1.166666666666667, 1.16666666666667)
    assert not alike(1.1666666667, 1.166666666666667)
    assert structure_problems(book(4.98645), book(4.986449999999999), "x", ()) == []
    assert len(structure_problems(book(4.98646), book(4.98645), "x", ())) == 1
    assert structure_problems(book(7), book(4), "x", {("One", "C1")}) == []


def test_a_number_is_no_text_and_an_empty_cell_no_zero() -> None:
    assert len(structure_problems(book("4"), book(4), "x", ())) == 1
    assert len(structure_problems(book(None), book(0), "x", ())) == 1
    assert len(structure_problems(book(0), book(None), "x", ())) == 1

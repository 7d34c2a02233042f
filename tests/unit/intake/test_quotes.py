"""Quotes from CSV files and workbooks: what is read, and every problem at once."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import xlsxwriter

from planner.errors import InputError
from planner.intake.quotes import read_quotes
from planner.scenario.quotes import PaymentTerms, Quotes

HEAD = "Part,Unit price,Currency,Vendor,Quote id,Quote date,Valid until"
TAIL = "USD,Acme,Q-1,2026-11-20,2027-01-31"


def written(folder: Path, text: str, name: str = "quote.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str) -> Quotes:
    return read_quotes([written(folder, text)])


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as refused:
        read(folder, text)
    return [str(one).replace(f"{folder}/", "") for one in refused.value.problems]


def test_breaks_stand_in_rows_or_in_columns(tmp_path: Path) -> None:
    rows = read(tmp_path, f"{HEAD},Min qty\nqm9700,36500,{TAIL},1\nqm9700,33900,{TAIL},32\n")
    columns = read(
        tmp_path, f"{HEAD.replace('Unit price', 'Price 1+')},Price 32+\nqm9700,36500,{TAIL},33900\n"
    )
    for quotes in (rows, columns):
        assert [(one.min_quantity, one.price) for one in quotes.lines] == [(1, 36500), (32, 33900)]


def test_lines_above_the_table_hold_for_every_row_that_doesnt_say_otherwise(tmp_path: Path) -> None:
    head = "Quotation\nSupplier:,Acme GmbH\nQuote no: Q-9\nDate,20.11.2026\nValid to;\n\n"
    quotes = read(
        tmp_path,
        f"{head}Item;Net price (EUR);Delivery time;Supplier\nqm9700;33.900,50;12-16 weeks;\nsn4700;25000;84 days;Beta\n".replace(
            ",", ";"
        ).replace("33.900;50", "33.900,50"),
    )
    first, second = quotes.lines
    assert (first.vendor, first.quote_id, first.date, first.valid_until) == (
        "Acme GmbH",
        "Q-9",
        "2026-11-20",
        "",
    )
    assert (first.price, first.currency, first.lead_time_weeks) == (33900.5, "EUR", 16)
    assert (second.vendor, second.lead_time_weeks) == ("Beta", 12)


def test_a_row_stands_on_the_line_on_which_it_ends(tmp_path: Path) -> None:
    quotes = read(tmp_path, f'{HEAD},Description\nqm9700,1,{TAIL},"two\nlines"\nsn4700,2,{TAIL},\n')
    assert [one.place.line for one in quotes.lines] == [3, 4]


def test_every_bad_row_is_told_with_its_line_and_remedy(tmp_path: Path) -> None:
    said = problems(
        tmp_path,
        f"{HEAD},MOQ,Lead time,Deposit %,On ship %\n"
        "qm9700,1.234,USD,Acme,Q-1,2026-11-20,2027-01-31,,,,\n"
        ",5,USD,Acme,Q-1,2026-11-20,2027-01-31,,,,\n"
        "sn4700,abc,USD,Acme,Q-1,11/12/2026,2027-01-31,,,,\n"
        "sn5600,7,USD,Acme,,2026-11-20,2026-01-31,,,,\n"
        "sn2201,,USD,Acme,Q-1,2026-11-20,2027-01-31,5,,,\n"
        "sn3700,5,$,Acme,Q-1,2026-11-20,2027-01-31,0,soon,30,60\n",
    )
    assert said == [
        "quote.csv:2: unit price: '1.234' may be 1234 or 1.2340 (write one of them)",
        "quote.csv:3: part: the row names no part (name one, or remove the row)",
        "quote.csv:4: unit price: 'abc' is no number (write it as 1234.50)",
        "quote.csv:4: quote date: '11/12/2026' may be two days (write it as YYYY-MM-DD)",
        "quote.csv:5: quote id: is missing: the number of the quote (fill the column quote id, or add a line 'quote id' "
        "above the table)",
        "quote.csv:5: valid until: is 2026-01-31, before the quote's own date 2026-11-20 (correct one of them)",
        "quote.csv:6: unit price: 'sn2201' has no price (add it, or leave the whole row blank)",
        "quote.csv:7: moq: '0' must be more than 0 and at most 1e12",
        "quote.csv:7: lead time weeks: 'soon' is no number (write it as 1234.50)",
        "quote.csv:7: payment terms: deposit, on ship and on acceptance add up to 90 % (make them 100 %)",
    ]


def test_what_isnt_offered_summed_or_known_is_no_price(tmp_path: Path) -> None:
    quotes = read(
        tmp_path, f"{HEAD},Colour,Total\nqm9700,5,{TAIL},red,50\nsn4700,,,,,,,,\nGrand total,,,,,,,,50\n"
    )
    assert [one.part for one in quotes.lines] == ["qm9700"]
    assert [part for _, part in quotes.declined] == ["sn4700"]
    assert [heading for _, heading in quotes.ignored] == ["Colour"]


def test_terms_by_column_or_in_words_are_the_same(tmp_path: Path) -> None:
    columns = f"{HEAD},Deposit %,On ship %,On acceptance %,Net days\nqm9700,5,{TAIL},30,60,10,30\n"
    said = f'{HEAD},Payment terms\nqm9700,5,{TAIL},"30% with order, 60% on delivery, 10% on acceptance, net 30 days"\n'
    assert read(tmp_path, columns).lines[0].terms == PaymentTerms(0.3, 0.6, 0.1, 30)
    assert read(tmp_path, said).lines[0].terms == PaymentTerms(0.3, 0.6, 0.1, 30)


def test_two_prices_of_one_break_and_two_columns_of_one_meaning_are_refused(tmp_path: Path) -> None:
    said = problems(tmp_path, f"{HEAD},MOQ,Minimum order\nqm9700,5,{TAIL},,\nqm9700,6,{TAIL},,\n")
    assert said[0] == "quote.csv:1: 'MOQ' and 'Minimum order' mean the same (keep one of them)"
    assert said[1].startswith("quote.csv:3: unit price: 'qm9700' from 1 has two prices in quote Q-1 of Acme")


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("part,colour\nqm9700,red\n", "a.csv", "a.csv:1: holds no table of prices"),
        ("x", "a.pdf", "a.pdf: '.pdf' files of quotes are not read"),
        ("PK", "a.xlsx", "a.xlsx: is no workbook that can be read"),
    ],
)
def test_a_file_that_is_no_quote_says_so(tmp_path: Path, text: str, name: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read_quotes([written(tmp_path, text, name)])
    assert str(refused.value.problems[0]).replace(f"{tmp_path}/", "").startswith(said)


def test_a_file_of_another_encoding_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f"{HEAD}\nqm9700,5,USD,M\xfcller".encode("latin-1"))
    with pytest.raises(InputError) as refused:
        read_quotes([path])
    assert refused.value.problems[0].place is not None
    assert refused.value.problems[0].place.line == 2


def book(path: Path, *, formula: bool) -> Path:
    import datetime

    workbook = xlsxwriter.Workbook(str(path))
    notes, sheet = workbook.add_worksheet("Notes"), workbook.add_worksheet("Offer")
    notes.write(0, 0, "Nothing here")
    day, percent = (
        workbook.add_format({"num_format": "dd.mm.yyyy"}),
        workbook.add_format({"num_format": "0%"}),
    )
    for column, text in enumerate(f"{HEAD},Deposit,On shipment".split(",")):
        sheet.write(0, column, text)
    for column, value in enumerate(("qm9700", 1234.567, "USD", "Acme", "Q-1")):
        sheet.write(1, column, value)
    for column in (5, 6):
        sheet.write_datetime(1, column, datetime.datetime(2026, 11, 15 + column), day)
    sheet.write(1, 7, 0.3, percent)
    sheet.write(1, 8, 0.7, percent)
    if formula:
        sheet.write_formula(1, 1, "=2*617.2835", None, "")
    workbook.close()
    return path


def test_a_workbook_says_the_same_as_a_csv_file(tmp_path: Path) -> None:
    (line,) = read_quotes([book(tmp_path / "a.xlsx", formula=False)]).lines
    assert (line.price, line.date, line.valid_until) == (1234.567, "2026-11-20", "2026-11-21")
    assert line.terms == PaymentTerms(0.3, 0.7, 0.0, 0.0)
    assert str(line.place) == f"{tmp_path}/a.xlsx[Offer]:2"


def test_a_formula_without_a_value_is_no_blank_price(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a formula without a value"):
        read_quotes([book(tmp_path / "a.xlsx", formula=True)])


def repacked(path: Path, old: bytes, new: bytes) -> Path:
    """The workbook with other bytes in its last sheet."""
    with zipfile.ZipFile(path) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    name = "xl/worksheets/sheet2.xml"
    assert old in parts[name]
    parts[name] = parts[name].replace(old, new)
    with zipfile.ZipFile(path, "w") as packed:
        for part, content in parts.items():
            packed.writestr(part, content)
    return path


@pytest.mark.parametrize(("old", "new"), [(b"</sheetData>", b""), (b'r="B2"', b'r="ZZZZZZ2"')])
def test_a_workbook_whose_sheet_is_broken_says_so(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = repacked(book(tmp_path / "a.xlsx", formula=False), old, new)
    with pytest.raises(InputError, match="is no workbook that can be read"):
        read_quotes([path])


def test_rows_beyond_the_size_that_a_sheet_states_are_read(tmp_path: Path) -> None:
    path = repacked(book(tmp_path / "a.xlsx", formula=False), b'ref="A1:I2"', b'ref="A1:I1"')
    assert [one.part for one in read_quotes([path]).lines] == ["qm9700"]


def test_a_hidden_sheet_holds_no_offer(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    workbook = xlsxwriter.Workbook(str(path))
    for name, price in (("Offer", 500), ("Aside", 1)):
        sheet = workbook.add_worksheet(name)
        sheet.write_row(0, 0, HEAD.split(","))
        sheet.write_row(1, 0, ["qm9700", price, *TAIL.split(",")])
    sheet.hide()
    workbook.close()
    assert [one.price for one in read_quotes([path]).lines] == [500]


def test_every_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    good = written(tmp_path, f"{HEAD}\nqm9700,5,{TAIL}\n")
    with pytest.raises(InputError) as refused:
        read_quotes([tmp_path / "gone.csv", good, tmp_path])
    places = [one.place.path for one in refused.value.problems if one.place is not None]
    assert places == [f"{tmp_path}/gone.csv", str(tmp_path)]


def test_support_that_is_charged_says_for_how_many_years(tmp_path: Path) -> None:
    said = problems(tmp_path, f"{HEAD},Support years,Support price\nqm9700,5,{TAIL},0,7\n")
    assert said == [
        "quote.csv:2: support years: the price of support says not for how many years (add support years)"
    ]


def test_a_long_text_is_not_repeated_whole(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, f"{HEAD}\nqm9700,{'9' * 5000},{TAIL}\n")
    assert len(said) < 300


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HEAD}\nqm9700,5,{TAIL}\n")
    assert read_quotes([path]).lines[0].price == 5
    written(tmp_path, f"{HEAD}\nqm9700,17,{TAIL}\n")
    assert read_quotes([path]).lines[0].price == 17

"""CSV tables: separators, quotes and encodings as programs write them, each row a line with tabs between its cells."""

from __future__ import annotations

import codecs
import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import DocumentTooLarge, UnreadableDocument
from service.documents.csv_table import read_csv
from service.documents.limits import DocumentLimits


def read(data: bytes, charset: str | None = None) -> str:
    return read_csv(data, charset=charset, limits=DocumentLimits(max_characters=10_000)).text


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("name,amount\nKuura,20.00\n", "name\tamount\nKuura\t20.00"),
        ("Kuura;20,00\r\nTalvi;3,50\r\n", "Kuura\t20,00\nTalvi\t3,50"),
        ("Kuura\t20,00\rTalvi\t3;50\r", "Kuura\t20,00\nTalvi\t3;50"),
        ("a|b,c\nd|e\n", "a\tb,c\nd\te"),
        ("sep=;\r\na;b,c;d,e\r\n", "a\tb,c\td,e"),
        (
            "Account;123\n\nDay;Text;Sum\n1.1.2026;Kuura, Oy;-2,00\n2.1.2026;Talvi;-1,00\n",
            "Account\t123\n\nDay\tText\tSum\n1.1.2026\tKuura, Oy\t-2,00\n2.1.2026\tTalvi\t-1,00",
        ),
        (
            "Report, as of May\n\nName;Sum\nAcme, Inc.;10,00\nBolt;20,00\n",
            "Report, as of May\n\nName\tSum\nAcme, Inc.\t10,00\nBolt\t20,00",
        ),
        ("a,b\n1,2,3\n4\n5,6,7,8\n", "a\tb\n1\t2\t3\n4\n5\t6\t7\t8"),
        ("id,name,tags\n1,x,red;blue\n2,y,red;green;gray\n", "id\tname\ttags\n1\tx\tred;blue\n2\ty\tred;green;gray"),
        ("1,x,red;blue\n2,y,red\n3,z,a;b;c\n", "1\tx\tred;blue\n2\ty\tred\n3\tz\ta;b;c"),
        ('"Doe; Jane","1,200.00"\n"x ""y"" z",3\n', 'Doe; Jane\t1,200.00\nx "y" z\t3'),
        ('a, "b, c",d\n1,2,3\n', "a\tb, c\td\n1\t2\t3"),
        ('"Main Street 1\r\nBerlin\tMitte",2\n', "Main Street 1 Berlin Mitte\t2"),
        ("a;;b;;\n;c\n;;\n", "a\t\tb\n\tc\n"),
        ('5" pipe,3.00\n', '5" pipe\t3.00'),
        ("Jane Doe\nBerlin\n", "Jane Doe\nBerlin"),
        ("", ""),
    ],
)
def test_rows_are_lines_and_cells_are_apart(file: str, text: str) -> None:
    assert read(file.encode()) == text


@pytest.mark.parametrize("file", ['"open,1\nb,2\n', '"24" wide",3\n', 'a,b\nc,"d"e\n', 'a;"' + "b;c\n" * 100])
def test_quotes_that_leave_cells_in_doubt_are_refused(file: str) -> None:
    with pytest.raises(UnreadableDocument, match=r"line \d+.*quotes"):
        read(file.encode())


def test_the_encoding_is_found_as_that_of_texts() -> None:
    for data in (codecs.BOM_UTF8 + "Zoë;2\n".encode(), "Zoë;2\n".encode("utf-16")):
        assert read(data) == "Zoë\t2"
    assert read("Zoë;2\n".encode("latin-1"), "latin-1") == "Zoë\t2"


def test_no_more_cells_are_made_than_there_may_be_characters() -> None:
    with pytest.raises(DocumentTooLarge):
        read(b"," * 10_001)


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]) | st.sampled_from('\n\r\t;|,"'), max_size=12)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=4), min_size=1, max_size=5), st.sampled_from("\t;|,"))
def test_what_a_program_writes_is_read_cell_by_cell(rows: list[list[str]], separator: str) -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL)
    writer.writerows(rows)
    text = read(f"sep={separator}\r\n{file.getvalue()}".encode())
    expected = "\n".join("\t".join(" ".join(cell.split()) for cell in row).rstrip("\t") for row in rows)
    assert text == expected

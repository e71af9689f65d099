"""Answers of many files, and fields on a terminal."""

from __future__ import annotations

import asyncio
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from service.commands.extract import answered_files
from service.commands.file_answers import STANDARD_INPUT, WINDOW, Answer, answers, expanded, paper_tables
from service.core.errors import InvalidOptions
from service.terminal import draw


def test_a_slow_file_holds_back_a_window_of_others_and_the_order_stays(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(3 * WINDOW)]
    asked: list[str] = []

    async def scene() -> list[Path]:
        async def ask(path: Path, _data: bytes) -> Answer:
            asked.append(path.name)
            while path == files[0] and len(asked) < WINDOW:
                await asyncio.sleep(0.001)
            return {"error": None}

        found: list[Path] = []
        async for path, _answer in answers(files, ask):
            assert len(asked) <= len(found) + WINDOW
            found.append(path)
        return found

    for each in files:
        each.touch()
    assert asyncio.run(asyncio.wait_for(scene(), 60.0)) == files
    assert len(asked) == len(files)


async def test_out_of_order_a_slow_file_holds_back_none(tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(2 * WINDOW)]
    others_done = asyncio.Event()

    async def ask(path: Path, _data: bytes) -> Answer:
        if path == files[0]:
            await others_done.wait()
        return {"error": None}

    for each in files:
        each.touch()
    found: list[Path] = []
    async with asyncio.timeout(60.0):
        async for path, _answer in answers(files, ask, in_order=False):
            found.append(path)
            if len(found) == len(files) - 1:
                others_done.set()
    assert found[-1] == files[0]
    assert sorted(found) == sorted(files)


def test_folders_and_globs_are_their_files_and_other_names_stay(tmp_path: Path) -> None:
    for name in ("a/2.txt", "a/b/1.txt", "a/.hidden", "c.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    given = [tmp_path / "c.pdf", tmp_path / "a", STANDARD_INPUT, tmp_path / "nowhere", tmp_path / "*.pdf"]
    assert expanded(given) == [
        tmp_path / "c.pdf",
        tmp_path / "a/2.txt",
        tmp_path / "a/b/1.txt",
        STANDARD_INPUT,
        tmp_path / "nowhere",
        tmp_path / "c.pdf",
    ]


def test_a_file_of_answers_is_gone_on_with_and_a_torn_line_is_cut(tmp_path: Path) -> None:
    output = tmp_path / "answers.jsonl"
    assert answered_files(output) == set()
    output.write_text('{"file": "a\\n.txt"}\n{"file": "b", "error": null}\n{"file": "c", "err')
    assert answered_files(output) == {"a\n.txt", "b"}
    assert output.read_text() == '{"file": "a\\n.txt"}\n{"file": "b", "error": null}\n'
    for other in ("no answers\n", "[1]\n", '{"key": 1}\n'):
        output.write_text(other)
        with pytest.raises(InvalidOptions, match="no file of this command"):
            answered_files(output)
        assert output.read_text() == other


def entity(value: str, **others: Any) -> dict[str, Any]:
    return {"value": value, "text": value, "score": 0.91, "reason": "sum"} | others


def paper(fields: Answer | None, **others: Any) -> Answer:
    kind = None if fields is None else fields["kind"]
    return {"kind": kind, "title": None, "pages": None, "fields": fields} | others


def shown(*papers: Answer) -> str:
    with redirect_stdout(StringIO()) as out:
        for table in paper_tables(list(papers)):
            draw(table)
    return out.getvalue()


def of_roles(**roles: Answer) -> Answer:
    return {"kind": "invoice", "evidence": {"INVOICE_ID": 0.9}, "roles": roles}


def test_a_bill_is_its_roles_its_check_and_its_rows() -> None:
    check = {"rule": "net_amount + tax_amount = total_amount", "holds": False, "difference": "-1.00"}
    row = {"description": entity("Mount"), "quantity": None, "unit_price": None, "amount": entity("840.00")}
    fields = of_roles(total_amount=entity("999.60 EUR"))
    tax = {"rate": entity("19", kind="percent"), "base": None, "amount": entity("159.60")}
    text = shown(paper({**fields, "checks": [check], "line_items": [row], "taxes": [tax]}))
    for words in (
        *("invoice", "total amount", "999.60 EUR", "0.910", "sum", "no, the difference is -1.00", "Mount", "840.00"),
        *("taxes", "19 %", "159.60"),
    ):
        assert words in text
    assert "jobs" not in text
    assert "INVOICE_ID" not in text
    assert "total amount: yes" in shown(paper({**fields, "checks": [{**check, "holds": True}], "line_items": []}))


def test_the_lines_of_a_check_are_told_with_their_amounts() -> None:
    lines = [{"name": "tip", "amount": "3.00"}]
    check = {"rule": "net_amount + tip = total_amount", "holds": True, "difference": "0.00", "lines": lines}
    assert "net amount + tip = total amount (tip 3.00): yes" in shown(paper({**of_roles(), "checks": [check]}))


@pytest.mark.parametrize(
    ("role", "words"),
    [
        (entity("DE89370400440532013001", valid=False), "DE89370400440532013001 (invalid)"),
        (entity("03/04/2025", ambiguous=["2025-04-03", "2025-03-04"]), "03/04/2025 (2025-04-03 or 2025-03-04)"),
        (entity("159.60 EUR", text=""), "computed, by sum"),
        (entity("159.60 EUR", text="", reason="embedded", score=1.0), "1.000  embedded"),
        (entity("159.60 EUR", score=0.99999), "0.999"),
        (entity("[/red] [bold]Acme"), "[/red] [bold]Acme"),
    ],
)
def test_a_role_is_told_with_its_doubts(role: Answer, words: str) -> None:
    assert words in shown(paper(of_roles(some=role)))


def test_what_the_page_says_against_the_xml_comes_first() -> None:
    different = {"role": "total_amount", "embedded": "963.11 EUR", "page": entity("963.12 EUR", text="963,12\n€")}
    text = shown(paper({**of_roles(total_amount=entity("963.11 EUR")), "embedded": {"contradictions": [different]}}))
    assert "contradiction" in text.splitlines()[2]
    assert "total amount: the page says 963,12 €, the XML 963.11 EUR" in text


def test_each_paper_is_named_with_its_title_and_its_pages() -> None:
    fields = {"kind": "credit_note", "evidence": {}, "roles": {"supplier_name": entity("Mobilier Garance")}}
    bill = paper(fields, title="AVOIR N° 9 [/b]", pages=[1, 2])
    note = paper(None, kind="delivery_note", title="Lieferschein", pages=[3, 3])
    letter = paper(None, pages=[4, 4])
    text = shown(bill, note, letter)
    for words in ("credit note, AVOIR N° 9 [/b], pages 1 to 2", "delivery note, Lieferschein, page 3"):
        assert words in text
    assert "paper of no known kind, page 4: no bill, contract or résumé, without fields" in text
    assert text.count("without fields") == 2


def test_a_file_of_one_paper_says_what_it_is_too() -> None:
    assert "paper of no known kind: no bill, contract or résumé" in shown(paper(None))
    assert "order: no bill, contract or résumé" in shown(paper(None, kind="order"))
    assert list(paper_tables(None)) == []


def test_a_resume_is_its_lists() -> None:
    job = {"title": entity("Engineer"), "employer": None, "dates": [entity("2017"), entity("2020")]}
    fields = {
        "kind": "resume",
        "evidence": {},
        "roles": {},
        "skills": [entity("Python"), entity("SQL")],
        "languages": [],
    }
    text = shown(paper({**fields, "jobs": [job], "educations": []}))
    for words in ("Python, SQL", "jobs", "Engineer", "2017, 2020"):
        assert words in text
    assert "languages" not in text

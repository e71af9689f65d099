"""The full page of the one-page benchmark is an invoice of one page, and each request has a number of its own."""

from __future__ import annotations

from pathlib import Path

from loadtest.bench.host.one_page import NUMBER, ROWS, full_page, written
from loadtest.samples.make import INVOICE


def test_a_full_page_has_its_rows_on_the_page_and_everything_else_once() -> None:
    lines = full_page()
    texts = [text for *_, text in lines]
    assert sum(text.startswith("EUR 420") for text in texts) == ROWS // 2
    assert texts.count("Net amount") == texts.count("Bill to") == 1
    assert all(20 < baseline < 842 for _, baseline, _, _ in lines)
    assert len({(left, baseline) for left, baseline, _, _ in lines}) == len(lines)


def test_each_request_is_another_document(tmp_path: Path) -> None:
    first, second = (written(tmp_path / "page.pdf", list(INVOICE), number) for number in (1, 2))
    assert first != second
    assert NUMBER.encode() not in first

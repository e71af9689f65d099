from __future__ import annotations

from service.documents.text import read_text


def test_line_ends_become_newlines() -> None:
    assert read_text(b"a\r\nb\rc\nd").text == "a\nb\nc\nd"


def test_markdown_keeps_its_signs() -> None:
    assert read_text(b"# Title\n\n* **item**\n").text == "# Title\n\n* **item**\n"


def test_text_has_neither_pages_nor_boxes() -> None:
    document = read_text(b"a")
    assert document.pages is None
    assert document.layout is None

"""A name that means several things means what it does in the document's language."""

from __future__ import annotations

from service.text.values.context import DocumentContext
from service.text.values.names import meaning, months

GERMAN = "Die Rechnung und der Betrag von der Lieferung"
TABLE = {"mar": {"de": "3", "fr": "4", "it": "4"}, "mon": {"de": "1", "en": "2", "fr": "1"}}


def test_the_language_of_the_document_decides_then_english_then_most() -> None:
    assert meaning(TABLE, "mar", DocumentContext(GERMAN)) == "3"
    assert meaning(TABLE, "mar", DocumentContext("")) == "4"
    assert meaning(TABLE, "mon", DocumentContext("")) == "2"
    assert meaning(TABLE, "mai", DocumentContext(GERMAN)) is None


def test_the_language_is_told_only_where_it_decides() -> None:
    context = DocumentContext(GERMAN)
    assert meaning(months(), "januar", context) == "1"
    assert "language" not in vars(context)
    meaning(TABLE, "mar", context)
    assert vars(context)["language"] == "de"

"""Fingerprints: equal for another try of the same request, different for anything else."""

from __future__ import annotations

import pytest

from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body
from service.api.idempotency.fingerprint import fingerprint
from service.api.schemas import Options
from service.documents.left_out_text import LeftOutText

TEXT = DocumentInput("0", text="Jane Doe")
FILE = DocumentInput("a.pdf", data=b"%PDF", media_type="application/pdf", name="a.pdf")


def of(*sources: DocumentInput, in_lines: bool = False, batch: bool = False, **options: object) -> str:
    return fingerprint(Body(sources, Options.model_validate(options), batch=batch), in_lines=in_lines)


def test_another_try_may_have_another_deadline_and_priority() -> None:
    assert of(TEXT) == of(TEXT, deadline_ms=5, priority="batch")
    assert of(FILE, labels=["PERSON"]) == of(FILE, labels="PERSON")


@pytest.mark.parametrize(
    "other",
    [
        of(DocumentInput("0", text="Jane Do")),
        of(DocumentInput("1", text="Jane Doe")),
        of(DocumentInput("0", data=b"Jane Doe")),
        of(TEXT, TEXT),
        of(TEXT, batch=True),
        of(TEXT, labels=["PERSON"]),
        of(TEXT, model="other"),
        of(TEXT, include_text=True),
        of(TEXT, fields=True),
        of(TEXT, in_lines=True),
        of(FILE),
    ],
)
def test_whatever_changes_the_answer_changes_the_fingerprint(other: str) -> None:
    assert other != of(TEXT)


def test_borders_between_documents_count() -> None:
    assert of(DocumentInput("0", data=b"ab"), DocumentInput("0", data=b"c")) != of(
        DocumentInput("0", data=b"a"), DocumentInput("0", data=b"bc")
    )


def test_lone_surrogates_are_no_failure() -> None:
    assert of(DocumentInput("\ud800", text="\udfff", name="\ud800"))


def test_a_text_of_many_parts_counts_to_its_last_character() -> None:
    text = "ü" * 600_000
    assert of(DocumentInput("0", text=text + "a")) != of(DocumentInput("0", text=text + "b"))
    assert of(DocumentInput("0", text=text)) == of(DocumentInput("0", text="ü" * 600_000))


def test_texts_that_were_left_out_differ_by_their_lengths() -> None:
    assert of(DocumentInput("0", text=LeftOutText(5))) == of(DocumentInput("0", text=LeftOutText(5)))
    assert of(DocumentInput("0", text=LeftOutText(5))) != of(DocumentInput("0", text=LeftOutText(6)))
    assert of(DocumentInput("0", text=LeftOutText(5))) != of(DocumentInput("0", text=""))

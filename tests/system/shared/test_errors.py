"""Rows of the error table that the shared service can be made to answer, each by a real request."""

from __future__ import annotations

import pytest

from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT, assert_problem
from tests.support.service import Service


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", ("JSON",)),
        (b"[]", ("object",)),
        (b"{}", ("text", "documents")),
        (b'{"text": "a", "documents": []}', ("either",)),
        (b'{"text": 5}', ("string",)),
        (b'{"documents": []}', ("at least one",)),
        (b'{"documents": [{"txt": "a"}]}', ("text",)),
        (b'{"text": "\\ud800"}', ()),
        (b"\xff", ()),
    ],
)
def test_400_for_a_body_that_is_not_what_its_type_says(service: Service, body: bytes, words: tuple[str, ...]) -> None:
    with service.client() as client:
        answer = client.post("/extract", content=body, headers={"Content-Type": "application/json"})
    assert_problem(answer, 400, "malformed_request", *words)


def test_400_for_a_form_without_files_or_with_a_torn_body(service: Service) -> None:
    with service.client() as client:
        header = {"Content-Type": "multipart/form-data; boundary=x"}
        assert_problem(client.post("/extract", content=b"--x--\r\n", headers=header), 400, "malformed_request", "file")
        assert_problem(client.post("/extract", content=b"nonsense", headers=header), 400, "malformed_request")
        bare = {"Content-Type": "multipart/form-data"}
        assert_problem(client.post("/extract", content=b"", headers=bare), 400, "malformed_request")


@pytest.mark.parametrize("wanted", ["nobody", "tiny@candidate", "tiny@sha256:00"])
def test_404_lists_the_models_that_are_there(service: Service, wanted: str) -> None:
    with service.client() as client:
        assert_problem(
            client.post("/extract", json={"text": TEXT, "model": wanted}), 404, "unknown_model", "tiny", "other"
        )


@pytest.mark.parametrize("route", ["/extract", "/redact"])
@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["PRE"], "did you mean PER?"),
        (["ORG", "date"], "did you mean DATE?"),
        ("B-ORG", "did you mean ORG?"),
        (["IBAN"], "there are: DATE, ORG, PER."),
    ],
)
def test_422_for_an_unknown_label_names_the_nearest(service: Service, route: str, labels: object, words: str) -> None:
    with service.client() as client:
        assert_problem(client.post(route, json={"text": TEXT, "labels": labels}), 422, "invalid_options", words)
        assert client.post(route, json={"text": TEXT, "labels": ["ORG", "PER"]}).status_code == 200


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"min_score": "0.1,DAT:0.2"}, "min_score: the model `tiny` has no label 'DAT'; did you mean DATE?"),
        ({"min_score": "per:0.2"}, "did you mean PER?"),
        ({"labels": "ORG,PRE", "min_score": "DAT:0.2"}, "labels: the model `tiny` has no label 'PRE'"),
        ({"labels": "EMAIL", "aggregation": "simple"}, "there are: DATE, ORG, PER."),
    ],
)
@pytest.mark.parametrize("route", ["/extract", "/redact"])
def test_422_for_an_unknown_label_in_every_option_and_form(
    service: Service, route: str, options: dict[str, str], words: str
) -> None:
    with service.client() as client:
        pdf = {"file": ("a.pdf", simple_pdf("Anna Smith"))}
        assert_problem(client.post(route, json={"text": TEXT, **options}), 422, "invalid_options", words)
        assert_problem(client.post(route, files=pdf, data=options), 422, "invalid_options", words)
        known = {"labels": "PER,DATE", "min_score": "0.1,ORG:0.2"}
        assert client.post(route, files=pdf, data=known).status_code == 200


def test_422_for_a_redaction_of_no_labels(service: Service) -> None:
    with service.client() as client:
        assert_problem(client.post("/redact", json={"text": TEXT, "labels": []}), 422, "invalid_options", "labels")
        assert client.post("/extract", json={"text": TEXT, "labels": []}).status_code == 200


def test_415_lists_the_formats(service: Service) -> None:
    with service.client() as client:
        noise = bytes(range(256)) * 8
        raw = client.post("/extract", content=noise, headers={"Content-Type": "image/png"})
        assert_problem(raw, 415, "unsupported_format", "PDF", "DOCX")
        assert_problem(client.post("/extract", files={"file": ("a.bin", noise)}), 415, "unsupported_format", "PDF")


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"aggregation": "best"}, "aggregation"),
        ({"min_score": 2}, "min_score"),
        ({"offsets": "bytes"}, "offsets"),
        ({"deadline_ms": 0}, "deadline_ms"),
        ({"priority": "high"}, "priority"),
        ({"lables": ["PER"]}, "lables"),
    ],
)
def test_422_for_a_bad_option_names_it(service: Service, options: dict[str, object], word: str) -> None:
    with service.client() as client:
        assert_problem(client.post("/extract", json={"text": TEXT, **options}), 422, "invalid_options", word)
        query = "&".join(f"{name}={value}" for name, value in options.items())
        raw = client.post(f"/extract?{query}", content=TEXT.encode(), headers={"Content-Type": "text/plain"})
        assert_problem(raw, 422, "invalid_options", word)


def test_422_for_a_file_without_text(service: Service) -> None:
    with service.client() as client:
        for name, data, word in (
            ("a.pdf", b"", "empty"),
            ("a.pdf", b"%PDF-1.7\ngarbage", ""),
            ("b.pdf", simple_pdf(), ""),
        ):
            assert_problem(client.post("/extract", files={"file": (name, data)}), 422, "unreadable_document", word)

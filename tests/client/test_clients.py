"""Both clients against answers written by hand, over httpx's own transport for tests."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any, get_args, get_type_hints

import httpx
import msgspec
import pytest

from gleaner import (
    AsyncClient,
    Client,
    ExtractedDocument,
    FileSource,
    GleanerError,
    Overloaded,
    RedactedDocument,
    RequestError,
    RetryBudget,
    ServiceError,
    TextSource,
    Unreachable,
)
from service.api.redaction.schemas import RedactedResult
from service.api.schemas import DocumentResult

ENTITY = {"label": "PERSON", "text": "Jane", "start": 0, "end": 4, "score": 0.9, "value": "Jane", "page": 1, "new": 1}
DOCUMENT = {"id": "0", "entities": [ENTITY], "characters": 4, "tokens": 2, "windows": 1, "error": None, "fields": None}
MODEL = {"name": "documents", "revision": "sha256:1"}
ANSWER = {"model": MODEL, "documents": [DOCUMENT], "timing": {"total_ms": 1.5}}
REFUSAL = {
    "type": "urn:gleaner:error:queue_full",
    "title": "Full",
    "status": 429,
    "detail": "full",
    "code": "queue_full",
}
FAST = RetryBudget(5.0)

Handler = Callable[[httpx.Request], httpx.Response]


class Server:
    """Gives these answers one after the other, the last one again and again, and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.requests: list[httpx.Request] = []
        self._answers = list(answers)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)


def refused(seconds: str = "0") -> httpx.Response:
    return httpx.Response(429, headers={"Retry-After": seconds}, json=REFUSAL)


def good(body: Any = None) -> httpx.Response:
    return httpx.Response(200, json=ANSWER if body is None else body)


def client(server: Server, **options: Any) -> Client:
    return Client("http://service/", transport=httpx.MockTransport(server), **{"retries": FAST, **options})


def extract_by_asyncio(server: Server, source: Any, **options: Any) -> ExtractedDocument:
    async def ask() -> ExtractedDocument:
        transport = httpx.MockTransport(server)
        async with AsyncClient("http://service", transport=transport, retries=FAST) as asynchronous:
            return await asynchronous.extract(source, **options)

    return asyncio.run(ask())


def test_a_text_goes_as_json_and_its_entities_come_back_typed() -> None:
    server = Server(good())
    document = client(server, key="secret").extract("Jane", labels=["PERSON"], min_score=0.5, model=None)
    assert [(each.label, each.text, each.score) for each in document.entities] == [("PERSON", "Jane", 0.9)]
    (request,) = server.requests
    assert (str(request.url), request.headers["authorization"]) == ("http://service/extract", "Bearer secret")
    assert json.loads(request.content) == {"text": "Jane", "labels": ["PERSON"], "min_score": 0.5}


def test_amounts_and_fields_come_back() -> None:
    amount = {"number": "9.00", "unit": "EUR", "ambiguous": ["9.00", "900"]}
    entity = {**ENTITY, "kind": "money", "source": "rule", **amount}
    total = {**entity, "reason": "sum", "alternatives": [entity]}
    row = {"description": ENTITY, "quantity": None, "unit_price": None, "amount": entity}
    check = {"rule": "net + tax = total", "holds": True, "difference": "0.00"}
    tax = {"rate": None, "base": None, "amount": entity}
    bill = {"currency": "EUR", "line_items": [row], "taxes": [tax], "checks": [check], "bills": 1}
    fields = {"kind": "invoice", "evidence": {"IBAN": 0.9}, "roles": {"total_amount": total}, **bill}
    paper = {"kind": "invoice", "title": "Invoice 7", "document_type": "380", "pages": [1, 2], "start": 0, "end": 14}
    paper = {**paper, "fields": fields}
    document = client(
        Server(good({**ANSWER, "documents": [{**DOCUMENT, "entities": [entity], "fields": fields, "papers": [paper]}]}))
    )
    found = document.extract("Total EUR 9.00", fields=True)
    assert (found.entities[0].number, found.entities[0].unit, found.entities[0].valid) == ("9.00", "EUR", None)
    assert found.entities[0].ambiguous == ["9.00", "900"]
    assert found.fields is not None
    assert found.fields.roles["total_amount"].reason == "sum"
    assert found.fields.roles["total_amount"].alternatives == found.entities
    assert found.fields.line_items[0].amount == found.entities[0]
    assert found.fields.taxes[0].amount == found.entities[0]
    assert found.fields.checks[0].holds
    assert [(each.title, each.pages, each.fields) for each in found.papers] == [("Invoice 7", (1, 2), found.fields)]


def structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """The structs in a type."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for each in get_args(kind):
        yield from structs(each)


def assert_has_members(known: type[msgspec.Struct], served: type[msgspec.Struct], left_out: set[str]) -> None:
    """The client's struct, and those in it, have the members of the service's."""
    assert set(served.__struct_fields__) - left_out <= set(known.__struct_fields__), known
    types, of_service = get_type_hints(known), get_type_hints(served)
    for name in set(served.__struct_fields__) & set(known.__struct_fields__):
        for mine, theirs in zip(structs(types[name]), structs(of_service[name]), strict=False):
            assert_has_members(mine, theirs, left_out)


def test_every_member_of_an_answer_is_one_of_the_client() -> None:
    """But `truncated`, which is always false, and the sizes of what is redacted."""
    assert_has_members(ExtractedDocument, DocumentResult, {"truncated"})
    assert_has_members(RedactedDocument, RedactedResult, {"characters", "tokens"})


def test_a_file_goes_as_a_form_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Jane")
    server = Server(good())
    client(server).extract(tmp_path / "a.txt", labels=["PERSON", "ORG"], include_text=True)
    body = server.requests[0].content.decode()
    assert 'filename="a.txt"' in body
    assert "PERSON,ORG" in body
    assert 'name="include_text"\r\n\r\ntrue' in body


def test_a_batch_keeps_ids_and_the_error_of_each() -> None:
    failed = {"id": "b", "entities": [], "error": {"code": "unreadable_document", "detail": "torn", "status": 422}}
    server = Server(good({**ANSWER, "documents": [DOCUMENT, failed]}))
    answer = client(server).extract_batch([TextSource("Jane", id="a"), "Doe"])
    assert json.loads(server.requests[0].content)["documents"] == [{"text": "Jane", "id": "a"}, {"text": "Doe"}]
    assert answer.documents[0].ok().entities
    with pytest.raises(RequestError, match="torn") as caught:
        answer.documents[1].ok()
    assert (caught.value.code, caught.value.status) == ("unreadable_document", 422)


@pytest.mark.parametrize(
    "ask", [lambda server: client(server).extract("Jane"), lambda s: extract_by_asyncio(s, "Jane")]
)
def test_a_refused_request_is_sent_again_as_it_was(ask: Callable[[Server], ExtractedDocument]) -> None:
    server = Server(refused(), httpx.ConnectError("gone"), good())
    assert ask(server).entities
    assert len({request.content for request in server.requests}) == 1
    assert len(server.requests) == 3


def test_a_wait_beyond_the_budget_is_an_error_that_says_how_long() -> None:
    for wait in ("30", format_datetime(datetime.now(UTC) + timedelta(seconds=31), usegmt=True)):
        server = Server(refused(wait))
        with pytest.raises(Overloaded) as caught:
            client(server).extract("Jane")
        assert len(server.requests) == 1
        assert caught.value.code == "queue_full"
        assert caught.value.retry_after_seconds == pytest.approx(30.0, abs=10.0)


@pytest.mark.parametrize(("deadline_ms", "tries", "read_seconds"), [(1, 1, 5.001), (100_000, 2, 105.0)])
def test_a_deadline_ends_retries_and_the_wait(deadline_ms: int, tries: int, read_seconds: float) -> None:
    server = Server(refused("1"), refused("60"))
    with pytest.raises(Overloaded):
        client(server).extract("Jane", deadline_ms=deadline_ms)
    assert len(server.requests) == tries
    assert server.requests[0].extensions["timeout"]["read"] == pytest.approx(read_seconds, rel=0.1)


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (httpx.Response(422, json={**REFUSAL, "status": 422, "code": "unreadable_document"}), RequestError, None),
        (httpx.Response(502, text="<html>"), Overloaded, "unexpected_answer"),
        (httpx.Response(403, text="<html>"), Unreachable, "unexpected_answer"),
        (httpx.Response(301, headers={"Location": "https://service"}), Unreachable, "unexpected_answer"),
        (httpx.Response(200, json={"hello": 1}), Unreachable, "unexpected_answer"),
        (httpx.Response(422, json={**REFUSAL, "status": 422, "code": "of_the_future"}), RequestError, "of_the_future"),
        (httpx.Response(507, json={**REFUSAL, "status": 507, "code": "insufficient_memory"}), ServiceError, None),
        (httpx.ConnectError("nobody"), Unreachable, "unreachable"),
    ],
)
def test_what_goes_wrong_is_one_of_our_errors(
    answer: httpx.Response | Exception, kind: type[GleanerError], code: str | None
) -> None:
    server = Server(answer)
    with pytest.raises(GleanerError) as caught:
        client(server, retries=RetryBudget(0)).extract("Jane")
    assert type(caught.value) is kind
    assert code in (None, caught.value.code)
    assert len(server.requests) == 1


def test_a_document_too_long_for_its_deadline_is_sent_once() -> None:
    server = Server(httpx.Response(422, json={**REFUSAL, "status": 422, "code": "too_long_for_deadline"}))
    with pytest.raises(RequestError):
        client(server).extract("Jane")
    assert len(server.requests) == 1


def test_a_stream_gives_each_document_as_it_comes() -> None:
    line = {"model": MODEL, "document": DOCUMENT, "timing": {"total_ms": 1.0}}
    body = "".join(json.dumps({**line, "document": {**DOCUMENT, "id": each}}) + "\n" for each in "ab")
    server = Server(refused(), httpx.Response(200, text=body))
    assert [each.document.id for each in client(server).stream(["Jane", "Doe"])] == ["a", "b"]
    assert server.requests[0].headers["accept"] == "application/x-ndjson"

    async def by_asyncio() -> list[str]:
        async with AsyncClient("http://service", transport=httpx.MockTransport(server)) as each:
            return [one.document.id async for one in each.stream(["Jane", "Doe"])]

    assert asyncio.run(by_asyncio()) == ["a", "b"]


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\u2029", "😀"])
def test_a_sign_that_may_end_a_line_does_not_end_one_of_a_stream(sign: str) -> None:
    line = {"model": MODEL, "document": {**DOCUMENT, "text": f"Jane{sign}Doe"}, "timing": {}}
    body = (json.dumps(line, ensure_ascii=False) + "\n").encode()
    pieces = [body[at : at + 1] for at in range(len(body))]
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=iter(pieces)))
    (found,) = Client("http://service", transport=transport).stream(["Jane"], include_text=True)
    assert found.document.text == f"Jane{sign}Doe"


def test_bytes_are_files_named_by_their_place() -> None:
    server = Server(good())
    client(server).extract_batch([b"%PDF-", FileSource(b"Jane", "a.txt"), b""])
    assert re.findall('filename="([^"]+)"', server.requests[0].content.decode()) == ["0", "a.txt", "2"]


def test_a_redacted_file_comes_back_as_bytes() -> None:
    document = {
        "id": "a.pdf",
        "entities": [{"label": "PERSON", "start": 0, "end": 4, "page": 1}],
        "file": {"media_type": "application/pdf", "data": base64.b64encode(b"%PDF").decode()},
        "rasterized_pages": [{"page": 2, "reason": "an image lies under the text"}],
    }
    server = Server(good({**ANSWER, "documents": [document]}))
    made = client(server).redact(FileSource(b"%PDF-", "a.pdf"), labels=["PERSON"])
    assert made.file is not None
    assert made.file.data == b"%PDF"
    assert [page.page for page in made.rasterized_pages] == [2]
    assert server.requests[0].url.path == "/redact"


def test_the_path_of_a_file_as_a_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bill.txt").write_text("Total EUR 9.00")
    server = Server(good())
    for path in ("bill.txt", str(tmp_path / "bill.txt")):
        with pytest.raises(ValueError, match="pass Path"), client(server) as asking:
            asking.extract(path)
    assert not server.requests


@pytest.mark.parametrize(("text", "warned"), [("a/bill.PDF", True), ("bill.docx", True), ("see bill.pdf", False)])
def test_the_name_of_a_file_that_is_not_there_is_sent_with_a_warning(text: str, warned: bool) -> None:
    server = Server(good())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client(server).extract(text)
        client(server).extract(TextSource(text))
    assert [json.loads(each.content)["text"] for each in server.requests] == [text, text]
    assert ["Path(" in str(each.message) for each in caught] == [True] * warned


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("localhost:8471", "http://localhost:8471"),
        ("127.0.0.1:8471/", "http://127.0.0.1:8471"),
        ("[::1]:8471", "http://[::1]:8471"),
        ("localhost", "http://localhost"),
        ("HTTPS://gleaner.example/a/", "https://gleaner.example/a"),
    ],
)
def test_an_address_of_this_machine_needs_no_scheme(url: str, asked: str) -> None:
    server = Server(good())
    Client(url, transport=httpx.MockTransport(server)).extract("Jane")
    assert str(server.requests[0].url) == f"{asked}/extract"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("url", ["gleaner:8080", "10.0.0.5", "ws://gleaner:8080", "localhost.example:80", ""])
def test_another_address_without_a_scheme_is_refused_at_once(kind: type[Client | AsyncClient], url: str) -> None:
    with pytest.raises(ValueError, match=r"'http://.*' or 'https://"):
        kind(url)


def test_texts_and_files_do_not_go_together() -> None:
    with pytest.raises(ValueError, match="texts and pages, or files"):
        client(Server(good())).extract_batch(["Jane", FileSource(b"", "a.pdf")])
    with pytest.raises(ValueError, match="at least one"):
        client(Server(good())).extract_batch([])


@pytest.mark.parametrize("wrong", ["Jane", b"Jane", [4], [None], [["Jane"]], [{"text": "Jane"}]])
def test_what_is_no_list_of_documents_is_refused(wrong: Any) -> None:
    server = Server(good())
    with pytest.raises(TypeError):
        client(server).extract_batch(wrong)
    assert not server.requests


@pytest.mark.parametrize("text", ["\udcff Jane", "Ja\ud800ne", "\udc00\ud800 Jane 😀"])
def test_halves_of_characters_are_replaced_one_by_one(text: str) -> None:
    server = Server(good())
    client(server).extract(text)
    sent = json.loads(server.requests[0].content)["text"]
    assert sent == "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text)

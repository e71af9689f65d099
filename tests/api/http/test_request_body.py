"""Bodies in every shape, in any split of their bytes; limits hold while they are read."""

from __future__ import annotations

import asyncio
import codecs
import json
import tempfile
import tracemalloc
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from service.api.http.request_body import (
    PIECE_BYTES,
    SHORT_BYTES,
    Body,
    BodyLimits,
    check_name,
    parse_body,
    read_body,
)
from service.api.json_body import JSON_BYTES
from service.api.options import ExtractOptions, Options
from service.api.redaction.schemas import RedactOptions
from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions, MalformedRequest, UnsupportedFormat
from service.core.labels.label_set import ScoreLimits
from tests.support.garbage import uncollected

JSON = "application/json"
FORM = "multipart/form-data; boundary=x"
LIMITS = BodyLimits(request_bytes=10_000, documents=3)


class Sender:
    """A client that sends its body in these chunks; counts how many were taken."""

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self._chunks = chunks
        self.taken = 0

    async def receive(self) -> Message:
        chunk = self._chunks[self.taken]
        self.taken += 1
        return {"type": "http.request", "body": chunk, "more_body": self.taken < len(self._chunks)}


def read(
    body: bytes | Sequence[bytes],
    media_type: str | None,
    *,
    query: str = "",
    limits: BodyLimits = LIMITS,
    kind: type[Options] = ExtractOptions,
) -> Body:
    """Read a request with this body."""
    chunks = [body] if isinstance(body, bytes) else body
    return asyncio.run(read_body(request(Sender(chunks), media_type, query), limits, kind))


def request(sender: Sender, media_type: str | None, query: str = "") -> Request:
    headers = [] if media_type is None else [(b"content-type", media_type.encode())]
    scope = {"type": "http", "method": "POST", "path": "/extract", "headers": headers, "query_string": query.encode()}
    return Request(scope, sender.receive)


def split(body: bytes, cuts: set[int]) -> list[bytes]:
    """The body in pieces; some may be empty."""
    borders = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    return [body[a:b] for a, b in pairwise(borders)]


def part(name: str, data: bytes, *, file: str | None = None, media_type: str | None = None) -> bytes:
    """One part of a form."""
    disposition = f'form-data; name="{name}"' + (f'; filename="{file}"' if file is not None else "")
    kind = f"Content-Type: {media_type}\r\n" if media_type else ""
    return f"--x\r\nContent-Disposition: {disposition}\r\n{kind}\r\n".encode() + data + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--x--\r\n"


WHOLE_FORM = form(
    part("file", b"%PDF\r\n--\x00\xff", file="a.pdf", media_type="application/pdf"),
    part("min_score", b"0.5"),
    part("file", "größe".encode(), file="b.txt"),
    part("labels", b"PER,ORG"),
)
SHAPES: list[tuple[bytes, str]] = [
    (json.dumps({"documents": [{"id": "a", "text": "ü😀"}, {"text": "b"}], "min_score": 0.5}).encode(), JSON),
    (WHOLE_FORM, FORM),
    (b"%PDF\x00\xff", "application/pdf"),
    (b"This is MIME.\r\n--\r\n--y\r\n" + WHOLE_FORM + b"And an end.\r\n--x\r\n", FORM),
]


@pytest.mark.parametrize(("body", "media_type"), SHAPES, ids=["json", "form", "raw", "with words around"])
@given(cuts=st.sets(st.integers(0, 400), max_size=12))
def test_a_body_reads_the_same_in_any_split_of_its_bytes(body: bytes, media_type: str, cuts: set[int]) -> None:
    assert read(split(body, cuts), media_type) == read(body, media_type)


@pytest.mark.parametrize("before", [b"", b"\r\n", b"Words of a mail program.\r\n", b"x\r\n--\r\n", b"--y\r\n\r\n"])
@pytest.mark.parametrize("after", [b"", b"\r\n", b"Words.\r\n", b"--x\r\nno part"])
def test_words_before_and_behind_a_form_are_no_part_of_it(before: bytes, after: bytes) -> None:
    body = read(before + WHOLE_FORM + after, FORM)
    assert [source.name for source in body.sources] == ["a.pdf", "b.txt"]


def test_a_form_has_files_with_names_and_types_and_options_as_fields() -> None:
    body = read(WHOLE_FORM, FORM)
    first, second = body.sources
    assert (first.id, first.name, first.media_type) == ("a.pdf", "a.pdf", "application/pdf")
    assert first.data == b"%PDF\r\n--\x00\xff"
    assert (second.id, second.data.decode(), second.media_type) == ("b.txt", "größe", None)
    assert (body.options.min_score.default, body.options.labels, body.batch) == (0.5, ["PER", "ORG"], True)


def test_a_form_with_one_unnamed_file_is_a_single_document_with_id_0() -> None:
    body = read(form(part("file", b"a", file="", media_type="text/plain")), FORM)
    assert [(source.id, source.name) for source in body.sources] == [("0", None)]
    assert not body.batch


@pytest.mark.parametrize("media_type", ["application/pdf", "text/plain; charset=latin-1", None, "nonsense"])
def test_anything_else_is_one_file_whose_type_is_passed_on(media_type: str | None) -> None:
    body = read(b"\xe9", media_type, query="min_score=0.5")
    assert [(source.data, source.media_type, source.text) for source in body.sources] == [(b"\xe9", media_type, None)]
    assert (body.options.min_score.default, body.batch) == (0.5, False)


def test_options_of_the_body_replace_those_of_the_query() -> None:
    query = "min_score=0.5&include_text=true"
    for body, media_type in ((b'{"text": "a", "min_score": 0.9}', JSON), (form_with("min_score", "0.9"), FORM)):
        assert read(body, media_type, query=query).options == ExtractOptions(
            min_score=ScoreLimits(0.9), include_text=True
        )


def test_an_option_of_the_query_that_is_replaced_has_to_be_right() -> None:
    for body, media_type in ((b'{"text": "a", "deadline_ms": 5}', JSON), (form_with("deadline_ms", "5"), FORM)):
        with pytest.raises(InvalidOptions, match="deadline_ms"):
            read(body, media_type, query="deadline_ms=null")


def form_with(name: str, value: str) -> bytes:
    return form(part("file", b"a", file="a.txt"), part(name, value.encode()))


@pytest.mark.parametrize(
    ("body", "media_type", "words"),
    [
        (b"", JSON, "JSON"),
        (b"[1]", JSON, "object"),
        (b"\xff", JSON, "JSON"),
        (b'{"text": "a"', JSON, "JSON"),
        (b"[" * 100_000, JSON, "JSON"),
        (form(), FORM, "file"),
        (form(part("min_score", b"0.5")), FORM, "file"),
        (form(part("document", b"a", file="a.txt")), FORM, "document"),
        (form(part("file", b"a", file="a.txt"), part("extra", b"a", file="b.txt")), FORM, "extra"),
        (b"no form at all", FORM, "form"),
        (WHOLE_FORM[:60], FORM, "form"),
        (WHOLE_FORM, "multipart/form-data", "boundary"),
    ],
)
def test_a_body_that_is_not_what_its_type_says_is_malformed(body: bytes, media_type: str, words: str) -> None:
    with pytest.raises(MalformedRequest, match=words):
        read(body, media_type, limits=BodyLimits(1_000_000, 3))


@pytest.mark.parametrize(
    ("body", "media_type", "query"),
    [
        (b'{"text": "a", "lables": []}', JSON, ""),
        (form_with("lables", "PER"), FORM, ""),
        (b"a", "text/plain", "lables=PER"),
    ],
)
def test_an_unknown_option_is_refused_in_every_media_type(body: bytes, media_type: str, query: str) -> None:
    with pytest.raises(InvalidOptions, match="lables"):
        read(body, media_type, query=query)


@pytest.mark.parametrize(("name", "value"), [("fields", "true"), ("schema", '{"payment": ["payer"]}')])
def test_redact_does_not_know_the_options_that_extract_alone_has(name: str, value: str) -> None:
    query = urlencode({name: value})
    sent = (
        (f'{{"text": "a", "{name}": {value}}}'.encode(), JSON, ""),
        (form_with(name, value), FORM, ""),
        (b"a", "text/plain", query),
        (b'{"text": "a"}', JSON, query),
    )
    for body, media_type, written in sent:
        assert read(body, media_type, query=written).options != ExtractOptions()
        with pytest.raises(InvalidOptions, match=f"^{name}: there is no such option"):
            read(body, media_type, query=written, kind=RedactOptions)


@pytest.mark.parametrize("media_type", [JSON, FORM, "text/plain"])
def test_a_body_over_the_limit_is_refused_while_it_is_read(media_type: str) -> None:
    opening = part("file", b"", file="a.txt").removesuffix(b"\r\n") if media_type == FORM else b""
    sender = Sender([opening, *[b"a" * 1_000] * 1_000])
    with pytest.raises(DocumentTooLarge, match="10,000 bytes"):
        asyncio.run(read_body(request(sender, media_type), LIMITS))
    assert sender.taken <= 12


@pytest.mark.parametrize("is_declared", [True, False])
def test_json_over_its_limit_is_refused_by_its_length_or_while_it_comes(is_declared: bool) -> None:
    piece = b"a" * (1 << 20)
    sender = Sender([b'{"text": "', *[piece] * 200])
    sent = request(sender, f"{JSON}; charset=utf-8")
    if is_declared:
        sent.scope["headers"].append((b"content-length", b"%d" % (JSON_BYTES + 1)))
    with pytest.raises(DocumentTooLarge, match=r"16 MiB.*`text/plain`.*form"):
        asyncio.run(read_body(sent, BodyLimits(256 << 20)))
    assert sender.taken <= (0 if is_declared else 18)


def test_a_body_that_is_no_json_may_be_longer_than_json() -> None:
    chunks = [b"a" * (1 << 20)] * 17
    assert len(read(chunks, "text/plain", limits=BodyLimits(256 << 20)).sources[0].data) == 17 << 20


@pytest.mark.parametrize("size", [1, 1_000, PIECE_BYTES - 1, PIECE_BYTES, 3 * PIECE_BYTES])
def test_chunks_of_any_size_become_one_body(size: int) -> None:
    data = bytes(range(256)) * (SHORT_BYTES // 256 + 1)
    chunks = [data[at : at + size] for at in range(0, len(data), size)][: 300_000 // size + 2]
    found = read(chunks, "application/octet-stream", limits=BodyLimits(256 << 20))
    assert found.sources[0].data == b"".join(chunks)


def test_a_byte_order_mark_before_json_is_none_of_it() -> None:
    assert read(codecs.BOM_UTF8 + b'{"text": "a"}', JSON).sources[0].text == "a"


def test_json_that_is_not_what_it_should_be_is_told() -> None:
    bad = list[int]()
    limits = BodyLimits(10_000, 3, on_bad=lambda: bad.append(1))
    for body, count in ((b'{"text": "a"}', 0), (b'{"text": 5}', 1), (b'{"txt": "a"}', 2), (b"{", 3)):
        with suppress(MalformedRequest, InvalidOptions):
            read(body, JSON, limits=limits)
        assert len(bad) == count


@pytest.mark.parametrize(
    "start", [b'{"text": 5, "model": "', b'{"documents": [5, "', b"{", b'{"text": "\xff', b'{"x": "']
)
def test_a_refused_body_is_freed_without_garbage_collection(start: bytes) -> None:
    """Fifty bodies of 57 MB stayed in the worker until there was other garbage enough."""

    def refuse() -> None:
        end = b'"]}' if b"[" in start else b'"}'
        with pytest.raises((MalformedRequest, InvalidOptions)):
            parse_body(start + bytes(b"a" * 1_000_000) + end, JSON, {}, LIMITS)

    refuse()
    with uncollected():
        tracemalloc.start()
        refuse()
        left, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert left < 100_000 < 1_000_000 < peak


def test_a_body_of_exactly_the_limit_is_taken() -> None:
    assert len(read(b"a" * 10_000, "text/plain").sources[0].data) == 10_000
    with pytest.raises(DocumentTooLarge):
        read(b"a" * 10_001, "text/plain")


@pytest.mark.parametrize("count", [4, 5, 50])
def test_too_many_documents_are_too_large_in_json_and_in_forms(count: int) -> None:
    documents = json.dumps({"documents": [{"text": "a"}] * count}).encode()
    files = form(*[part("file", b"a", file="a.txt")] * count)
    for body, media_type in ((documents, JSON), (files, FORM)):
        with pytest.raises(DocumentTooLarge, match="3"):
            read(body, media_type)


@pytest.mark.parametrize(
    "charset", ["undefined", "punycode", "idna", "utf-7", "unicode_escape", "hex", "utf--8", "x" * 60]
)
def test_a_form_in_a_charset_that_no_client_uses_is_malformed(charset: str) -> None:
    """Some codecs raise errors of their own, some give characters that no answer can hold, and all are remembered."""
    for name in ("a.txt", "a\\ud800.txt", "+2AA-.txt"):
        with pytest.raises(MalformedRequest, match="charset"):
            read(form(part("file", b"a", file=name)), f"{FORM}; charset={charset}")


@pytest.mark.parametrize("name", ["\ud800.txt", "x" * 2_000])
def test_a_file_s_name_that_no_answer_can_hold_is_malformed(name: str) -> None:
    with pytest.raises(MalformedRequest, match="name"):
        check_name(name)


def test_an_option_in_a_thousand_fields_is_joined_once_or_refused() -> None:
    body = form(part("file", b"a", file="a.txt"), *[part("labels", b"x" * 1_000)] * 900)
    with pytest.raises(InvalidOptions, match="labels: longer"):
        read(body, FORM, limits=BodyLimits(10_000_000, 3))


@given(st.binary(max_size=200), st.sampled_from([JSON, FORM, "text/html"]))
def test_noise_is_read_or_refused_with_a_typed_error(body: bytes, media_type: str) -> None:
    try:
        found: Any = read(body, media_type)
    except GleanerError as error:
        found = error
    assert isinstance(found, Body | MalformedRequest | InvalidOptions)


def test_no_upload_touches_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two unfinished forms filled the disk for all others, who got an error without a type."""
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    body = part("file", bytes(3 << 20), file="a.txt") + b"--x--\r\n"
    chunks = [body[at : at + 65_536] for at in range(0, len(body), 65_536)]
    found = read(chunks, FORM, limits=BodyLimits(request_bytes=4 << 20, documents=3))
    assert len(found.sources[0].data) == 3 << 20


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "GZIP", "br, gzip"])
@pytest.mark.parametrize("media_type", [JSON, FORM, "text/plain", "application/pdf", None])
def test_a_compressed_body_is_refused_as_such(encoding: str, media_type: str | None) -> None:
    with pytest.raises(UnsupportedFormat, match="uncompressed"):
        read_encoded(b"\x1f\x8b", media_type, encoding)


@pytest.mark.parametrize("encoding", ["identity", "Identity", ""])
def test_an_encoding_that_is_none_is_taken(encoding: str) -> None:
    assert read_encoded(b"a text", "text/plain", encoding).sources[0].data == b"a text"


def read_encoded(body: bytes, media_type: str | None, encoding: str) -> Body:
    sent = request(Sender([body]), media_type)
    sent.scope["headers"].append((b"content-encoding", encoding.encode()))
    return asyncio.run(read_body(sent, LIMITS))


def test_what_a_browser_leaves_empty_is_not_there() -> None:
    empty, chosen = part("file", b"", file=""), part("file", b"a", file="a.txt")
    options = (part("min_score", b""), part("labels", b""), part("model", b""), part("fields", b"on"))
    body = read(form(empty, chosen, part("second", b"", file=""), *options), FORM)
    assert [source.id for source in body.sources] == ["a.txt"]
    assert (body.options, body.batch) == (ExtractOptions(fields=True), False)
    with pytest.raises(MalformedRequest, match="none was chosen"):
        read(form(empty, *options), FORM)
    with pytest.raises(InvalidOptions, match="lables"):
        read(form(chosen, part("lables", b"")), FORM)


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "BASE64", "x-uuencode"])
def test_a_file_in_another_encoding_is_no_text_of_letters(encoding: str) -> None:
    with pytest.raises(MalformedRequest, match="Content-Transfer-Encoding"):
        read(form(file_with(f"Content-Transfer-Encoding: {encoding}", b"SmFuZQ==")), FORM)


@pytest.mark.parametrize("encoding", ["binary", "8bit", "7BIT"])
def test_a_file_said_to_be_as_it_is_is_taken(encoding: str) -> None:
    (source,) = read(form(file_with(f"Content-Transfer-Encoding: {encoding}", b"Jane")), FORM).sources
    assert source.data == b"Jane"


def file_with(header: str, data: bytes, name: str = 'filename="a.txt"') -> bytes:
    return f'--x\r\nContent-Disposition: form-data; name="file"; {name}\r\n{header}\r\n\r\n'.encode() + data + b"\r\n"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("filename=\"=?utf-8?B?UsOkLnR4dA==?=\"; filename*=utf-8''R%C3%A4.txt", "Rä.txt"),
        ('filename="a.txt"; filename*="UTF-8\'de\'R%C3%A4.txt"', "Rä.txt"),
        ('filename="a;filename.txt"', "a;filename.txt"),
    ],
)
def test_a_name_that_is_not_ascii_is_read_as_dotnet_writes_it(written: str, name: str) -> None:
    (source,) = read(form(file_with("X-A: b", b"Jane", written)), FORM).sources
    assert (source.id, source.name) == (name, name)


@pytest.mark.parametrize(("name", "word"), [("file", "no file name"), ("text", "has no `file` part")])
def test_a_form_without_files_says_what_is_missing(name: str, word: str) -> None:
    form = f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\nJane Doe\r\n--x--\r\n'
    with pytest.raises(MalformedRequest, match=word):
        read(form.encode(), FORM)

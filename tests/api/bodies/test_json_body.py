"""JSON bodies: what they may be, and that what is refused costs little and says little."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.bodies.json_body import ID_CHARACTERS, OPTION_BYTES, JsonBody
from service.api.bodies.kinds import DocumentsJson
from service.api.options import ExtractJson, ExtractOptions, option_names
from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions, MalformedRequest
from tests.support.json_ways import WAYS, decoding, json_parser

MOST = 1_000
REQUEST_BYTES = 256 << 20
"""Most bytes of a body, as a service comes."""
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


KIND = DocumentsJson(option_names(ExtractOptions))
Read = Callable[[bytes, int], JsonBody]


def read_json(body: bytes, most: int) -> JsonBody:
    """What a body is read as at once."""
    return KIND.decode(body, most)


@pytest.fixture(scope="module", params=WAYS)
def read(request: pytest.FixtureRequest) -> Iterator[Read]:
    """Reads a body, in each of the two ways."""
    with decoding(request.param) as decode:
        yield lambda body, most: decode(body, KIND, most)


def outcome(read: Read, values: dict[str, Any]) -> JsonBody | GleanerError:
    """What a body is read as, or why it is refused."""
    try:
        return read(json.dumps(values).encode(), MOST)
    except GleanerError as error:
        return error


def many(part: bytes, times: int) -> bytes:
    return b",".join([part] * times)


def test_a_text_is_one_document_and_documents_are_a_batch(read: Read) -> None:
    alone = read(b'{"text": "a", "min_score": 0.5, "labels": ["PER"]}', MOST)
    assert (alone.documents, alone.batch) == (((None, "a"),), False)
    assert alone.options == {"min_score": 0.5, "labels": ["PER"]}
    found = read(b'{"documents": [{"id": "x", "text": "a"}, {"text": ""}, {"text": "b", "id": null}]}', MOST)
    assert (found.documents, found.batch) == ((("x", "a"), (None, ""), (None, "b")), True)


def test_an_escaped_key_is_the_same_key_and_the_last_of_two_counts(read: Read) -> None:
    assert read(b'{"\\u0074ext": "a"}', MOST).documents == ((None, "a"),)
    assert read(b'{"text": 5, "text": "b"}', MOST).documents == ((None, "b"),)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "either"),
        ({"text": "a", "documents": [{"text": "b"}]}, "either"),
        ({"text": None}, "text: Expected a string"),
        ({"text": ["a"]}, "text: Expected a string"),
        ({"documents": None}, "documents: Expected a list"),
        ({"documents": {}}, "documents: Expected a list"),
        ({"documents": []}, "at least one"),
        ({"documents": ["a"]}, "documents.0: Expected an object"),
        ({"documents": [{"text": "a", "labels": ["PER"]}]}, "labels.*known: id, text"),
        ([1], "object"),
    ],
)
def test_anything_else_is_malformed(read: Read, body: Any, word: str) -> None:
    with pytest.raises(MalformedRequest, match=word):
        read(json.dumps(body).encode(), MOST)


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ({"text": 5}, "documents.1.text: Expected a string"),
        ({"text": None}, "documents.1.text: Expected a string"),
        ({"id": "b"}, "documents.1: there is no `text`"),
        ({"id": 5, "text": "a"}, "documents.1.id: Expected a string or null"),
        ({"id": "a" * (ID_CHARACTERS + 1), "text": "a"}, "of length <= 1024"),
    ],
)
def test_a_bad_document_of_a_list_fails_alone(read: Read, bad: dict[str, Any], word: str) -> None:
    found = read(json.dumps({"documents": [{"text": "a"}, bad, {"id": "c", "text": "c"}]}).encode(), MOST)
    assert [found.documents[0], found.documents[2]] == [(None, "a"), ("c", "c")]
    assert found.refused.keys() == {1}
    assert word in found.refused[1]
    assert read(b'{"documents": [{"text": ""}]}', MOST).refused == {}


@pytest.mark.parametrize(("name", "meant"), [("txt", "text"), ("document", "documents"), ("label", "labels")])
def test_an_unknown_key_is_answered_with_the_one_that_is_meant(read: Read, name: str, meant: str) -> None:
    with pytest.raises(InvalidOptions, match=f"{name}: .* Do you mean `{meant}`.*known: text, documents"):
        read(json.dumps({name: "a"}).encode(), MOST)


@pytest.mark.parametrize(
    "body",
    [
        b'{"text": "\xff"}',
        b'{"documents": [{"text": "\xff"}]}',
        b'{"text": "a", "model": "\xff"}',
        b'{"te\xffxt": "a"}',
        b'{"text": "\\ud800"}',
        b'{"text": "a", "labels": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b"[" * 100_000,
        b'{"text": "a"',
        b"",
    ],
)
def test_bytes_that_are_no_json_are_malformed(read: Read, body: bytes) -> None:
    """Invalid UTF-8 was an error of the service's own."""
    with pytest.raises(MalformedRequest, match="JSON"):
        read(body, MOST)


def test_as_many_documents_as_may_come_are_read_and_one_more_is_refused(read: Read) -> None:
    whole = b'{"documents": [' + many(b'{"text": "a"}', MOST) + b"]}"
    for _ in range(2):
        assert len(read(whole, MOST).documents) == MOST
        with pytest.raises(DocumentTooLarge, match="more than 1000 documents"):
            read(b'{"documents": [' + many(b'{"text": "a"}', MOST + 1) + b"]}", MOST)


COSTLY = {
    "labels": (b'{"text": "a", "labels": [' + many(b"[]", 500_000) + b"]}", InvalidOptions),
    "one label": (b'{"text": "a", "labels": ["' + b"x" * 1_000_000 + b'"]}', InvalidOptions),
    "options": (b'{"text": "a", ' + b",".join(b'"%d": 1' % i for i in range(100_000)) + b"}", InvalidOptions),
    "an option": (b'{"text": "a", "' + b"x" * 1_000_000 + b'": 1}', InvalidOptions),
    "a model": (b'{"text": "a", "model": "' + b"x" * 1_000_000 + b'"}', InvalidOptions),
    "keys": (b'{"documents": [{' + b",".join(b'"%d": 1' % i for i in range(100_000)) + b"}]}", MalformedRequest),
    "a key": (b'{"documents": [{"' + b"x" * 1_000_000 + b'": 1}]}', MalformedRequest),
    "documents": (b'{"documents": [' + many(b'{"text":""}', 100_000) + b"]}", DocumentTooLarge),
    "other documents": (b'{"documents": [' + many(b"[]", 500_000) + b"]}", MalformedRequest),
    "inside": (b'{"documents": [["text", ' + many(b"[]", 500_000) + b"]]}", MalformedRequest),
}


@pytest.mark.parametrize("kind", COSTLY)
def test_what_is_refused_takes_little_memory_and_says_little(kind: str) -> None:
    """It took four hundred times as much, and its answer was seventeen times as long."""
    body, error = COSTLY[kind]
    tracemalloc.start()
    with pytest.raises(error) as caught:
        read_json(body, MOST)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * len(body)
    assert len(caught.value.detail) < 300


def test_a_bad_text_takes_no_memory_and_is_told_in_short() -> None:
    body = b'{"documents": [{"text": [' + many(b"[]", 500_000) + b"]}]}"
    tracemalloc.start()
    (said,) = read_json(body, MOST).refused.values()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * len(body)
    assert len(said) < 300


@pytest.mark.parametrize(
    ("start", "item", "end", "error"),
    [
        (b'{"documents": [', b'{"text":""}', b"]}", DocumentTooLarge),
        (b'{"text": "a", "labels": [', b"[]", b"]}", InvalidOptions),
    ],
    ids=["documents", "labels"],
)
def test_the_densest_json_takes_no_memory_but_its_bytes(
    start: bytes, item: bytes, end: bytes, error: type[GleanerError]
) -> None:
    body = start + (item + b",") * ((REQUEST_BYTES - len(start + item + end)) // (len(item) + 1)) + item + end
    tracemalloc.start()
    with pytest.raises(error):
        read_json(body, MOST)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(body) > REQUEST_BYTES - 16
    assert peak < 1_000_000


def test_an_option_may_be_as_long_as_thousands_of_labels(read: Read) -> None:
    labels = [f"LABEL_{i:04}" for i in range(4_000)]
    body = json.dumps({"text": "a", "labels": labels}).encode()
    assert len(body) < OPTION_BYTES
    assert read(body, MOST).options == {"labels": labels}


@given(st.dictionaries(st.sampled_from([*option_names(ExtractOptions), "text", "documents", "other"]), ANYTHING))
def test_any_json_is_read_or_refused_with_a_detail(read: Read, values: dict[str, Any]) -> None:
    found = outcome(read, values)
    if isinstance(found, GleanerError):
        assert 0 < len(found.detail) < 300
    else:
        assert found.options == {name: value for name, value in values.items() if name not in ("text", "documents")}


def test_the_schema_that_is_shown_has_the_keys_that_are_read() -> None:
    for name in option_names(ExtractJson):
        assert isinstance(outcome(read_json, {"text": "a", name: None}), JsonBody | MalformedRequest), name


WRONG: dict[str, bytes] = {
    **{kind: body for kind, (body, _) in COSTLY.items()},
    "two errors": b'{"text": 5, "labels": ["' + b"x" * OPTION_BYTES + b'"]}',
    "no utf-8": b'{"documents": [{"text": "\xff"}]}',
    "cut off": b'{"text": "' + b"a" * 2_000_000,
    "a number": b'{"text": 5}',
    "both": b'{"text": "a", "documents": []}',
    "nested": b"[" * 100_000,
}


def test_every_error_has_the_same_words_in_a_parser() -> None:
    with json_parser() as decode:
        for name, body in WRONG.items():
            with pytest.raises(GleanerError) as here:
                KIND.decode(body, MOST)
            with pytest.raises(GleanerError) as there:
                decode(body, KIND, MOST)
            assert (type(there.value), there.value.detail) == (type(here.value), here.value.detail), name


def test_options_of_any_form_come_back_from_a_parser_as_they_were() -> None:
    options = (
        b'"labels": [1e15, -0, 123456789012345678901234567890, {"a": [null, true, "\\u0000\\u3042"]}], "model": 0.1'
    )
    body = b'{"text": "\\u3042\\n\\ud83d\\ude00", ' + options + b"}"
    with json_parser() as decode:
        assert decode(body, KIND, MOST) == KIND.decode(body, MOST)

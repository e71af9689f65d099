"""JSON bodies: what they may be, and that what is refused costs little and says little."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api import json_body
from service.api.json_body import (
    COUNTED_BYTES,
    ID_CHARACTERS,
    JSON_BYTES,
    MOST_STRINGS,
    MOST_VALUES,
    OPTION_BYTES,
    JsonBody,
    JsonDocument,
    check_json_bytes,
    decode_json,
    has_field,
)
from service.api.options import ExtractJson, ExtractOptions, option_names
from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions, MalformedRequest

MOST = 1_000
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


OPTIONS = option_names(ExtractOptions)


def read(body: bytes, most: int = MOST) -> JsonBody:
    """Documents with the options of /extract."""
    return json_body.read_json(body, most, OPTIONS)


def outcome(values: dict[str, Any]) -> JsonBody | GleanerError:
    """What a body is read as, or why it is refused."""
    try:
        return read(json.dumps(values).encode())
    except GleanerError as error:
        return error


def many(part: bytes, times: int) -> bytes:
    return b",".join([part] * times)


def test_a_text_is_one_document_and_documents_are_a_batch() -> None:
    alone = read(b'{"text": "a", "min_score": 0.5, "labels": ["PER"]}')
    assert (alone.documents, alone.batch) == ((JsonDocument(None, "a"),), False)
    assert alone.options == {"min_score": 0.5, "labels": ["PER"]}
    found = read(b'{"documents": [{"id": "x", "text": "a"}, {"text": ""}, {"text": "b", "id": null}]}')
    texts = (JsonDocument("x", "a"), JsonDocument(None, ""), JsonDocument(None, "b"))
    assert (found.documents, found.batch) == (texts, True)


def test_pages_are_a_document_and_are_not_decoded() -> None:
    (alone,) = read(b'{"pages": [{"width": "?"}], "min_score": 0.5}').documents
    assert (alone.text, bytes(alone.pages or b"")) == ("", b'[{"width": "?"}]')
    found = read(b'{"documents": [{"id": "x", "pages": []}, {"text": "a"}, {"text": "b", "pages": []}]}')
    assert [each.pages is None for each in found.documents] == [False, True, True]
    assert found.documents[0].id == "x"
    assert "`text` and `pages`" in found.refused[2]


def test_an_escaped_key_is_the_same_key_and_the_last_of_two_counts() -> None:
    assert read(b'{"\\u0074ext": "a"}').documents == (JsonDocument(None, "a"),)
    assert read(b'{"text": 5, "text": "b"}').documents == (JsonDocument(None, "b"),)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "either"),
        ({"text": "a", "documents": [{"text": "b"}]}, "either"),
        ({"text": "a", "pages": []}, "either"),
        ({"text": None}, "text: Expected a string"),
        ({"text": ["a"]}, "text: Expected a string"),
        ({"documents": None}, "documents: Expected a list"),
        ({"documents": {}}, "documents: Expected a list"),
        ({"documents": []}, "at least one"),
        ({"documents": ["a"]}, "documents.0: Expected an object"),
        ({"documents": [{"text": "a", "labels": ["PER"]}]}, "labels.*known: id, text, pages"),
        ([1], "object"),
    ],
)
def test_anything_else_is_malformed(body: Any, word: str) -> None:
    with pytest.raises(MalformedRequest, match=word):
        read(json.dumps(body).encode())


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
def test_a_bad_document_of_a_list_fails_alone(bad: dict[str, Any], word: str) -> None:
    found = read(json.dumps({"documents": [{"text": "a"}, bad, {"id": "c", "text": "c"}]}).encode())
    assert [found.documents[0], found.documents[2]] == [JsonDocument(None, "a"), JsonDocument("c", "c")]
    assert found.refused.keys() == {1}
    assert word in found.refused[1]
    assert read(b'{"documents": [{"text": ""}]}').refused == {}


@pytest.mark.parametrize(("name", "meant"), [("txt", "text"), ("document", "documents"), ("label", "labels")])
def test_an_unknown_key_is_answered_with_the_one_that_is_meant(name: str, meant: str) -> None:
    with pytest.raises(InvalidOptions, match=f"{name}: .* Do you mean `{meant}`.*known: text, pages, documents"):
        read(json.dumps({name: "a"}).encode())


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
def test_bytes_that_are_no_json_are_malformed(body: bytes) -> None:
    """Invalid UTF-8 was an error of the service's own."""
    with pytest.raises(MalformedRequest, match="JSON"):
        read(body)


def test_as_many_documents_as_may_come_are_read_and_one_more_is_refused() -> None:
    whole = b'{"documents": [' + many(b'{"text": "a"}', MOST) + b"]}"
    for _ in range(2):
        assert len(read(whole).documents) == MOST
        with pytest.raises(DocumentTooLarge, match="more than 1000 documents"):
            read(b'{"documents": [' + many(b'{"text": "a"}', MOST + 1) + b"]}")


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
        read(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * len(body)
    assert len(caught.value.detail) < 300


def test_a_bad_text_takes_no_memory_and_is_told_in_short() -> None:
    body = b'{"documents": [{"text": [' + many(b"[]", 500_000) + b"]}]}"
    tracemalloc.start()
    (said,) = read(body).refused.values()
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
    body = start + (item + b",") * ((JSON_BYTES - len(start + item + end)) // (len(item) + 1)) + item + end
    tracemalloc.start()
    with pytest.raises(error):
        read(body)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(body) > JSON_BYTES - 16
    assert peak < 1_000_000


def test_an_option_may_be_as_long_as_thousands_of_labels() -> None:
    labels = [f"LABEL_{i:04}" for i in range(4_000)]
    body = json.dumps({"text": "a", "labels": labels}).encode()
    assert len(body) < OPTION_BYTES
    assert read(body).options == {"labels": labels}


@given(
    st.dictionaries(st.sampled_from([*option_names(ExtractOptions), "text", "pages", "documents", "other"]), ANYTHING)
)
def test_any_json_is_read_or_refused_with_a_detail(values: dict[str, Any]) -> None:
    found = outcome(values)
    if isinstance(found, GleanerError):
        assert 0 < len(found.detail) < 300
    else:
        assert found.options == {
            name: value for name, value in values.items() if name not in ("text", "pages", "documents")
        }


def test_the_schema_that_is_shown_has_the_keys_that_are_read() -> None:
    for name in option_names(ExtractJson):
        assert isinstance(outcome({"text": "a", name: None}), JsonBody | MalformedRequest), name


def test_options_of_any_form_are_values() -> None:
    options = b'"labels": [-0, 123456789012345678901234567890, {"a": [null, true, "\\u0000\\u3042"]}], "model": 0.1'
    found = read(b'{"text": "\\u3042\\n\\ud83d\\ude00", ' + options + b"}")
    assert found.documents == (JsonDocument(None, "\u3042\n\U0001f600"),)
    assert found.options == {
        "labels": [0, 123456789012345678901234567890, {"a": [None, True, "\0\u3042"]}],
        "model": 0.1,
    }


def test_more_bytes_than_json_may_have_are_refused_with_the_other_ways() -> None:
    check_json_bytes(JSON_BYTES)
    with pytest.raises(DocumentTooLarge, match=r"16 MiB.*`text/plain`.*files of a form"):
        check_json_bytes(JSON_BYTES + 1)


class Inputs(msgspec.Struct):
    inputs: str | list[str]
    more: Any = None


def test_a_body_of_an_adapter_becomes_its_type() -> None:
    assert decode_json(b'{"inputs": ["a"], "other": 1}', Inputs, 10).inputs == ["a"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"inputs": 1}', b'{"inputs": "\xff"}', b'{"x":' + b"[" * 100_000])
def test_what_it_is_not_is_said_in_a_sentence(body: bytes) -> None:
    with pytest.raises(MalformedRequest) as caught:
        decode_json(body, Inputs, 10)
    assert 3 < len(caught.value.detail) < 300


@pytest.mark.parametrize("each", [b'"",', b'"a",', b'"\\\\",', b'"\\"",'])
def test_far_too_many_texts_are_refused_before_they_are_built(each: bytes) -> None:
    many = MOST_STRINGS + 11 + COUNTED_BYTES // len(each)
    body = b'{"inputs": [' + each * many + b'""]}'
    assert refusal_bytes(body) < 4 * len(body)


@pytest.mark.parametrize("each", [b"[],", b"{},", b"7,", b"[7],"])
def test_far_too_many_values_are_refused_before_they_are_built(each: bytes) -> None:
    """Empty lists took forty times the memory of their bytes."""
    many = MOST_VALUES + COUNTED_BYTES // len(each)
    body = b'{"inputs": "a", "more": [' + each * many + b"1]}"
    assert refusal_bytes(body) < 4 * len(body)


def refusal_bytes(body: bytes) -> int:
    """The most memory that a body takes until it is refused."""
    tracemalloc.start()
    with pytest.raises(DocumentTooLarge, match="too many texts or values; one request may have 10 texts"):
        decode_json(body, Inputs, 10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("signs", ['"', "[,{", '\\"[,"\\'])
def test_one_long_text_with_many_such_signs_is_fine(signs: str) -> None:
    text = signs * (COUNTED_BYTES + MOST_STRINGS)
    assert decode_json(msgspec.json.encode({"inputs": text}), Inputs, 10).inputs == text


def test_a_field_is_there_or_not_whatever_its_value() -> None:
    assert has_field(b'{"inputs": {"a": [1]}, "b": 2}', "inputs")
    assert not has_field(b'{"text": "inputs"}', "inputs")
    with pytest.raises(MalformedRequest):
        has_field(b"[]", "inputs")


@pytest.mark.parametrize(
    "body",
    [
        b'{"file": "a.pdf"}',
        b'{"url": "https://a.example/a.pdf"}',
        b'{"text": "a", "URL": ""}',
        b'{"content": "JVBERi0="}',
        b'{"DocumentMetadata": {"Pages": 1}, "Blocks": []}',
    ],
)
def test_a_file_in_json_is_told_how_files_are_sent(body: bytes) -> None:
    with pytest.raises(InvalidOptions, match=r"posted, not fetched.*multipart/form-data") as caught:
        read(body)
    assert "Do you mean" not in caught.value.detail


def test_a_document_with_an_address_is_told_how_files_are_sent() -> None:
    with pytest.raises(MalformedRequest, match=r"known: id, text, pages.*posted, not fetched"):
        read(b'{"documents": [{"url": "https://a.example/a.pdf"}]}')

"""Escapes in a text: what they mean, and where they stood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.escapes import MOST_DECODINGS, decoded, decodings

MEANT = {
    "a%20b": "a b",
    "a%C3%A4b": "aäb",
    "a%FCb": "aüb",
    "a%2520b": "a%20b",
    r"a\u0020b": "a b",
    r"a\ud83d\ude00b": "a😀b",
    r"a\ud83db": "a\ufffdb",
    r"a\u{1F600}b\u{ffffff}": "a😀b\U0010ffff",
    r"a\x20b": "a b",
    r"a\nb\tc": "a b c",
    r"a\/b\"c\\d": 'a/b"c\\d',
    "a&nbsp;b&#32;c&#xA0;d&uuml;e": "a\xa0b c\xa0düe",
    "&amp;nbsp;&zzzz;": "&nbsp;&zzzz;",
}


@pytest.mark.parametrize("text", MEANT)
def test_an_escape_means_what_its_language_says(text: str) -> None:
    step = decoded(text)
    assert step is not None
    assert step.text == MEANT[text]


@pytest.mark.parametrize("text", ["", "plain text", "100 % of it", "AT&T; R&D", r"C:\Kept", "%zz"])
def test_a_text_without_escapes_is_as_it_is(text: str) -> None:
    assert decoded(text) is None
    assert list(decodings(text)) == []


def test_places_of_the_text_before_are_known() -> None:
    text = "ab%20cd&amp;e"
    step = decoded(text)
    assert step is not None
    assert step.text == "ab cd&e"
    ranges = {
        step.text[a:b]: text[slice(*step.range_before(a, b))] for a, b in [(0, 2), (1, 4), (2, 3), (3, 6), (6, 7)]
    }
    assert ranges == {"ab": "ab", "b c": "b%20c", " ": "%20", "cd&": "cd&amp;", "e": "e"}


def test_a_text_is_decoded_as_often_as_it_was_escaped() -> None:
    assert [steps[-1].text for steps in decodings("a%252520b")] == ["a%2520b", "a%20b", "a b"]
    assert len(list(decodings("a%25252520b"))) == MOST_DECODINGS
    assert [steps[-1].text for steps in decodings("%26nbsp%3B")] == ["&nbsp;", "\xa0"]


@given(st.lists(st.sampled_from(["a", "ß", " ", "%20", "%C3%A4", r"\n", r"\u0041", "&lt;", "%", "&", "\\"])))
def test_every_character_has_its_place(parts: list[str]) -> None:
    text = "".join(parts)
    step = decoded(text)
    if step is None:
        return
    places = [step.range_before(at, at + 1) for at in range(len(step.text))]
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert places == sorted(places)
    for place, character in zip(places, step.text, strict=True):
        written = text[slice(*place)]
        assert written == character or len(written) > 1

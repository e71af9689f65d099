"""Patterns of clients: a worker compiles none, and what ends their parser is refused."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest

from service.api.parsers import patterns as patterns_of_clients
from service.api.parsers.patterns import (
    MOST_MATCHES,
    Match,
    Patterns,
    encode_texts,
    match_frame,
    matches_from_frame,
)
from service.api.parsers.pool import ParserPool
from service.core.errors import InvalidOptions, UnreadableDocument
from tests.support.parsers import with_pool

EVIL = "(a|a)*b|(?:a|aa|aaa)*c"
COSTLY = r"(?V1i:" + r"[\p{L}--\p{Lu}]" * 11 + ")"
WORDS = ("a" * 20 + " ") * 60
DEADLY = [
    "(?:(?:(?:(?:a{1000}){1000}){1000}){1000})",
    "(?:(?:a{1000,}){1000,}){1000,}",
    "a{1000000000}",
    "(?:(?:(?:[a-z]{1000}){1000}){1000})?",
    "(?:(?:(?:a|b|cd){1000}){1000}){1000}",
    "(?<=(?:(?:a{1000}){1000}){1000})b",
    "(?:(?:(?:[[a-z]--[b]]{999}){999}){999})",
]
"""Patterns whose compile takes gigabytes, and the interpreter for that time; some end their process."""


def search(texts: list[str], *sources: str, is_any_match: bool = False) -> list[Match] | None:
    patterns = Patterns(tuple((each, 0) for each in sources), tuple(map(len, texts)), is_any_match)
    return matches_from_frame(patterns, match_frame(patterns, encode_texts(texts)))


def test_all_matches_are_found_that_are_not_empty() -> None:
    found = [Match(0, 0, 1, 2), Match(0, 0, 3, 5), Match(2, 0, 0, 1)]
    assert search(["a1b22", "", "3"], r"\d+", "x*") == found
    assert search(["a1"]) == []


def test_one_match_of_any_pattern_is_enough_for_a_text_that_is_allowed() -> None:
    assert search(["ab", "b", "c"], "b", "a", is_any_match=True) == [Match(0, 0, 1, 2), Match(1, 0, 0, 1)]
    assert search(["ab"], "", is_any_match=True) == [Match(0, 0, 0, 0)]


@pytest.mark.parametrize(
    ("texts", "sources", "is_any_match"),
    [
        ([WORDS], [EVIL], False),
        (["a" * 40] * 20, [EVIL], False),
        (["a" * 40] * 20, [EVIL], True),
        (["a"], [COSTLY] * 2_000, False),
    ],
    ids=["one text", "many texts", "an allow list", "compiled"],
)
def test_all_patterns_of_a_request_share_one_budget_of_time(
    texts: list[str], sources: list[str], is_any_match: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns_of_clients, "PATTERN_SECONDS", 0.5)
    begun = time.thread_time()
    with pytest.raises(InvalidOptions, match="2 s together"):
        search(texts, *sources, is_any_match=is_any_match)
    assert time.thread_time() - begun < 2 * 0.5


@pytest.mark.parametrize("source", ["(", "[a", "(?P<a>b)(?P<a", r"\p{Nothing}", "(?<=a", "*"])
def test_what_is_no_pattern_is_refused(source: str) -> None:
    with pytest.raises(InvalidOptions, match="no pattern"):
        search(["a"], source)


def test_matches_are_counted_over_all_texts() -> None:
    with pytest.raises(InvalidOptions, match="100,000 times"):
        search(["x" * 60_000] * 2, "x")
    with pytest.raises(InvalidOptions, match="100,000 times"):
        search(["x" * 200_000], "x")
    assert len(search(["x" * 40_000] * 2, "x") or ()) == 80_000 < MOST_MATCHES


ROWS = {
    "text": [(2, 0, 0, 1)],
    "negative text": [(-1, 0, 0, 1)],
    "pattern": [(0, 1, 0, 1)],
    "turned": [(0, 0, 2, 1)],
    "negative": [(0, 0, -1, 1)],
    "beyond": [(0, 0, 0, 9)],
    "many": [(0, 0, 0, 1)] * (MOST_MATCHES + 1),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_parser_that_was_taken_over_is_not_believed(name: str) -> None:
    patterns = Patterns((("a", 0),), (3, 3))
    assert matches_from_frame(patterns, np.array(ROWS[name], "<i4").tobytes()) is None
    assert matches_from_frame(patterns, b"abc") is None
    assert matches_from_frame(patterns, b"") == []


@with_pool(size=2, memory_bytes=2**29)
async def test_what_no_worker_survives_is_refused_and_others_are_answered(pool: ParserPool) -> None:
    """One pattern of 43 characters held a worker's interpreter until it was killed, with all its requests."""

    async def find(client: str, *sources: str) -> list[Match]:
        patterns, deadline = Patterns(tuple((each, 0) for each in sources), (3,)), time.monotonic() + 200
        return await pool.find_patterns(patterns, encode_texts(["abc"]), client=client, deadline_seconds=deadline)

    hostile = [asyncio.create_task(find("a", source)) for source in DEADLY]
    assert await find("b", "b") == [Match(0, 0, 1, 2)]
    refused = await asyncio.gather(*hostile, return_exceptions=True)
    assert [each for each in refused if not isinstance(each, InvalidOptions | UnreadableDocument)] == []
    assert await find("a", "c") == [Match(0, 0, 2, 3)]
    with pytest.raises(InvalidOptions, match="no pattern"):
        await find("a", "(")

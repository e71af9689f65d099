"""Patterns of Presidio's clients: sizes before work, what they match, and clients in turn."""

from __future__ import annotations

import asyncio
import json
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.api.adapters.presidio import ClientTurns
from service.api.adapters.presidio_bodies import AnalyzeRequest, AnonymizeRequest
from service.api.adapters.presidio_operators import MOST_NEW_CHARACTERS, MarkedRange, anonymize, replace_by
from service.api.adapters.presidio_patterns import RequestPatterns
from service.api.calls import RequestContext
from service.api.json_body import decode_json
from service.api.parsers.patterns import Match, Patterns, match_frame, matches_from_frame
from service.core.errors import (
    DeadlineExceeded,
    DocumentTooLarge,
    GleanerError,
    InvalidOptions,
    MalformedRequest,
    UnreadableDocument,
)


def patterns(*sources: str) -> dict[str, Any]:
    return {"supported_entity": "X", "patterns": [{"regex": each, "score": 0.9} for each in sources]}


async def find(patterns: Patterns, texts: bytes) -> list[Match]:
    """The search of a parser, in this process: the patterns are harmless here."""
    found = matches_from_frame(patterns, match_frame(patterns, texts))
    assert found is not None
    return found


def analyzed(text: str | list[str], **options: Any) -> int:
    """How many findings are kept of a request's patterns."""
    body = json.dumps({"text": text, "language": "en", **options}).encode()
    asked = decode_json(body, AnalyzeRequest, 1_000)

    async def search() -> int:
        own = RequestPatterns(asked, find)
        pairs = list(zip(asked.texts, await own.find(asked.texts), strict=True))
        await own.allow(text[each.start : each.end] for text, marked in pairs for each in marked)
        return sum(len(own.kept(*each)) for each in pairs)

    return asyncio.run(search())


async def test_patterns_that_end_their_parser_are_refused() -> None:
    async def dies(patterns: Patterns, texts: bytes) -> list[Match]:
        raise UnreadableDocument("The file crashes its parser.")

    asked = decode_json(json.dumps({"text": "a", "ad_hoc_recognizers": [patterns("a")]}).encode(), AnalyzeRequest, 1)
    with pytest.raises(InvalidOptions, match="more time or memory"):
        await RequestPatterns(asked, dies).find(asked.texts)


@pytest.mark.parametrize(
    "options",
    [
        {"ad_hoc_recognizers": [{"supported_entity": "X", "deny_list": ["ab" * 600]}]},
        {"ad_hoc_recognizers": [{"supported_entity": "X", "deny_list": ["ab"] * 201}]},
        {"ad_hoc_recognizers": [patterns("a")] * 201},
        {"ad_hoc_recognizers": [patterns("a" * 2_001)]},
        {"ad_hoc_recognizers": [{"supported_entity": "X" * 201, "deny_list": ["a"]}]},
        {"ad_hoc_recognizers": [{"supported_entity": "X"}] * 10_001},
        {"allow_list": ["a"] * 201, "allow_list_match": "regex"},
        {"allow_list": ["a"] * 10_001},
        {"entities": ["X"] * 10_001},
    ],
)
def test_what_is_too_long_is_refused_before_it_is_compiled(options: dict[str, Any]) -> None:
    begun = time.thread_time()
    with pytest.raises((InvalidOptions, MalformedRequest, DocumentTooLarge)):
        analyzed("a", **options)
    assert time.thread_time() - begun < 0.5


def test_ordinary_patterns_words_and_allow_lists_are_as_they_were() -> None:
    zips = patterns(r"\b\d{5}\b")
    words = {"supported_entity": "Y", "deny_list": ["code", "license"] * 50}
    text = "license AC432223, Zip CODE 12345 and 12346"
    assert analyzed(text, ad_hoc_recognizers=[zips, words]) == 4
    assert analyzed(text, ad_hoc_recognizers=[zips, words], entities=["X"]) == 2
    assert analyzed(text, ad_hoc_recognizers=[zips], allow_list=["12345"]) == 1
    assert analyzed(text, ad_hoc_recognizers=[zips], allow_list=["^1", "("][:1], allow_list_match="regex") == 0
    with pytest.raises(InvalidOptions, match="no pattern"):
        analyzed(text, ad_hoc_recognizers=[zips], allow_list=["("], allow_list_match="regex")


def anonymized(text: str, ranges: int, **operator: Any) -> int:
    """Length of a text of which every other character is replaced."""
    results = [{"entity_type": "X", "start": at, "end": at + 1} for at in range(0, 2 * ranges, 2)]
    body = json.dumps({"text": text, "analyzer_results": results, "anonymizers": {"DEFAULT": operator}}).encode()
    asked = decode_json(body, AnonymizeRequest, 1_000)
    made = (asked.anonymizers or {})["DEFAULT"].operator(b"")
    marked = [MarkedRange(each.entity_type, each.start, each.end) for each in asked.analyzer_results]
    return len(anonymize(asked.text, marked, lambda _: made)[0])


@pytest.mark.parametrize(
    ("ranges", "operator"),
    [
        (4_000, {"type": "replace", "new_value": "x" * 1_000_000}),
        (4_000, {"type": "replace", "new_value": "x" * 99_000}),
        (100_001, {"type": "replace", "new_value": "x"}),
        (2, {"type": "hash", "salt": "x" * 100_000}),
    ],
)
def test_an_answer_that_would_be_too_long_is_not_built(ranges: int, operator: dict[str, Any]) -> None:
    """One of 4 GB was: 4,000 findings, each replaced by a megabyte."""

    with pytest.raises(GleanerError):
        anonymized("a" * 2 * ranges, ranges, **operator)


def test_replacements_may_be_as_long_as_all_together_may() -> None:
    assert anonymized("a" * 200, 100, type="replace", new_value="x" * 99_000) == 100 + 100 * 99_000
    half = "x" * (MOST_NEW_CHARACTERS // 2)
    anonymize("ab", [MarkedRange("A", 0, 1), MarkedRange("B", 1, 2)], lambda _: replace_by(half))
    with pytest.raises(DocumentTooLarge):
        anonymize("ab", [MarkedRange("A", 0, 1), MarkedRange("B", 1, 2)], lambda _: replace_by(half + "x"))


def context(client: str, seconds: float = 60.0) -> RequestContext:
    return cast(
        RequestContext,
        SimpleNamespace(sender=client, disconnect=None, deadline_seconds=time.monotonic() + seconds),
    )


def test_a_client_does_not_wait_for_all_requests_of_another() -> None:
    """It waited 26 s behind thirty of them."""

    async def play() -> tuple[int, str]:
        turns, done = ClientTurns(), list[str]()

        def work(name: str) -> str:
            time.sleep(0.05)
            done.append(name)
            return name

        greedy = [asyncio.create_task(turns.run(context("a"), lambda: work("a"))) for _ in range(30)]
        await asyncio.sleep(0.02)
        answer = await turns.run(context("b"), lambda: work("b"))
        before = done.index("b")
        await asyncio.gather(*greedy)
        return before, answer

    before, answer = asyncio.run(play())
    assert (answer, before <= 2) == ("b", True)


async def test_who_waits_beyond_the_deadline_is_refused() -> None:
    turns = ClientTurns()
    first = asyncio.create_task(turns.run(context("a"), lambda: time.sleep(0.4)))
    await asyncio.sleep(0.05)
    with pytest.raises(DeadlineExceeded):
        await turns.run(context("a", seconds=0.1), lambda: None)
    await first

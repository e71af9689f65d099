"""Patterns that Presidio's clients bring.

A request's patterns and words are compiled and searched for in a parser, before its texts are read by the model, and
those of its allow list afterwards. What takes too long there is refused, never answered without them. Presidio's own
flags are the default (`PatternRecognizer`: dot matches all, multiline, case is ignored).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from service.api.adapters.presidio_bodies import FLAGS, AdHocRecognizer, AnalyzeRequest
from service.api.adapters.presidio_operators import MarkedRange
from service.api.parsers.patterns import Match, Patterns, encode_texts
from service.core.errors import InvalidOptions, UnreadableDocument

MOST_PATTERNS = 200
"""Patterns and words of a request, those of an allow list of patterns too."""
Find = Callable[[Patterns, bytes], Awaitable[list[Match]]]
"""Finder of patterns in encoded texts, as `ParserPool.find_patterns`."""


class RequestPatterns:
    """The patterns of one request, and its allow list."""

    def __init__(self, asked: AnalyzeRequest, find: Find) -> None:
        recognizers = asked.ad_hoc_recognizers or ()
        allowed = asked.allow_list or ()
        is_pattern = asked.allow_list_match == "regex"
        patterns = sum(len(each.patterns) + len(each.deny_list) for each in recognizers)
        if patterns + is_pattern * len(allowed) > MOST_PATTERNS:
            raise InvalidOptions(f"A request may bring {MOST_PATTERNS} patterns and words.")
        self._find = find
        self._patterns = [pattern for each in recognizers for pattern in _patterns_of(each)]
        self._kinds = frozenset(asked.entities) if asked.entities else None
        self._least = asked.score_threshold or 0.0
        self._allowed = set() if is_pattern else set(allowed)
        flags = FLAGS if asked.regex_flags is None else asked.regex_flags
        self._allowed_sources = tuple((source, flags) for source in allowed) if is_pattern else ()

    async def find(self, texts: Sequence[str]) -> list[list[MarkedRange]]:
        """Find all that the patterns match, of each text.

        Raises:
            InvalidOptions: one is no pattern, they take too much, or match too much.
        """
        found: list[list[MarkedRange]] = [[] for _ in texts]
        sources = tuple((source, flags) for source, flags, _, _ in self._patterns)
        for each in await self._matches(sources, texts, is_any_match=False):
            _, _, kind, score = self._patterns[each.pattern]
            found[each.text].append(MarkedRange(kind, each.start, each.end, score))
        return found

    async def allow(self, texts: Iterable[str]) -> None:
        """Note which of some findings' texts the allow list's patterns match; raises as `find`."""
        some = sorted(set(texts))
        found = await self._matches(self._allowed_sources, some, is_any_match=True)
        self._allowed.update(some[each.text] for each in found)

    async def _matches(
        self, sources: tuple[tuple[str, int], ...], texts: Sequence[str], *, is_any_match: bool
    ) -> list[Match]:
        if not (sources and texts):
            return []
        try:
            return await self._find(Patterns(sources, tuple(map(len, texts)), is_any_match), encode_texts(texts))
        except UnreadableDocument:  # Their parser was ended.
            raise InvalidOptions("The patterns take more time or memory than those of a request may.") from None

    def kept(self, text: str, found: Sequence[MarkedRange]) -> list[MarkedRange]:
        """Choose the findings in a text that the request asks for."""
        return [
            each
            for each in found
            if each.score >= self._least
            and (self._kinds is None or each.kind in self._kinds)
            and text[each.start : each.end] not in self._allowed
        ]


def _patterns_of(recognizer: AdHocRecognizer) -> Iterator[tuple[str, int, str, float]]:
    """Yield source, flags, kind and score of each pattern; words are one pattern."""
    kind, flags = recognizer.supported_entity, recognizer.global_regex_flags
    for each in recognizer.patterns:
        yield each.regex, flags, kind, each.score
    if recognizer.deny_list:
        words = "|".join(map(re.escape, recognizer.deny_list))
        yield rf"(?:^|(?<=\W))(?:{words})(?=\W|$)", flags, kind, recognizer.deny_list_score

"""Patterns that Presidio's clients bring: one budget of time for each request, in a thread, clients in turn.

All of a request's patterns and words, those of its allow list too, have `PATTERN_SECONDS` of a thread's time, to be
compiled and to be searched for without the GIL. What takes longer is refused, never answered without them. One request
of a client runs at a time, so that no client waits for all requests of another. Presidio's own flags are the default
(`PatternRecognizer`: dot matches all, multiline, case is ignored).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

import regex

from service.api.adapters.presidio_bodies import FLAGS, AdHocRecognizer, AnalyzeRequest
from service.api.adapters.presidio_operators import MarkedRange
from service.api.calls import RequestContext
from service.api.http.request_scope import until_disconnect
from service.core.errors import DeadlineExceeded, InvalidOptions

PATTERN_SECONDS = 2.0
MOST_PATTERNS = 200
"""Patterns and words of a request, those of an allow list of patterns too."""
MOST_MATCHES = 100_000
"""Most matches in all texts of a request."""
THREADS = 2
_KNOWN_FLAGS = FLAGS | int(regex.VERBOSE | regex.ASCII)
_TOO_LONG = f"The patterns of a request have {PATTERN_SECONDS:g} s together; these take longer."
_T = TypeVar("_T")


class ClientTurns:
    """Threads for work of any length, one request of a client at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="patterns")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, context: RequestContext, work: Callable[[], _T]) -> _T:
        """The result of work for a request, when it is its client's turn.

        Raises:
            DeadlineExceeded: it was not, in time.
            ClientDisconnect: the client left meanwhile.
        """
        in_turn = self._in_turn(context, work)
        return await (in_turn if context.disconnect is None else until_disconnect(in_turn, context.disconnect))

    async def _in_turn(self, context: RequestContext, work: Callable[[], _T]) -> _T:
        turn = self._turns.setdefault(context.sender, asyncio.Lock())
        try:
            async with asyncio.timeout(context.deadline_seconds - time.monotonic()), turn:
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except TimeoutError:
            raise DeadlineExceeded("The deadline passed before the patterns were searched for.") from None


class RequestPatterns:
    """The patterns of one request, its allow list, and the time that they have left. All but the first in a thread."""

    def __init__(self, asked: AnalyzeRequest) -> None:
        recognizers = asked.ad_hoc_recognizers or ()
        allowed = asked.allow_list or ()
        is_pattern = asked.allow_list_match == "regex"
        patterns = sum(len(each.patterns) + len(each.deny_list) for each in recognizers)
        if patterns + is_pattern * len(allowed) > MOST_PATTERNS:
            raise InvalidOptions(f"A request may bring {MOST_PATTERNS} patterns and words.")
        self._recognizers = recognizers
        self._kinds = frozenset(asked.entities) if asked.entities else None
        self._least = asked.score_threshold or 0.0
        self._allowed_words = frozenset() if is_pattern else frozenset(allowed)
        self._allowed_sources = allowed if is_pattern else ()
        self._allowed_flags = FLAGS if asked.regex_flags is None else asked.regex_flags
        self._allowed: list[regex.Pattern[str]] = []
        self._left_seconds, self._left_matches = PATTERN_SECONDS, MOST_MATCHES

    def find(self, texts: Sequence[str]) -> list[list[MarkedRange]]:
        """All that the patterns match, of each text.

        Raises:
            InvalidOptions: one is no pattern, they take too long, or match too much.
        """
        self._allowed = [self._compiled(source, self._allowed_flags) for source in self._allowed_sources]
        patterns = [found for each in self._recognizers for found in self._patterns_of(each)]
        return [[found for pattern in patterns for found in self._matches(text, *pattern)] for text in texts]

    def kept(self, text: str, found: Sequence[MarkedRange]) -> list[MarkedRange]:
        """Choose the findings in a text that the request asks for; raises as `find`."""
        return [
            each
            for each in found
            if each.score >= self._least
            and (self._kinds is None or each.kind in self._kinds)
            and not self._is_allowed(text[each.start : each.end])
        ]

    def _is_allowed(self, text: str) -> bool:
        if text in self._allowed_words:
            return True
        for pattern in self._allowed:
            with self._timed() as left:
                if pattern.search(text, timeout=left, concurrent=True) is not None:
                    return True
        return False

    def _matches(self, text: str, kind: str, pattern: regex.Pattern[str], score: float) -> list[MarkedRange]:
        found: list[MarkedRange] = []
        with self._timed() as left:
            for match in pattern.finditer(text, timeout=left, concurrent=True):
                if match.start() < match.end():
                    found.append(MarkedRange(kind, match.start(), match.end(), score))
                    self._left_matches -= 1
                if self._left_matches < 0:
                    raise InvalidOptions(f"The patterns match more than {MOST_MATCHES:,} times.")
        return found

    def _patterns_of(self, recognizer: AdHocRecognizer) -> Iterator[tuple[str, regex.Pattern[str], float]]:
        kind, flags = recognizer.supported_entity, recognizer.global_regex_flags
        for each in recognizer.patterns:
            yield kind, self._compiled(each.regex, flags), each.score
        if recognizer.deny_list:
            words = "|".join(map(regex.escape, recognizer.deny_list))
            pattern = self._compiled(rf"(?:^|(?<=\W))(?:{words})(?=\W|$)", flags)
            yield kind, pattern, recognizer.deny_list_score

    def _compiled(self, source: str, flags: int) -> regex.Pattern[str]:
        with self._timed():
            try:
                pattern: regex.Pattern[str] = regex.compile(source, flags & _KNOWN_FLAGS, cache_pattern=False)
            except (regex.error, ValueError, RecursionError, OverflowError) as error:
                raise InvalidOptions(f"{source[:60]!r} is no pattern: {error}.") from None
        return pattern

    @contextmanager
    def _timed(self) -> Iterator[float]:
        """Take the block's time from the budget; yields the remaining seconds."""
        if self._left_seconds <= 0:
            raise InvalidOptions(_TOO_LONG)
        begun = time.thread_time()
        try:
            yield self._left_seconds
        except TimeoutError:
            raise InvalidOptions(_TOO_LONG) from None
        finally:
            self._left_seconds -= time.thread_time() - begun

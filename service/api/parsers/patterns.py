"""Patterns of clients, compiled and searched in a parser, where memory and processor time are limited.

A compile cannot be stopped, unrolls counted repeats, and may end its process. So a worker never compiles what a client
sends. What takes too long is refused, never answered without some matches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
import numpy as np
import regex

from service.core.errors import InvalidOptions

PATTERN_SECONDS = 2.0
"""Processor seconds in which the patterns of a request are compiled and searched for."""
PARSER_SECONDS = 2 * PATTERN_SECONDS
"""Processor seconds after which a parser that compiles them is ended."""
MOST_MATCHES = 100_000
"""Most matches in all texts of a request."""
TOO_LONG = f"The patterns of a request have {PATTERN_SECONDS:g} s together; these take longer."
_KNOWN_FLAGS = int(regex.DOTALL | regex.MULTILINE | regex.IGNORECASE | regex.VERBOSE | regex.ASCII)
_ENCODER, _DECODER = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(list[str])


class Patterns(msgspec.Struct, frozen=True):
    """Patterns to search for in texts.

    Attributes:
        sources: each with its flags, of which those that are known count.
        lengths: characters of the texts.
        is_any_match: one match of any of them is enough for a text; else all that are not empty are found.
    """

    sources: tuple[tuple[str, int], ...]
    lengths: tuple[int, ...]
    is_any_match: bool = False


class Match(msgspec.Struct, frozen=True, array_like=True):
    """A match, by the places of its text and its pattern; `[start, end)` in code points."""

    text: int
    pattern: int
    start: int
    end: int


def encode_texts(texts: Sequence[str]) -> bytes:
    return _ENCODER.encode(texts)


def match_frame(patterns: Patterns, texts: bytes) -> bytes:
    """Compile the patterns and find their matches; the frame holds four int32 for each.

    Raises:
        InvalidOptions: one is no pattern, they take too long, or match too much.
    """
    search = _Search()
    compiled = [search.compile(*each) for each in patterns.sources]
    found: list[tuple[int, int, int, int]] = []
    for number, text in enumerate(_DECODER.decode(texts)):
        for place, pattern in enumerate(compiled):
            spans = search.find(pattern, text, is_any_match=patterns.is_any_match)
            found += ((number, place, *span) for span in spans)
            if len(found) > MOST_MATCHES:
                raise InvalidOptions(f"The patterns match more than {MOST_MATCHES:,} times.")
            if patterns.is_any_match and found and found[-1][0] == number:
                break
    return np.array(found, dtype="<i4").tobytes()


def matches_from_frame(patterns: Patterns, frame: bytes) -> list[Match] | None:
    """Read a frame of matches; None if it is none of a search for these patterns."""
    if len(frame) % 16 or len(frame) > 16 * MOST_MATCHES:
        return None
    matches = [Match(*row) for row in np.frombuffer(frame, dtype="<i4").reshape(-1, 4).tolist()]
    lengths, sources = patterns.lengths, len(patterns.sources)
    is_sound = all(
        0 <= each.text < len(lengths)
        and 0 <= each.pattern < sources
        and 0 <= each.start <= each.end <= lengths[each.text]
        for each in matches
    )
    return matches if is_sound else None


class _Search:
    """One budget of time for all that a request's patterns take."""

    def __init__(self) -> None:
        self._left_seconds = PATTERN_SECONDS

    def compile(self, source: str, flags: int) -> regex.Pattern[str]:
        with self._timed():
            try:
                pattern: regex.Pattern[str] = regex.compile(source, flags & _KNOWN_FLAGS, cache_pattern=False)
            except (regex.error, ValueError, RecursionError, OverflowError) as error:
                raise InvalidOptions(f"{source[:60]!r} is no pattern: {error}.") from None
        return pattern

    def find(self, pattern: regex.Pattern[str], text: str, *, is_any_match: bool) -> list[tuple[int, int]]:
        with self._timed() as left:
            if is_any_match:
                match = pattern.search(text, timeout=left)
                return [] if match is None else [match.span()]
            spans: list[tuple[int, int]] = []
            for match in pattern.finditer(text, timeout=left):
                spans += [match.span()] if match.start() < match.end() else []
                if len(spans) > MOST_MATCHES:
                    break
            return spans

    @contextmanager
    def _timed(self) -> Iterator[float]:
        """Take the block's time from the budget; yields the remaining seconds."""
        if self._left_seconds <= 0:
            raise InvalidOptions(TOO_LONG)
        begun = time.thread_time()
        try:
            yield self._left_seconds
        except TimeoutError:
            raise InvalidOptions(TOO_LONG) from None
        finally:
            self._left_seconds -= time.thread_time() - begun

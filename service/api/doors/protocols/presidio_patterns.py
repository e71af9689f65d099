"""Ad-hoc recognizers of Presidio's requests: patterns and lists of words that a client sends along.

The rule: a pattern of a stranger may take any time, so all of a request's together have `SECONDS`, in a thread and
without the GIL; what takes longer is refused, and never an answer without them. Presidio's own flags are the default
(`PatternRecognizer`: dot matches all, multiline, case is ignored).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import regex

from service.api.bodies.presidio import FLAGS, AdHocRecognizer
from service.core.anonymizing import MarkedRange
from service.core.errors import InvalidOptions

SECONDS = 2.0
MOST_PATTERNS = 200
MOST_MATCHES = 100_000
_KNOWN_FLAGS = FLAGS | int(regex.VERBOSE | regex.ASCII)
_TOO_LONG = f"The patterns of a request have {SECONDS:g} s together; these take longer."
_AT_ONCE = asyncio.Semaphore(2)


class Search:
    """The compiled patterns of one request, and the time that they have left."""

    def __init__(self, recognizers: Sequence[AdHocRecognizer]) -> None:
        if sum(len(each.patterns) + len(each.deny_list) for each in recognizers) > MOST_PATTERNS:
            raise InvalidOptions(f"A request may bring {MOST_PATTERNS} patterns and words.")
        self._left_seconds = SECONDS
        self._patterns = [found for each in recognizers for found in _compiled(each)]

    async def find(self, text: str) -> list[MarkedRange]:
        """All that the patterns match in a text.

        Raises:
            InvalidOptions: they take too long, or match too much.
        """
        async with _AT_ONCE:
            return await asyncio.to_thread(self._find, text)

    def _find(self, text: str) -> list[MarkedRange]:
        begun = time.monotonic()
        found: list[MarkedRange] = []
        for kind, pattern, score in self._patterns:
            left = self._left_seconds - (time.monotonic() - begun)
            if left <= 0:
                raise InvalidOptions(_TOO_LONG)
            try:
                for match in pattern.finditer(text, timeout=left, concurrent=True):
                    if match.start() < match.end():
                        found.append(MarkedRange(kind, match.start(), match.end(), score))
                    if len(found) > MOST_MATCHES:
                        raise InvalidOptions(f"The patterns match more than {MOST_MATCHES:,} times.")
            except TimeoutError:
                raise InvalidOptions(_TOO_LONG) from None
        self._left_seconds -= time.monotonic() - begun
        return found


def compiled(source: str, flags: int) -> regex.Pattern[str]:
    """A stranger's pattern.

    Raises:
        InvalidOptions: it is none.
    """
    try:
        pattern: regex.Pattern[str] = regex.compile(source, flags & _KNOWN_FLAGS, cache_pattern=False)
    except (regex.error, ValueError, RecursionError, OverflowError) as error:
        raise InvalidOptions(f"{source[:60]!r} is no pattern: {error}.") from None
    return pattern


def _compiled(recognizer: AdHocRecognizer) -> list[tuple[str, regex.Pattern[str], float]]:
    kind, flags = recognizer.supported_entity, recognizer.global_regex_flags
    found = [(kind, compiled(each.regex, flags), each.score) for each in recognizer.patterns]
    if recognizer.deny_list:
        words = "|".join(map(regex.escape, recognizer.deny_list))
        found.append((kind, compiled(rf"(?:^|(?<=\W))(?:{words})(?=\W|$)", flags), recognizer.deny_list_score))
    return found

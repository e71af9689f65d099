"""The engine's last no, remembered for a moment: what it would refuse again is refused before work is spent on it.

Under overload most documents are refused, and reading and tokenizing one before it is refused costs the processor more
than the refusal is worth. So for a moment a worker says no by itself to a document of the same kind (model, client,
priority, format) that is at least as long and has no more time. Twice a second one of them still asks: nothing is
refused for longer than that because of an old answer. Pure: time is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.core.errors import DeadlineExceeded, Overloaded, QueueFull
from service.core.types import Priority

HOLD_SECONDS = 0.5
HOLD_SHARE = 1 / 8
"""Of the document's own time: who has little of it gets a fresh answer sooner."""
ALIKE = 0.9
"""A document counts as at least as long from this share of the other's bytes."""


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """A document that asks for work, before anything was done for it."""

    model: str
    client: str
    priority: Priority
    media_type: str
    size: int
    at_seconds: float
    left_seconds: float

    @property
    def kind(self) -> tuple[str, str, Priority, str]:
        return (self.model, self.client, self.priority, self.media_type)


@dataclass(frozen=True, slots=True)
class _CachedRefusal:
    want: WorkEstimate
    tokens: int
    error: Overloaded
    until_seconds: float


class RefusalCache:
    """What was refused lately, and how much was turned away because of it since somebody asked."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str, Priority, str], _CachedRefusal] = {}
        self._counts: dict[str, tuple[int, int]] = {}

    def remember(self, want: WorkEstimate, tokens: int, error: Overloaded, now: float) -> None:
        """Note a refusal of the engine, unless it came after the document had been let in."""
        hold = min(HOLD_SECONDS, HOLD_SHARE * want.left_seconds)
        if isinstance(error, (QueueFull, DeadlineExceeded)) and now - want.at_seconds < hold:
            self._latest[want.kind] = _CachedRefusal(want, tokens, error, now + hold)

    def check(self, want: WorkEstimate) -> None:
        """Let it pass, or refuse it as one like it was refused.

        Raises:
            QueueFull, DeadlineExceeded: as the engine said.
        """
        said = self._latest.get(want.kind)
        if said is None:
            return
        if want.at_seconds >= said.until_seconds:
            del self._latest[want.kind]
            return
        in_no_less_hurry = isinstance(said.error, QueueFull) or want.left_seconds <= said.want.left_seconds + 0.01
        if want.size >= ALIKE * said.want.size and in_no_less_hurry:
            documents, tokens = self._counts.get(said.error.code, (0, 0))
            more = round(said.tokens * want.size / max(said.want.size, 1))
            self._counts[said.error.code] = (documents + 1, tokens + more)
            raise type(said.error)(said.error.detail, retry_after_seconds=said.error.retry_after_seconds)

    def take_counts(self) -> dict[str, tuple[int, int]]:
        """By code: documents that were turned away here since the last time, and about how many tokens they had."""
        found, self._counts = self._counts, {}
        return found

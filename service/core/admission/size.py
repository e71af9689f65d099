"""Size policy: what one worker refuses once the documents of a request are known. Pure: time is passed in.

In this order (`policy`, moment SIZE):
- Cached refusals. Under overload most documents are refused, and to read and tokenize one costs the processor more than
  its refusal is worth. So for `LIFETIME_SECONDS` a worker itself refuses documents of the same kind (model, client,
  priority, format) that are at least as long and have no more time. Then one of them asks the engine again, so no
  document is refused because of an older refusal than that.
- Tokens. A document is tokenized piece by piece. As soon as the tokens so far are more than an idle engine could
  compute by the deadline, or than the engine, in the state that it last reported, would admit, the rest is not worth
  tokenizing. Nothing is refused here that it would take.
- Memory. A document's text and tokens take little; the scores of its tokens, a number for each label, take nearly all,
  and come only when the engine has done the work. So they are reserved while it is tokenized, against what the host or
  the container has free: what does not fit is refused then, rather than the worker killed later. Pictures of its pages
  are reserved before they are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from service.core.admission.policy import Decision, QueueState, queue_full, refuse, too_long
from service.core.errors import DeadlineExceeded, Overloaded, QueueFull
from service.core.types import Priority

LIFETIME_SECONDS = 0.5
LIFETIME_SHARE = 1 / 8
"""Share of a document's own time for which its refusal is cached at most."""
SIMILAR_SIZE = 0.9
"""Share of an earlier document's size from which a document counts as at least as long."""
SIMILAR_SECONDS = 0.01
"""Seconds more than an earlier document has, up to which a document counts as having no more time."""

MOST_KINDS = 1_024
"""Number of cached refusals from which expired ones are removed."""

RefusalKind = tuple[str, str, Priority, str]
"""Model, client, priority, format: all but the client from a short list, so that no request makes up kinds."""


@dataclass(frozen=True, slots=True)
class WorkEstimate:
    """Known facts of a document before it is read; `size`: characters of a text, bytes of a file.

    Attributes:
        left_seconds: time from `at_seconds` to its deadline.
        allowed_seconds: time that its deadline would leave an engine of an idle service for it.
        alone_tokens_per_second: speed of such an engine; None while unknown.
    """

    model: str
    client: str
    priority: Priority
    format: str
    size: int
    at_seconds: float
    left_seconds: float
    allowed_seconds: float = math.inf
    alone_tokens_per_second: float | None = None

    @property
    def kind(self) -> RefusalKind:
        return (self.model, self.client, self.priority, self.format)

    def too_long(self, tokens: float) -> Decision:
        """Refuse the document for good if it has as many tokens as are late on an idle engine too."""
        return too_long(tokens, self.alone_tokens_per_second, self.allowed_seconds)


@dataclass(frozen=True, slots=True)
class _CachedRefusal:
    estimate: WorkEstimate
    tokens: int
    error: Overloaded
    until_seconds: float

    def applies_to(self, other: WorkEstimate) -> bool:
        """True when `other` is at least as long and, unless the queue was full, has no more time.

        One that is too long for its deadline is not refused for the load: its tokens are counted first.
        """
        if other.too_long(self.expected_tokens(other)).refuses:
            return False
        left_seconds = self.estimate.left_seconds + SIMILAR_SECONDS
        has_no_more_time = isinstance(self.error, QueueFull) or other.left_seconds <= left_seconds
        return other.size >= SIMILAR_SIZE * self.estimate.size and has_no_more_time

    def expected_tokens(self, other: WorkEstimate) -> int:
        """Estimate the tokens of another document by its size."""
        return round(self.tokens * other.size / max(self.estimate.size, 1))


class RefusalCache:
    """The latest refusal of each kind of document, and counts of the documents refused because of it."""

    def __init__(self) -> None:
        self._latest: dict[RefusalKind, _CachedRefusal] = {}
        self._counts: dict[str, tuple[int, int]] = {}

    def __len__(self) -> int:
        return len(self._latest)

    def remember(self, estimate: WorkEstimate, tokens: int, error: Overloaded, now: float) -> None:
        """Cache a refusal of the engine, unless it came so late that the document must have been admitted first."""
        lifetime = min(LIFETIME_SECONDS, LIFETIME_SHARE * estimate.left_seconds)
        if isinstance(error, (QueueFull, DeadlineExceeded)) and now - estimate.at_seconds < lifetime:
            self._forget_expired(now)
            self._latest[estimate.kind] = _CachedRefusal(estimate, tokens, error, now + lifetime)

    def _forget_expired(self, now: float) -> None:
        if len(self._latest) >= MOST_KINDS:
            self._latest = {kind: each for kind, each in self._latest.items() if now < each.until_seconds}

    def check(self, estimate: WorkEstimate) -> None:
        """Raise the cached refusal if it applies to this document, and count the document.

        Raises:
            QueueFull, DeadlineExceeded: as the engine refused the earlier document.
        """
        self.check_all([estimate])

    def check_all(self, estimates: Sequence[WorkEstimate]) -> None:
        """Raise the cached refusals if they apply to each of these documents, and count the documents.

        Raises:
            QueueFull, DeadlineExceeded: as the engine refused an earlier document like the first.
        """
        found = [(each, self._current(each)) for each in estimates]
        refused = [(each, cached) for each, cached in found if cached is not None and cached.applies_to(each)]
        if len(refused) < len(estimates) or not refused:
            return
        for each, cached in refused:
            self.count(cached.error.code, 1, cached.expected_tokens(each))
        error = refused[0][1].error
        raise type(error)(error.detail, retry_after_seconds=error.retry_after_seconds)

    def check_tokens(
        self, estimate: WorkEstimate, tokens: int, engine: QueueState, now: float, expected_tokens: float = 0.0
    ) -> None:
        """Refuse a document of at least `tokens` if the engine surely would, and cache a refusal for load.

        Args:
            expected_tokens: estimate of all its tokens: one that seems too long is counted until that is certain.

        Raises:
            TooLongForDeadline: an idle engine could not compute them before the deadline.
            QueueFull: others wait, and it is longer than the whole queue.
            DeadlineExceeded: the device cannot compute them in the time that waiting has left.
        """
        if estimate.too_long(tokens).refuses:
            raise estimate.too_long(max(tokens, expected_tokens)).error
        if estimate.too_long(expected_tokens).refuses:
            return
        alone = replace(engine, tokens_per_second=estimate.alone_tokens_per_second or math.inf)
        decision = alone.certain(tokens, estimate.left_seconds - (now - estimate.at_seconds))
        if decision.refuses:
            error = decision.error
            assert isinstance(error, Overloaded), "the policy refuses for load alone"
            self.count(error.code, 1, tokens)
            self.remember(estimate, tokens, error, now)
            raise error

    def _current(self, estimate: WorkEstimate) -> _CachedRefusal | None:
        """Look up the latest refusal of this kind of document, unless it is too old."""
        cached = self._latest.get(estimate.kind)
        if cached is not None and estimate.at_seconds >= cached.until_seconds:
            del self._latest[estimate.kind]
            return None
        return cached

    def count(self, code: str, documents: int, tokens: int) -> None:
        """Count documents that this worker refused by itself, and an estimate of their tokens."""
        counted, of_tokens = self._counts.get(code, (0, 0))
        self._counts[code] = (counted + documents, of_tokens + tokens)

    def take_counts(self) -> dict[str, tuple[int, int]]:
        """Take, by error code, the documents refused since the last call, and an estimate of their tokens."""
        taken, self._counts = self._counts, {}
        return taken


LONG_TOKENS = 65_536
"""Tokens from which a document's memory is reserved; shorter ones take some 50 MB at most."""
MEMORY_SHARE = 1 / 2
"""Share of the free memory that the long documents of one worker may take."""
MEMORY_RETRY_SECONDS = 5.0
_BYTES_A_SCORE = 8
"""Four, twice: for all tokens, and for the first tokens of words."""
_BYTES_A_TOKEN = 300
"""Id, offsets, sequences, and its share of entities."""
_COPIES_OF_PICTURES = 3
"""Copies of a picture: as drawn, with the tokens until the answer comes, and in the message that is sent."""


@dataclass(slots=True)
class MemoryLease:
    """The bytes that one document has reserved; `picture_bytes`: those of them for pictures."""

    memory: DocumentMemory
    bytes: int = 0
    picture_bytes: int = 0

    def hold_pictures(self, count: int) -> None:
        """Reserve memory for `count` bytes of pictures; raises as `grow`."""
        self.picture_bytes = _COPIES_OF_PICTURES * count
        self.memory.reserve(self, self.picture_bytes)

    def grow(self, tokens: int, labels: int) -> None:
        """Reserve the bytes of a document with at least these tokens, for a model with these labels.

        Raises:
            QueueFull: other documents have reserved too much.
            InsufficientMemory: it does not fit even alone.
        """
        if tokens > LONG_TOKENS:
            needed = tokens * (labels * _BYTES_A_SCORE + _BYTES_A_TOKEN)
            self.memory.reserve(self, self.picture_bytes + needed)


class DocumentMemory:
    """Memory that one worker's long documents have reserved. `free_bytes`: left in the host or the container."""

    def __init__(self, free_bytes: Callable[[], int]) -> None:
        self._free_bytes = free_bytes
        self.reserved_bytes = 0

    @contextmanager
    def lease(self) -> Iterator[MemoryLease]:
        """Lease memory for one document, empty at first; the lease ends with the context."""
        lease = MemoryLease(self)
        try:
            yield lease
        finally:
            self.reserved_bytes -= lease.bytes

    def reserve(self, lease: MemoryLease, needed_bytes: int) -> None:
        """Let a lease grow to `needed_bytes`, if they fit; see `MemoryLease.grow`."""
        others = self.reserved_bytes - lease.bytes
        free = int(MEMORY_SHARE * self._free_bytes())
        if others + needed_bytes > free:
            detail = f"it takes {_megabytes(needed_bytes)} of memory or more, and {_megabytes(free)} are free"
            if others:
                detail = f"other long documents have {_megabytes(others)} of memory reserved; {detail}"
                raise queue_full(detail, MEMORY_RETRY_SECONDS).error
            raise refuse("insufficient_memory", f"the document is too long for this machine: {detail}").error
        self.reserved_bytes += needed_bytes - lease.bytes
        lease.bytes = needed_bytes


def _megabytes(count: int) -> str:
    return f"{count // 1_000_000:,} MB"

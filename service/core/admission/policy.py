"""Admission policy: who may refuse or delay a request, in which order, and why. Pure: time is passed in.

A request is judged at three moments, each before the work that it would cost. The first refusal ends it, with the code
of an error and, where waiting helps, a `Retry-After`. What is judged later knows more and costs more.

    HEAD    The headers are known, nothing of the body was read (`head`, in a worker)
      1     too_much_at_once     the worker's connections are at their limit; health checks are answered all the same
      2     deadline_exceeded    the request waited in its socket until its deadline
      3     queue_full           others of the client were refused for load, and as many as are answered are in flight
      wait  start limiter        a few requests begin in each turn of the event loop, none while the first engine starts
      4     rate_limited         the client is in debt for documents, tokens or bytes, or failed keys come too fast
      5     not_ready, engine_restarting, draining       no engine serves
    SIZE    The documents are known, none was parsed or tokenized (`size`, `pacing`, in a worker)
      6     queue_full, deadline_exceeded   the engine refused such a document of this client within half a second
      7     queue_full, deadline_exceeded   behind its client's other texts it would not fit the queue, or be late
      wait  text queue           a client's texts are tokenized at twice the device's pace, clients take turns
      8     queue_full, deadline_exceeded   a file: the parsers have too much to read before it (`core/parser_queue`)
      wait  parser queue         clients share the parsers by seconds
      9     too_long_for_deadline           the tokens counted so far would be late on an idle engine too
            queue_full, deadline_exceeded   they are more than the engine would admit
      10    queue_full, insufficient_memory its scores would not fit the worker's memory
    ENGINE  The tokens are known (`core/scheduling/admission`, in the engine)
      11    too_long_for_deadline           it would be late on an idle engine too (`engine/requests/intake`)
            rate_limited         the model's tokens a second, or the client's own limits in the queue
      12    queue_full           the queue is full, and the client or the model has more than its share of it
      13    queue_full           its first batch would begin later than the limit on waiting allows
      14    deadline_exceeded    it, or a document that was admitted before, would miss its deadline
      wait  the engine's queue   models, then clients, then documents share the device by tokens

An admitted request is answered by its deadline or ends with `deadline_exceeded` wherever it is at that moment. Bytes
are the exception to the order: bodies and answers hold them as they come, and when all together are too many the
largest is given up (`core/connections/connection_table`).

`too_long_for_deadline` is no refusal for load (`too_long`): the same document would be refused again, more tasks would
not help, and it counts neither as demand nor as refused. What is only late behind other work is refused for load.

7, 9, 12 and 14 are one rule for a queue that documents share (`QueueState.decide`), with what is known at the moment:
one client's texts, the engine's last status, or the engine's own books.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

from service.core.errors import BY_CODE, GleanerError
from service.core.tenants import ClientQuota
from service.core.types import Refusal, Submission

RESERVE = 4 / 3
"""Factor on waiting tokens: batches are whole, speeds vary, and answers take a moment on their way."""


class Verdict(enum.Enum):
    """The fate of a request at one moment: admitted, waiting or refused."""

    ADMIT = "admit"
    WAIT = "wait"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict; for a refusal also the error's code, its sentence, and the seconds until a retry, if known."""

    verdict: Verdict
    code: str = ""
    detail: str = ""
    retry_after_seconds: float | None = None

    @property
    def refuses(self) -> bool:
        return self.verdict is Verdict.REFUSE

    @property
    def error(self) -> GleanerError:
        return BY_CODE[self.code](self.detail, retry_after_seconds=self.retry_after_seconds)

    def enforce(self) -> None:
        """Raise the error of a refusal; an admission passes.

        Raises:
            GleanerError: the one that the code names.
        """
        if self.refuses:
            raise self.error


ADMIT = Decision(Verdict.ADMIT)
WAIT = Decision(Verdict.WAIT)


def refuse(code: str, detail: str, retry_after_seconds: float | None = None) -> Decision:
    return Decision(Verdict.REFUSE, code, detail, retry_after_seconds)


def queue_full(detail: str, retry_after_seconds: float | None = None) -> Decision:
    """Refuse work because too much waits already."""
    return refuse("queue_full", detail, retry_after_seconds)


def late(needed_seconds: float, left_seconds: float, retry_after_seconds: float | None) -> Decision:
    """Refuse work that needs longer than is left until its deadline; admit any other."""
    if needed_seconds <= left_seconds:
        return ADMIT
    left = max(left_seconds, 0.0)
    detail = f"about {needed_seconds:.1f} s are needed and {left:.1f} s are left; a longer `deadline_ms` gives more"
    return refuse("deadline_exceeded", detail, retry_after_seconds)


def too_long(tokens: float, tokens_per_second: float | None, allowed_seconds: float) -> Decision:
    """Refuse for good a document whose tokens an idle engine could not compute by its deadline; admit any other.

    Args:
        tokens_per_second: speed of the engine with this model alone; None while unknown, which admits.
        allowed_seconds: seconds from the request's arrival to its deadline, less those of the document's preparation.
    """
    if tokens_per_second is None or tokens <= tokens_per_second * allowed_seconds:
        return ADMIT
    needed, allowed = tokens / tokens_per_second, max(allowed_seconds, 0.0)
    detail = (
        f"an idle engine needs about {needed:.1f} s for this document, and its deadline leaves {allowed:.1f} s; "
        "set a longer `deadline_ms`, or split the document"
    )
    return refuse("too_long_for_deadline", detail)


OWN_SHARE = 0.9
"""Share of a request's whole time from which the preparation of a document alone makes it too long for its deadline."""


def out_of_time(own_seconds: float, allowed_seconds: float, load: GleanerError) -> GleanerError:
    """Choose the error of a document whose deadline came: its own length, or `load`, for which it waited."""
    if own_seconds < OWN_SHARE * allowed_seconds:
        return load
    detail = (
        f"reading this document took {own_seconds:.1f} s of the {allowed_seconds:.1f} s until its deadline; "
        "set a longer `deadline_ms`, or split the document"
    )
    return refuse("too_long_for_deadline", detail).error


def refuse_if_late(deadline_seconds: float, now: float) -> None:
    """Refuse to begin work after its deadline.

    Raises:
        DeadlineExceeded: the deadline has passed.
    """
    if now >= deadline_seconds:
        raise timed_out("the deadline has passed")


def timed_out(detail: str, retry_after_seconds: float | None = None) -> GleanerError:
    """Make the error for work that an expired deadline ends."""
    return refuse("deadline_exceeded", detail, retry_after_seconds).error


@dataclass(frozen=True, slots=True)
class QueueState:
    """The known state of a queue that documents share by tokens.

    Attributes:
        tokens_per_second: speed of the device behind it; infinite while unknown.
        waiting_tokens: waiting tokens of all documents.
        counted_tokens: waiting tokens that count against the limit.
        limit_tokens: most counted tokens; infinite while unknown.
        documents: documents that take turns with the arriving one; none is served more than it meanwhile.
        running_tokens: tokens launched and not delivered.
        due_tokens: tokens promised to be served by the deadline of the arriving document.
        has_room: True if it may enter a full queue, since its client or model takes less than its share.
    """

    tokens_per_second: float
    waiting_tokens: float = 0.0
    counted_tokens: float = 0.0
    limit_tokens: float = math.inf
    documents: int = 0
    running_tokens: float = 0.0
    due_tokens: float = 0.0
    has_room: bool = False

    def decide(self, tokens: float, left_seconds: float) -> Decision:
        """Admit or refuse a document with `tokens` and `left_seconds` to its deadline."""
        full = self.full(tokens)
        return full if full.refuses else self.late(tokens, left_seconds)

    def certain(self, tokens: float, left_seconds: float) -> Decision:
        """Refuse a document of at least `tokens` only if no client or order of service could have it admitted.

        A client or model may have the whole limit as its share, so only what exceeds the limit is surely refused.
        """
        least = QueueState(
            self.tokens_per_second,
            waiting_tokens=self.waiting_tokens,
            counted_tokens=self.counted_tokens,
            limit_tokens=self.limit_tokens,
            has_room=tokens <= self.limit_tokens,
        )
        return least.decide(tokens, left_seconds)

    def full(self, tokens: float) -> Decision:
        """Refuse a document that does not fit the limit; an empty queue takes any, so none is too large for ever."""
        over = self.counted_tokens + tokens - self.limit_tokens
        if over <= 0 or not self.counted_tokens or self.has_room:
            return ADMIT
        detail = f"about {self.waiting_tokens:.0f} tokens wait; the limit is {self.limit_tokens:.0f}"
        return queue_full(detail, over / self.tokens_per_second)

    def late(self, tokens: float, left_seconds: float) -> Decision:
        """Refuse a document that cannot be served by its deadline behind the work that fair sharing serves first.

        That work is at most as many tokens of every other document as it has itself, with a reserve, and at least
        the tokens promised by its own deadline.
        """
        shared = RESERVE * min(self.waiting_tokens, self.documents * tokens)
        before = self.running_tokens + max(shared, min(self.due_tokens, self.waiting_tokens))
        return late((before + tokens) / self.tokens_per_second, left_seconds, self.seconds_of_work)

    @property
    def seconds_of_work(self) -> float | None:
        """Seconds that the device needs for the waiting tokens; None while its speed is unknown."""
        return self.waiting_tokens / self.tokens_per_second if math.isfinite(self.tokens_per_second) else None


def over_quota(
    quota: ClientQuota, documents: int, waiting_tokens: int, tokens: int, client_tokens_per_second: float
) -> Decision:
    """Refuse a document that exceeds its client's own limits, given the client's waiting work and device share."""
    if quota.documents_in_flight is not None and documents >= quota.documents_in_flight:
        detail = f"{documents} documents of this client are in flight, its limit"
    elif quota.queued_tokens is not None and waiting_tokens and waiting_tokens + tokens > quota.queued_tokens:
        detail = f"{waiting_tokens} tokens of this client wait; its limit is {quota.queued_tokens}"
    else:
        return ADMIT
    return refuse("rate_limited", detail, waiting_tokens / client_tokens_per_second)


def over_wait(what: str, wait_seconds: float, limit_seconds: float) -> Decision:
    """Refuse work that would wait longer than the limit before it begins; `what` names its beginning."""
    if wait_seconds <= limit_seconds:
        return ADMIT
    detail = f"about {wait_seconds:.1f} s would pass before {what}; the limit is {limit_seconds:g} s"
    return queue_full(detail, wait_seconds - limit_seconds)


BURST_SECONDS = 10.0
"""Seconds of its rate that an allowance saves up at most."""
NOTHING_PAID = float("-inf")
"""The `paid_until` of a client that has not been seen."""


def wait_seconds(paid_until: float, now: float) -> float:
    return max(paid_until - now, 0.0)


def charged(paid_until: float, amount: float, rate: float, now: float, burst_seconds: float = BURST_SECONDS) -> float:
    """Charge an amount at a rate per second; returns the moment until which the client has paid."""
    return max(paid_until, now - burst_seconds) + amount / rate


def in_debt(paid_until: float, now: float, detail: str) -> Decision:
    """Refuse work while its client or model is in debt."""
    wait = wait_seconds(paid_until, now)
    return refuse("rate_limited", detail, wait) if wait else ADMIT


class ModelQuotas:
    """Weights and rate limits of an engine's models by name; unset, a weight is 1 and a rate is unlimited."""

    def __init__(self, weights: Mapping[str, float], rate_limits: Mapping[str, float]) -> None:
        self._weights = weights
        self._rates = rate_limits
        self._paid_until: dict[str, float] = {}

    def weight(self, name: str) -> float:
        return self._weights.get(name, 1.0)

    def refusal_for(self, submission: Submission, name: str, now: float) -> Refusal | None:
        """Charge a document's tokens to its model, or refuse it as `rate_limited` while the model is in debt."""
        rate, paid_until = self._rates.get(name), self._paid_until.get(name, NOTHING_PAID)
        if rate is None:
            return None
        decision = in_debt(paid_until, now, f"more than {rate:g} tokens a second came for the model {name}")
        if decision.refuses:
            return Refusal(submission.key, decision.code, decision.detail, decision.retry_after_seconds)
        self._paid_until[name] = charged(paid_until, submission.tokens, rate, now)
        return None

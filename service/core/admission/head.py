"""Head policy: which requests a worker admits once their headers are known, and in which order their work begins. Pure.

An adaptive concurrency limit for each kind of request: multiplicative decrease when requests are refused for load
after their documents were read, or lie in the socket because the event loop is late, additive increase while they are
answered (AIMD; the idea is TCP's, and that of Netflix' concurrency-limits and Envoy's adaptive concurrency). What is
over the limit is refused before its body is parsed: work for a refusal is work that the engine lacks. Until the engine
or the parsers refuse, nothing is refused here, however late it may come. The rules:

- A kind is a client and a deadline's order of magnitude: a client that asks for the impossible shrinks only its own
  limit, and requests with minutes to spare are not refused because those with a second were.
- There is no limit until one of a kind was refused, and none after none was for a while.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from service.core.admission.policy import ADMIT, WAIT, Decision, queue_full, refuse
from service.core.types import Phase

LAG_SHARE = 0.2
"""The event loop, or a request in its socket, is late from this share of the deadline on."""
LEAST = 4
"""The lowest limit; a higher one would make a machine that answers a dozen requests a second late with all of them."""
DECREASE = 0.85
INCREASE = 0.1
"""The limit grows by this with each answer while it was nearly reached."""
NEARLY = 0.85
ROUND_TRIP_SHARE = 0.2
"""A limit shrinks at most once in this share of the deadline, in which the last decrease shows its effect."""
SHORTEST_ROUND_TRIP_SECONDS = 0.05
FORGET_SECONDS = 15.0
"""Seconds after which a kind of which none was refused loses its limit."""
MOST_KINDS = 1_024
"""Most kinds; beyond it all new clients share one kind for each order of magnitude of the deadline."""
ANY_CLIENT = 0

OVER_LIMIT = queue_full("All is admitted that can be answered in time.")
SOCKET_LATE = refuse("deadline_exceeded", "The deadline passed before the work began.")

OK = "ok"
"""Code of a request that was answered."""

RequestKind = tuple[int, int]
"""Client and order of magnitude of the deadline."""


class AdmittedRequest(NamedTuple):
    """A request that was admitted: its deadline counts from its arrival."""

    kind: RequestKind
    deadline_seconds: float
    arrived_seconds: float

    def waits_for_start(self, now: float) -> bool:
        """True while it may wait for the first engine to start."""
        return now - self.arrived_seconds < min(STARTING_SECONDS, self.deadline_seconds / 2)


@dataclass(slots=True)
class _Kind:
    deadline_seconds: float
    in_flight: int = 0
    limit: float | None = None
    decreased_seconds: float = float("-inf")

    def refuses(self, waited_seconds: float) -> bool:
        """True over the limit, and from `LEAST` on for what has waited long: the newest come first when late."""
        if self.limit is None:
            return False
        waited_long = waited_seconds > LAG_SHARE * self.deadline_seconds
        return self.in_flight >= (LEAST if waited_long else self.limit)

    def may_decrease(self, now: float) -> bool:
        round_trip = max(ROUND_TRIP_SHARE * self.deadline_seconds, SHORTEST_ROUND_TRIP_SECONDS)
        return now - self.decreased_seconds >= round_trip

    def decrease(self, now: float) -> None:
        if self.may_decrease(now):
            base = self.in_flight if self.limit is None else min(self.limit, self.in_flight)
            self.limit = max(LEAST, DECREASE * base)
            self.decreased_seconds = now

    def increase(self) -> None:
        if self.limit is not None and self.in_flight >= NEARLY * self.limit:
            self.limit += INCREASE


class ConcurrencyLimiter:
    """The limits of all kinds, and the number of requests that were taken on and are not answered."""

    def __init__(self) -> None:
        self._kinds: dict[RequestKind, _Kind] = {}
        self.in_flight = 0

    def admit(
        self, client: int, deadline_seconds: float, arrived_seconds: float, now: float
    ) -> AdmittedRequest | Decision:
        """Admit a request, or refuse it: `deadline_exceeded`, or `queue_full` over the limit."""
        waited = now - arrived_seconds
        kind = (client, int(deadline_seconds * 1000).bit_length())
        found = self._kinds.get(kind)
        if found is None:
            if len(self._kinds) >= MOST_KINDS:
                kind = (ANY_CLIENT, kind[1])
            found = self._kinds.setdefault(kind, _Kind(deadline_seconds))
        if waited > LAG_SHARE * deadline_seconds:
            found.decrease(now)
        if waited >= deadline_seconds:
            return SOCKET_LATE
        if found.refuses(waited):
            return OVER_LIMIT
        found.in_flight += 1
        self.in_flight += 1
        return AdmittedRequest(kind, deadline_seconds, arrived_seconds)

    def finished(self, admitted: AdmittedRequest, code: str, now: float) -> None:
        """Adjust a kind's limit to a request's end: `OK`, its error's code, or none if its client left."""
        self.in_flight -= 1
        found = self._kinds.get(admitted.kind)
        if found is None:
            return
        found.in_flight -= 1
        if code in (OVER_LIMIT.code, SOCKET_LATE.code):
            found.decrease(now)
        elif code == OK:
            found.increase()

    def lagged(self, lag_seconds: float, now: float) -> None:
        """Shrink the limits of the kinds whose deadlines this delay of the event loop endangers."""
        for found in self._kinds.values():
            if found.in_flight >= LEAST and lag_seconds > LAG_SHARE * found.deadline_seconds:
                found.decrease(now)

    def forget(self, now: float) -> None:
        """Drop the limits of kinds of which none was refused for a while, and kinds without requests and limit."""
        for kind, found in list(self._kinds.items()):
            if now - found.decreased_seconds >= FORGET_SECONDS:
                found.limit = None
                if not found.in_flight:
                    del self._kinds[kind]

    @property
    def limit(self) -> float:
        """The lowest limit of any kind; infinite without one."""
        return min((each.limit for each in self._kinds.values() if each.limit is not None), default=float("inf"))


STARTS_PER_TURN = 4
"""Requests whose work begins in one turn of the event loop."""
TURN_SECONDS = 0.005
"""Seconds after which an uncontested turn ends."""
STARTING_SECONDS = 1.0
"""Longest wait for the first engine to start; a request with less than twice that waits for half its deadline."""

T = TypeVar("T")


class StartQueue(Generic[T]):
    """The admitted requests that wait until their work begins, and how many have begun in this turn.

    The work of a request on the event loop takes milliseconds. Were all begun at once that came at once, the loop would
    stop for seconds: for heartbeats, for health checks, for those that came before. So they begin in order of arrival,
    but the newest first while the oldest is late (adaptive LIFO): that one will hardly be answered in time, and the
    newest can be.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[T, AdmittedRequest]] = deque()
        self._begun = 0
        self._turn_seconds = float("-inf")

    def __len__(self) -> int:
        return len(self._waiting)

    def decide(self, now: float, *, starting: bool = False) -> Decision:
        """Let an admitted request begin at once, or wait: behind others, or while the first engine is `starting`."""
        if now - self._turn_seconds > TURN_SECONDS:
            self._turn_seconds, self._begun = now, 0
        if starting or self._waiting or self._begun >= STARTS_PER_TURN:
            return WAIT
        self._begun += 1
        return ADMIT

    def wait(self, request: T, admitted: AdmittedRequest) -> None:
        self._waiting.append((request, admitted))

    def next_turn(self, now: float, *, starting: bool = False) -> list[T]:
        """A turn of the event loop begins: the requests whose work begins in it.

        `starting`: the first engine still starts; only requests that have waited long enough for it begin.
        """
        self._turn_seconds = now
        if starting:
            begun = [each for each in self._waiting if not each[1].waits_for_start(now)][:STARTS_PER_TURN]
            for each in begun:
                self._waiting.remove(each)
            self._begun = len(begun)
            return [request for request, _ in begun]
        count = self._begun = min(STARTS_PER_TURN, len(self._waiting))
        return [self._take(now) for _ in range(count)]

    def _take(self, now: float) -> T:
        _, oldest = self._waiting[0]
        late = now - oldest.arrived_seconds > LAG_SHARE * oldest.deadline_seconds
        request, _ = self._waiting.pop() if late else self._waiting.popleft()
        return request


RESTART_SECONDS = 3.0
"""Seconds until an engine is ready again, roughly; sent as Retry-After."""


def engine_decision(phase: Phase, percent: int, *, admits: bool, serves: bool, was_here: bool) -> Decision:
    """Refuse a request while no engine answers it.

    Args:
        phase: the engine's; `percent` of it is done.
        admits: the engine takes new requests.
        serves: the engine is connected and answers.
        was_here: an engine has served before, or was lost.
    """
    if phase is Phase.DRAINING and not admits:
        return refuse("draining", "The service is shutting down; ask another one.", 1.0)
    if serves:
        return ADMIT
    if was_here:
        return refuse("engine_restarting", "The engine is starting again.", RESTART_SECONDS)
    return refuse("not_ready", f"The service is {phase.value} ({percent} %).", RESTART_SECONDS)

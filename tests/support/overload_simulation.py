"""A model of a worker, its engine and its clients on shared cores, to try overload control without waiting for a clock.

The worker is one thread: it writes answers, reads and refuses (cheap) or takes on (dear) all requests that have come,
then prepares those. The engine runs batches and refuses what it cannot answer in time. What clients and worker take of
the cores the engine lacks.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from random import Random

from service.core.admission.head import OK, SOCKET_LATE, AdmittedRequest, ConcurrencyLimiter

STEP_SECONDS = 0.001
STATUS_SECONDS = 0.5
USAGE_STEPS = 100


@dataclass(frozen=True)
class Machine:
    """Seconds of a core for each step of a request, as measured on two cores with the built-in model."""

    cores: float = 2.0
    client_seconds: float = 0.000_25
    refusal_seconds: float = 0.000_1
    preparing_seconds: float = 0.002_5
    answering_seconds: float = 0.001
    computing_seconds: float = 0.006
    batch: int = 13
    reserve: float = 4 / 3

    def slower(self, times: float) -> Machine:
        """The same machine with each step taking so many times as long, but for the clients'."""
        return replace(
            self,
            refusal_seconds=self.refusal_seconds * times,
            preparing_seconds=self.preparing_seconds * times,
            answering_seconds=self.answering_seconds * times,
            computing_seconds=self.computing_seconds * times,
        )


@dataclass
class Outcome:
    """Counts of the requests that arrived after the first seconds; rates are a second."""

    seconds: float
    in_time: int = 0
    late: int = 0
    refused: int = 0
    refused_slowly: int = 0
    refused_by_engine: int = 0

    @property
    def goodput(self) -> float:
        return self.in_time / self.seconds


@dataclass
class Simulation:
    """One run at a rate; `deadline_seconds` is that of every request."""

    rate: float
    machine: Machine = field(default_factory=Machine)
    deadline_seconds: float = 1.0
    control: ConcurrencyLimiter = field(default_factory=ConcurrencyLimiter)
    seed: int = 1

    def run(self, seconds: float, settling_seconds: float = 3.0) -> Outcome:
        self._now = self._owed = self._left = 0.0
        self._settled_seconds = settling_seconds
        self._outcome = Outcome(seconds - settling_seconds)
        self._socket: deque[float] = deque()
        self._taken_on: deque[AdmittedRequest] = deque()
        self._answers: deque[tuple[AdmittedRequest, int]] = deque()
        self._queue: deque[AdmittedRequest] = deque()
        self._running: list[AdmittedRequest] = []
        self._usage: deque[float] = deque([0.0] * USAGE_STEPS, maxlen=USAGE_STEPS)
        self._draw = Random(self.seed)
        self._next_seconds = self._draw.expovariate(self.rate)
        for number in range(round(seconds / STEP_SECONDS)):
            self._now = number * STEP_SECONDS
            self._usage.append(self._clients() + self._worker())
            self._engine(self._free_cores() * STEP_SECONDS)
            if number % round(STATUS_SECONDS / STEP_SECONDS) == 0:
                self.control.forget(self._now)
        return self._outcome

    def _free_cores(self) -> float:
        return max(self.machine.cores - sum(self._usage) / USAGE_STEPS, 0.2)

    def _speed(self) -> float:
        return self._free_cores() / self.machine.computing_seconds

    def _clients(self) -> float:
        before = len(self._socket)
        while self._next_seconds <= self._now:
            self._socket.append(self._next_seconds)
            self._next_seconds += self._draw.expovariate(self.rate)
        return (len(self._socket) - before) * self.machine.client_seconds / STEP_SECONDS

    def _worker(self) -> float:
        """What the worker does in this step; returns the share of a core that it took."""
        used = self._owed
        while used < STEP_SECONDS and (self._answers or self._socket or self._taken_on):
            used += self._one_piece(self._now + used)
        self._owed = max(used - STEP_SECONDS, 0.0)
        return min(used, STEP_SECONDS) / STEP_SECONDS

    def _one_piece(self, now: float) -> float:
        if self._answers:
            self._answer(*self._answers.popleft(), now)
            return self.machine.answering_seconds
        if self._socket:
            self._read(self._socket.popleft(), now)
            return self.machine.refusal_seconds
        self._submit(self._taken_on.popleft(), now)
        return self.machine.preparing_seconds

    def _answer(self, admitted: AdmittedRequest, status: int, now: float) -> None:
        self.control.finished(admitted, OK if status == 200 else SOCKET_LATE.code, now)
        took = now - admitted.arrived_seconds
        if admitted.arrived_seconds < self._settled_seconds:
            return
        if status == 200:
            self._outcome.in_time += took <= self.deadline_seconds
            self._outcome.late += took > self.deadline_seconds
        else:
            self._outcome.refused_by_engine += 1
            self._count_refusal(took)

    def _read(self, arrived_seconds: float, now: float) -> None:
        found = self.control.admit(0, self.deadline_seconds, arrived_seconds, now)
        if isinstance(found, AdmittedRequest):
            self._taken_on.append(found)
        elif arrived_seconds >= self._settled_seconds:
            self._count_refusal(now - arrived_seconds)

    def _count_refusal(self, took: float) -> None:
        self._outcome.refused += 1
        self._outcome.refused_slowly += took > 1.0

    def _submit(self, admitted: AdmittedRequest, now: float) -> None:
        needed = (len(self._queue) * self.machine.reserve + len(self._running) + 1) / self._speed()
        if now + needed > admitted.arrived_seconds + self.deadline_seconds:
            self._answers.append((admitted, 504))
        else:
            self._queue.append(admitted)

    def _engine(self, work: float) -> None:
        while work > 0:
            if not self._running:
                self._launch()
                if not self._running:
                    return
            done = min(work, self._left)
            self._left -= done
            work -= done
            if self._left <= 1e-12:
                self._answers.extend((each, 200) for each in self._running)
                self._running = []

    def _launch(self) -> None:
        while self._queue and len(self._running) < self.machine.batch:
            each = self._queue.popleft()
            if self._now > each.arrived_seconds + self.deadline_seconds:
                self._answers.append((each, 504))
            else:
                self._running.append(each)
        self._left = len(self._running) * self.machine.computing_seconds

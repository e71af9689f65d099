"""Parser queue of one worker: chooses the file to read next, the one to interrupt for it, and those to refuse. Pure.

The rules:
- Clients share the parsers by the seconds that their files really took, whatever they were expected to take.
- Among a client's files a cheap one overtakes: each file is due at its arrival plus `PATIENCE` times its cost, so that
  no file waits for ever, and one that turns out to be expensive moves back as it runs.
- A file that has run for `SLICE_SECONDS` is interrupted when another one should run in its place, and goes on later. So
  a file that hangs delays nobody for longer than that, and no parser has to be kept free.
- Interrupted files keep their memory, so at most twice as many files as parsers have begun. One that is known to take
  long does not take the last of these places. Should there be none for a file whose turn it is, the interrupted one
  that has run longest starts again later; the second time it is refused (`queue_full`).
- A file whose parser died is read once more, alone.
- A file's limit is of processor time, which on a busy machine its parser may not get: it is measured when the limit may
  have been reached. A parser that has run for `STALL_LIMITS` times the limit, but not worked as long, is ended too.
- What cannot be read by its deadline, behind what fair sharing lets go before, is refused when it arrives; so is what
  would wait for longer than the limit before it is begun (`queue_full`), however long its own reading takes.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice, zip_longest

from service.core.admission.policy import ADMIT, Decision, late, over_wait, queue_full
from service.core.scheduling.fair_queue import FairQueue

SLICE_SECONDS = 0.25
PATIENCE = 4.0
STALL_LIMITS = 10.0


class FileState(StrEnum):
    """The state of a queued file; the parser of an `INTERRUPTED` one stands still."""

    WAITING = "waiting"
    RUNNING = "running"
    INTERRUPTED = "interrupted"


@dataclass(slots=True)
class QueuedFile:
    """One file in the queue. Times are absolute seconds of one clock.

    Attributes:
        expected_seconds: parsing time, estimated from format and size; `limit_seconds`: most processor time.
        ran_seconds: time in its present parser, whether or not the machine let that work.
        processor_seconds: processor time of its parser, as last measured after `measured_at` seconds of running.
        running_since: beginning of its present run; `charged_until`: end of the part that is counted.
        alone: True for the second try of a file whose first parser died.
    """

    key: int
    client: str
    size_bytes: int
    arrived: float
    deadline: float
    expected_seconds: float
    limit_seconds: float = math.inf
    state: FileState = FileState.WAITING
    ran_seconds: float = 0.0
    running_since: float = 0.0
    charged_until: float = 0.0
    processor_seconds: float = 0.0
    measured_at: float = 0.0
    alone: bool = False
    restarted: bool = False

    @property
    def slice_end(self) -> float:
        return self.running_since + SLICE_SECONDS

    @property
    def due(self) -> float:
        return self.arrived + PATIENCE * max(self.expected_seconds, self.ran_seconds)

    @property
    def weight(self) -> int:
        return self.size_bytes + FILE_BYTES


ROUNDING_SECONDS = 1e-6
CERTAIN_SECONDS = 1.0
"""Cap in seconds on a file's expected cost in its own admission, since it is a guess."""
FILE_BYTES = 4096
"""Bytes that a waiting file counts beyond its size."""


class Step(StrEnum):
    """A step to take with a file's parser; RESTART ends it for a later try, the following ones for good."""

    START = "start"
    INTERRUPT = "interrupt"
    RESUME = "resume"
    MEASURE = "measure"
    RESTART = "restart"
    GIVE_UP = "give_up"
    TIME_OUT = "time_out"
    STALL = "stall"


@dataclass(slots=True)
class _Sums:
    files: int = 0
    size_bytes: int = 0
    seconds: float = 0.0


class ParserQueue:
    """The files of one worker that wait for its parsers, or are in them.

    Args:
        limit_bytes: most bytes of all files together.
        limit_seconds: processor time for reading one file.
        wait_limit_seconds: longest wait before a file is begun.
    """

    def __init__(
        self, parsers: int, limit_bytes: int, limit_seconds: float, wait_limit_seconds: float = math.inf
    ) -> None:
        self._parsers = parsers
        self._limit_bytes = limit_bytes
        self._limit_seconds = limit_seconds
        self._wait_limit_seconds = wait_limit_seconds
        self._files: dict[int, QueuedFile] = {}
        self._shares: FairQueue[str] = FairQueue()
        self._waiting: dict[str, list[tuple[float, int]]] = {}
        self._started: dict[int, QueuedFile] = {}
        self._total = _Sums()
        self._charged_seconds = 0.0
        self._sums: dict[str, _Sums] = {}

    def __len__(self) -> int:
        return len(self._files)

    def decide_on(self, file: QueuedFile, now: float) -> Decision:
        """Admit a file to the queue, or refuse it (`queue_full` or `deadline_exceeded`)."""
        if not self._files:
            return ADMIT
        own, work = self._sums.get(file.client, _Sums()), self.seconds_of_work
        clients = len(self._shares) + (file.client not in self._shares)
        over = self._total.size_bytes + file.weight > self._limit_bytes
        if over and own.size_bytes + file.weight > self._limit_bytes / clients:
            detail = f"files of {self._total.size_bytes:,} bytes wait to be read; the limit is {self._limit_bytes:,}"
            return queue_full(detail, work)
        if (late_start := over_wait("the file gets a parser", self._wait_for(file), self._wait_limit_seconds)).refuses:
            return late_start
        itself = min(file.expected_seconds, CERTAIN_SECONDS)
        needed = min(work + itself, clients * (own.seconds + itself) / self._parsers)
        return late(needed, file.deadline - now, work)

    @property
    def seconds_of_work(self) -> float:
        """Seconds that the parsers are expected to need for all files here."""
        return self._total.seconds / self._parsers

    def seconds_worked(self, now: float) -> float:
        """Sum the seconds that all parsers have worked since the beginning."""
        return self._charged_seconds + sum(max(now - file.charged_until, 0.0) for file in self._running())

    def _wait_for(self, file: QueuedFile) -> float:
        """Estimate the wait of a new file: its client's files that are due before it, and in turn with them as much
        of each other client's. Running files that are due later are interrupted within a slice."""
        if self._wait_limit_seconds == math.inf or len(self._files) < self._parsers:
            return 0.0
        waiting = self._waiting.get(file.client, [])
        before = (self._files[key] for _, key in waiting[: bisect_right(waiting, (file.due, file.key))])
        started = (each for each in self._started.values() if each.client == file.client and each.due <= file.due)
        own = sum(max(each.expected_seconds - each.ran_seconds, 0.0) for each in chain(before, started))
        others = self._total.seconds - self._sums.get(file.client, _Sums()).seconds
        clients = len(self._shares) + (file.client not in self._shares)
        return min(own * clients, own + others) / self._parsers

    @property
    def seconds_waiting(self) -> float:
        """Seconds that the parsers are expected to need for the files that were not begun."""
        begun = sum(file.expected_seconds for file in self._started.values())
        return max(self._total.seconds - begun, 0.0) / self._parsers

    def join(self, file: QueuedFile) -> None:
        """Add a file that waits; its limit is the queue's at most."""
        file.limit_seconds = min(file.limit_seconds, self._limit_seconds)
        self._files[file.key] = file
        self._shares.join(file.client)
        self._count(file, 1)
        self._wait(file)

    def leave(self, key: int, now: float) -> float | None:
        """Remove a file in any state; returns the seconds that its parser ran, None for an unknown file."""
        if (file := self._files.get(key)) is None:
            return None
        self._charge(file, now)
        self._stop_waiting(file)
        self._started.pop(key, None)
        del self._files[key]
        self._count(file, -1)
        if not self._sums[file.client].files:
            del self._sums[file.client]
            self._shares.leave(file.client)
        return file.ran_seconds

    def retry_alone(self, key: int, now: float) -> None:
        """Let a file whose parser died be read once more, alone; ignored for one that has left."""
        if (file := self._files.get(key)) is not None:
            file.alone = True
            self._requeue(file, now)

    def note_processor_seconds(self, key: int, seconds: float) -> None:
        """Note a measurement for `Step.MEASURE`; ignored for a file that has left."""
        if (file := self._files.get(key)) is not None:
            file.processor_seconds = seconds

    def decide(self, now: float) -> list[tuple[Step, int]]:
        """Decide the steps to take now, in order; they count as taken."""
        steps: list[tuple[Step, int]] = []
        for file in list(self._running()):
            self._charge(file, now)
            if (step := self._over(file, now)) is not None:
                steps.append((step, file.key))
        wanted = self._wanted()
        chosen = {file.key for file in wanted}
        for file in list(self._running()):
            if file.key not in chosen and now >= file.slice_end:
                file.state = FileState.INTERRUPTED
                steps.append((Step.INTERRUPT, file.key))
        others = sorted(self._in_state(FileState.INTERRUPTED), key=lambda file: (file.due, file.key))
        for file in (*wanted, *others):
            if file.state is not FileState.RUNNING and self._may_run(file):
                steps += self._begin(file, chosen, now)
        return steps

    def next_look(self, now: float) -> float | None:
        """Time of the next `decide` if nothing happens before; None if it then has nothing to do."""
        if not (running := list(self._running())):
            return None
        expiry = min(file.charged_until + self._limit_of(file) - file.ran_seconds for file in running)
        if len(running) == len(self._files):
            return expiry
        ends = (file.slice_end if file.slice_end > now else now + SLICE_SECONDS / 2 for file in running)
        return min(expiry, *ends)

    def _over(self, file: QueuedFile, now: float) -> Step | None:
        """Choose the step for a running file that may have reached its limit."""
        timed_out, ran = file.processor_seconds >= file.limit_seconds, file.ran_seconds + ROUNDING_SECONDS
        if timed_out or ran >= STALL_LIMITS * file.limit_seconds:
            self.leave(file.key, now)
            return Step.TIME_OUT if timed_out else Step.STALL
        if ran < self._limit_of(file):
            return None
        file.measured_at = file.ran_seconds
        return Step.MEASURE

    def _limit_of(self, file: QueuedFile) -> float:
        """The least `ran_seconds` at which a file may have reached its limit."""
        left = max(file.limit_seconds - file.processor_seconds, SLICE_SECONDS)
        return min(file.measured_at + left, STALL_LIMITS * file.limit_seconds)

    def _wanted(self) -> list[QueuedFile]:
        """Choose the files that should be in the parsers: clients in turn, each with its first due file."""
        clients = map(self._due, islice(self._shares.in_order(), self._parsers + 1))
        wanted: list[QueuedFile] = []
        for file in filter(None, chain.from_iterable(zip_longest(*clients))):
            if file.alone and wanted:
                continue
            wanted.append(file)
            if file.alone or len(wanted) == self._parsers:
                break
        return wanted

    def _due(self, client: str) -> list[QueuedFile]:
        files = (self._files[key] for _, key in self._waiting.get(client, ()))
        waiting = list(islice(filter(self._has_place, files), self._parsers + 1))
        started = [file for file in self._started.values() if file.client == client]
        return sorted(waiting + started, key=lambda file: (file.due, file.key))[: self._parsers + 1]

    def _has_place(self, file: QueuedFile) -> bool:
        only_last = len(self._started) >= 2 * self._parsers - 1
        return not (only_last and file.state is FileState.WAITING and file.expected_seconds >= SLICE_SECONDS)

    def _may_run(self, file: QueuedFile) -> bool:
        running = list(self._running())
        together = not running or not (file.alone or any(each.alone for each in running))
        return len(running) < self._parsers and together and self._has_place(file)

    def _begin(self, file: QueuedFile, chosen: set[int], now: float) -> list[tuple[Step, int]]:
        steps = []
        if file.state is FileState.WAITING:
            steps += [self._make_room(chosen, now)] if len(self._started) >= 2 * self._parsers else []
            self._stop_waiting(file)
            self._started[file.key] = file
            steps.append((Step.START, file.key))
        else:
            steps.append((Step.RESUME, file.key))
        file.state, file.running_since, file.charged_until = FileState.RUNNING, now, now
        return steps

    def _make_room(self, chosen: set[int], now: float) -> tuple[Step, int]:
        """End the interrupted parser that has run longest; there is one, since fewer run than there are parsers."""
        others = self._in_state(FileState.INTERRUPTED)
        longest = max((file for file in others if file.key not in chosen), key=lambda file: file.ran_seconds)
        if longest.restarted:
            self.leave(longest.key, now)
            return Step.GIVE_UP, longest.key
        longest.restarted = True
        self._requeue(longest, now)
        return Step.RESTART, longest.key

    def _requeue(self, file: QueuedFile, now: float) -> None:
        """Let a file wait again from its beginning; the time that it took so far is the least expected of it."""
        self._charge(file, now)
        self._started.pop(file.key, None)
        self._count(file, -1)
        file.state = FileState.WAITING
        file.expected_seconds, file.ran_seconds = max(file.expected_seconds, file.ran_seconds), 0.0
        file.processor_seconds, file.measured_at = 0.0, 0.0
        self._count(file, 1)
        self._wait(file)

    def _charge(self, file: QueuedFile, now: float) -> None:
        if file.state is FileState.RUNNING:
            seconds = max(now - file.charged_until, 0.0)
            file.ran_seconds += seconds
            file.charged_until = now
            self._charged_seconds += seconds
            self._shares.charge(file.client, seconds)

    def _count(self, file: QueuedFile, sign: int) -> None:
        for sums in (self._total, self._sums.setdefault(file.client, _Sums())):
            sums.files += sign
            sums.size_bytes += sign * file.weight
            sums.seconds = max(sums.seconds + sign * file.expected_seconds, 0.0) if sums.files else 0.0

    def _wait(self, file: QueuedFile) -> None:
        insort(self._waiting.setdefault(file.client, []), (file.due, file.key))

    def _stop_waiting(self, file: QueuedFile) -> None:
        if file.state is FileState.WAITING:
            waiting = self._waiting[file.client]
            waiting.remove((file.due, file.key))
            if not waiting:
                del self._waiting[file.client]

    def _running(self) -> Iterator[QueuedFile]:
        return self._in_state(FileState.RUNNING)

    def _in_state(self, state: FileState) -> Iterator[QueuedFile]:
        return (file for file in self._started.values() if file.state is state)

"""The parsers' queue as pure values: who is read next, who is interrupted, who is refused. Time is a number here."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.parser_queue import PATIENCE, SLICE_SECONDS, STALL_LIMITS, ParserQueue, QueuedFile, Step

LIMIT_SECONDS = 60.0
CHEAP = 0.01


class Parsers:
    """Parsers that need of each file the seconds that it really takes, driven by a queue, on a clock of their own.

    `speed`: the share of the processor that a parser gets while it runs.
    """

    def __init__(self, parsers: int = 2, limit_bytes: int = 10**9, wait_limit_seconds: float = math.inf) -> None:
        self.queue = ParserQueue(parsers, limit_bytes, LIMIT_SECONDS, wait_limit_seconds)
        self.now = 0.0
        self.parsers = parsers
        self.speed = 1.0
        self.needs: dict[int, float] = {}
        self.ran: dict[int, float] = {}
        self.running: set[int] = set()
        self.began: set[int] = set()
        self.ended: dict[int, float] = {}
        self.steps: list[tuple[Step, int]] = []
        self.most_begun = 0
        self._keys = count()

    def file(self, client: str = "a", *, expected: float = CHEAP, deadline: float = 1e9, size: int = 100) -> QueuedFile:
        return QueuedFile(next(self._keys), client, size, self.now, deadline, expected)

    def add(self, client: str = "a", needs: float = CHEAP, **options: float) -> int:
        file = self.file(client, **options)  # type: ignore[arg-type]
        self.needs[file.key] = needs
        self.queue.join(file)
        self.act()
        return file.key

    def act(self) -> list[tuple[Step, int]]:
        steps = self.queue.decide(self.now)
        for step, key in steps:
            match step:
                case Step.START:
                    assert key not in self.began
                    self.began.add(key)
                    self.running.add(key)
                    self.ran[key] = 0.0
                case Step.RESUME:
                    assert key in self.began
                    self.running.add(key)
                case Step.INTERRUPT:
                    self.running.remove(key)
                case Step.RESTART:
                    assert key not in self.running
                    self.began.remove(key)
                case Step.MEASURE:
                    self.queue.note_processor_seconds(key, self.ran[key] * self.speed)
                case Step.GIVE_UP | Step.TIME_OUT | Step.STALL:
                    self.running.discard(key)
                    self.began.discard(key)
                    del self.needs[key]
        assert len(self.running) <= self.parsers
        self.most_begun = max(self.most_begun, len(self.began))
        self.steps += steps
        return steps

    def die(self, key: int) -> None:
        """The parser of this file dies."""
        self.queue.retry_alone(key, self.now)
        self.running.discard(key)
        self.began.discard(key)
        self.act()

    def run(self, until: Callable[[], bool], seconds: float = 1000.0) -> None:
        """Let time pass until something holds."""
        end = self.now + seconds
        while not until():
            assert self.now < end, "it never came true"
            self._advance(1.0)

    def run_to(self, at: float) -> None:
        """Let time pass until this moment."""
        while self.now < at:
            self._advance(at - self.now)

    def _advance(self, most: float) -> None:
        look = self.queue.next_look(self.now)
        finish = min((self.needs[key] / self.speed - self.ran[key] for key in self.running), default=most)
        step = min(finish, look - self.now, most) if look is not None else min(finish, most)
        assert step >= 0
        self.now += step
        for key in list(self.running):
            self.ran[key] += step
            if self.ran[key] * self.speed >= self.needs[key] - 1e-9:
                self.queue.leave(key, self.now)
                self.running.remove(key)
                self.began.discard(key)
                self.ended[key] = self.now
        self.act()


def test_files_start_at_once_while_parsers_are_free_and_then_in_order() -> None:
    parsers = Parsers(2)
    first, second, third = (parsers.add() for _ in range(3))
    assert parsers.steps == [(Step.START, first), (Step.START, second)]
    parsers.run(lambda: len(parsers.ended) == 3)
    assert parsers.steps[2:] == [(Step.START, third)]
    assert (len(parsers.queue), parsers.queue.next_look(parsers.now)) == (0, None)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_files_that_hang_delay_another_client_by_a_slice_at_most(size: int) -> None:
    parsers = Parsers(size)
    for _ in range(2 * size):
        parsers.add("a", needs=1e9)
    parsers.run(lambda: parsers.now >= 1.0)
    for _ in range(20):
        begun = parsers.now
        mine = parsers.add("b")
        parsers.run(lambda: mine in parsers.ended)  # noqa: B023
        assert parsers.now - begun <= SLICE_SECONDS + CHEAP + 1e-6


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_cheap_file_overtakes_expensive_ones_of_its_own_client(size: int) -> None:
    parsers = Parsers(size)
    for _ in range(2 * size):
        parsers.add("a", needs=30.0)
    parsers.run(lambda: parsers.now >= 5.0)
    mine = parsers.add("a")
    parsers.run(lambda: mine in parsers.ended)
    assert parsers.now - 5.0 <= SLICE_SECONDS + 2 * CHEAP


def test_an_expensive_file_does_not_starve_under_cheap_ones() -> None:
    parsers = Parsers(1)
    large = parsers.add("a", needs=2.0)

    def feed() -> bool:
        while len(parsers.queue) < 3:
            parsers.add("a", needs=CHEAP)
        return large in parsers.ended

    parsers.run(feed, seconds=60.0)


def test_clients_share_by_the_seconds_their_files_take() -> None:
    parsers = Parsers(1)
    slow = [parsers.add("slow", needs=3.0) for _ in range(3)]
    quick = [parsers.add("quick", needs=0.1) for _ in range(30)]
    parsers.run(lambda: all(key in parsers.ended for key in quick))
    ran = sum(parsers.ran[key] for key in slow if key in parsers.ran)
    assert ran <= 3.0 + 2 * SLICE_SECONDS, "the slow client got more than the quick one"


def test_at_most_twice_the_parsers_begin_and_the_longest_starts_again() -> None:
    parsers = Parsers(2)
    for client in "abcd":
        parsers.add(client, needs=20.0)
    parsers.run(lambda: parsers.now >= 2.0)
    late = parsers.add("e")
    parsers.run(lambda: late in parsers.ended)
    assert parsers.most_begun == 4
    restarted = [key for step, key in parsers.steps if step is Step.RESTART]
    assert len(restarted) == 1
    parsers.run(lambda: len(parsers.ended) == 5)


def test_a_file_that_stands_in_the_way_twice_is_given_up() -> None:
    parsers = Parsers(1)
    hanging = parsers.add("a", needs=50.0)
    for client in "bc":
        other = parsers.add(client, needs=3.0)
        parsers.run(lambda: other in parsers.running)  # noqa: B023
        cheap = parsers.add("d")
        parsers.run(lambda: cheap in parsers.ended)  # noqa: B023
        parsers.run(lambda: other in parsers.ended)  # noqa: B023
    assert [step for step in parsers.steps if step[0] in (Step.RESTART, Step.GIVE_UP)] == [
        (Step.RESTART, hanging),
        (Step.GIVE_UP, hanging),
    ]


def test_a_file_known_to_take_long_does_not_take_the_last_place() -> None:
    parsers = Parsers(2)
    for client in "abcd":
        parsers.add(client, needs=20.0, expected=20.0)
    parsers.run(lambda: parsers.now >= 10.0)
    assert parsers.most_begun == 3
    parsers.add("e")
    assert not [step for step, _ in parsers.steps if step is Step.RESTART]


@pytest.mark.parametrize(
    ("needs", "speed", "end", "seconds"),
    [
        (1e9, 1.0, Step.TIME_OUT, LIMIT_SECONDS),
        (1e9, 0.5, Step.TIME_OUT, 2 * LIMIT_SECONDS),
        (1e9, 1e-6, Step.STALL, STALL_LIMITS * LIMIT_SECONDS),
        (LIMIT_SECONDS - 1.0, 0.25, None, 4 * LIMIT_SECONDS - 4.0),
        (LIMIT_SECONDS - 1.0, 0.05, Step.STALL, STALL_LIMITS * LIMIT_SECONDS),
    ],
    ids=["busy", "busy on a busy machine", "hangs without work", "healthy on a busy machine", "on a far too busy one"],
)
def test_the_time_limit_is_of_processor_time(needs: float, speed: float, end: Step | None, seconds: float) -> None:
    parsers = Parsers(1)
    parsers.speed = speed
    file = parsers.add("a", needs=needs)
    parsers.run(lambda: len(parsers.queue) == 0)
    assert parsers.now == pytest.approx(seconds, abs=3 * SLICE_SECONDS)
    assert [step for step, _ in parsers.steps if step not in (Step.START, Step.MEASURE)] == ([end] if end else [])
    assert (file in parsers.ended) is (end is None)


def test_another_parser_of_a_file_has_the_limit_for_itself() -> None:
    parsers = Parsers(1)
    file = parsers.add("a", needs=1.5 * LIMIT_SECONDS)
    parsers.run_to(LIMIT_SECONDS - 1.0)
    parsers.queue.note_processor_seconds(file, LIMIT_SECONDS - 1.0)
    parsers.die(file)
    parsers.queue.note_processor_seconds(file + 1, 1e9)
    parsers.run(lambda: len(parsers.queue) == 0)
    assert parsers.now == pytest.approx(2 * LIMIT_SECONDS - 1.0, abs=SLICE_SECONDS)


def test_a_second_try_is_alone() -> None:
    parsers = Parsers(2)
    crasher, other = parsers.add("a", needs=0.1), parsers.add("b", needs=1.0)
    parsers.die(crasher)
    third = parsers.add("c", needs=1.0)
    alone: list[set[int]] = []

    def watch() -> bool:
        if crasher in parsers.running:
            alone.append(set(parsers.running))
        return len(parsers.ended) == 3

    parsers.run(watch)
    assert alone
    assert all(running == {crasher} for running in alone)
    assert {other, third} <= parsers.ended.keys()


def test_a_second_try_that_hangs_delays_others_by_a_slice() -> None:
    parsers = Parsers(2)
    parsers.die(parsers.add("a", needs=1e9))
    parsers.now = 1.0
    mine = parsers.add("b")
    parsers.run(lambda: mine in parsers.ended)
    assert parsers.now - 1.0 <= SLICE_SECONDS + CHEAP + 1e-6


def test_what_left_is_nobodys_business_any_more() -> None:
    parsers = Parsers(1)
    first, second = parsers.add(), parsers.add()
    assert parsers.queue.leave(second, 0.0) == 0.0
    assert parsers.queue.leave(second, 0.0) is None
    parsers.queue.retry_alone(second, 0.0)
    assert parsers.queue.leave(first, 2.0) == 2.0
    assert len(parsers.queue) == 0
    assert parsers.queue.seconds_of_work == 0.0


def test_a_file_is_due_by_its_arrival_and_its_cost() -> None:
    file = QueuedFile(0, "a", 0, arrived=10.0, deadline=0.0, expected_seconds=1.0)
    assert file.due == 10.0 + PATIENCE
    file.ran_seconds = 3.0
    assert file.due == 10.0 + 3 * PATIENCE


def test_the_first_file_is_always_let_in() -> None:
    parsers = Parsers(1, limit_bytes=10)
    assert not parsers.queue.decide_on(parsers.file(size=10**9, deadline=0.0), now=0.0).refuses


def test_a_full_queue_refuses_who_has_more_than_a_share_of_it() -> None:
    parsers = Parsers(1, limit_bytes=100_000)
    parsers.add("a", size=80_000)
    refusal = parsers.queue.decide_on(parsers.file("a", size=20_000), 0.0)
    assert refusal.code == "queue_full"
    assert not parsers.queue.decide_on(parsers.file("b", size=20_000), 0.0).refuses
    assert parsers.queue.decide_on(parsers.file("b", size=60_000), 0.0).refuses


def test_a_file_that_would_be_late_is_refused_with_retry_after() -> None:
    parsers = Parsers(2)
    for _ in range(20):
        parsers.add("a", expected=1.0)
    refusal = parsers.queue.decide_on(parsers.file("a", expected=1.0, deadline=5.0), 0.0)
    assert refusal.code == "deadline_exceeded"
    assert refusal.retry_after_seconds == pytest.approx(10.0)
    assert not parsers.queue.decide_on(parsers.file("a", expected=1.0, deadline=12.0), 0.0).refuses
    assert not parsers.queue.decide_on(parsers.file("b", expected=1.0, deadline=5.0), 0.0).refuses, "fair sharing"
    assert not parsers.queue.decide_on(parsers.file("b", expected=9.0, deadline=5.0), 0.0).refuses, "a guess"
    assert parsers.queue.decide_on(parsers.file("b", expected=9.0, deadline=0.5), 0.0).refuses


@given(
    st.integers(1, 3),
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([0.01, 0.3, 2.0, 100.0]), st.sampled_from([0.01, 1.0])),
        min_size=1,
        max_size=12,
    ),
    st.data(),
)
@settings(max_examples=50)
def test_whatever_comes_every_file_ends_once(
    size: int, files: list[tuple[str, float, float]], data: st.DataObject
) -> None:
    parsers = Parsers(size)
    keys = []
    for client, needs, expected in files:
        keys.append(parsers.add(client, needs, expected=expected))
        victim = data.draw(st.sampled_from([None, *sorted(parsers.running)]))
        if victim is not None:
            parsers.die(victim)
    parsers.run(lambda: len(parsers.queue) == 0, seconds=3000.0)
    over = [key for step, key in parsers.steps if step in (Step.GIVE_UP, Step.TIME_OUT, Step.STALL)]
    assert sorted([*parsers.ended, *over]) == keys
    assert parsers.most_begun <= 2 * size


WAIT_LIMIT = 0.5


def waiting(parsers: int = 1) -> Parsers:
    return Parsers(parsers, wait_limit_seconds=WAIT_LIMIT)


@pytest.mark.parametrize(
    ("before", "client", "expected", "refused"),
    [
        ([("a", 0.1)] * 5, "a", 0.1, False),
        ([("a", 0.1)] * 6, "a", 0.1, True),
        ([("a", 0.1)] * 60, "b", 0.1, False),
        ([("a", 0.1)] * 60 + [("b", 0.1)] * 3, "b", 0.1, True),
        ([("a", 60.0)], "a", CHEAP, False),
        ([("a", CHEAP)], "a", 60.0, False),
        ([("a", 0.1)] * 6, "a", 60.0, True),
    ],
    ids=[
        "as long as the limit",
        "longer",
        "a client of his own waits for his own",
        "and in turn with others",
        "a long file is overtaken",
        "a long file is not refused for being long",
        "but for waiting",
    ],
)
def test_what_would_wait_too_long_for_a_parser_is_refused(
    before: list[tuple[str, float]], client: str, expected: float, refused: bool
) -> None:
    parsers = waiting()
    for each, cost in before:
        parsers.add(each, needs=cost, expected=cost)
    refusal = parsers.queue.decide_on(parsers.file(client, expected=expected), parsers.now)
    assert (refusal.code == "queue_full") is refused
    if refusal.refuses:
        assert refusal.retry_after_seconds is not None
        assert 0 < refusal.retry_after_seconds < parsers.queue.seconds_of_work


@pytest.mark.parametrize("parsers", [1, 3])
def test_at_three_times_the_load_files_wait_about_as_long_as_the_limit(parsers: int) -> None:
    scene, cost, waits, refused = waiting(parsers), 0.02, [], 0
    arrivals = [number * cost / parsers / 3 for number in range(3_000)]
    for at in arrivals:
        scene.run_to(at)
        if not scene.queue.decide_on(scene.file(expected=cost), scene.now).refuses:
            waits.append((scene.add(needs=cost, expected=cost), scene.now))
        else:
            refused += 1
    scene.run(lambda: not scene.needs.keys() - scene.ended.keys())
    seconds = [scene.ended[key] - came for key, came in waits]
    assert refused == pytest.approx(2_000, rel=0.1)
    assert max(seconds) <= WAIT_LIMIT + 3 * cost
    assert max(seconds) > 0.8 * WAIT_LIMIT, "no more is refused than must be"


def test_parsers_have_worked_for_as_long_as_they_ran() -> None:
    parsers = Parsers(2)
    parsers.add(needs=3.0)
    parsers.add(needs=1.0)
    parsers.run(lambda: len(parsers.ended) == 1)
    assert parsers.queue.seconds_worked(parsers.now + 0.5) == pytest.approx(2.5, abs=0.05)
    parsers.run(lambda: len(parsers.ended) == 2)
    assert parsers.queue.seconds_worked(parsers.now + 9.0) == pytest.approx(4.0, abs=0.05)


def test_files_that_were_begun_do_not_wait_any_more() -> None:
    parsers = Parsers(parsers=1)
    parsers.add(needs=4.0, expected=4.0)
    assert parsers.queue.seconds_waiting == 0.0
    parsers.add(needs=3.0, expected=3.0)
    assert parsers.queue.seconds_waiting == 3.0

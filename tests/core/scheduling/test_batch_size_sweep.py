"""The token budget that timed batches lead to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.scheduling.batch_size_sweep import LONGEST_SECONDS, NEARLY, choose, is_over, sizes_to_time
from service.core.scheduling.throughput import TimedBatch


def _device(base_seconds: float, tokens_per_second: float, most: int = 65_536) -> list[TimedBatch]:
    """Batches of a device that takes `base_seconds` to launch anything."""
    return [TimedBatch(tokens, max(base_seconds, tokens / tokens_per_second)) for tokens in sizes_to_time(most)]


@pytest.mark.parametrize(
    ("most", "sizes"),
    [(64, (64,)), (65, (64, 65)), (512, (64, 128, 256, 512)), (700, (64, 128, 256, 512, 700)), (30, (30,))],
)
def test_sizes_are_powers_of_two_up_to_the_largest(most: int, sizes: tuple[int, ...]) -> None:
    assert sizes_to_time(most) == sizes


@pytest.mark.parametrize(
    ("name", "base_seconds", "tokens_per_second", "budget"),
    [
        ("T4, BERT-large", 0.008, 31_700, 256),
        ("A10G, BERT-base", 0.004, 251_000, 1_024),
        ("H200, BERT-large", 0.0075, 760_000, 8_192),
        ("a device that launches for ever", 0.09, 10_000_000, 65_536),
        ("a device too slow for any size", 0.2, 100, 64),
    ],
)
def test_the_budget_is_the_smallest_size_at_nearly_full_speed(
    name: str, base_seconds: float, tokens_per_second: float, budget: int
) -> None:
    assert choose(_device(base_seconds, tokens_per_second)).tokens == budget


@pytest.mark.parametrize(
    ("times_ms", "budget"),
    [
        ((4, 4, 4, 4, 4, 5, 9, 18, 36, 72, 144), 4_096),
        ((4, 4, 4, 4, 4, 5, 9, 20, 44, 95, 200), 4_096),
        ((50, 99, 198), 64),
        ((50, 90, 170), 128),
        ((101, 102, 103), 64),
        ((4, 40, 4, 4), 512),
    ],
    ids=["plain", "slower when large", "over the limit", "at the limit", "none short enough", "a hiccup"],
)
def test_the_budget_by_times(times_ms: tuple[int, ...], budget: int) -> None:
    assert choose([TimedBatch(64 << index, each / 1_000) for index, each in enumerate(times_ms)]).tokens == budget


@pytest.mark.parametrize(
    ("tokens_per_second", "longest", "budget"),
    [(30_000, 512, 2_048), (30_000, 8_192, 2_048), (10_000, 512, 512), (500_000, 512, 2_048), (500_000, 30, 2_048)],
    ids=["room for four", "as much as is quick", "a slow device", "no more than that", "fast enough is roomy"],
)
def test_a_budget_holds_four_of_the_longest_sequences_where_they_are_quick(
    tokens_per_second: float, longest: int, budget: int
) -> None:
    assert choose(_device(0.004, tokens_per_second), longest).tokens == budget


@pytest.mark.parametrize(
    ("times_ms", "enough"),
    [
        ((), False),
        ((4,), False),
        ((101,), True),
        ((4, 4, 9, 20), False),
        ((4, 4, 9, 20, 45), True),
        ((4, 4, 9, 17, 15), False),
    ],
)
def test_the_ladder_ends_where_nothing_more_can_be_won(times_ms: tuple[int, ...], enough: bool) -> None:
    timed = [TimedBatch(64 << index, each / 1_000) for index, each in enumerate(times_ms)]
    assert is_over(timed) == enough


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=11))
def test_no_shorter_size_is_nearly_as_fast(seconds: list[float]) -> None:
    timed = [TimedBatch(64 << index, each) for index, each in enumerate(seconds)]
    chosen = choose(timed)
    rate = chosen.tokens / chosen.seconds
    allowed = [each for each in timed if each.seconds <= LONGEST_SECONDS]
    if not allowed:
        assert chosen is timed[0]
        return
    best = max(each.tokens / each.seconds for each in allowed)
    assert chosen in allowed
    assert rate >= NEARLY * best * (1 - 1e-9)
    assert all(each.tokens / each.seconds < NEARLY * best for each in allowed if each.tokens < chosen.tokens)


@given(st.lists(st.floats(1e-6, 0.05), min_size=1, max_size=11))
def test_what_is_left_out_after_the_limit_could_not_be_chosen(seconds: list[float]) -> None:
    timed = [TimedBatch(64 << index, each) for index, each in enumerate(seconds)]
    over = [*timed, TimedBatch(64 << len(timed), LONGEST_SECONDS * 1.01)]
    assert is_over(over)
    assert choose(over) == choose(timed)

"""The counter of bytes done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from model_store.progress import ProgressCounter


def test_each_addition_is_reported_with_the_total() -> None:
    seen: list[tuple[int, int]] = []
    counter = ProgressCounter(lambda done, total: seen.append((done, total)), 10)
    counter.add(4)
    counter.total_bytes += 3
    counter.add(-1)
    assert seen == [(4, 10), (3, 13)]


def test_additions_from_several_threads_are_summed() -> None:
    seen: list[int] = []
    counter = ProgressCounter(lambda done, _total: seen.append(done), 8_000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(counter.add, [1] * 8_000))
    assert seen == list(range(1, 8_001))

"""What a file costs is learnt from those before it, and a few hostile ones do not spoil it."""

from __future__ import annotations

import pytest

from service.core.worker_load import BASE_BYTES, FIRST_GUESS_SECONDS_PER_BYTE, JSON, ParseCost


def test_before_anything_is_known_a_file_is_expected_to_be_cheap() -> None:
    expected = (10**6 + BASE_BYTES) * FIRST_GUESS_SECONDS_PER_BYTE
    assert ParseCost().expected_seconds("pdf", 10**6) == pytest.approx(expected)


def test_formats_are_learnt_apart() -> None:
    cost = ParseCost()
    for _ in range(300):
        cost.observe("pdf", 10_000, 0.1)
    assert cost.expected_seconds("pdf", 10_000) == pytest.approx(0.1, rel=0.05)
    assert cost.expected_seconds("zip", 10_000) == ParseCost().expected_seconds("zip", 10_000)


def test_a_few_hostile_files_do_not_make_honest_ones_look_expensive() -> None:
    cost = ParseCost()
    for _ in range(300):
        cost.observe("zip", 100_000, 0.05)
    for _ in range(5):
        cost.observe("zip", 100, 60.0)
    assert cost.expected_seconds("zip", 100_000) < 0.1


def test_files_without_bytes_and_without_seconds_are_no_error() -> None:
    cost = ParseCost()
    cost.observe("text", 0, 0.0)
    assert 0 < cost.expected_seconds("text", 100) < ParseCost().expected_seconds("text", 100)


def test_small_files_on_a_busy_machine_do_not_make_large_ones_look_hopeless() -> None:
    cost = ParseCost()
    for _ in range(1000):
        cost.observe("text", 500, 0.02)
    assert cost.expected_seconds("text", 10 * 2**20) < 5.0


def test_json_is_expected_to_be_cheaper_than_files() -> None:
    assert ParseCost().expected_seconds(JSON, 256 << 20) < 5.0 < ParseCost().expected_seconds("pdf", 256 << 20)

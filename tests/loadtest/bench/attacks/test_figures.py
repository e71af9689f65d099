"""Rows of the attacks' table: what they say, and which goals they miss."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from loadtest.bench.attacks.figures import HEAD, AttackFigures, Observation, quantile, table_head

GOOD = Observation(
    seconds=[0.020] * 98 + [0.050, 0.080],
    refused=0,
    lost={},
    livez_seconds=[0.003] * 99 + [0.040],
    livez_failed=0,
    peak_bytes=812_000_000,
)


def test_a_row_says_what_others_noticed_and_what_the_attacker_was_told() -> None:
    answers = Counter({"413 document_too_large": 1_234, "200 ok": 2, "unanswered when it was over": 0})
    row = AttackFigures("a bomb", "C1", GOOD, answers).row()
    assert row == ("| a bomb | C1 | 100, 0, 0 | 20, 50 | 3, 40 | 812 | 1,234 × 413 document_too_large, 2 × 200 ok |  |")
    assert [line.count("|") for line in table_head().splitlines()] == [row.count("|")] * 2 == [len(HEAD) + 1] * 2


def test_a_row_without_an_attacker_or_an_answer_has_dashes() -> None:
    quiet = replace(GOOD, seconds=[], livez_seconds=[])
    assert AttackFigures("quiet", "–", quiet).row() == "| quiet | – | 0, 0, 0 | –, – | –, – | 812 | – |  |"


def test_of_many_kinds_of_answers_the_most_frequent_are_named() -> None:
    answers = Counter({f"4{number:02} x": 10 - number for number in range(6)})
    row = AttackFigures("many", "H7", GOOD, answers).row()
    assert "10 × 400 x, 9 × 401 x, 8 × 402 x, 7 × 403 x, 2 other kinds" in row


@pytest.mark.parametrize(
    ("change", "ended", "misses"),
    [
        ({}, False, []),
        ({"livez_seconds": [0.100]}, False, []),
        ({"livez_seconds": [0.003, 0.101]}, False, ["`/livez` over 100 ms"]),
        ({"livez_failed": 2}, False, ["`/livez` failed 2 times"]),
        ({"peak_bytes": 2_000_000_001}, False, ["over 2 GB"]),
        ({"lost": {"connection_lost": 3}}, False, ["lost: 3 × connection_lost"]),
        ({"refused": 50}, False, []),
        ({}, True, ["the service ended"]),
    ],
)
def test_a_row_names_each_goal_that_it_misses(change: dict[str, Any], ended: bool, misses: list[str]) -> None:
    figures = AttackFigures("an attack", "H1", replace(GOOD, **change), ended=ended)
    assert figures.misses() == misses
    assert figures.row().endswith(f"| {'; '.join(misses)} |")


@pytest.mark.parametrize(("share", "value"), [(0.5, 2.0), (0.51, 3.0), (0.99, 4.0), (1.0, 4.0), (0.0, 1.0)])
def test_a_quantile_is_one_of_the_values(share: float, value: float) -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], share) == value


def test_nothing_has_no_quantile() -> None:
    assert quantile([], 0.99) == 0.0

"""A short run of one attack on a real service with the built-in model."""

from __future__ import annotations

from pathlib import Path

from loadtest.bench.attacks.callers import UNANSWERED
from loadtest.bench.attacks.catalog import chosen_attacks
from loadtest.bench.attacks.command import attack_once
from loadtest.bench.attacks.wire import CLOSED


def test_an_attack_is_measured_beside_another_client(tmp_path: Path) -> None:
    _, endless_headers, _ = chosen_attacks(["C2"])
    figures = attack_once(tmp_path / "attacked", endless_headers, 2.0)
    assert figures.observed.lost == {}
    assert len(figures.observed.seconds) + figures.observed.refused == 24
    assert len(figures.observed.livez_seconds) == 30
    assert figures.observed.livez_failed == 0
    assert 100e6 < figures.observed.peak_bytes < 2e9
    assert set(figures.answers) <= {"431 headers_too_large", CLOSED, UNANSWERED}, "who pours on may miss his answer"
    assert figures.answers["431 headers_too_large"] > 0
    assert not figures.ended

"""Eight seconds of the hostile load that `python -m loadtest.bench --only hostile` keeps up for minutes."""

from __future__ import annotations

import asyncio

from loadtest.bench.engine import hostile
from tests.support.service import Service

SECONDS = 8.0


def test_nothing_fails_and_nothing_is_restarted_under_hostile_load(service: Service) -> None:
    starts = service.metric("gleaner_engine_starts_total")
    with hostile.memory_hog(None):
        figures = asyncio.run(hostile.attack(service.url, ("tiny", "other"), SECONDS, longest_words=2_000))
    assert figures.failed == 0, figures.answers
    assert figures.answers["ok"] > 20
    assert service.metric("gleaner_engine_starts_total") == starts
    assert service.is_ready()

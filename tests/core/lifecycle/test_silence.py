"""Silence of another process: it grows with the listener's awake time, and a heartbeat ends it."""

from __future__ import annotations

from service.core.lifecycle.awake_clock import MOST_GAP_SECONDS
from service.core.lifecycle.silence import Silence


def test_silence_grows_until_something_is_heard() -> None:
    silence = Silence()
    assert [silence.tick(now) for now in (10.0, 11.0, 12.0)] == [0.0, 1.0, 2.0]
    silence.heard()
    assert silence.seconds == 0.0
    assert silence.tick(12.5) == 0.5


def test_a_pause_of_the_listener_is_no_silence_of_the_other() -> None:
    silence = Silence()
    silence.tick(10.0)
    assert silence.tick(10_000.0) == MOST_GAP_SECONDS

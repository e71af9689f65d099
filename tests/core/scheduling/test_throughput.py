"""The fit of batch latency, and the throughput meter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.admission.policy import RESERVE
from service.core.scheduling.throughput import (
    REACH,
    SAMPLE_SECONDS,
    BatchLatencyModel,
    ThroughputMeter,
    TimedBatch,
    fit_line,
)
from tests.support.submissions import scheduler, submission

Batches = list[tuple[int, float]]
BATCHES = st.lists(
    st.tuples(st.integers(1, 100_000), st.floats(1e-6, 100.0)) | st.tuples(st.integers(1, 100_000), st.just(0.0)),
    min_size=1,
    max_size=120,
)


def learnt(*batches: tuple[int, float]) -> BatchLatencyModel:
    law = BatchLatencyModel()
    for tokens, seconds in batches:
        law.add(tokens, seconds)
    return law


def on_the_line(base: float, per_token: float, *sizes: int) -> BatchLatencyModel:
    return learnt(*((tokens, base + per_token * tokens) for tokens in sizes))


def test_base_and_time_per_token_are_found() -> None:
    base, per_token = on_the_line(0.008, 3e-5, *[40, 90, 200, 500, 1_100] * 40).fit()
    assert base == pytest.approx(0.008, rel=0.03)
    assert per_token == pytest.approx(3e-5, rel=0.03)


def test_small_batches_tell_what_full_ones_would_do() -> None:
    """39 to 230 tokens at 8 ms + 25 µs a token: those batches themselves make 4,300 to 16,700 a second."""
    law = on_the_line(0.008, 2.5e-5, *[39, 80, 120, 230] * 20)
    assert law.tokens_per_second(900) == pytest.approx(900 / (0.008 + 2.5e-5 * 900), rel=0.1)


def test_batches_of_one_size_give_tokens_over_seconds() -> None:
    assert learnt((98, 0.5)).tokens_per_second(256) == pytest.approx(196)
    assert learnt(*[(98, 0.5)] * 50).tokens_per_second(256) == pytest.approx(196)


def test_nearly_one_size_and_noise_are_not_taken_for_a_law() -> None:
    law = learnt(*[(127, 0.011), (128, 0.009)] * 30)
    assert law.tokens_per_second(512) == pytest.approx(12_750, rel=0.05)


def test_extrapolation_ends_at_a_few_times_the_largest_size() -> None:
    """A GPU takes 4 ms for 10 tokens and for 400; for 60,000 surely not."""
    law = on_the_line(0.004, 0.0, *[10, 100, 400] * 20)
    assert law.tokens_per_second(65_536) == pytest.approx(REACH * 400 / 0.004, rel=0.2)


def test_what_large_batches_have_shown_outlasts_small_ones() -> None:
    law = on_the_line(0.004, 2e-6, *[60_000] * 10, *[30, 60] * 500)
    assert law.tokens_per_second(65_536) == pytest.approx(65_536 / (0.004 + 2e-6 * 65_536), rel=0.05)


def test_a_slower_device_is_noticed_within_the_remembered_batches() -> None:
    law = learnt(*[(1_000, 0.1)] * 100, *[(1_000, 0.2)] * 100)
    assert law.tokens_per_second(1_000) == pytest.approx(5_000, rel=0.05)


@given(BATCHES, st.integers(1, 200_000))
def test_the_speed_is_between_what_was_seen_and_its_reach(batches: Batches, full: int) -> None:
    """Whatever the batches: no time below zero, and for a full batch at least the mean time of those that were seen."""
    law = learnt(*batches)
    base, per_token = law.fit()
    assert base >= -1e-12
    assert per_token >= 0
    speed = law.tokens_per_second(full)
    if speed is not None:
        largest = max(tokens for tokens, _ in batches)
        assert 0 < speed <= REACH * largest / (base * (1 - 1e-9)) if base > 0 else speed > 0


@given(st.floats(0, 1.0), st.floats(1e-6, 1e-2), st.lists(st.integers(1, 10_000), min_size=1, max_size=80), st.data())
def test_on_a_linear_device_the_speed_is_never_above_what_it_does(
    base: float, per_token: float, sizes: list[int], data: st.DataObject
) -> None:
    full = data.draw(st.integers(max(sizes), 100_000))
    speed = on_the_line(base, per_token, *sizes).tokens_per_second(full)
    assert speed is not None
    assert speed <= full / (base + per_token * full) * (1 + 1e-6)


def test_speed_is_unknown_before_the_first_batch() -> None:
    meter = ThroughputMeter()
    assert meter.tokens_per_second is None
    assert meter.work_ratio(0.0) == 0.0
    assert meter.backlog_seconds(100, 0.0) == 0.0


def test_speed_is_tokens_over_device_seconds() -> None:
    meter = ThroughputMeter()
    assert meter.computed(1000, 10.0, 10.5, full_tokens=1000) == pytest.approx(0.5)
    assert meter.computed(1000, 20.0, 20.5, full_tokens=1000) == pytest.approx(0.5)
    assert meter.tokens_per_second == pytest.approx(2000)
    assert meter.busy_seconds == pytest.approx(1.0)


def test_a_batch_of_the_warm_up_shows_the_speed_and_is_no_work() -> None:
    meter = ThroughputMeter()
    meter.warmed(TimedBatch(512, 0.02), full_tokens=2048)
    assert meter.tokens_per_second == pytest.approx(25_600)
    assert meter.busy_seconds == 0.0
    assert meter.arrived_tokens_per_second(0.0) == 0.0


def test_where_a_full_batch_holds_nothing_there_is_no_speed() -> None:
    meter = ThroughputMeter()
    meter.warmed(TimedBatch(512, 0.02), full_tokens=0)
    meter.warmed(TimedBatch(128, 0.02), full_tokens=0)
    assert meter.tokens_per_second is None


def test_after_one_tiny_document_a_warm_engine_admits_a_very_long_one() -> None:
    """Ten tokens in 20 ms are 500 a second: 160,000 would take longer than the 300 s that a request has by default."""
    meter, cold = ThroughputMeter(), ThroughputMeter()
    meter.warmed(TimedBatch(512, 0.04), full_tokens=2048)
    for each in (meter, cold):
        each.computed(10, 1.0, 1.02, full_tokens=2048)
    book = submission("book", *[500] * 320, deadline_seconds=302.0)
    refusal = scheduler().admit(book, 2.0, cold.tokens_per_second)
    assert refusal is not None
    assert refusal.code == "deadline_exceeded"
    assert scheduler().admit(book, 2.0, meter.tokens_per_second) is None


def test_time_that_two_batches_share_counts_once() -> None:
    meter = ThroughputMeter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000)
    assert meter.computed(1000, 0.4, 1.8, full_tokens=1000) == pytest.approx(0.8)
    assert meter.computed(10, 0.5, 1.7, full_tokens=1000) == 0.0
    assert meter.busy_seconds == pytest.approx(1.8)


def test_steady_arrivals_give_their_rate() -> None:
    meter = ThroughputMeter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000)
    for tenth in range(3000):
        meter.arrived(50, tenth / 10)
    assert meter.arrived_tokens_per_second(300.0) == pytest.approx(500, rel=0.02)
    assert meter.work_ratio(300.0) == pytest.approx(0.5, rel=0.02)


def test_refused_work_counts_as_backlog_and_is_forgotten() -> None:
    meter = ThroughputMeter()
    meter.computed(100, 0.0, 1.0, full_tokens=1000)
    meter.refused(1000, 0.0)
    assert meter.backlog_seconds(500, 0.0) == pytest.approx(15.0)
    assert meter.backlog_seconds(500, 300.0) == pytest.approx(5.0, rel=0.01)


def test_a_device_that_ran_nothing_has_no_latency() -> None:
    assert BatchLatencyModel().seconds(100) is None
    assert fit_line([(1, 0.0, 0.5)]) == (0.0, 0.0)


def test_the_speed_alone_is_the_model_s_own_or_the_mixed_if_faster() -> None:
    meter = ThroughputMeter()
    assert meter.alone_tokens_per_second("small") is None
    meter.computed(1000, 0.0, 0.1, full_tokens=1000, model="small")
    for second in range(1, 100):
        meter.computed(1000, second, second + 1.0, full_tokens=1000, model="large")
    assert meter.tokens_per_second == pytest.approx(1000, rel=0.1)
    assert meter.alone_tokens_per_second("small") == pytest.approx(10_000)
    assert meter.alone_tokens_per_second("large") == meter.tokens_per_second
    assert meter.alone_tokens_per_second("other") is None


def test_a_model_is_sampled_now_and_then() -> None:
    meter = ThroughputMeter()
    meter.warmed(TimedBatch(1000, 1.0), full_tokens=1000, model="m")
    moments = (0.0, 1.0, SAMPLE_SECONDS - 1.0, SAMPLE_SECONDS, SAMPLE_SECONDS + 1.0)
    assert [meter.wants_sample("m", now) for now in moments] == [True, False, False, True, False]
    assert meter.wants_sample("other", 1.0)


@pytest.mark.parametrize(("rest", "speed"), [(0.9, 1_000 * 2 / 11), (1.0, 1_000.0)])
def test_a_faster_batch_after_a_rest_replaces_what_was_learnt(rest: float, speed: float) -> None:
    meter = ThroughputMeter()
    meter.computed(1000, 0.0, 10.0, full_tokens=1000, model="m")
    meter.computed(1000, 10.0 + rest, 11.0 + rest, full_tokens=1000, model="m")
    assert meter.alone_tokens_per_second("m") == pytest.approx(speed, rel=0.05)


def test_a_batch_beside_another_proves_nothing() -> None:
    """The second counts for the time after the first alone."""
    meter = ThroughputMeter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000, model="m")
    meter.computed(1000, 9.0, 19.0, full_tokens=1000, model="other")
    meter.computed(1000, 18.0, 19.1, full_tokens=1000, model="m")
    assert meter.alone_tokens_per_second("m") == pytest.approx(2_000 / 1.1, rel=0.05)


@given(
    base=st.floats(0, 0.1),
    per_token=st.floats(1e-5, 1e-2),
    slower=st.floats(1.0, 50.0),
    history=st.lists(st.integers(1, 4_096), min_size=1, max_size=120),
    sample=st.integers(1, 4_096),
)
def test_a_bad_moment_is_forgotten_with_the_first_batch_after_it(
    base: float, per_token: float, slower: float, history: list[int], sample: int
) -> None:
    """Whatever sizes ran while the machine was starved: the speed is that of batches like the new one, or better.

    Never more than the device does, for a batch of the largest size.
    """
    meter, now, full = ThroughputMeter(), 0.0, max(*history, sample)

    def run(tokens: int, times: float) -> None:
        nonlocal now
        seconds = (base + per_token * tokens) * times
        meter.computed(tokens, now, now + seconds, full_tokens=full, model="m")
        now += seconds

    for tokens in history:
        run(tokens, slower)
    now += 1_000.0
    run(sample, 1.0)
    speed = meter.alone_tokens_per_second("m")
    assert speed is not None
    assert meter.tokens_per_second is not None
    assert meter.tokens_per_second >= speed / RESERVE
    assert sample / (base + per_token * sample) <= speed * (1 + 1e-6)
    assert speed <= full / (base + per_token * full) * (1 + 1e-6)


def test_throughput_is_at_least_that_of_the_slowest_model() -> None:
    meter, now = ThroughputMeter(), 0.0
    for model in ("slow", "fast") * 20:
        meter.computed(1000, now, now + 10.0, full_tokens=1000, model=model)
        now += 10.0
    for model, seconds in (("slow", 1.0), ("fast", 0.1)):
        now += 100.0
        meter.computed(1000, now, now + seconds, full_tokens=1000, model=model)
    assert meter.known_alone() == {"slow": pytest.approx(1_000, rel=0.05), "fast": pytest.approx(10_000, rel=0.05)}
    assert meter.tokens_per_second == pytest.approx(1_000 / RESERVE, rel=0.05)


def test_a_slower_batch_after_a_pause_counts_as_any_other() -> None:
    """A device that rested may be slow for a batch."""
    meter = ThroughputMeter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000, model="m")
    meter.computed(1000, 1000.0, 1010.0, full_tokens=1000, model="m")
    assert meter.alone_tokens_per_second("m") == pytest.approx(1_000 * 2 / 11, rel=0.05)


def test_a_model_that_is_gone_is_forgotten() -> None:
    meter = ThroughputMeter()
    for model, full_tokens in (("m", 1000), ("gone", 1000), ("never full", 0)):
        meter.computed(1000, 9.0, 10.0, full_tokens=full_tokens, model=model)
        assert meter.wants_sample(model, 0.0)
    meter.keep(["m", "new"])
    assert meter.known_alone().keys() == {"m"}
    assert [model for model in ("m", "gone", "never full") if meter.wants_sample(model, 1.0)] == ["gone", "never full"]


def test_a_fast_batch_of_a_rested_device_caps_the_larger_sizes() -> None:
    """A starved moment's batches say ten times the device's seconds."""
    law = learnt((100, 1.0), (8_000, 80.0))
    law.correct(1_000, 1.0)
    assert law.seconds(8_000) == pytest.approx(8.0)
    law.correct(8_000, 100.0)
    assert law.seconds(8_000) == pytest.approx(8.0), "a slower one disproves nothing"

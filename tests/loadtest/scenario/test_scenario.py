"""Scenarios: their files, the traces that they replay, and the requests that they send."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.errors import BadInput
from loadtest.scenario.document_files import make_docx, make_pdf
from loadtest.scenario.scenario import (
    Phase,
    Scenario,
    at_capacity,
    builtin_scenarios,
    most_per_second,
    read_scenario,
    schedule,
    stretched,
)
from loadtest.scenario.traces import DAYS, Trace, lines, make_day, read_trace
from loadtest.scenario.workload import DOCX, PDF, Documents, Mix, Share, make_jobs, report
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document


def written(folder: Path, text: str) -> Scenario:
    (folder / "s.toml").write_text(text)
    return read_scenario(str(folder / "s.toml"))


@pytest.mark.parametrize("name", builtin_scenarios())
def test_a_builtin_scenario_can_be_read_and_scheduled(name: str) -> None:
    scenario = at_capacity(read_scenario(name), 20.0)
    assert make_jobs(scenario.mix, {})
    moments = np.array(list(schedule(stretched(scenario, 20.0))))
    assert len(moments)
    assert (np.diff(moments) >= 0).all()
    assert 0 <= moments[0] <= moments[-1] < 20.0


def test_shares_of_the_capacity_become_rates() -> None:
    scenario = at_capacity(read_scenario("overload"), 7.0)
    assert most_per_second(scenario) == pytest.approx(70)
    assert [phase.rate for phase in scenario.phases if phase.name == "10 times"] == [70]
    assert at_capacity(scenario, 3.0) == scenario


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('title="t"\n', "phases"),
        ('title="t"\nphases=[]\n', "needs a phase"),
        ('title="t"\n[[phases]]\nname="p"\n', "needs `seconds`"),
        ('title="t"\n[[phases]]\nname="p"\nsecond=3\n', "second"),
        ("title=", "cannot be used"),
    ],
)
def test_a_bad_scenario_is_refused_with_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        written(tmp_path, text)


def test_an_unknown_name_lists_the_builtin_scenarios() -> None:
    with pytest.raises(BadInput, match=r"overload.*smoke"):
        read_scenario("nonesuch")


def test_even_arrivals_are_equally_spaced_within_each_phase() -> None:
    phases = (Phase("a", seconds=1.0, rate=2), Phase("b", seconds=2.0, rate=4))
    found = list(schedule(Scenario("t", phases, "absolute", "even")))
    assert found == pytest.approx([0.0, 0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75])


def test_a_trace_is_replayed_in_its_phase(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t_s,count\n0,30\n60,0\n120,12\n")
    text = f'title="t"\nrates="absolute"\n[[phases]]\nname="p"\nshape="trace"\npath="{tmp_path}/t.csv"\ntime_scale=60\n'
    scenario = written(tmp_path, text)
    assert scenario.seconds == pytest.approx(3.0)
    assert np.bincount(np.array(list(schedule(scenario))).astype(int)).tolist() == [30, 0, 12]


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    trace = Trace(60.0, (320, 0, 17))
    (tmp_path / "t.csv").write_text("\n".join(lines(trace)) + "\n")
    assert read_trace(tmp_path / "t.csv") == trace


@pytest.mark.parametrize(
    "text",
    [
        "",
        "time,n\n0,1\n1,2\n",
        "t_s,count\n0,1\n",
        "t_s,count\n0,1\n1,x\n",
        "t_s,count\n0,1\n1,2\n5,2\n",
        "t_s,count\n0,1\n1,-2\n",
    ],
)
def test_what_is_no_trace_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(BadInput, match="is not a trace"):
        read_trace(tmp_path / "t.csv")


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=200), st.floats(0.01, 20))
def test_scaling_rounds_no_sum_by_more_than_a_half(counts: list[int], factor: float) -> None:
    scaled = Trace(1.0, tuple(counts)).scaled(factor)
    reached = wanted = 0.0
    for before, after in zip(counts, scaled.counts, strict=True):
        reached, wanted = reached + after, wanted + before * factor
        assert after >= 0
        assert abs(reached - wanted) <= 0.5 + 1e-6


@pytest.mark.parametrize("kind", ["diurnal", "bursty"])
def test_the_mean_is_the_one_that_was_asked_for(kind: str) -> None:
    assert sum(make_day(kind, 3, mean_rate=10, days=60).counts) == pytest.approx(10 * 60 * 86_400, rel=0.05)


@pytest.mark.parametrize("kind", DAYS)
def test_seconds_are_as_dispersed_as_measured(kind: str) -> None:
    """Against the rate of their five minutes, which hours, wandering and spikes leave alone."""
    counts = np.array(make_day(kind, 4, mean_rate=20, bin_seconds=1.0).counts, dtype=float).reshape(-1, 300)
    means = counts.mean(axis=1)
    index = (counts.var(axis=1, ddof=1) / means)[means > 1]
    assert index.mean() == pytest.approx(DAYS[kind].dispersion_per_second, rel=0.12)


def test_a_spiky_day_has_spikes_and_a_diurnal_one_hardly() -> None:
    """A spike: five minutes with at least three times the median of the hour before."""

    def spikes(kind: str) -> float:
        counts = np.array(make_day(kind, 5, mean_rate=10, days=40).counts, dtype=float).reshape(-1, 5).sum(axis=1)
        before = np.array([np.median(counts[n - 12 : n]) for n in range(12, len(counts))])
        return float((counts[12:] >= 3 * before).sum() / 40)

    assert spikes("diurnal") < 1.5
    assert 3 < spikes("spiky") < 9


def test_a_day_can_be_had_again() -> None:
    assert make_day("spiky", 7) == make_day("spiky", 7)
    assert make_day("spiky", 7) != make_day("spiky", 8)


def test_the_same_seed_gives_the_same_bytes_and_another_one_others() -> None:
    mix = Mix(documents=(Documents("text"), Documents("pdf"), Documents("docx"), Documents("report")), distinct=30)
    assert make_jobs(mix) == make_jobs(mix)
    assert make_jobs(mix) != make_jobs(Mix(documents=mix.documents, distinct=30, seed=2))


def test_lengths_are_log_normal() -> None:
    mix = Mix(documents=(Documents("text", median_words=100, spread=0.5, most_words=100_000),), distinct=1_500)
    words = np.log([len(json.loads(job.body)["text"].split()) for job in make_jobs(mix)])
    assert words.mean() == pytest.approx(math.log(100), abs=0.06)
    assert words.std() == pytest.approx(0.5, abs=0.05)


def test_kinds_models_priorities_and_tenants_have_their_shares() -> None:
    mix = Mix(
        documents=(Documents("text", weight=3), Documents("docx", weight=1)),
        models=(Share("a", 9), Share("b", 1)),
        priorities=(Share("interactive"), Share("batch")),
        tenants=(Share("x", 4), Share("y", 1)),
        deadline_ms=700,
        labels="person, sum",
        distinct=2_000,
    )
    jobs = make_jobs(mix, {"x": "secret"})
    assert Counter(job.kind for job in jobs)["docx"] == pytest.approx(500, rel=0.15)
    assert Counter(job.model for job in jobs)["b"] == pytest.approx(200, rel=0.25)
    assert Counter(job.priority for job in jobs)["batch"] == pytest.approx(1_000, rel=0.1)
    assert Counter(job.tenant for job in jobs)["y"] == pytest.approx(400, rel=0.2)
    for job in jobs:
        wanted = {"model": job.model, "priority": job.priority, "deadline_ms": "700", "labels": "person, sum"}
        assert dict(job.query) == wanted
        assert dict(job.headers) == ({"Authorization": "Bearer secret"} if job.tenant == "x" else {})


def test_a_folder_sends_its_files_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("some text")
    (tmp_path / "b.PDF").write_bytes(b"%PDF")
    (tmp_path / "c.exe").write_bytes(b"MZ")
    jobs = make_jobs(Mix(documents=(Documents("folder", path=str(tmp_path)),), distinct=50))
    assert {(job.body, job.content_type) for job in jobs} == {
        (b"some text", "text/plain"),
        (b"%PDF", "application/pdf"),
    }


LIMITS = DocumentLimits(max_bytes=10**7, max_pages=100, max_characters=10**6)


@pytest.mark.parametrize(("make", "media_type"), [(make_pdf, PDF), (make_docx, DOCX)], ids=["pdf", "docx"])
@pytest.mark.parametrize("words", [1, 30, 2_500])
def test_a_made_file_holds_its_words(make: Callable[[str], bytes], media_type: str, words: int) -> None:
    text = report(words, Random(words))
    assert read_document(make(text), media_type=media_type, limits=LIMITS).text.split() == text.split()


def test_signs_that_mean_something_to_a_pdf_or_to_xml_survive() -> None:
    text = r"Total (net) <b> & \ 100 %"
    assert read_document(make_pdf(text), media_type=PDF, limits=LIMITS).text.split() == text.split()
    assert read_document(make_docx(text), media_type=DOCX, limits=LIMITS).text.split() == text.split()

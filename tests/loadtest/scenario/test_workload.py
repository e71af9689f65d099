"""The files that the load test makes are read by the service's own readers, word for word."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from loadtest.scenario.document_files import make_docx, make_pdf
from loadtest.scenario.workload import DOCX, PDF, Documents, Mix, Share, make_jobs, report
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document


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

"""One simulated task: the service's own refusals in it, files, and long documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from infra.scaling.capacity import Capacity
from loadtest.simulator.service_model import Documents, ServiceModel, model_of
from loadtest.simulator.single_task import Document, SingleTask

TOKENS = 100
ONE_AT_A_TIME = ServiceModel(
    base_seconds=0.0,
    seconds_per_token=0.01,
    batch_tokens=TOKENS,
    documents=Documents(TOKENS, text_seconds=0.0),
    slo_seconds=10.0,
    overhead_seconds=0.0,
    deadline_seconds=1e9,
    queue_limit_tokens=1e12,
)
"""Batches of one document, each a second."""
BATCHES = replace(ONE_AT_A_TIME, base_seconds=0.004, seconds_per_token=0.001 / TOKENS, batch_tokens=32 * TOKENS)
"""S(b) = 4 ms + b × 1 ms, at most 32."""


def arrivals(rate: float, count: int, seed: int) -> list[Document]:
    times = np.cumsum(np.random.default_rng(seed).exponential(1 / rate, count))
    return [Document(float(at), TOKENS) for at in times]


def test_every_document_is_answered_once_or_refused() -> None:
    model = replace(ONE_AT_A_TIME, max_queue_seconds=2.0)
    answers = SingleTask(model).run(arrivals(3.0, 2_000, 1))
    refused = [each for each in answers if each.refused]
    assert {each.refused for each in refused} == {"queue_full"}
    assert all(each.ended_seconds >= each.document.at_seconds for each in answers)
    assert len(refused) / len(answers) == pytest.approx(2 / 3, abs=0.05), "a third is what the device can do"


def test_the_waiting_limit_bounds_what_is_admitted() -> None:
    model = replace(ONE_AT_A_TIME, max_queue_seconds=5.0)
    answers = SingleTask(model).run(arrivals(2.0, 2_000, 1))
    waited = [each.latency_seconds for each in answers if not each.refused]
    assert max(waited) <= 5.0 + 1.0 + 1.0, "its own second, and what ran when it came"


def test_files_wait_for_parsers_and_one_client_has_them_in_turn() -> None:
    """Four seconds of parsing a second at two parsers: half of it waits, and the limit refuses the rest."""
    model = replace(
        BATCHES, parsers=2, max_queue_seconds=1.0, documents=Documents(TOKENS, parse_seconds=0.2, text_seconds=0.0)
    )
    documents = [replace(each, parse_seconds=0.2) for each in arrivals(20.0, 800, 2)]
    answers = SingleTask(model).run(documents)
    refused = sum(bool(each.refused) for each in answers)
    assert refused / len(answers) == pytest.approx(0.5, abs=0.05)
    assert max(each.latency_seconds for each in answers if not each.refused) < 1.0 + 0.2 + 0.25 + 0.1


def test_capacity_is_the_rate_at_full_load_with_overlaps_counted() -> None:
    model = model_of(Capacity(documents_per_second=50.0, tokens_per_second=20_000.0, slo_ms=500.0))
    assert 1 / model.document_seconds == pytest.approx(50.0)
    assert model.document_tokens > 400.0, "windows overlap"

"""What a request asks of the engine: an estimate from a document's size, and the submission of its sequences."""

from __future__ import annotations

import numpy as np
import pytest

from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.schemas import Options
from service.core.types import Priority
from service.wire import ModelStatus, Submitted

MODEL = ModelStatus("m", "stable", "sha256:0", "/m", ("O",), 512, True, 1)
REQUEST = ExtractRequest(MODEL, Options(priority=Priority.BATCH), "alice", deadline_seconds=10.0)


@pytest.mark.parametrize(
    ("source", "format_", "size"),
    [
        (DocumentInput("0", text="größe"), "text", 5),
        (DocumentInput("0", data="größe".encode(), media_type="application/pdf"), "PDF", 7),
        (DocumentInput("0", data=b"", name="a.pdf"), "PDF", 0),
        (DocumentInput("0", data=b"a", media_type="made/up"), "unknown", 1),
        (DocumentInput("0", data=b"a", media_type="TEXT/HTML; charset=" + "x" * 50_000), "HTML", 1),
    ],
)
def test_the_estimate_has_the_size_of_the_input(source: DocumentInput, format_: str, size: int) -> None:
    estimate = REQUEST.estimate(source, now=4.0)
    assert (estimate.format, estimate.size, estimate.left_seconds) == (format_, size, 6.0)
    assert estimate.kind == ("sha256:0", "alice", Priority.BATCH, format_)


def test_the_submission_has_the_lengths_of_the_sequences() -> None:
    sequences = [np.zeros(3, dtype=np.int32), np.zeros(1, dtype=np.int32)]
    assert REQUEST.submission("k", sequences) == Submitted(
        "k", "sha256:0", (3, 1), "alice", Priority.BATCH, 10.0, attempt=0
    )

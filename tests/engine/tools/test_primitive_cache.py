"""The figures of the table on oneDNN's primitive cache, here from a fraction of a second."""

from __future__ import annotations

from pathlib import Path

import torch

from service.engine.tools.primitive_cache import SAMPLES, measure
from tests.support.tiny_models import make_model


def test_memory_is_sampled_and_rates_are_counted(tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    try:
        figures = measure(make_model(tmp_path), 0.2, int8=False, exact=False)
    finally:
        torch.set_num_threads(threads)
    assert len(figures.growth_bytes) == SAMPLES
    assert figures.documents_per_second > 0
    assert figures.documents_per_cpu_second > 0

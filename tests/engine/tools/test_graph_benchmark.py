"""The figures of the GPU's table of graphs, here from captures on a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from loadtest.bench.gpu import show_gains
from service.engine.cuda_graphs.buckets import SIZES
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.tools.graph_benchmark import graphs
from tests.support.graph_captures import CpuCapture, DeviceSync, FailsMidway
from tests.support.tiny_models import make_model


@pytest.fixture
def encoder(tmp_path: Path) -> TransformersEncoder:
    return load_encoder(make_model(tmp_path / "model"), torch.device("cpu"), torch.float32)


def test_each_row_is_checked_and_a_document_timed(
    encoder: TransformersEncoder, capsys: pytest.CaptureFixture[str]
) -> None:
    found = graphs(encoder, CpuCapture())
    assert [(row["tokens"], row["right"]) for row in found["rows"]] == [(tokens, True) for tokens in SIZES]
    assert found["document"]["plain_ms"] > 0
    assert found["document"]["graph_ms"] > 0
    show_gains(found)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith(("| 64 |", "| 2,048 |")) for line in lines) == 2
    assert lines[-1].startswith("| as a graph | ")


@pytest.mark.parametrize(
    ("capture", "words"), [(DeviceSync, "waits for the device"), (FailsMidway, "operation not permitted")]
)
def test_nothing_more_is_captured_after_a_failure(
    capture: type[CpuCapture], words: str, encoder: TransformersEncoder, capsys: pytest.CaptureFixture[str]
) -> None:
    found = graphs(encoder, capture())
    assert [row["tokens"] for row in found["rows"]] == [64]
    assert words in found["rows"][0]["failed"]
    assert found["document"] is None
    show_gains(found)
    assert words in capsys.readouterr().out


def test_no_figures_print_that_graphs_need_cuda(capsys: pytest.CaptureFixture[str]) -> None:
    show_gains({})
    assert "need CUDA" in capsys.readouterr().out

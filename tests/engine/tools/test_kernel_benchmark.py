"""The table of a model's ways to compute on a GPU; its times are for a GPU, or the rehearsal."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadtest.bench.gpu import show_kernels
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.engine.tools.kernel_benchmark import _figures
from service.settings import Settings
from tests.support.tiny_models import make_model


def test_without_cuda_there_is_no_way_and_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    publish(make_model(tmp_path / "m"), "tiny", Store(tmp_path / "store"))
    found = _figures(Settings(model_store=tmp_path / "store", device="cpu", threads=1), "tiny")
    assert found["ways"] == []
    show_kernels(found)
    assert "need CUDA" in capsys.readouterr().out


def test_each_way_is_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    ways = [{"asked": "fp8, compiled", "runs": "fp8, nvrtc, fused", "milliseconds": [1.234, 20.0]}]
    show_kernels({"tokens": [2_048, 65_536], "ways": ways})
    printed = capsys.readouterr().out
    assert "| 2,048 tokens, ms | 65,536 tokens, ms |\n|---|---|---|---|\n" in printed
    assert "| fp8, compiled | fp8, nvrtc, fused | 1.23 | 20.00 |\n" in printed

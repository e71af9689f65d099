"""The precision of a model: float32 where half precision does not hold its activations, or its code raises."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from service.engine.encoder.checkpoint import Checkpoint, read_checkpoint
from service.engine.encoder.path_selection import dtype_that_runs, logits_are_finite
from tests.support.tiny_models import make_model

INNER = "bert.encoder.layer.1.intermediate.dense.weight"


def _checkpoint(folder: Path, dtype: torch.dtype, factor: float = 1.0) -> Checkpoint:
    weights = load_file(make_model(folder) / "model.safetensors")
    weights[INNER] = weights[INNER] * factor
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return read_checkpoint(folder, dtype)


def test_a_model_whose_activations_fit_stays_in_float16(tmp_path: Path) -> None:
    checkpoint = _checkpoint(tmp_path, torch.float16)
    assert dtype_that_runs(checkpoint, torch.float16, partial(logits_are_finite, checkpoint)) == (torch.float16, "")
    assert checkpoint.model.dtype == torch.float16


def test_a_model_that_overflows_runs_in_float32_and_it_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = _checkpoint(tmp_path, torch.float16, factor=60_000.0)
    assert not logits_are_finite(checkpoint)
    with caplog.at_level(logging.WARNING):
        dtype, reason = dtype_that_runs(checkpoint, torch.float16, partial(logits_are_finite, checkpoint))
    assert dtype == torch.float32
    assert logits_are_finite(checkpoint)
    assert reason in {vars(record).get("reason") for record in caplog.records}


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("CUDA error: lost")])
def test_memory_and_a_lost_device_are_no_faults_of_a_precision(tmp_path: Path, error: Exception) -> None:
    def run() -> bool:
        raise error

    with pytest.raises(type(error)):
        dtype_that_runs(_checkpoint(tmp_path, torch.float16), torch.float16, run)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_other_precisions_have_the_range(tmp_path: Path, dtype: torch.dtype) -> None:
    checkpoint = _checkpoint(tmp_path, dtype, factor=60_000.0)
    assert logits_are_finite(checkpoint)
    assert dtype_that_runs(checkpoint, dtype, partial(logits_are_finite, checkpoint)) == (dtype, "")

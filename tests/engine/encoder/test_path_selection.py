"""Overflow in float16: found at load, by a model whose activations pass 65,504."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from service.engine.encoder.checkpoint import Checkpoint, read_checkpoint
from service.engine.encoder.path_selection import dtype_without_overflow, logits_are_finite
from tests.support.tiny_models import make_model

INNER = "bert.encoder.layer.1.intermediate.dense.weight"


def _checkpoint(folder: Path, dtype: torch.dtype, factor: float = 1.0) -> Checkpoint:
    weights = load_file(make_model(folder) / "model.safetensors")
    weights[INNER] = weights[INNER] * factor
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return read_checkpoint(folder, dtype)


def test_a_model_whose_activations_fit_stays_in_float16(tmp_path: Path) -> None:
    checkpoint = _checkpoint(tmp_path, torch.float16)
    assert dtype_without_overflow(checkpoint, torch.float16) == torch.float16
    assert checkpoint.model.dtype == torch.float16


def test_a_model_that_overflows_runs_in_float32_and_it_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = _checkpoint(tmp_path, torch.float16, factor=60_000.0)
    assert not logits_are_finite(checkpoint)
    with caplog.at_level(logging.WARNING):
        assert dtype_without_overflow(checkpoint, torch.float16) == torch.float32
    assert logits_are_finite(checkpoint)
    assert "float16 does not hold" in caplog.text


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_other_precisions_have_the_range(tmp_path: Path, dtype: torch.dtype) -> None:
    checkpoint = _checkpoint(tmp_path, dtype, factor=60_000.0)
    assert logits_are_finite(checkpoint)
    assert dtype_without_overflow(checkpoint, dtype) == dtype

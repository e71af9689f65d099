"""The choice between fused layers and a model's own code, by checks that can fail."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch

from service.engine.encoder import attention, fused_layer, fused_model
from service.engine.encoder.attention_backends import register_packed_attention
from service.engine.encoder.checkpoint import Checkpoint, read_checkpoint
from service.engine.encoder.forward_path import FUSED, ChosenPath, ForwardPath, PathReason
from service.engine.encoder.fused_check import fuse_on_device, is_exact_in_float32
from service.engine.encoder.path_selection import path_on_host
from tests.support.tiny_models import make_model


def _checkpoint(folder: Path, kind: str = "bert", dtype: torch.dtype = torch.float32) -> Checkpoint:
    register_packed_attention()
    return read_checkpoint(make_model(folder / kind, kind), dtype)


def _packed(folder: Path, dtype: torch.dtype = torch.float32) -> Checkpoint:
    checkpoint = _checkpoint(folder, dtype=dtype)
    attention.set_attention(checkpoint.model, attention.NAME)
    return checkpoint


def _weights(checkpoint: Checkpoint) -> dict[str, torch.Tensor]:
    return {name: each.clone() for name, each in checkpoint.model.named_parameters()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_of_bert_s_kind_is_fused(tmp_path: Path, dtype: torch.dtype) -> None:
    checkpoint = _packed(tmp_path, dtype)
    assert is_exact_in_float32(checkpoint)
    path, fused = fuse_on_device(checkpoint)
    assert fused is not None
    assert path == FUSED


@pytest.mark.parametrize("kind", ["bert", "electra", "modernbert", "mpnet"])
def test_a_cpu_keeps_the_model_s_own_code_and_a_gpu_fuses_what_it_can(tmp_path: Path, kind: str) -> None:
    checkpoint = _checkpoint(tmp_path, kind)
    before = _weights(checkpoint)
    assert not path_on_host(checkpoint, torch.device("cpu"), 512).fused
    assert path_on_host(checkpoint, torch.device("cuda"), 512).fused == (kind in ("bert", "electra"))
    for name, each in checkpoint.model.named_parameters():
        assert torch.equal(each, before[name]), name


def test_layers_that_compute_something_else_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = _packed(tmp_path)
    monkeypatch.setattr(fused_layer, "_activation", lambda _: torch.nn.functional.silu)
    assert not is_exact_in_float32(checkpoint)
    before, weights = checkpoint.model.bert.encoder.layer, _weights(checkpoint)
    assert fuse_on_device(checkpoint) == (ChosenPath(ForwardPath.PACKED, PathReason.ACCURACY), None)
    assert checkpoint.model.bert.encoder.layer is before
    assert all(torch.equal(each, weights[name]) for name, each in checkpoint.model.named_parameters())


def test_layers_that_fail_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = _packed(tmp_path)

    def fail(*_: object) -> torch.Tensor:
        raise RuntimeError("no kernel found to launch")

    monkeypatch.setattr(fused_model.FusedModel, "__call__", fail)
    before, weights = checkpoint.model.bert.encoder.layer, _weights(checkpoint)
    with caplog.at_level(logging.WARNING):
        assert fuse_on_device(checkpoint) == (ChosenPath(ForwardPath.PACKED, PathReason.FAILED), None)
    assert checkpoint.model.bert.encoder.layer is before
    assert all(torch.equal(each, weights[name]) for name, each in checkpoint.model.named_parameters())
    assert "no kernel found" in str([vars(record).get("reason") for record in caplog.records])

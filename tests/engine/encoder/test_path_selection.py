"""The choice of a model's path and precision, by checks that can fail, on the first layers of each kind."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForTokenClassification, PreTrainedModel

from service.engine.encoder import attention, fused_layer, fused_model
from service.engine.encoder.encoder import read_checkpoint
from service.engine.encoder.forward_path import FUSED, ChosenPath, ForwardPath, PathReason
from service.engine.encoder.fused_check import fuse_on_device, is_exact_in_float32
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.encoder.path_selection import dtype_that_runs, logits_are_finite, path_on_host
from service.families.engine.checkpoint import Checkpoint
from tests.support.tiny_models import KINDS, make_model

INNER = "bert.encoder.layer.1.intermediate.dense.weight"


def _checkpoint(folder: Path, dtype: torch.dtype, factor: float = 1.0) -> Checkpoint:
    weights = load_file(make_model(folder) / "model.safetensors")
    weights[INNER] = weights[INNER] * factor
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return read_checkpoint(folder, dtype)


def test_a_model_whose_activations_fit_stays_in_float16(tmp_path: Path) -> None:
    checkpoint = _checkpoint(tmp_path, torch.float16)
    assert dtype_that_runs(checkpoint, torch.float16) == (torch.float16, "")
    assert checkpoint.model.dtype == torch.float16


def test_a_model_that_overflows_runs_in_float32_and_it_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    checkpoint = _checkpoint(tmp_path, torch.float16, factor=60_000.0)
    assert not logits_are_finite(checkpoint)
    with caplog.at_level(logging.WARNING):
        dtype, reason = dtype_that_runs(checkpoint, torch.float16)
    assert dtype == torch.float32
    assert logits_are_finite(checkpoint)
    assert reason in {vars(record).get("reason") for record in caplog.records}


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("CUDA error: lost")])
def test_memory_and_a_lost_device_are_no_faults_of_a_precision(tmp_path: Path, error: Exception) -> None:
    def fail(*_: object) -> None:
        raise error

    checkpoint = _checkpoint(tmp_path, torch.float16)
    checkpoint.model.register_forward_pre_hook(fail)
    with pytest.raises(type(error)):
        dtype_that_runs(checkpoint, torch.float16)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_other_precisions_have_the_range(tmp_path: Path, dtype: torch.dtype) -> None:
    checkpoint = _checkpoint(tmp_path, dtype, factor=60_000.0)
    assert logits_are_finite(checkpoint)
    assert dtype_that_runs(checkpoint, dtype) == (dtype, "")


def _checkpoint_of(folder: Path, kind: str = "bert", dtype: torch.dtype = torch.float32) -> Checkpoint:
    return read_checkpoint(make_model(folder / kind, kind), dtype)


def _packed(folder: Path, dtype: torch.dtype = torch.float32) -> Checkpoint:
    checkpoint = _checkpoint_of(folder, dtype=dtype)
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
def test_a_gpu_fuses_what_it_can(tmp_path: Path, kind: str) -> None:
    checkpoint = _checkpoint_of(tmp_path, kind)
    before = _weights(checkpoint)
    assert path_on_host(checkpoint, 512).fused == (kind in ("bert", "electra"))
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


def layers_in(model: torch.nn.Module) -> int:
    return max(len(part) for part in model.modules() if isinstance(part, torch.nn.ModuleList))


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_runs_with_few_layers_and_is_restored(tmp_path: Path, kind: str) -> None:
    folder = make_model(tmp_path, kind, layers=12)
    model = AutoModelForTokenClassification.from_pretrained(folder).eval()
    ids = torch.arange(5, 20).unsqueeze(0)
    with torch.inference_mode():
        before = model(input_ids=ids).logits
        with first_layers_only(model, 2):
            assert layers_in(model) <= 6
            few = model(input_ids=ids).logits
        assert layers_in(model) == 12
        assert torch.equal(model(input_ids=ids).logits, before)
    assert few.shape == before.shape
    assert not torch.equal(few, before)


def test_full_and_sliding_attention_are_two_kinds_of_layer(tmp_path: Path) -> None:
    folder = make_model(tmp_path, "modernbert", layers=12)
    model: PreTrainedModel = AutoModelForTokenClassification.from_pretrained(folder)
    kinds = AutoConfig.from_pretrained(folder).layer_types
    assert len(set(kinds)) == 2
    with first_layers_only(model, 1):
        kept = [layer.attention_type for layer in model.base_model.layers]
    assert set(kept) == set(kinds)
    assert len(kept) <= 3  # The first layer has no norm, which makes it a kind of its own.


def test_all_layers_are_restored_after_a_failure(tmp_path: Path) -> None:
    model = AutoModelForTokenClassification.from_pretrained(make_model(tmp_path, layers=5))
    with pytest.raises(ValueError, match="a bug"), first_layers_only(model, 2):
        raise ValueError("a bug")
    assert layers_in(model) == 5


def test_a_model_without_one_list_of_layers_keeps_all() -> None:
    plain = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    with first_layers_only(plain, 1):
        assert len(plain) == 2
    several = torch.nn.Module()
    several.first = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
    several.second = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in range(3))
    with first_layers_only(several, 1):
        assert len(several.first) == len(several.second) == 3

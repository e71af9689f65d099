"""Fused models against transformers' own code, in float32 on the CPU; attention is the CPU's, or torch's SDPA."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from service.core.arrays import TokenIds
from service.engine.encoder import attention
from service.engine.encoder.attention import AttentionCall
from service.engine.encoder.attention_backends import BlockwiseAttention
from service.engine.encoder.encoder import read_checkpoint
from service.engine.encoder.fused_model import FusedModel, can_be_fused
from service.engine.encoder.packed_batch import pack
from service.engine.execution.offloading import HostOffloaded
from service.families.engine.checkpoint import Checkpoint, parameter_bytes
from tests.support.tiny_models import FUSABLE, KINDS, MAX_TOKENS, make_model

CPU = torch.device("cpu")


class SdpaAttention:
    """torch's own attention, one sequence after the other: in the place of flash attention."""

    name = "sdpa"
    fills = False

    def supports(self, call: AttentionCall) -> bool:
        return True

    def run(self, call: AttentionCall) -> torch.Tensor:
        rows = [each.transpose(0, 1) for each in (call.query, call.key, call.value)]
        mixed = []
        for start, stop in pairwise(call.borders):
            query, key, value = (each[:, start:stop] for each in rows)
            mixed.append(F.scaled_dot_product_attention(query, key, value, scale=call.scaling))
        return torch.cat(mixed, dim=1).transpose(0, 1).contiguous()


class FillingAttention(SdpaAttention):
    """The same into the tensor that it is given, which all layers share."""

    fills = True

    def run(self, call: AttentionCall) -> torch.Tensor:
        assert call.out is not None
        assert call.out.shape == call.query.shape
        return call.out.copy_(super().run(call))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: make_model(tmp_path_factory.mktemp("models") / kind, kind, layers=3) for kind in KINDS}


def _checkpoint(folder: Path, dtype: torch.dtype = torch.float32) -> Checkpoint:
    return read_checkpoint(folder, dtype)


def _sequences() -> list[TokenIds]:
    random = np.random.default_rng(0)
    return [random.integers(5, 200, length).astype(np.int32) for length in (1, 2, 17, MAX_TOKENS, 40, 100, 3)]


@torch.inference_mode()
def _logits(fused: FusedModel, first_position: int) -> list[np.ndarray]:
    batch = pack(_sequences(), CPU, first_position)
    logits: np.ndarray = fused(batch).float().numpy()
    return np.split(logits, batch.borders[1:-1])


@torch.inference_mode()
def _alone(checkpoint: Checkpoint) -> list[np.ndarray]:
    """By transformers' own code and attention, one sequence at a time."""
    inputs = [torch.from_numpy(each).long()[None] for each in _sequences()]
    return [checkpoint.model(input_ids=each).logits[0].float().numpy() for each in inputs]


def _mean_error(found: list[np.ndarray], wanted: list[np.ndarray]) -> float:
    return float(np.abs(np.concatenate(found) - np.concatenate(wanted)).mean())


@pytest.mark.parametrize("backend", [SdpaAttention(), FillingAttention(), BlockwiseAttention()])
@pytest.mark.parametrize("kind", FUSABLE)
def test_a_fused_model_computes_what_transformers_computes(
    kind: str, backend: attention.AttentionBackend, folders: dict[str, Path]
) -> None:
    checkpoint = _checkpoint(folders[kind])
    expected = _alone(checkpoint)
    for given, wanted in zip(
        _logits(FusedModel(checkpoint.model, backend), checkpoint.first_position), expected, strict=True
    ):
        np.testing.assert_allclose(given, wanted, atol=1e-5, rtol=0)


def test_a_model_with_a_part_that_would_be_left_out_cannot_be_fused(folders: dict[str, Path]) -> None:
    model = _checkpoint(folders["bert"]).model
    model.bert.encoder.layer[1].attention.output.register_parameter("gate", torch.nn.Parameter(torch.ones(1)))
    assert not can_be_fused(model)
    model = _checkpoint(folders["bert"]).model
    model.bert.pooler = torch.nn.Linear(32, 32)
    assert not can_be_fused(model)


def test_a_layer_whose_heads_are_not_all_there_cannot_be_fused(folders: dict[str, Path]) -> None:
    model = _checkpoint(folders["bert"]).model
    mixed = model.bert.encoder.layer[1].attention.output
    mixed.dense = torch.nn.Linear(mixed.dense.in_features // 2, mixed.dense.out_features)
    assert not can_be_fused(model)


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_a_fused_model_holds_no_weight_twice(kind: str, folders: dict[str, Path]) -> None:
    model = _checkpoint(folders[kind]).model
    weight_bytes = parameter_bytes(model)
    fused = FusedModel(model, SdpaAttention())
    storages = {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in _all_tensors(model)}
    folded_bytes = 3 * 2 * 4 * 32
    assert parameter_bytes(model) == sum(storages.values()) == weight_bytes - folded_bytes
    # Until they are forgotten, the layers that were replaced hold nothing of their own but biases.
    own = [each for each in fused._own_layers.parameters() if each.dim() > 1]
    assert {each.untyped_storage().data_ptr() for each in own} <= set(storages)


def _all_tensors(model: torch.nn.Module) -> list[torch.Tensor]:
    return list(model.parameters())


@pytest.mark.parametrize("kind", FUSABLE)
def test_a_restored_model_computes_as_before(kind: str, folders: dict[str, Path]) -> None:
    checkpoint = _checkpoint(folders[kind])
    before = _alone(checkpoint)
    FusedModel(checkpoint.model, SdpaAttention()).restore()
    for given, wanted in zip(_alone(checkpoint), before, strict=True):  # Weights lie elsewhere, so not bit for bit.
        np.testing.assert_allclose(given, wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["bert", "electra"])
def test_weights_that_were_offloaded_and_loaded_again_are_used(kind: str, folders: dict[str, Path]) -> None:
    checkpoint = _checkpoint(folders[kind])
    fused = FusedModel(checkpoint.model, SdpaAttention())
    fused.forget_own_layers()
    before = _logits(fused, 0)
    offloaded = HostOffloaded(_Idle(), checkpoint.model)
    offloaded.offload()
    offloaded.load()
    for given, wanted in zip(_logits(fused, 0), before, strict=True):
        np.testing.assert_array_equal(given, wanted)
    for each in checkpoint.model.parameters():
        each.data.zero_()
    assert not np.concatenate(_logits(fused, 0)).any()


class _Idle:
    device, max_tokens = CPU, MAX_TOKENS

    def forward(self, sequences: object) -> list[np.ndarray]:
        raise NotImplementedError


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", FUSABLE)
def test_folded_biases_cost_half_precision_nothing(kind: str, dtype: torch.dtype, folders: dict[str, Path]) -> None:
    expected, half = _alone(_checkpoint(folders[kind])), _checkpoint(folders[kind], dtype)
    own = _alone(half)
    found = _logits(FusedModel(half.model, SdpaAttention()), half.first_position)
    assert 0 < _mean_error(found, expected) < 1.2 * _mean_error(own, expected)


def test_folded_biases_far_out_cost_a_few_roundings(folders: dict[str, Path]) -> None:
    exact, half = _checkpoint(folders["bert"]), _checkpoint(folders["bert"], torch.bfloat16)
    for model in (exact.model, half.model):
        for layer in model.bert.encoder.layer:
            for dense in (layer.attention.output.dense, layer.output.dense):
                dense.bias.data[0] = 10.0
    expected, own = _alone(exact), _alone(half)
    found = _logits(FusedModel(half.model, SdpaAttention()), 0)
    assert _mean_error(found, expected) < 5 * _mean_error(own, expected)


@pytest.mark.parametrize("kind", FUSABLE)
def test_gelu_in_the_product_costs_less_than_half_precision(kind: str, folders: dict[str, Path]) -> None:
    exact = _checkpoint(folders[kind])
    expected, half = _alone(exact), _alone(_checkpoint(folders[kind], torch.bfloat16))
    found = _logits(FusedModel(exact.model, SdpaAttention(), gelu_in_product=True), exact.first_position)
    assert _mean_error(found, expected) < _mean_error(half, expected)

"""The swap of linear layers: models compute the same with it, and others keep their own layers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import PreTrainedModel

from service.engine.encoder.attention import set_attention
from service.engine.encoder.cpu.native.kernels import ATTENTION
from service.engine.encoder.cpu.native.swap_linears import NativeLinear, NativeResidualNorm, compile_linears
from service.engine.encoder.encoder import load_encoder
from service.engine.encoder.forward_path import PACKED
from tests.support.tiny_models import make_model

pytestmark = pytest.mark.needs("linear-kernels")

PARTS = {  # Layers, and among them those with residual and normalisation; two layers a model.
    "bert": (13, 4),
    "roberta": (13, 4),
    "electra": (14, 4),
    "distilbert": (13, 0),
    "modernbert": (10, 0),
    "deberta-v2": (17, 4),
}


DAMAGED = [
    *(f"attention.{each}" for each in ("self.query", "self.key", "self.value", "output.dense", "output.LayerNorm")),
    *("intermediate.dense", "output.dense", "output.LayerNorm"),
]


@pytest.mark.parametrize("kind", PARTS)
@pytest.mark.parametrize("int8", [False, True])
def test_a_swapped_model_is_near_the_exact_one(kind: str, int8: bool, tmp_path: Path) -> None:
    folder = make_model(tmp_path, kind, hidden=64)
    exact = load_encoder(folder, torch.device("cpu"), torch.float32)
    ours = load_encoder(folder, torch.device("cpu"), torch.bfloat16, int8=int8)
    found = Counter(type(module) for module in ours.module.modules())
    assert nn.Linear not in found
    assert (found[NativeLinear] + found[NativeResidualNorm], found[NativeResidualNorm]) == PARTS[kind]
    sequences = [np.arange(5, 5 + length, dtype=np.int32) for length in (40, 3, 17)]
    for near, true in zip(ours.forward(sequences), exact.forward(sequences), strict=True):
        assert np.linalg.norm(near - true) < (0.1 if int8 else 0.05) * np.linalg.norm(true)


def test_int8_covers_attention(tmp_path: Path) -> None:
    folder = make_model(tmp_path, "distilbert", hidden=128)  # Not BERT's layers, so attention is a call of its own.
    ours = load_encoder(folder, torch.device("cpu"), torch.bfloat16, int8=True)
    sequences = [np.arange(5, 45, dtype=np.int32)]
    (whole,) = ours.forward(sequences)
    assert isinstance(ours.module, PreTrainedModel)
    set_attention(ours.module, ATTENTION)
    (rounded_less,) = ours.forward(sequences)
    assert not np.array_equal(whole, rounded_less)
    assert np.linalg.norm(whole - rounded_less) < 0.1 * np.linalg.norm(rounded_less)


@pytest.mark.parametrize("kind", ["bert", "modernbert"])
def test_int8_results_do_not_depend_on_batch_mates(kind: str, tmp_path: Path) -> None:
    ours = load_encoder(make_model(tmp_path, kind, hidden=128), torch.device("cpu"), torch.bfloat16, int8=True)
    short, long = np.arange(5, 15, dtype=np.int32), np.arange(5, 105, dtype=np.int32)
    (alone,) = ours.forward([short])
    np.testing.assert_allclose(ours.forward([short, long])[0], alone, atol=0.01)


@pytest.mark.parametrize("int8", [False, True])
def test_parameter_bytes_count_the_new_layout(int8: bool, tmp_path: Path) -> None:
    folder = make_model(tmp_path, "bert", hidden=64)
    exact = load_encoder(folder, torch.device("cpu"), torch.float32)
    ours = load_encoder(folder, torch.device("cpu"), torch.bfloat16, int8=int8)
    assert 0.2 * exact.parameter_bytes < ours.parameter_bytes < 0.6 * exact.parameter_bytes


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_nan_in_any_weight_reaches_the_logits(dtype: str, name: str, tmp_path: Path) -> None:
    """A damaged model is detected by its scores (`spans.decode`)."""
    folder = make_model(tmp_path, "bert", hidden=128)
    weights = load_file(folder / "model.safetensors")
    weights[f"bert.encoder.layer.0.{name}.bias"][3] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    encoder = load_encoder(folder, torch.device("cpu"), torch.bfloat16, int8=dtype == "int8", known=PACKED)
    for rows in encoder.forward([np.arange(5, 5 + length, dtype=np.int32) for length in (40, 3, 17)]):
        assert not np.isfinite(rows).any()


class Scaled(nn.Module):
    """The parts of BERT's output module, composed in another way."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(8, 8)
        self.LayerNorm = nn.LayerNorm(8)
        self.dropout = nn.Dropout(0.0)

    def forward(self, rows: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.LayerNorm(self.dense(rows) * 0.5 + residual)
        return result


@torch.inference_mode()
def test_a_module_that_only_has_bert_s_names_is_kept() -> None:
    model = nn.ModuleDict({"output": Scaled()}).bfloat16().eval()
    rows = torch.randn(2, 1, 8).bfloat16()
    before = model["output"](rows[0], rows[1])
    assert compile_linears(model, lambda: model["output"](rows[0], rows[1]))
    assert isinstance(model["output"], Scaled)
    assert isinstance(model["output"].dense, NativeLinear)
    torch.testing.assert_close(model["output"](rows[0], rows[1]), before, atol=0.02, rtol=0.02)


@torch.inference_mode()
def test_a_model_with_float32_activations_keeps_its_layers() -> None:
    model = nn.Sequential(nn.Linear(8, 8))
    assert not compile_linears(model, lambda: model(torch.zeros(1, 8)))
    assert type(model[0]) is nn.Linear

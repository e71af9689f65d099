"""Linear layers for CPUs: prepacked ones compute the same, 8-bit ones nearly, and a model that fails keeps its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers.activations import GELUActivation

from service.core.arrays import TokenIds
from service.engine.device.selection import onednn_has_bfloat16
from service.engine.encoder.cpu_linear import (
    LARGEST,
    ZERO,
    Int8Linear,
    Kernels,
    PrepackedLinear,
    prepack_linears,
    quantize_rows,
)
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
SEQUENCES: list[TokenIds] = [np.arange(5, 5 + length, dtype=np.int32) for length in (40, 3, 17)]
NEEDS_BFLOAT16, NEEDS_INT8 = pytest.mark.needs("bfloat16"), pytest.mark.needs("int8")
BFLOAT16_KERNELS, BFLOAT16_LAYER = (
    (Kernels.ONEDNN, PrepackedLinear) if onednn_has_bfloat16() else (Kernels.TORCH, nn.Linear)
)
"""A model's kernels and layers in bfloat16: torch's own where oneDNN has none for this processor."""
LINEARS = 13
"""Linear layers in a model of two layers of BERT's kind, the head included."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"), hidden=128)


@pytest.fixture(scope="module")
def exact(folder: Path) -> TransformersEncoder:
    return load_encoder(folder, CPU, torch.float32)


@pytest.mark.parametrize(
    ("dtype", "int8", "kernels", "layers"),
    [
        (torch.float32, False, Kernels.TORCH, {nn.Linear: LINEARS}),
        pytest.param(torch.float32, True, Kernels.ONEDNN, {nn.Linear: 1, Int8Linear: LINEARS - 1}, marks=NEEDS_INT8),
        (torch.bfloat16, False, BFLOAT16_KERNELS, {BFLOAT16_LAYER: LINEARS}),
        pytest.param(
            torch.bfloat16,
            True,
            Kernels.ONEDNN,
            {BFLOAT16_LAYER: 1, Int8Linear: LINEARS - 1},
            marks=NEEDS_INT8,
        ),
    ],
)
def test_a_model_gets_the_layers_of_its_precision(
    folder: Path, exact: TransformersEncoder, dtype: torch.dtype, int8: bool, kernels: Kernels, layers: dict[type, int]
) -> None:
    encoder = load_encoder(folder, CPU, dtype, int8=int8)
    assert encoder.kernels is kernels
    found = Counter(type(module) for module in encoder.module.modules())
    assert {kind: found[kind] for kind in (nn.Linear, PrepackedLinear, Int8Linear) if found[kind]} == layers
    for near, true in zip(encoder.forward(SEQUENCES), exact.forward(SEQUENCES), strict=True):
        assert np.linalg.norm(near - true) < 0.1 * np.linalg.norm(true)


FORMATS = [torch.float32, torch.bfloat16]


@pytest.mark.parametrize("dtype", FORMATS)
def test_dequantised_rows_are_within_half_a_step(dtype: torch.dtype) -> None:
    rows = (torch.randn(50, 96) * torch.logspace(-3, 3, 50).unsqueeze(1)).to(dtype)
    integers, scales = quantize_rows(rows)
    assert integers.dtype == torch.uint8
    assert int(integers.min()) >= ZERO - LARGEST
    back = (integers.float() - ZERO) * scales.float()
    assert torch.all((back - rows.float()).abs() <= 0.5001 * scales.float())


@NEEDS_INT8
@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_near_the_exact_one(bias: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    linear = nn.Linear(96, 80, bias=bias)
    rows = torch.randn(1, 70, 96).to(dtype)
    with torch.inference_mode():
        near, exact = Int8Linear(linear).to(dtype)(rows), linear(rows.float())
    assert near.dtype == dtype
    assert float((near.float() - exact).norm() / exact.norm()) < 0.02


def test_a_row_s_result_does_not_depend_on_the_other_rows() -> None:
    torch.manual_seed(0)
    layer = Int8Linear(nn.Linear(64, 64)).bfloat16()
    rows = torch.randn(40, 64).bfloat16()
    rows[7] *= 1_000
    with torch.inference_mode():
        together = layer(rows)
        alone = torch.cat([layer(rows[i : i + 1]) for i in range(40)])
    assert torch.equal(together, alone)


@NEEDS_INT8
@pytest.mark.parametrize("kind", ["bert", "modernbert", "deberta-v2"])
def test_a_model_in_8_bits_is_near_itself(kind: str, tmp_path: Path) -> None:
    folder = make_model(tmp_path, kind, hidden=64)
    exact = load_encoder(folder, torch.device("cpu"), torch.float32)
    near = load_encoder(folder, torch.device("cpu"), torch.float32, int8=True)
    assert near.dtype_name == "int8"
    assert near.packed == exact.packed
    assert 0.2 * exact.parameter_bytes < near.parameter_bytes < exact.parameter_bytes
    sequences = [np.arange(5, 5 + length, dtype=np.int32) for length in (40, 3, 17)]
    for ours, theirs in zip(near.forward(sequences), exact.forward(sequences), strict=True):
        assert np.linalg.norm(ours - theirs) < 0.1 * np.linalg.norm(theirs)


class Intermediate(nn.Module):
    def __init__(self, **more: nn.Module) -> None:
        super().__init__()
        self.dense = nn.Linear(4, 4)
        self.intermediate_act_fn = GELUActivation()
        for name, module in more.items():
            setattr(self, name, module)


@NEEDS_BFLOAT16
def test_gelu_is_fused_only_where_it_follows_its_layer_at_once() -> None:
    plain, other = Intermediate(), Intermediate(norm=nn.LayerNorm(4))
    model = nn.Sequential(plain, other, nn.Linear(4, 2)).bfloat16()
    assert prepack_linears(model, lambda: None)
    assert isinstance(plain.intermediate_act_fn, nn.Identity)
    assert isinstance(other.intermediate_act_fn, GELUActivation)


class Reader(nn.Module):
    """Model code that reads its layer's weight, as a few architectures do."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 4).bfloat16()

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(rows.to(self.inner.weight.dtype))
        return result


@NEEDS_BFLOAT16
@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_the_same(bias: bool) -> None:
    linear = nn.Linear(96, 33, bias=bias).bfloat16()
    rows = torch.randn(1, 70, 96).bfloat16()
    with torch.inference_mode():
        torch.testing.assert_close(PrepackedLinear(linear)(rows), linear(rows), atol=0.01, rtol=0.01)


def test_a_model_that_reads_its_weights_keeps_its_layers() -> None:
    model = nn.Sequential(Reader(), Intermediate()).bfloat16()
    old = list(model.modules())
    with torch.inference_mode():
        assert not prepack_linears(model, lambda: model(torch.zeros(1, 8)))
    assert list(model.modules()) == old

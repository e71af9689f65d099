"""8-bit linear layers: near the exact product, and the same for a row whatever rows it comes with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from service.engine.encoder.cpu.int8_linear import LARGEST, ZERO, Int8Linear, quantize_linears, quantize_rows
from service.engine.encoder.encoder import load_encoder
from tests.support.tiny_models import make_model

FORMATS = [torch.float32, torch.bfloat16]


@pytest.mark.parametrize("dtype", FORMATS)
def test_dequantised_rows_are_within_half_a_step(dtype: torch.dtype) -> None:
    rows = (torch.randn(50, 96) * torch.logspace(-3, 3, 50).unsqueeze(1)).to(dtype)
    integers, scales = quantize_rows(rows)
    assert integers.dtype == torch.uint8
    assert int(integers.min()) >= ZERO - LARGEST
    back = (integers.float() - ZERO) * scales.float()
    assert torch.all((back - rows.float()).abs() <= 0.5001 * scales.float())


def test_a_row_of_zeros_stays_zero() -> None:
    integers, _ = quantize_rows(torch.zeros(2, 8))
    assert torch.all(integers == ZERO)


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


def test_heads_stay_as_they_are() -> None:
    head = nn.Linear(64, 9)
    model = nn.Sequential(nn.Linear(64, 64), nn.Sequential(nn.GELU(), head))
    assert quantize_linears(model) == 1
    assert head in list(model.modules())


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

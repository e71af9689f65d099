"""8-bit products: near the exact ones, a row's own whatever its company, proven at load, given up where wrong."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import torch
from torch import nn

from service.engine.encoder import attention
from service.engine.encoder.attention_backends import register_packed_attention
from service.engine.encoder.checkpoint import Checkpoint, read_checkpoint
from service.engine.encoder.cuda import fused_check
from service.engine.encoder.cuda.float8_linear import Float8Linear, can_be_quantized
from service.engine.encoder.cuda.fused_check import fuse_on_device
from service.engine.encoder.cuda.options import FusedOptions
from service.engine.encoder.cuda.row_operators import FLOAT8, LARGEST, TORCH_ROWS, TorchRows
from service.engine.encoder.forward_path import FUSED
from service.engine.execution.offloading import HostOffloaded
from service.engine.execution.packed_batch import pack
from tests.engine.encoder.cuda.test_fused_model import _Idle, _sequences
from tests.support.tiny_models import make_model

WISHED = FusedOptions(float8=True)


def _packed(folder: Path, hidden: int = 64) -> Checkpoint:
    register_packed_attention()
    checkpoint = read_checkpoint(make_model(folder, hidden=hidden), torch.bfloat16)
    attention.set_attention(checkpoint.model, attention.NAME)
    return checkpoint


def test_a_quantized_row_is_within_half_a_step_of_its_numbers() -> None:
    rows = (torch.randn(50, 96) * torch.logspace(-3, 3, 50).unsqueeze(1)).bfloat16()
    found, scales = TORCH_ROWS.quantize(rows)
    assert found.dtype == FLOAT8
    error = (found.float() * scales - rows.float()).abs()
    half_a_step = torch.maximum(rows.float().abs() / 16, scales * 2**-10)  # Below 2^-6 numbers are 2^-9 apart.
    assert bool((error <= 1.001 * half_a_step).all())
    assert float(found.float().abs().max()) == LARGEST


def test_a_row_of_zeros_stays_zero_and_one_that_is_no_number_stays_none() -> None:
    rows = torch.zeros(2, 32)
    rows[1, 3] = float("nan")
    found, scales = TORCH_ROWS.quantize(rows)
    values = found.float() * scales
    assert not values[0].any()
    assert values[1].isnan().all()


def test_the_product_is_near_the_exact_one_and_a_row_s_own() -> None:
    torch.manual_seed(0)
    linear = nn.Linear(96, 80).bfloat16()
    rows = torch.randn(70, 96).bfloat16()
    rows[7] *= 1_000
    layer = Float8Linear(linear)
    with torch.inference_mode():
        together = layer(*TORCH_ROWS.quantize(rows))
        alone = torch.cat([layer(*TORCH_ROWS.quantize(rows[i : i + 1])) for i in range(70)])
        exact = linear.float()(rows.float())
    assert together.dtype == torch.bfloat16
    torch.testing.assert_close(together, alone, rtol=0.01, atol=0.01)
    assert float((together.float() - exact).norm() / exact.norm()) < 0.05


@pytest.mark.parametrize(("inputs", "outputs", "fits"), [(64, 96, True), (60, 96, False), (64, 90, False)])
def test_products_take_multiples_of_16_features(inputs: int, outputs: int, fits: bool) -> None:
    assert can_be_quantized(nn.Linear(inputs, outputs)) == fits


def test_a_model_in_8_bits_is_fused_if_it_is_near_itself_and_holds_less(tmp_path: Path) -> None:
    checkpoint = _packed(tmp_path)
    before = checkpoint.weight_bytes
    path, fused = fuse_on_device(checkpoint, WISHED)
    assert path == FUSED
    assert fused is not None
    assert fused.float8
    weights, outputs = 2 * (4 * 64 * 64 + 2 * 64 * 128), 2 * (4 * 64 + 128 + 64)
    assert before - checkpoint.weight_bytes == weights - 4 * outputs


@torch.inference_mode()
def test_8_bit_weights_that_were_offloaded_and_loaded_again_are_used(tmp_path: Path) -> None:
    checkpoint = _packed(tmp_path)
    _, fused = fuse_on_device(checkpoint, WISHED)
    assert fused is not None
    batch = pack(_sequences(), torch.device("cpu"), 0)
    before = fused(batch)
    offloaded = HostOffloaded(_Idle(), checkpoint.model)
    offloaded.offload()
    offloaded.load()
    assert torch.equal(fused(batch), before)


def test_a_model_that_8_bits_change_too_much_keeps_16(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fused_check, "FLOAT8_LIMIT", 1e-6)
    with caplog.at_level(logging.WARNING):
        path, fused = fuse_on_device(_packed(tmp_path), WISHED)
    assert path == FUSED
    assert fused is not None
    assert not fused.float8
    assert [record.getMessage() for record in caplog.records] == ["fused layers are not accurate"]


class _WrongRows(TorchRows):
    """A compiled kernel with a mistake in it."""

    def quantize(self, rows: torch.Tensor, *, gelu: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        values, scales = super().quantize(rows, gelu=gelu)
        return values, scales * 2


def test_compiled_rows_that_are_wrong_give_way_to_torch_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fused_check, "_eight_bit_rows", lambda *_: iter((_WrongRows(), TORCH_ROWS)))
    with caplog.at_level(logging.WARNING):
        path, fused = fuse_on_device(_packed(tmp_path), WISHED)
    assert path == FUSED
    assert fused is not None
    assert fused.float8
    assert [record.getMessage() for record in caplog.records] == ["fused layers are not accurate"]


def test_a_model_whose_sizes_8_bits_cannot_take_keeps_16(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        path, fused = fuse_on_device(_packed(tmp_path, hidden=40), WISHED)
    assert path == FUSED
    assert fused is not None
    assert not fused.float8
    assert "40 features" in str([vars(record).get("reason") for record in caplog.records])

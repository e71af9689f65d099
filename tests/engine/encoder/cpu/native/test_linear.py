"""The compiled linear layers against torch's operators in float32."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.functional import gelu

from service.engine.encoder.cpu.native.linear import Product, available, supports

fit = pytest.mark.needs("linear-kernels")

SHAPES = [(1, 2, 1), (1, 64, 9), (5, 768, 768), (6, 312, 1200), (7, 384, 100), (200, 96, 3072), (193, 64, 130)]
"""Rows, inputs, outputs: with and without a rest in tiles, panels and vectors."""


def _layer(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    torch.manual_seed(inputs + outputs)
    return nn.Linear(inputs, outputs, bias=bias).bfloat16()


def _exact(linear: nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    return nn.functional.linear(
        rows.float(), linear.weight.float(), None if linear.bias is None else linear.bias.float()
    )


@fit
def test_layers_are_supported_by_their_inputs() -> None:
    assert available()
    assert supports(nn.Linear(4, 3), int8=True)
    assert not supports(nn.Linear(6, 3), int8=True)
    assert not supports(nn.Linear(3, 3))


@fit
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("count", "inputs", "outputs"), SHAPES)
@torch.inference_mode()
def test_the_product_is_float32_s_rounded_once(count: int, inputs: int, outputs: int, bias: bool) -> None:
    linear = _layer(inputs, outputs, bias)
    rows = torch.randn(1, count, inputs).bfloat16()
    found = Product(linear)(rows)
    assert found.shape == (1, count, outputs)
    torch.testing.assert_close(found.float(), _exact(linear, rows), atol=1e-5, rtol=2**-8)


@fit
@torch.inference_mode()
def test_gelu_is_exact_to_bfloat16_over_its_whole_range() -> None:
    linear = nn.Linear(2, 1, bias=False)
    linear.weight.fill_(1.0)
    values = torch.linspace(-30, 30, 20_001).bfloat16()
    rows = torch.stack([values, torch.zeros_like(values)], dim=1)
    found = Product(linear, gelu=True)(rows)[:, 0].float()
    torch.testing.assert_close(found, gelu(values.float()), atol=1e-4, rtol=2**-8)


@fit
@pytest.mark.parametrize("outputs", [16, 100, 768])
@torch.inference_mode()
def test_residual_and_normalisation_follow_the_product(outputs: int) -> None:
    linear, norm = _layer(96, outputs), nn.LayerNorm(outputs, eps=1e-5)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    rows, residual = torch.randn(1, 50, 96).bfloat16(), torch.randn(1, 50, outputs).bfloat16() * 3
    found = Product(linear, norm=norm)(rows, residual)
    torch.testing.assert_close(found.float(), norm(_exact(linear, rows) + residual.float()), atol=0.05, rtol=0.02)


@fit
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("count", "inputs", "outputs"), [shape for shape in SHAPES if shape[1] % 4 == 0])
@torch.inference_mode()
def test_int8_is_the_exact_product_of_rounded_numbers(count: int, inputs: int, outputs: int, bias: bool) -> None:
    linear = _layer(inputs, outputs, bias)
    rows = (torch.randn(count, inputs) * torch.logspace(-3, 3, count).unsqueeze(1)).bfloat16()
    scale_of_row = rows.float().abs().amax(1, keepdim=True) / 127
    scale_of_output = linear.weight.float().abs().amax(1, keepdim=True) / 127
    whole_rows, whole_weight = (rows * (1 / scale_of_row)).round(), (linear.weight / scale_of_output).round()
    exact = (whole_rows.double() @ whole_weight.double().T).float() * scale_of_row * scale_of_output.T
    exact = exact if linear.bias is None else exact + linear.bias.float()
    found = Product(linear, int8=True)(rows).float()
    torch.testing.assert_close(found, exact, atol=1e-5, rtol=2**-8)


@fit
@torch.inference_mode()
def test_int8_of_a_row_of_zeros_is_the_bias() -> None:
    linear = _layer(64, 70)
    found = Product(linear, int8=True)(torch.zeros(3, 64, dtype=torch.bfloat16))
    assert torch.equal(found, linear.bias.expand(3, 70))


@fit
@pytest.mark.parametrize("int8", [False, True])
@torch.inference_mode()
def test_a_row_s_result_is_the_same_alone_and_for_any_threads(int8: bool) -> None:
    product = Product(_layer(768, 800), int8=int8, norm=nn.LayerNorm(800))
    rows, residual = torch.randn(500, 768).bfloat16(), torch.randn(500, 800).bfloat16()
    rows[7] *= 1_000
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(product(rows, residual))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    for index in (0, 7, 499):
        assert torch.equal(found[0][index], product(rows[index : index + 1], residual[index : index + 1])[0])


@fit
@torch.inference_mode()
def test_rows_in_another_format_are_refused() -> None:
    with pytest.raises(TypeError, match="float32"):
        Product(_layer(8, 8))(torch.zeros(1, 8))


@fit
@torch.inference_mode()
def test_rows_that_are_not_contiguous_are_copied() -> None:
    linear = _layer(64, 32)
    wide = torch.randn(20, 2, 64).bfloat16()
    assert torch.equal(Product(linear)(wide[:, 1]), Product(linear)(wide[:, 1].contiguous()))

"""Prepacked linear layers: the same product, and models that keep their own."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from service.engine.encoder.cpu.prepacked_linear import PrepackedLinear, prepack_linears


class Reader(nn.Module):
    """Model code that reads its layer's weight, as a few architectures do."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 4).bfloat16()

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(rows.to(self.inner.weight.dtype))
        return result


@pytest.mark.parametrize("bias", [True, False])
def test_the_product_is_the_same(bias: bool) -> None:
    linear = nn.Linear(96, 33, bias=bias).bfloat16()
    rows = torch.randn(1, 70, 96).bfloat16()
    with torch.inference_mode():
        torch.testing.assert_close(PrepackedLinear(linear)(rows), linear(rows), atol=0.01, rtol=0.01)


def test_all_linear_layers_of_a_model_are_swapped() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.GELU(), nn.Linear(8, 4))).bfloat16()
    with torch.inference_mode():
        assert prepack_linears(model, lambda: model(torch.zeros(1, 8, dtype=torch.bfloat16)))
    assert sum(isinstance(module, PrepackedLinear) for module in model.modules()) == 2
    assert not any(isinstance(module, nn.Linear) for module in model.modules())


def test_a_model_that_reads_its_weights_keeps_its_layers() -> None:
    model = Reader()
    with torch.inference_mode():
        assert not prepack_linears(model, lambda: model(torch.zeros(1, 8)))
    assert isinstance(model.inner, nn.Linear)

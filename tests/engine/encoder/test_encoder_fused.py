"""Query, key and value as one product: the same answers, nothing kept, and only where all three read one tensor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from service.core.arrays import TokenIds
from service.engine.encoder.encoder import Encoder, load_encoder
from service.engine.encoder.encoder_fused import FusedLinear, fuse
from service.engine.execution.offloading import HostOffloaded
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
IDS: list[TokenIds] = [np.arange(5, 95, dtype=np.int32), np.arange(9, dtype=np.int32)]
LAYERS = 2


def load(folder: Path) -> Encoder:
    return load_encoder(folder, CPU, torch.float32)


def fused(encoder: Encoder) -> int:
    return fuse(encoder.module, lambda: encoder.forward(IDS))


def _products(model: nn.Module) -> list[FusedLinear]:
    return [each for each in model.modules() if isinstance(each, FusedLinear)]


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "electra"])
def test_answers_and_weights_are_those_of_three_products(kind: str, tmp_path: Path) -> None:
    encoder = load(make_model(tmp_path / kind, kind))
    before, weights = encoder.forward(IDS), encoder.parameter_bytes
    assert fused(encoder) == LAYERS
    for left, right in zip(encoder.forward(IDS), before, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-5)
    assert encoder.parameter_bytes == weights
    assert len(_products(encoder.module)) == 3 * LAYERS


def test_a_model_that_has_one_product_already_stays_as_it_is(tmp_path: Path) -> None:
    encoder = load(make_model(tmp_path / "m", "modernbert"))
    assert fused(encoder) == 0
    assert _products(encoder.module) == []


def test_weights_leave_and_come_back(tmp_path: Path) -> None:
    encoder = load(make_model(tmp_path / "m"))
    fused(encoder)
    before = encoder.forward(IDS)
    model = HostOffloaded(encoder, encoder.module)
    model.leave()
    model.come()
    for left, right in zip(model.forward(IDS), before, strict=True):
        np.testing.assert_array_equal(left, right)


class Attention(nn.Module):
    """Reads key and value from what `other` makes of the input."""

    def __init__(self, other: Callable[[torch.Tensor], torch.Tensor], sizes: tuple[int, int, int] = (8, 8, 8)) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(8, size) for size in sizes)
        self._other = other

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        seen = self._other(rows)
        return torch.cat([self.query(rows), self.key(seen), self.value(seen)], dim=-1)


@pytest.mark.parametrize(
    "attention",
    [Attention(torch.clone), Attention(lambda rows: rows, (8, 8, 16))],
    ids=["other tensor", "other shape"],
)
@torch.inference_mode()
def test_layers_that_differ_are_left_alone(attention: Attention) -> None:
    rows = torch.randn(5, 8)
    before = attention(rows)
    assert fuse(attention, lambda: attention(rows)) == 0
    assert torch.equal(attention(rows), before)
    assert _products(attention) == []


@torch.inference_mode()
def test_layers_that_part_ways_later_fail_rather_than_err() -> None:
    apart = False
    attention = Attention(lambda rows: rows + 1 if apart else rows)
    assert fuse(attention, lambda: attention(torch.randn(5, 8))) == 1
    apart = True
    with pytest.raises(RuntimeError, match="do not read the same tensor"):
        attention(torch.randn(5, 8))


@torch.inference_mode()
def test_nothing_is_kept_after_use() -> None:
    attention = Attention(lambda rows: rows)
    fuse(attention, lambda: attention(torch.randn(5, 8)))
    attention(torch.randn(5, 8))
    product = _products(attention)[0]._product
    assert (product._rows, product._waiting) == (None, {})

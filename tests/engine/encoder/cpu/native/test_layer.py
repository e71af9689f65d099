"""A whole layer in one call against its parts one by one, bit for bit."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import nn

from service.engine.encoder.cpu.native import attention
from service.engine.encoder.cpu.native.layer import Layer, Parts, supports
from service.engine.encoder.cpu.native.linear import Product

pytestmark = pytest.mark.needs("linear-kernels")

SHAPES = [(32, 1, 48, (0, 1)), (96, 3, 200, (0, 5, 6, 40)), (768, 12, 3072, (0, 300, 701)), (128, 2, 64, (0, 2, 450))]
"""Hidden, heads, inner, borders: with and without a rest in tiles, panels and parts; narrower inside than outside."""


def _parts(hidden: int, inner: int, *, int8: bool) -> Parts:
    torch.manual_seed(hidden + inner)
    norms = [nn.LayerNorm(hidden, eps=1e-5) for _ in range(2)]
    for norm in norms:
        nn.init.normal_(norm.weight, mean=1.0, std=0.2)
        nn.init.normal_(norm.bias)
    return Parts(
        query=Product(nn.Linear(hidden, hidden), int8=int8),
        key=Product(nn.Linear(hidden, hidden), int8=int8),
        value=Product(nn.Linear(hidden, hidden, bias=False), int8=int8),
        out=Product(nn.Linear(hidden, hidden), int8=int8, norm=norms[0]),
        up=Product(nn.Linear(hidden, inner), int8=int8, gelu=True),
        down=Product(nn.Linear(inner, hidden), int8=int8, norm=norms[1]),
    )


def _one_by_one(parts: Parts, rows: torch.Tensor, heads: int, borders: tuple[int, ...], *, int8: bool) -> torch.Tensor:
    total, hidden = rows.shape
    query, key, value = (each(rows).view(total, heads, -1) for each in (parts.query, parts.key, parts.value))
    mixed = attention.attend(query, key, value, borders, (hidden // heads) ** -0.5, int8=int8)
    attended = parts.out(mixed.view(total, hidden), rows)
    return parts.down(parts.up(attended), attended)


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("hidden", "heads", "inner", "borders"), SHAPES)
@torch.inference_mode()
def test_a_layer_equals_its_parts_bit_for_bit(
    hidden: int, heads: int, inner: int, borders: tuple[int, ...], threads: int, int8: bool
) -> None:
    parts = _parts(hidden, inner, int8=int8)
    assert supports(parts, heads)
    rows = torch.randn(1, borders[-1], hidden).bfloat16()
    given = rows.clone()
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = Layer(parts, heads)(rows, borders, int8=int8)
    finally:
        torch.set_num_threads(before)
    assert found.shape == rows.shape
    assert torch.equal(rows, given)
    assert torch.equal(found[0], _one_by_one(parts, rows[0], heads, borders, int8=int8))


@torch.inference_mode()
def test_int8_linears_and_bfloat16_attention_combine() -> None:
    parts, borders = _parts(64, 128, int8=True), (0, 30, 70)
    rows = torch.randn(70, 64).bfloat16()
    found = Layer(parts, 2)(rows, borders)
    assert torch.equal(found, _one_by_one(parts, rows, 2, borders, int8=False))
    assert not torch.equal(found, Layer(parts, 2)(rows, borders, int8=True))


@pytest.mark.parametrize("name", ["out", "up", "down"])
@torch.inference_mode()
def test_each_linear_layer_may_be_int8_or_bfloat16(name: str) -> None:
    """A layer of few outputs stays in bfloat16 where its neighbours do not."""
    whole, plain, borders = _parts(96, 200, int8=True), _parts(96, 200, int8=False), (0, 30, 230)
    rows = torch.randn(230, 96).bfloat16()
    for parts, other in ((whole, plain), (plain, whole)):
        mixed = parts._replace(**{name: getattr(other, name)})
        assert supports(mixed, 3)
        assert torch.equal(Layer(mixed, 3)(rows, borders), _one_by_one(mixed, rows, 3, borders, int8=False))


@torch.inference_mode()
def test_a_sequence_is_the_same_alone() -> None:
    layer, borders = Layer(_parts(96, 200, int8=True), 3), (0, 9, 220, 500)
    rows = torch.randn(500, 96).bfloat16()
    together = layer(rows, borders, int8=True)
    for start, stop in pairwise(borders):
        assert torch.equal(layer(rows[start:stop], (0, stop - start), int8=True), together[start:stop])


def test_what_does_not_fit_together_is_refused() -> None:
    parts = _parts(64, 128, int8=False)
    assert supports(parts, 2)
    assert not supports(parts, 4)  # Heads of 16 features.
    assert not supports(parts, 0)
    assert not supports(parts._replace(key=Product(nn.Linear(64, 64), int8=True)), 2)
    assert not supports(parts._replace(out=Product(nn.Linear(64, 64))), 2)
    assert not supports(parts._replace(query=parts.out), 2)
    assert not supports(parts._replace(up=Product(nn.Linear(64, 100), gelu=True)), 2)


def test_no_room_is_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.engine.encoder.cpu.native.layer._function", lambda: lambda *_: -1)
    with pytest.raises(MemoryError):
        Layer(_parts(64, 128, int8=False), 2)(torch.zeros(3, 64).bfloat16(), (0, 3))


def test_rows_that_are_no_bfloat16_are_refused() -> None:
    with pytest.raises(TypeError, match="float32"):
        Layer(_parts(64, 128, int8=False), 2)(torch.zeros(3, 64), (0, 3))

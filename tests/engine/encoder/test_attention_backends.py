"""Blockwise attention against torch's own with its masks written out."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from service.engine.encoder.attention import PackedAttention
from service.engine.encoder.attention_backends import BlockwiseAttention, scaled_by_sinks, sums_by_token

Row: TypeAlias = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Query, key and value: [1, heads, total, head_size]."""

HEADS, HEAD_SIZE = 4, 8


def _random_row(total: int, dtype: torch.dtype = torch.float32) -> Row:
    generator = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 1, HEADS, total, HEAD_SIZE, generator=generator).to(dtype)
    return query, key, value


def _as_float32(row: Row) -> Row:
    query, key, value = row
    return query.float(), key.float(), value.float()


def _packed(
    row: Row,
    borders: tuple[int, ...],
    window: int | None = None,
    max_length: int | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    mixed, _ = PackedAttention([BlockwiseAttention()])(
        torch.nn.Identity(),
        *row,
        None,
        cu_seqlens=torch.tensor(borders, dtype=torch.int32),
        borders=borders,
        max_length=max_length or max(stop - start for start, stop in pairwise(borders)),
        scaling=0.3,
        sliding_window=window,
        s_aux=sinks,
    )
    return mixed


def _written_out(row: Row, borders: tuple[int, ...], window: int | None = None) -> torch.Tensor:
    """One big mask over the whole row: the definition, at total × total cost."""
    total = borders[-1]
    owner = torch.bucketize(torch.arange(total), torch.tensor(borders[1:]), right=True)
    mask = owner[:, None] == owner[None, :]
    if window is not None:
        mask &= (torch.arange(total)[:, None] - torch.arange(total)[None, :]).abs() < window
    query, key, value = row
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=0.3).transpose(1, 2)


def _with_sinks(row: Row, borders: tuple[int, ...], window: int | None, sinks: torch.Tensor) -> torch.Tensor:
    """A sink as the definition has it: one more key of each sequence, without a value, whose score is given."""
    query, key, value = row
    scores = 0.3 * query @ key.transpose(2, 3)
    owner = torch.bucketize(torch.arange(borders[-1]), torch.tensor(borders[1:]), right=True)
    mask = owner[:, None] == owner[None, :]
    if window is not None:
        mask &= (torch.arange(borders[-1])[:, None] - torch.arange(borders[-1])[None, :]).abs() < window
    column = sinks.view(1, HEADS, 1, 1).expand(-1, -1, borders[-1], -1)
    weights = torch.cat([scores.masked_fill(~mask, -torch.inf), column], dim=-1).softmax(-1)[..., :-1]
    return (weights @ value).transpose(1, 2)


PRECISIONS = [(torch.float32, 1e-5), (torch.bfloat16, 0.02)]


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("borders", [(0, 1), (0, 5), (0, 1, 2, 3), (0, 3, 40, 41, 200)])
def test_a_token_sees_its_own_sequence_only(borders: tuple[int, ...], dtype: torch.dtype, tolerance: float) -> None:
    row = _random_row(borders[-1], dtype)
    exact = _written_out(_as_float32(row), borders)
    torch.testing.assert_close(_packed(row, borders).float(), exact, atol=tolerance, rtol=0)


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("window", [1, 2, 9, 64, 199, 200, 500])
def test_a_sliding_window_hides_tokens_that_far_away(window: int, dtype: torch.dtype, tolerance: float) -> None:
    borders = (0, 3, 40, 41, 240)
    row = _random_row(borders[-1], dtype)
    exact = _written_out(_as_float32(row), borders, window)
    torch.testing.assert_close(_packed(row, borders, window).float(), exact, atol=tolerance, rtol=0)


@pytest.mark.parametrize("window", [None, 9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_not_even_nan_reaches_a_neighbour(dtype: torch.dtype, window: int | None) -> None:
    row = _random_row(60, dtype)
    damaged = [each.clone() for each in row]
    for each in damaged:
        each[:, :, 21:40] = torch.nan
    borders = (0, 21, 40, 60)
    found = _packed((damaged[0], damaged[1], damaged[2]), borders, window)[0]
    expected = _packed(row, borders, window)[0]
    assert torch.equal(found[:21], expected[:21])
    assert torch.equal(found[40:], expected[40:])
    assert found[21:40].isnan().all()


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
def test_long_sequences_are_computed_in_blocks(
    dtype: torch.dtype, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.engine.encoder.attention_backends.BLOCK_SCORES", 1)
    row = _random_row(300, dtype)
    exact = _written_out(_as_float32(row), (0, 300))
    torch.testing.assert_close(_packed(row, (0, 300)).float(), exact, atol=tolerance, rtol=0)


@pytest.mark.parametrize(("dtype", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("window", [None, 1, 9, 64])
def test_a_sink_takes_its_share_of_each_softmax(dtype: torch.dtype, tolerance: float, window: int | None) -> None:
    borders = (0, 3, 40, 41, 200)
    row, sinks = _random_row(borders[-1], dtype), torch.tensor([-50.0, 0.5, 2.0, 50.0])
    exact = _with_sinks(_as_float32(row), borders, window, sinks)
    torch.testing.assert_close(_packed(row, borders, window, sinks=sinks).float(), exact, atol=tolerance, rtol=0)


@pytest.mark.parametrize("window", [None, 9])
def test_a_kernel_without_sinks_is_scaled_by_its_sums(window: int | None) -> None:
    borders, sinks = (0, 3, 40, 41, 200), torch.tensor([-50.0, 0.5, 2.0, 50.0])
    query, key, value = _random_row(borders[-1])
    plain, sums = _packed((query, key, value), borders, window)[0], torch.full((4, HEADS, 224), torch.nan)
    ones = torch.ones_like(value)
    for number, (start, stop) in enumerate(pairwise(borders)):
        # A softmax with a sink of score 0 sums to s / (s + 1).
        share = _packed((query, key, ones), borders, window, sinks=torch.zeros(HEADS))[0, start:stop, :, 0].double()
        sums[number, :, : stop - start] = (share / (1 - share)).log().t()
    by_token = sums_by_token(sums, torch.tensor(borders, dtype=torch.int32), borders[-1])
    found = scaled_by_sinks(plain, by_token, sinks)
    torch.testing.assert_close(found, _with_sinks((query, key, value), borders, window, sinks)[0], atol=1e-4, rtol=0)


@pytest.mark.parametrize("window", [None, 9])
def test_heads_of_keys_serve_neighbouring_heads_of_queries(window: int | None) -> None:
    query, key, value = _random_row(60)
    borders, few = (0, 21, 60), [each[:, ::2] for each in (key, value)]
    alike = [each.repeat_interleave(2, 1) for each in few]
    assert torch.equal(
        _packed((query, few[0], few[1]), borders, window), _packed((query, alike[0], alike[1]), borders, window)
    )

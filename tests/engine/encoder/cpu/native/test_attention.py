"""The compiled attention against torch's operators in float32."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from service.engine.encoder.cpu.native import attention as native

fit = pytest.mark.needs("attention-kernels")
SCALING = 0.2


def _row(total: int, heads: int, size: int, spread: float = 2.0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(total * size)
    query, key, value = (torch.randn(3, total, heads, size, generator=generator) * spread).bfloat16()
    return query, key, value


def _exact(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, borders: tuple[int, ...]) -> torch.Tensor:
    mixed = []
    for start, stop in pairwise(borders):
        q, k, v = (each[start:stop].float().transpose(0, 1) for each in (query, key, value))
        mixed.append((torch.softmax(q @ k.transpose(1, 2) * SCALING, -1) @ v).transpose(0, 1))
    return torch.cat(mixed)


@fit
def test_a_supported_head_size_is_supported() -> None:
    assert native.supports(torch.zeros(1, 1, 32, dtype=torch.bfloat16))


def test_float32_and_other_head_sizes_are_not_supported() -> None:
    assert not native.supports(torch.zeros(1, 1, 32))
    assert not native.supports(torch.zeros(1, 1, 24, dtype=torch.bfloat16))


@fit
@pytest.mark.parametrize("size", [32, 64, 96, 128])
@pytest.mark.parametrize("borders", [(0, 1), (0, 2, 3), (0, 5, 21, 38), (0, 16, 48), (0, 157, 158, 400), (0, 515)])
def test_results_equal_torch_s_in_float32(size: int, borders: tuple[int, ...]) -> None:
    row = _row(borders[-1], 3, size)
    with torch.inference_mode():
        mixed = native.attend(*row, borders, SCALING)
    torch.testing.assert_close(mixed.float(), _exact(*row, borders), atol=0.03, rtol=0.01)


@fit
@pytest.mark.parametrize("size", [32, 64, 96, 128])
@pytest.mark.parametrize("borders", [(0, 1), (0, 2, 3), (0, 5, 21, 38), (0, 16, 48), (0, 157, 158, 400), (0, 515)])
def test_int8_results_are_near_float32(size: int, borders: tuple[int, ...]) -> None:
    row = _row(borders[-1], 3, size, spread=1.0)
    mixed = native.attend(*row, borders, SCALING, int8=True).float()
    exact = _exact(*row, borders)
    assert (mixed - exact).norm() < 0.04 * exact.norm()
    torch.testing.assert_close(mixed, exact, atol=0.1, rtol=0.01)


@fit
def test_int8_takes_bfloat16_for_a_sequence_too_long_for_its_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LONGEST_INT8_TOKENS", 100)
    row = _row(101, 2, 32)
    assert torch.equal(native.attend(*row, (0, 101), SCALING, int8=True), native.attend(*row, (0, 101), SCALING))
    assert not torch.equal(
        native.attend(*row, (0, 100, 101), SCALING, int8=True), native.attend(*row, (0, 100, 101), SCALING)
    )


@fit
def test_int8_keeps_the_sum_of_many_small_weights() -> None:
    query, key = torch.zeros(400, 1, 32).bfloat16(), torch.zeros(400, 1, 32).bfloat16()
    query[:, :, 0], key[7, :, 0] = 10.0, 3.3  # The others weigh 1/735 of it each, which rounds to 0.
    value = torch.ones(400, 1, 32).bfloat16()
    value[7] = 0.0
    mixed = native.attend(query, key, value, (0, 400), SCALING, int8=True).float()
    torch.testing.assert_close(mixed, _exact(query, key, value, (0, 400)), atol=0.02, rtol=0.0)


@fit
def test_large_scores_do_not_overflow() -> None:
    row = _row(40, 2, 32, spread=300.0)
    mixed = native.attend(*row, (0, 40), SCALING)
    torch.testing.assert_close(mixed.float(), _exact(*row, (0, 40)), atol=1.0, rtol=0.01)


@fit
@pytest.mark.parametrize("spread", [170.0, 181.0, 183.0, 240.0, 241.0, 250.0, 300.0])
def test_int8_large_scores_do_not_overflow(spread: float) -> None:
    query = key = torch.eye(40, 64).bfloat16().unsqueeze(1) * spread  # Each token sees itself, and the last one all.
    value = _row(40, 1, 64, spread=300.0)[2]
    query[39], value[:, :, 1] = 0.0, 0.0
    mixed = native.attend(query, key, value, (0, 40), SCALING, int8=True)
    torch.testing.assert_close(mixed.float(), _exact(query, key, value, (0, 40)), atol=300.0 * 4 / 127, rtol=0.0)


@fit
@pytest.mark.parametrize("int8", [False, True])
def test_a_sequence_s_result_is_the_same_alone_and_for_any_threads(int8: bool) -> None:
    row = _row(700, 8, 64)
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 3):
            torch.set_num_threads(threads)
            found.append(native.attend(*row, (0, 300, 700), SCALING, int8=int8))
        query, key, value = (each[300:] for each in row)
        alone = native.attend(query, key, value, (0, 400), SCALING, int8=int8)
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0][300:], alone)


@fit
@pytest.mark.parametrize("int8", [False, True])
def test_slices_of_a_wider_tensor_are_read_in_place(int8: bool) -> None:
    wide = torch.randn(50, 3, 4, 32).bfloat16()
    query, key, value = wide.unbind(1)
    borders = (0, 20, 50)
    mixed = native.attend(query, key, value, borders, SCALING, int8=int8)
    torch.testing.assert_close(
        mixed.float(), _exact(query, key, value, borders), atol=0.06 if int8 else 0.03, rtol=0.01
    )

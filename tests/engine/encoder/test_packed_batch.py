"""Batches as tensors: packed rows, their filler, which changes no result, and copies to the host."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from service.core.arrays import TokenIds
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.encoder.packed_batch import (
    SMALLEST_STEP_TOKENS,
    copy_to_host,
    fill,
    filler_lengths,
    pack,
    round_up,
)
from tests.support.tiny_models import PACKABLE, make_model

CPU = torch.device("cpu")


def _ids(*tokens: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(tokens, dtype=np.int32)


def test_sequences_lie_end_to_end_and_positions_restart() -> None:
    batch = pack([_ids(7, 8, 9), _ids(5), _ids(6, 6)], CPU)
    assert batch.input_ids.tolist() == [[7, 8, 9, 5, 6, 6]]
    assert batch.position_ids.tolist() == [[0, 1, 2, 0, 0, 1]]
    assert batch.borders == (0, 3, 4, 6)
    assert batch.cu_seqlens.tolist() == [0, 3, 4, 6]
    assert batch.cu_seqlens.dtype == torch.int32
    assert batch.max_length == 3


def test_positions_start_at_the_model_s_first() -> None:
    assert pack([_ids(7, 8), _ids(5)], CPU, first_position=2).position_ids.tolist() == [[2, 3, 2]]


@given(st.integers(1, 100_000))
def test_a_size_holds_its_tokens_and_little_more(tokens: int) -> None:
    size = round_up(tokens)
    assert tokens <= size < tokens + max(SMALLEST_STEP_TOKENS, tokens / 15)
    assert round_up(size) == size


@pytest.mark.parametrize(("tokens", "size"), [(1, 16), (16, 16), (17, 32), (512, 512), (513, 544), (2_048, 2_048)])
def test_sizes_are_multiples_of_16_then_16_in_each_doubling(tokens: int, size: int) -> None:
    assert round_up(tokens) == size


@pytest.mark.parametrize(
    ("tokens", "longest", "lengths"),
    [(0, 256, []), (56, 256, [56]), (200, 100, [100, 100]), (226, 100, [100, 100, 26])],
)
def test_filler_is_as_few_sequences_as_can_be(tokens: int, longest: int, lengths: list[int]) -> None:
    assert filler_lengths(tokens, longest) == lengths


def test_filler_follows_the_sequences() -> None:
    real = [np.arange(5, dtype=np.int32), np.arange(3, dtype=np.int32)]
    filled = fill(real, 20, 8)
    assert [len(tokens) for tokens in filled] == [5, 3, 8, 4]
    assert filled[:2] == real
    assert all(tokens.dtype == np.int32 for tokens in filled)


@pytest.mark.parametrize(
    ("first", "tokens", "positions"),
    [
        (2, [5, 1, 6, 1, 1, 7], [2, 1, 3, 1, 1, 4]),
        (2, [1, 5], [1, 2]),
        (1, [0, 9, 0, 9], [0, 1, 0, 2]),
        (0, [5, 1, 0, 7], [0, 1, 2, 3]),
    ],
)
def test_padding_tokens_of_a_text_are_counted_as_the_model_does(
    first: int, tokens: list[int], positions: list[int]
) -> None:
    batch = pack([_ids(8, 8), _ids(*tokens)], CPU, first)
    assert batch.position_ids[0].tolist() == [first, first + 1, *positions]


def test_half_precision_is_copied_exactly() -> None:
    logits = torch.randn(5, 3).bfloat16()
    copied = copy_to_host(logits)()
    assert copied.dtype == np.float32
    assert torch.equal(torch.from_numpy(copied).bfloat16(), logits)


PRECISIONS = [
    pytest.param(torch.bfloat16, False, marks=pytest.mark.needs("bfloat16")),
    pytest.param(torch.bfloat16, True, marks=pytest.mark.needs("int8")),
    pytest.param(torch.float32, True, marks=pytest.mark.needs("int8")),
]


def _random_ids(length: int, seed: int = 0) -> TokenIds:
    return np.random.default_rng(seed).integers(5, 200, length).astype(np.int32)


def _rows_of(encoder: TransformersEncoder) -> list[int]:
    """Filled with the tokens of each row that the model is given from now on."""
    rows: list[int] = []
    embeddings = encoder.module.get_input_embeddings()  # type: ignore[operator]
    embeddings.register_forward_pre_hook(lambda _, given: rows.append(given[0].shape[1]))
    return rows


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: make_model(tmp_path_factory.mktemp("m") / kind, kind, hidden=64) for kind in PACKABLE}


@pytest.mark.parametrize(("dtype", "int8"), PRECISIONS)
def test_batches_of_any_length_make_rows_of_few_sizes(folders: dict[str, Path], dtype: torch.dtype, int8: bool) -> None:
    encoder = load_encoder(folders["bert"], CPU, dtype, int8=int8)
    rows = _rows_of(encoder)
    totals = range(1, 300, 7)
    for total in totals:
        (logits,) = encoder.forward([_random_ids(total)])
        assert logits.shape == (total, len(encoder.labels))
    assert rows == [round_up(total) for total in totals]


def test_rows_in_float32_keep_their_length(folders: dict[str, Path]) -> None:
    encoder = load_encoder(folders["bert"], CPU, torch.float32)
    rows = _rows_of(encoder)
    encoder.forward([_random_ids(21)])
    assert rows == [21]


@pytest.mark.parametrize("kind", PACKABLE)
@pytest.mark.parametrize(("dtype", "int8"), PRECISIONS)
def test_results_do_not_depend_on_the_filler_bit_for_bit(
    folders: dict[str, Path], kind: str, dtype: torch.dtype, int8: bool
) -> None:
    encoder = load_encoder(folders[kind], CPU, dtype, int8=int8)
    rows = _rows_of(encoder)
    real = [_random_ids(50, seed=1), _random_ids(21, seed=2)]
    filled = encoder.forward(real)
    for seed in (3, 4):  # Batch mates in the place of the 9 tokens of filler.
        with_mates = encoder.forward([*real, _random_ids(9, seed)])
        for left, right in zip(filled, with_mates[:2], strict=True):
            np.testing.assert_array_equal(left, right)
    assert rows == [80, 80, 80]

"""Rows that are rounded up for oneDNN: few sizes, and results that do not depend on the filler, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from service.core.arrays import TokenIds
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.encoder.packed_batch import round_up
from tests.support.tiny_models import PACKABLE, make_model

CPU = torch.device("cpu")
PRECISIONS = [
    pytest.param(torch.bfloat16, False, marks=pytest.mark.needs("bfloat16")),
    pytest.param(torch.bfloat16, True, marks=pytest.mark.needs("int8")),
    pytest.param(torch.float32, True, marks=pytest.mark.needs("int8")),
]


def _ids(length: int, seed: int = 0) -> TokenIds:
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
        (logits,) = encoder.forward([_ids(total)])
        assert logits.shape == (total, len(encoder.labels))
    assert rows == [round_up(total) for total in totals]


def test_rows_in_float32_keep_their_length(folders: dict[str, Path]) -> None:
    encoder = load_encoder(folders["bert"], CPU, torch.float32)
    rows = _rows_of(encoder)
    encoder.forward([_ids(21)])
    assert rows == [21]


@pytest.mark.parametrize("kind", PACKABLE)
@pytest.mark.parametrize(("dtype", "int8"), PRECISIONS)
def test_results_do_not_depend_on_the_filler_bit_for_bit(
    folders: dict[str, Path], kind: str, dtype: torch.dtype, int8: bool
) -> None:
    encoder = load_encoder(folders[kind], CPU, dtype, int8=int8)
    rows = _rows_of(encoder)
    real = [_ids(50, seed=1), _ids(21, seed=2)]
    filled = encoder.forward(real)
    for seed in (3, 4):  # Batch mates in the place of the 9 tokens of filler.
        with_mates = encoder.forward([*real, _ids(9, seed)])
        for left, right in zip(filled, with_mates[:2], strict=True):
            np.testing.assert_array_equal(left, right)
    assert rows == [80, 80, 80]

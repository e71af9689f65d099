"""A captured row against the plain forward pass: filled up, cut out, one batch after another."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from service.core.arrays import TokenIds
from service.engine.cuda_graphs.buckets import Bucket, bucket_for, buckets
from service.engine.cuda_graphs.graph import GraphedRow, Replay
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.execution.packed_batch import PackedBatch
from tests.support.graph_captures import Compute, CpuCapture
from tests.support.tiny_models import MAX_TOKENS, PACKABLE, make_model

CPU = torch.device("cpu")
BATCHES = ([70], [100, 28], [30, 1, 64], [128])


def batch(lengths: list[int], seed: int = 0) -> list[TokenIds]:
    random = np.random.default_rng(seed)
    return [random.integers(5, 100, length).astype(np.int32) for length in lengths]


def row_of(encoder: TransformersEncoder, lengths: list[int]) -> Bucket:
    row = bucket_for(buckets(encoder.max_tokens), lengths)
    assert row is not None
    return row


def load(folder: Path) -> TransformersEncoder:
    return load_encoder(folder, CPU, torch.float32)


@pytest.mark.parametrize("kind", PACKABLE)
def test_a_replay_gives_what_the_plain_pass_gives(kind: str, tmp_path: Path) -> None:
    encoder = load(make_model(tmp_path / kind, kind))
    with torch.inference_mode():
        graph = GraphedRow(row_of(encoder, [128]), encoder, CpuCapture())
        for seed, lengths in enumerate(BATCHES):
            sequences = batch(lengths, seed)
            for found, wanted in zip(graph.forward(sequences), encoder.forward(sequences), strict=True):
                np.testing.assert_allclose(found, wanted, atol=2e-5)


class KeepsBatch(CpuCapture):
    """Keeps the tensors that were captured."""

    batch: PackedBatch

    def capture(self, compute: Compute, batch: PackedBatch) -> Replay:
        self.batch = batch
        return super().capture(compute, batch)


@pytest.mark.parametrize(
    ("lengths", "borders"),
    [
        ([70], [0, 70, 128, 128, 128]),
        ([128], [0, 128, 128, 128, 128]),
        ([30, 1, 64], [0, 30, 31, 95, 128]),
        ([32, 32, 32, 32], [0, 32, 64, 96, 128]),
    ],
)
def test_the_row_is_filled_up_and_unused_slots_are_empty(
    lengths: list[int], borders: list[int], tmp_path: Path
) -> None:
    encoder, capture = load(make_model(tmp_path / "model", "roberta")), KeepsBatch()
    with torch.inference_mode():
        graph = GraphedRow(row_of(encoder, [128]), encoder, capture)
        found = graph.forward(batch(lengths))
    assert [len(rows) for rows in found] == lengths
    assert capture.batch.cu_seqlens.tolist() == borders
    assert capture.batch.input_ids[0, : sum(lengths)].tolist() == np.concatenate(batch(lengths)).tolist()
    positions = capture.batch.position_ids[0] - encoder.first_position
    assert positions.tolist() == [index for start, stop in pairwise(borders) for index in range(stop - start)]


def test_a_row_longer_than_the_longest_sequence_has_more_filler(tmp_path: Path) -> None:
    encoder = load(make_model(tmp_path / "model"))
    lengths = [MAX_TOKENS, 1, 513 - 1]
    with torch.inference_mode():
        graph = GraphedRow(row_of(encoder, lengths), encoder, CpuCapture())
        found, wanted = graph.forward(batch(lengths)), encoder.forward(batch(lengths))
    assert [len(rows) for rows in found] == lengths
    for left, right in zip(found, wanted, strict=True):
        np.testing.assert_allclose(left, right, atol=2e-5)


def test_a_second_batch_may_be_queued_before_the_first_arrives(tmp_path: Path) -> None:
    encoder = load(make_model(tmp_path / "model"))
    first, second = batch([100], 1), batch([80, 20], 2)
    with torch.inference_mode():
        graph = GraphedRow(row_of(encoder, [100]), encoder, CpuCapture())
        pending = [graph.begin(first), graph.begin(second)]
    for logits, sequences in zip(pending, (first, second), strict=True):
        for left, right in zip(logits(), encoder.forward(sequences), strict=True):
            np.testing.assert_allclose(left, right, atol=2e-5)

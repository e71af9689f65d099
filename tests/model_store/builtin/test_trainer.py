"""The trainer of the built-in model, on a tiny one: it learns, and goes on from a checkpoint with all of its state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForTokenClassification

from model_store.builtin.training.batches import Batch, SpecialIds, batches
from model_store.builtin.training.encoding import Encoded, open_tags
from model_store.builtin.training.examples import EVERY_LABEL
from model_store.builtin.training.labels import TAGS
from model_store.builtin.training.peers import Peers
from model_store.builtin.training.trainer import Training, rate_share

SPECIAL = SpecialIds(begin=0, end=2, pad=1, unknown=3)


def tiny_model() -> BertForTokenClassification:
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=30, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        num_labels=len(TAGS), attention_probs_dropout_prob=0.0, pad_token_id=1,
    )  # fmt: skip
    return BertForTokenClassification(config)


def draws(seed: int = 1) -> Iterator[Batch]:
    """Endless batches in which a token's number is its tag."""
    random = np.random.default_rng(seed)
    docs = [random.integers(4, 30, 20, dtype=np.int32) for _ in range(50)]
    closed = open_tags(EVERY_LABEL)
    encoded = {"set": [Encoded(ids, ids.astype(np.int16), closed, "set") for ids in docs]}
    return batches(encoded, {"set": 1.0}, special=SPECIAL, budget_tokens=256, random=random)


def test_rows_begin_and_end_with_the_tokenizer_s_own_tokens() -> None:
    batch = next(draws())
    assert set(batch.ids[:, 0].tolist()) == {SPECIAL.begin}
    last = batch.mask.sum(dim=1) - 1
    assert set(batch.ids.gather(1, last[:, None]).flatten().tolist()) == {SPECIAL.end}


def test_it_learns_and_leaves_the_word_embeddings_alone(tmp_path: Path) -> None:
    training = Training(tiny_model(), Peers())
    before = training.model.bert.embeddings.word_embeddings.weight.clone()
    training.run(islice(draws(), 150), minutes=60, checkpoint=tmp_path / "state.pt")
    batch = next(draws(2))
    with torch.inference_mode():
        found = training.model.eval()(input_ids=batch.ids, attention_mask=batch.mask).logits.argmax(-1)
    counted = batch.tags >= 0
    assert float((found == batch.tags)[counted].float().mean()) > 0.5
    assert torch.equal(before, training.model.bert.embeddings.word_embeddings.weight)


def test_a_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    first = Training(tiny_model(), Peers())
    first.run(islice(draws(), 10), minutes=60, checkpoint=tmp_path / "state.pt")
    second = Training(tiny_model(), Peers())
    second.load(tmp_path / "state.pt")
    assert second.progress == first.progress
    assert second.progress.steps == 10
    assert all(torch.equal(a, b) for a, b in zip(first.model.parameters(), second.model.parameters(), strict=True))
    second.run(islice(draws(), 5), minutes=60, checkpoint=tmp_path / "state.pt")
    assert second.progress.steps == 15


def test_it_ends_when_its_time_is_up(tmp_path: Path) -> None:
    training = Training(tiny_model(), Peers())
    training.run(draws(), minutes=0.02, checkpoint=tmp_path / "state.pt")
    assert training.progress.steps > 0


def test_the_rate_warms_up_and_falls_with_the_time() -> None:
    assert rate_share(step=0, elapsed_share=0.0) == pytest.approx(0.01)
    assert rate_share(step=500, elapsed_share=0.0) == 1.0
    assert rate_share(step=500, elapsed_share=0.5) == pytest.approx(0.505)
    assert rate_share(step=500, elapsed_share=2.0) == pytest.approx(0.01)


def test_a_rate_of_nought_learns_nothing_and_a_higher_one_more(tmp_path: Path) -> None:
    moved = []
    for rate in (0.0, 0.1, 1.0):
        model = tiny_model()
        before = model.classifier.weight.detach().clone()
        training = Training(model, Peers(), rate=rate)
        training.run(islice(draws(), 5), minutes=1, checkpoint=tmp_path / f"{rate}.pt")
        moved.append(float((training.model.classifier.weight.detach() - before).abs().max()))
    assert moved[0] == 0
    assert 0 < moved[1] < moved[2]

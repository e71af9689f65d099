"""Pages in the training mix: their share, and no structure on both sides."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import BertConfig, BertForTokenClassification

from model_store.builtin.training.__main__ import beginning
from model_store.builtin.training.export import export
from model_store.builtin.training.labels import TAGS
from model_store.builtin.training.mixture import GENERATED, PAGES, WEIGHTS, assemble, weights


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with one real set of no documents."""
    (tmp_path / "train").mkdir()
    (tmp_path / "MAPPING.json").write_text(json.dumps({"map": {}}))
    return tmp_path


def test_pages_are_a_fifth_of_training_and_the_generator_has_their_share_without_them() -> None:
    assert WEIGHTS[PAGES] / sum(WEIGHTS.values()) == pytest.approx(0.2)
    assert weights([GENERATED, PAGES]) == WEIGHTS
    without = weights([GENERATED])
    assert without[GENERATED] == WEIGHTS[GENERATED] + WEIGHTS[PAGES]


def test_no_structure_is_on_both_sides(data: Path) -> None:
    training, held_out = assemble(data, documents=30, pages=150, seed=1)
    left_out = {
        example.group for name, examples in held_out.items() if name.startswith("page_") for example in examples
    }
    assert left_out
    assert len(training[PAGES]) > 100
    assert not left_out & {example.group for example in training[PAGES]}


def test_without_pages_there_is_no_set_of_them(data: Path) -> None:
    training, held_out = assemble(data, documents=30, pages=0, seed=1)
    assert set(training) == {GENERATED}
    assert not any(name.startswith("page_") for name in held_out)


def test_training_goes_on_from_a_trained_model_s_weights_and_words(tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=4, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        num_labels=len(TAGS),
    )  # fmt: skip
    trained = BertForTokenClassification(config)
    tokenizer = Tokenizer(WordLevel({"<unk>": 0, "acme": 1}, unk_token="<unk>"))
    export(trained, tokenizer, tmp_path)
    model, own = beginning({}, Namespace(start=tmp_path))
    assert own.get_vocab() == tokenizer.get_vocab()
    assert model.dtype == torch.float32
    torch.testing.assert_close(model.classifier.weight, trained.classifier.weight, atol=1e-3, rtol=1e-2)

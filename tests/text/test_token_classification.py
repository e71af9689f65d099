"""Entities in transformers' spelling equal those of its own pipeline, with every strategy."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

from service.core.decoding.aggregation_strategies import Aggregation
from service.core.errors import ModelError
from service.text.pipeline import Prepared, prepare
from service.text.token_classification import classify
from service.text.tokenizer import TextTokenizer
from tests.support.extraction import random_texts
from tests.support.pipeline_peers import computing_once
from tests.support.tiny_models import LABELS, make_model

STRATEGIES = (None, *(each for each in Aggregation if each is not Aggregation.CONSTRAINED))
IGNORED: tuple[tuple[str, ...], ...] = (("O",), (), ("PER", "B-PER"))


@pytest.fixture(scope="module", params=["bert", "roberta"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("models") / request.param, request.param)


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> TextTokenizer:
    return TextTokenizer(folder)


@pytest.fixture(scope="module")
def reference(folder: Path) -> Any:
    model = computing_once(AutoModelForTokenClassification.from_pretrained(folder))
    return pipeline("token-classification", model=model, tokenizer=AutoTokenizer.from_pretrained(folder))


def logits(reference: Any, prepared: Prepared, tokenizer: TextTokenizer) -> Any:
    with torch.inference_mode():
        (sequence,) = prepared.sequences
        return tokenizer.content(reference.model(input_ids=torch.tensor([sequence.tolist()])).logits[0].numpy())


@pytest.mark.parametrize("ignored", IGNORED, ids=str)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_words_places_and_scores_are_the_pipeline_s(
    tokenizer: TextTokenizer, reference: Any, strategy: Aggregation | None, ignored: tuple[str, ...]
) -> None:
    for text in random_texts(12, seed=3):
        prepared = prepare(tokenizer, text, longest=512, overlap=128)
        found = classify(tokenizer, prepared, logits(reference, prepared, tokenizer), LABELS, strategy, ignored)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            name = "none" if strategy is None else strategy.value
            theirs = reference(text, aggregation_strategy=name, ignore_labels=list(ignored))
        kind = "entity" if strategy is None else "entity_group"
        assert [(e.label, e.word, e.start, e.end) for e in found] == [
            (e[kind], e["word"], e["start"], e["end"]) for e in theirs
        ]
        assert [e.score for e in found] == pytest.approx([float(e["score"]) for e in theirs], abs=1e-5)
        if strategy is None:
            assert [e.index for e in found] == [e["index"] for e in theirs]


@pytest.mark.parametrize("strategy", STRATEGIES[1:], ids=str)
def test_words_of_a_folder_without_a_decoder_are_the_text_s_own(
    folder: Path, reference: Any, strategy: Aggregation, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    without = json.loads((tmp_path / "tokenizer.json").read_text()) | {"decoder": None}
    (tmp_path / "tokenizer.json").write_text(json.dumps(without))
    tokenizer = TextTokenizer(tmp_path)
    for text in random_texts(4, seed=3):
        prepared = prepare(tokenizer, text, longest=512, overlap=128)
        found = classify(tokenizer, prepared, logits(reference, prepared, tokenizer), LABELS, strategy, ())
        assert [each.word for each in found] == [text[each.start : each.end] for each in found]


def test_a_text_without_tokens_has_nothing_and_scores_must_be_numbers(tokenizer: TextTokenizer) -> None:
    empty, one = (prepare(tokenizer, text, longest=512, overlap=128) for text in ("", "a"))
    nothing = torch.empty((0, len(LABELS))).numpy()
    assert classify(tokenizer, empty, nothing, LABELS, None, ()) == []
    spoilt = torch.full((len(one.tokens.ids), len(LABELS)), float("nan")).numpy()
    with pytest.raises(ModelError):
        classify(tokenizer, one, spoilt, LABELS, Aggregation.SIMPLE, ())

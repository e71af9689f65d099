"""The steps around inference: a text tokenized in steps is what it is when tokenized at once."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from service.core.decoding.model_decoding import PLAIN
from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.word_tags import WordTags
from service.core.labels.marking import unmarked
from service.core.types import ResponseKind
from service.families.token_classifier.reducing import reduce_to_tags
from service.text.pipeline import (
    Prepared,
    decode_entities,
    decode_word_scores,
    mark_word_starts,
    prepare,
    prepare_in_steps,
)
from service.text.split_points import LONGEST_CHARACTERS, SHORTEST_CHARACTERS
from service.text.tokenizer import TextTokenizer
from tests.families.test_reducing import asked
from tests.support.tiny_models import BERT_SPECIALS, word_piece


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    folder = tmp_path_factory.mktemp("model")
    pad, unknown, first, last, mask = BERT_SPECIALS
    word_piece(first, pad, last, unknown, mask).save(str(folder / "tokenizer.json"))
    return TextTokenizer(folder)


def test_steps_end_with_what_is_prepared_at_once(tokenizer: TextTokenizer) -> None:
    text = "anna paid - - the bill\n" * (SHORTEST_CHARACTERS // 4)
    at_once = prepare(tokenizer, text, longest=128, overlap=32)
    *counts, last = prepare_in_steps(tokenizer, text, longest=128, overlap=32)
    assert isinstance(last, Prepared)
    assert (last.text, last.windows) == (at_once.text, at_once.windows)
    assert np.array_equal(last.tokens.ids, at_once.tokens.ids)
    assert np.array_equal(last.tokens.offsets, at_once.tokens.offsets)
    assert all(np.array_equal(a, b) for a, b in zip(last.sequences, at_once.sequences, strict=True))
    assert len(counts) > 2
    assert sorted(counts) == counts  # type: ignore[type-var]


def test_tags_of_the_words_lead_to_the_entities_that_all_logits_lead_to(tokenizer: TextTokenizer) -> None:
    labels = ("O", "B-PER", "I-PER", "B-SUM", "I-SUM")
    prepared = prepare(tokenizer, "anna paid 12,500.00 annaanna - - the bill, anna", longest=512, overlap=128)
    for seed in range(50):
        rows = np.random.default_rng(seed).normal(size=(len(prepared.sequences[0]), 5)).astype(np.float32)
        words = mark_word_starts(tokenizer, prepared)
        document = asked(ResponseKind.WORD_TAGS, words.sequence, special_tokens_at_end=len(tokenizer.suffix))
        (tags,) = reduce_to_tags(PLAIN, [rows], [document], labels)
        assert isinstance(tags, WordTags)
        found = decode_word_scores(tokenizer, prepared, words, tags, scheme_of(labels))
        assert found == decode_entities(tokenizer, prepared, [rows], scheme_of(labels))
        assert np.array_equal(np.maximum(words.sequence, ~words.sequence), prepared.sequences[0])


def test_tokens_keep_their_boxes_where_words_are_marked(tokenizer: TextTokenizer) -> None:
    prepared = prepare(tokenizer, "anna paid 12,500.00", longest=512, overlap=128)
    (ids,) = prepared.sequences
    boxes = np.arange(4 * len(ids), dtype=np.int32).reshape(-1, 4)
    boxed = dataclasses.replace(prepared, sequences=[np.column_stack([ids, boxes])])
    marked = mark_word_starts(tokenizer, boxed).sequence
    assert np.array_equal(marked[:, 0], mark_word_starts(tokenizer, prepared).sequence)
    assert np.array_equal(marked[:, 1:], boxes)
    assert np.array_equal(unmarked(marked), boxed.sequences[0])


@pytest.mark.parametrize("unit", ["- ", "-", "の", "\n--", "&", "a", "中"])
def test_a_step_takes_few_tokens_whatever_the_text_is(tokenizer: TextTokenizer, unit: str) -> None:
    """Twenty million of these characters were one step of up to a hundred seconds and eight gigabytes."""
    steps = prepare_in_steps(tokenizer, unit * (20_000_000 // len(unit)), longest=128, overlap=32)
    first, second = next(steps), next(steps)
    assert isinstance(first, int)
    assert isinstance(second, int)
    assert first <= second <= first + LONGEST_CHARACTERS

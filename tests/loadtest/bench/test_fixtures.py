"""Benchmark texts: the same every time, as long as they are said to be."""

from __future__ import annotations

import statistics
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from loadtest.bench.fixtures import texts, vocabulary
from loadtest.bench.random_models import write_tokenizer


@given(seed=st.integers(0, 1_000), count=st.integers(0, 5))
@settings(max_examples=10, deadline=None)
def test_a_seed_always_gives_the_same_texts_and_more_of_them_begin_alike(seed: int, count: int) -> None:
    assert texts(count, seed) == texts(count, seed)
    assert texts(count + 2, seed)[:count] == texts(count, seed)


def test_other_seeds_give_other_texts() -> None:
    assert len({texts(1, seed)[0] for seed in range(20)}) == 20


def test_the_vocabulary_is_of_distinct_words() -> None:
    assert len(set(vocabulary(4_000))) == len(vocabulary(4_000)) == 4_000


def test_texts_have_about_160_tokens_on_average_and_fit_one_window(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokens = [len(tokenizer.encode(text).ids) for text in texts(500)]
    assert 150 <= statistics.mean(tokens) <= 170
    assert max(tokens) <= 500

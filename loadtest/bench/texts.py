"""Seeded texts of known lengths, made of a fixed vocabulary. Pure."""

from __future__ import annotations

import math
import random

SYLLABLES = (
    "ba be bi bo da de di do ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so ta te".split()
)
MEDIAN_WORDS = 95
SPREAD = 0.55


def vocabulary(words: int, seed: int = 0) -> list[str]:
    """So many distinct made-up words of two to four syllables."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < words:
        found["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4)))] = None
    return list(found)


def texts(count: int, seed: int = 0) -> list[str]:
    """Texts whose lengths are log-normal, as those of real documents are: about 160 tokens on average, at most 500."""
    draw = random.Random(seed)
    words = vocabulary(4_000)
    lengths = (min(int(draw.lognormvariate(math.log(MEDIAN_WORDS), SPREAD)) + 1, 300) for _ in range(count))
    return [_text(draw, words, length) for length in lengths]


def _text(draw: random.Random, words: list[str], length: int) -> str:
    """Some words are unknown to the tokenizer and split into pieces, and one in eight ends a sentence."""
    picked = (word + draw.choice(("", "", "s")) for word in draw.choices(words, k=length))
    return " ".join(word + "." if draw.random() < 1 / 8 else word for word in picked)

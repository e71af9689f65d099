"""Sample texts show how a token classifier tags: sentences with names, and words of its own vocabulary in any order."""

from __future__ import annotations

import random
from collections.abc import Iterator

from service.text.tokenizer import Vocabulary

SENTENCES = (
    "Angela Merkel met Emmanuel Macron in Paris on Monday, and John Smith of IBM flew from London to New York.",
    "The United Nations said that Maria Garcia, who lives in Spain, works for Microsoft in Germany.",
    "Anna Schmidt arbeitet bei Siemens in München, Hans Müller bei der Deutschen Bank in Frankfurt.",
    "Selon Pierre Dupont, la Société Générale ouvre un bureau à Lyon; Marie Martin reste chez Renault en France.",
    "Juan Pérez trabaja en Telefónica en Madrid, y Carmen López vive en Barcelona.",
    "Invoice 4711 of 12 March 2026: Jane Doe, 7 Main Street, Springfield 62704, pays EUR 1,250.00 by $5 a day.",
    "Call +49 30 901820 or write to jane@example.org; 2 mg of aspirin a day, see Dr. House on 2026-03-12 at 10 am.",
    "president obama visited berlin, and peter jones of google came from rome to china.",
)
WORDS, WORDS_A_TEXT = 480, 24


def sample_texts(vocabulary: Vocabulary) -> Iterator[str]:
    """Yield the sentences, then texts of words that the vocabulary has whole; always the same ones."""
    yield from SENTENCES
    words = _whole_words(vocabulary)
    if words:
        chosen = random.Random(0).choices(words, k=WORDS)
        for start in range(0, WORDS, WORDS_A_TEXT):
            yield " ".join(chosen[start : start + WORDS_A_TEXT])


def _whole_words(vocabulary: Vocabulary) -> list[str]:
    """Find the words of a vocabulary that are one token; `Ġ` and `▁` mark their beginnings where there are such."""
    entries = sorted(vocabulary.tokenizer.get_vocab(with_added_tokens=False))
    for mark in "▁Ġ":
        marked = [each[1:] for each in entries if each.startswith(mark)]
        if len(marked) > 1:
            entries = marked if mark == "▁" else [each for each in marked if each.isascii()]
            break
    return [each for each in entries if each.isalnum()]

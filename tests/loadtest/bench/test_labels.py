"""The documents of the benchmark of free labels, and the pieces that the library is given."""

from __future__ import annotations

from loadtest.bench.labels import LONGEST_WORDS, PIECE_WORDS, SHORTEST_WORDS, documents, pieces


def test_documents_have_all_lengths_and_are_the_same_each_time() -> None:
    words = sorted(len(text.split()) for text in documents())
    assert (words[0], words[-1]) == (SHORTEST_WORDS, LONGEST_WORDS)
    assert sum(count < 800 for count in words) == len(words) // 2
    assert documents() == documents()


def test_the_library_reads_every_word_once() -> None:
    text = max(documents(), key=len)
    parts = pieces(text)
    assert " ".join(parts) == text
    assert max(len(part.split()) for part in parts) == PIECE_WORDS

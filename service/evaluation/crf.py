"""A linear-chain CRF with simple features, trained on the same labels: what a small model of words alone reaches.

Features are those of the field's standard example (python-crfsuite's CoNLL tutorial): words, their ends and shapes,
the neighbours' two to each side, and where on its line a word stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import pycrfsuite

from service.evaluation.answers import FoundInDocument
from service.evaluation.conventions import conventional
from service.evaluation.records import GoldDocument, LabelledSpan

MOST_DOCUMENTS = 1_200
"""Documents that it is trained on."""
ITERATIONS = 80
_WORD = re.compile(r"\w+|[^\w\s]")
_RUN, _ONE = re.compile(r"(.)\1+"), r"\1"
_REACH, _OF_NEIGHBOURS = 2, 2
"""Words to each side, and how many of their features count."""

Words = list[tuple[int, int]]
"""Start and end of each word."""


class LinearCrf:
    """A CRF whose weights are a file in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "crf.model"
        self._tagger = pycrfsuite.Tagger()

    def train(self, documents: Sequence[GoldDocument], labels: frozenset[str]) -> None:
        """Fit to the spans of these labels in the first `MOST_DOCUMENTS` documents."""
        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.set_params({"c1": 0.1, "c2": 0.1, "max_iterations": ITERATIONS, "feature.possible_transitions": True})
        for document in documents[:MOST_DOCUMENTS]:
            words = split_words(document.text)
            spans = conventional(document.text, document.spans, labels)
            trainer.append(features(document.text, words), tags(words, spans))
        trainer.train(str(self._path))
        self._tagger.open(str(self._path))

    def find(self, document: GoldDocument) -> FoundInDocument:
        """The spans of the best path, each with the mean probability of its words' tags."""
        words = split_words(document.text)
        if not words:
            return FoundInDocument(())
        path = self._tagger.tag(features(document.text, words))
        scores = [self._tagger.marginal(tag, place) for place, tag in enumerate(path)]
        return FoundInDocument(tuple(spans_of(words, path, scores)))


def split_words(text: str) -> Words:
    """Runs of letters and digits, and each mark alone."""
    return [match.span() for match in _WORD.finditer(text)]


def tags(words: Words, spans: Sequence[LabelledSpan]) -> list[str]:
    """A BIO tag for each word that has a character in one of the spans, which are in order and do not overlap."""
    found: list[str] = []
    upcoming = 0
    for start, end in words:
        while upcoming < len(spans) and spans[upcoming].end <= start:
            upcoming += 1
        span = spans[upcoming] if upcoming < len(spans) and spans[upcoming].start < end else None
        continues = span is not None and span.start < start and bool(found) and found[-1] != "O"
        found.append("O" if span is None else f"{'I' if continues else 'B'}-{span.label}")
    return found


def spans_of(words: Words, path: Sequence[str], scores: Sequence[float]) -> Iterable[LabelledSpan]:
    """The spans of a path of BIO tags, each with the mean of its words' scores."""
    begun: list[int] = []
    for place, tag in enumerate([*path, "O"]):
        if begun and (tag[0] != "I" or tag[2:] != path[begun[0]][2:]):
            mean = sum(scores[each] for each in begun) / len(begun)
            yield LabelledSpan(words[begun[0]][0], words[begun[-1]][1], path[begun[0]][2:], mean)
            begun = []
        if tag != "O":
            begun.append(place)


def features(text: str, words: Words) -> list[list[str]]:
    """The features of each word: its own and its neighbours'."""
    own = [_own(text, words, place) for place in range(len(words))]
    return [
        [
            f"{step}:{feature}"
            for step in range(-_REACH, _REACH + 1)
            if 0 <= place + step < len(words)
            for feature in own[place + step][: _OF_NEIGHBOURS if step else None]
        ]
        for place in range(len(words))
    ]


def _own(text: str, words: Words, place: int) -> list[str]:
    start, end = words[place]
    word = text[start:end]
    shape = "".join(map(_kind, word))
    gap = text[words[place - 1][1] if place else 0 : start]
    return [
        f"w={word.lower()}",
        f"runs={_RUN.sub(_ONE, shape)}",
        f"shape={shape[:12]}",
        f"head={word[:3].lower()}",
        f"tail={word[-3:].lower()}",
        f"gap={'line' if chr(10) in gap or not place else 'wide' if len(gap) > 1 else 'one' if gap else 'none'}",
    ]


def _kind(character: str) -> str:
    if character.isdigit():
        return "0"
    return ("A" if character.isupper() else "a") if character.isalpha() else character

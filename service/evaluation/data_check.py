"""Check of labelled documents: what no reader refuses and training or scoring may stumble over, each with its count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from service.evaluation.labelled_documents import LabelledDocument, text_key

MOST_PLACES = 3
"""Places that a finding names at most."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of doubt: how often, and the first places."""

    sentence: str
    count: int
    places: tuple[str, ...]

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.places) else ""
        return f"{self.count:,} {self.sentence}: {', '.join(self.places)}{more}"


def label_counts(documents: Iterable[LabelledDocument]) -> Counter[str]:
    """Entities by label."""
    return Counter(span.label for document in documents for span in document.spans)


def findings(documents: Iterable[LabelledDocument], known_labels: Iterable[str] | None = None) -> list[Finding]:
    """The doubts about these documents; `known_labels`: those of a model, None where there is none to compare with."""
    known = None if known_labels is None else frozenset(known_labels)
    places: dict[str, list[str]] = {}
    known_texts: set[str] = set()
    for document in documents:
        if (key := text_key(document.text)) in known_texts:
            places.setdefault("documents have the text of an earlier one", []).append(document.id)
        known_texts.add(key)
        for sentence, place in _doubts(document, known):
            places.setdefault(sentence, []).append(f"{document.id} {place}")
    return [Finding(sentence, len(found), tuple(found[:MOST_PLACES])) for sentence, found in places.items()]


def _doubts(document: LabelledDocument, known: frozenset[str] | None) -> Iterator[tuple[str, str]]:
    text = document.text
    for span in document.spans:
        place = f"{span.label} {span.start}:{span.end}"
        if text[span.start : span.end] != text[span.start : span.end].strip():
            yield "entities begin or end with white space", place
        if _within_word(text, span.start) or _within_word(text, span.end):
            yield "entities begin or end within a word (offsets of another unit do that)", place
        if known is not None and span.label not in known:
            yield f"entities have the label {span.label}, which the model lacks", place
    for one, other in pairwise(document.spans):
        if other.start < one.end:
            yield "entities overlap the one before, which training refuses", f"{other.label} {other.start}:{other.end}"


def _within_word(text: str, place: int) -> bool:
    """True between two letters or digits of one kind; scripts without spaces and their neighbours do not count."""
    around = text[max(place - 1, 0) : place + 1]
    return len(around) == 2 and place > 0 and (_is_spaced_letter(around) or around.isdecimal())


def _is_spaced_letter(around: str) -> bool:
    return around.isalpha() and max(around) < "\u0e00"

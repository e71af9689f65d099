"""Data check: counts faults in labelled documents that readers accept, but that may harm training or scoring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from service.evaluation.labelled_documents import LabelledDocument, LabelledSpan, text_key

MOST_PLACES = 3
"""Most places that a finding names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of doubt, its count and first places."""

    sentence: str
    count: int
    places: tuple[str, ...]

    def __str__(self) -> str:
        more = ", …" if self.count > len(self.places) else ""
        return f"{self.count:,} {self.sentence}: {', '.join(self.places)}{more}"


def label_counts(documents: Iterable[LabelledDocument]) -> Counter[str]:
    return Counter(span.label for document in documents for span in document.spans)


def findings(documents: Sequence[LabelledDocument], known_labels: Collection[str] | None = None) -> list[Finding]:
    """Find the doubts about these documents; `known_labels`: a model's labels to compare with, None without one."""
    lacking = [] if known_labels is None else unknown_labels(documents, known_labels)
    return [*_counted(_doubts(documents)), *lacking]


def unknown_labels(documents: Iterable[LabelledDocument], known: Collection[str]) -> list[Finding]:
    """Find the labels of entities that a model does not have."""
    return _counted(
        (f"entities have the label {span.label}, which the model lacks", _place(document, span))
        for document in documents
        for span in document.spans
        if span.label not in known
    )


def _counted(doubts: Iterable[tuple[str, str]]) -> list[Finding]:
    places: dict[str, list[str]] = {}
    for sentence, place in doubts:
        places.setdefault(sentence, []).append(place)
    return [Finding(sentence, len(found), tuple(found[:MOST_PLACES])) for sentence, found in places.items()]


def _doubts(documents: Iterable[LabelledDocument]) -> Iterator[tuple[str, str]]:
    known_texts: set[str] = set()
    for document in documents:
        text = document.text
        if (key := text_key(text)) in known_texts:
            yield "documents have the text of an earlier one", document.id
        known_texts.add(key)
        for span in document.spans:
            if text[span.start : span.end] != text[span.start : span.end].strip():
                yield "entities begin or end with white space", _place(document, span)
            if _within_word(text, span.start) or _within_word(text, span.end):
                yield "entities begin or end within a word (offsets of another unit do that)", _place(document, span)
        for one, other in pairwise(document.spans):
            if other.start < one.end:
                yield "entities overlap the one before, which training refuses", _place(document, other)


def _place(document: LabelledDocument, span: LabelledSpan) -> str:
    return f"{document.id} {span.label} {span.start}:{span.end}"


def _within_word(text: str, place: int) -> bool:
    """True between two letters or digits of one kind; scripts without spaces and their neighbours do not count."""
    around = text[max(place - 1, 0) : place + 1]
    return len(around) == 2 and place > 0 and (_is_spaced_letter(around) or around.isdecimal())


def _is_spaced_letter(around: str) -> bool:
    return around.isalpha() and max(around) < "\u0e00"

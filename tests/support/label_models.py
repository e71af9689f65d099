"""Tiny models with free labels, and what the libraries that they come from answer with them (tests/label_models)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from service.core.decoding.spans import Overlaps
from service.core.labels.label_set import LabelSet, ScoreLimits, read_labels
from service.core.labels.record_schema import read_schema, record_labels
from service.families.free_labels.config import MOST_WORDS
from service.families.free_labels.word_tokenizer import PreparedWords, WordTokenizer
from service.families.registry import open_processor

HOME = Path(__file__).parent.parent / "label_models"
NAMES = sorted(path.stem for path in HOME.glob("*.json"))
WITH_RECORDS = "gliner25-boundary"
SCORE_DIFFERENCE = 1e-4
Found = list[tuple[int, int, str, float]]
"""Start, end, label and score of each entity."""


@dataclass(frozen=True)
class Case:
    """A text with labels, and what is found in it."""

    text: str
    labels: list[str] | dict[str, str]
    threshold: float
    overlaps: Overlaps
    entities: Found

    @property
    def label_set(self) -> LabelSet:
        labels = read_labels(self.labels)
        assert labels is not None
        return LabelSet.of(labels, ScoreLimits(self.threshold), self.overlaps)

    @property
    def options(self) -> dict[str, Any]:
        return {"labels": self.labels, "min_score": self.threshold, "overlaps": self.overlaps.value}


RecordPlaces = list[tuple[float, list[Found]]]
"""The records of one kind: the score of each, and the values of each field."""


@dataclass(frozen=True)
class RecordCase:
    """A text with a schema, and the records in it by kind."""

    text: str
    schema: dict[str, list[str | dict[str, Any]]]
    threshold: float
    records: dict[str, RecordPlaces]

    @property
    def label_set(self) -> LabelSet:
        schema = read_schema(self.schema)
        assert schema is not None
        return record_labels(schema, self.threshold)


def record_cases(name: str) -> list[RecordCase]:
    """What the library finds with schemas; its values in the order of the text."""
    content = json.loads((HOME / f"{name}.json").read_text(encoding="utf-8"))
    return [
        RecordCase(
            content["texts"][place],
            case["schema"],
            case["threshold"],
            {
                kind: [
                    (
                        score,
                        [
                            [(a, b, field_name(field), sure) for a, b, sure in values]
                            for field, values in zip(case["schema"][kind], fields, strict=True)
                        ],
                    )
                    for score, fields in records
                ]
                for kind, records in found.items()
            },
        )
        for case in content["records"]
        for place, found in zip(case["texts"], case["found"], strict=True)
        if unicodedata.is_normalized("NFC", content["texts"][place])
    ]


def field_name(field: str | dict[str, Any]) -> str:
    """The name of a schema's field."""
    return field if isinstance(field, str) else str(field["name"])


def assert_records(found: dict[str, RecordPlaces], wanted: dict[str, RecordPlaces]) -> None:
    """The same records with nearly the same scores."""
    assert {kind: len(records) for kind, records in found.items()} == {k: len(records) for k, records in wanted.items()}
    for kind, records in found.items():
        for (score, fields), (wanted_score, wanted_fields) in zip(records, wanted[kind], strict=True):
            assert abs(score - wanted_score) <= SCORE_DIFFERENCE
            for values, wanted_values in zip(fields, wanted_fields, strict=True):
                assert_found(values, wanted_values)


def word_tokenizer(folder: Path) -> WordTokenizer:
    """The tokenizer of a folder, read anew."""
    found = open_processor(folder).tokenizer
    assert isinstance(found, WordTokenizer)
    return found


def prepare_words(
    tokenizer: WordTokenizer, text: str, labels: LabelSet, *, longest: int, overlap: int
) -> PreparedWords:
    """A text prepared in one go, for a model that takes `longest` tokens."""
    *_, prepared = tokenizer.prepare_in_steps(text, labels, longest=longest, overlap=overlap)
    assert isinstance(prepared, PreparedWords)
    return prepared


@cache
def cases(name: str) -> list[Case]:
    """The cases in which the library's rules are ours.

    It cuts long texts, gives a model any number of labels, and does not compose letters with their accents.
    """
    return list(_cases(name))


@cache
def longest(name: str) -> int:
    """Tokens of the longest sequence of a model."""
    return min(512, int(word_tokenizer(HOME / name).config.encoder_config["max_position_embeddings"]))


def _cases(name: str) -> Iterator[Case]:
    content = json.loads((HOME / f"{name}.json").read_text(encoding="utf-8"))
    tokenizer = word_tokenizer(HOME / name)
    most = tokenizer.config.max_len or MOST_WORDS
    for case in content["cases"]:
        for text, found in zip(content["texts"], case["entities"], strict=True):
            made = Case(
                text, case["labels"], case["threshold"], Overlaps(case["overlaps"]), [tuple(each) for each in found]
            )
            words = len(list(tokenizer.prompt.words(text)))
            prepared = prepare_words(tokenizer, text, made.label_set, longest=longest(name), overlap=0)
            whole = words <= most and len(prepared.windows) <= 1 and len(prepared.groups) == 1
            composed = unicodedata.is_normalized("NFC", text)
            if composed and whole and len(prepared.words) == words:  # It counts some words without tokens.
                yield made


def assert_found(found: Found, wanted: Found) -> None:
    """The same entities, with nearly the same scores."""
    assert [each[:3] for each in found] == [each[:3] for each in wanted]
    assert all(abs(a[3] - b[3]) <= SCORE_DIFFERENCE for a, b in zip(found, wanted, strict=True))

"""What each step of decoding gains on labelled sets: F1 by set, from plain decoding to all that the folder asks for."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from model_store.builtin.training.evaluation.scoring import Score, score_examples
from model_store.builtin.training.examples import Example
from model_store.builtin.training.fitting.frozen import Replayed, Scored, entities
from model_store.builtin.training.fitting.lattice import WordLattice, lattice_of
from service.core.decoding.entities import Entity
from service.core.decoding.model_decoding import PLAIN, Decoding
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.transitions import Transitions

FOLDS: Final = 2
STEPS_WITHOUT_TRANSITIONS: Final = 2
"""Of `steps_of`, from the first on."""

ScoredSets = Mapping[str, Sequence[Scored]]
Answers = list[tuple[Scored, list[Entity]]]
"""Texts of one set with the entities that were found in them."""


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Entities of labels that their sets annotate: their scores, and whether span and label are right."""

    scores: NDArray[np.float64]
    is_right: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Found]) -> Found:
        """All entities of several."""
        return cls(np.concatenate([p.scores for p in parts]), np.concatenate([p.is_right for p in parts]))


def fold_of(example: Example) -> int:
    """Which of FOLDS an example's group is in."""
    return zlib.crc32(f"{example.source}/{example.group}".encode()) % FOLDS


def steps_of(rules: Decoding) -> dict[str, Decoding]:
    """Decoding as it grows from plain to all of `rules`, but for the transitions, which each fold has its own of."""
    words = replace(PLAIN, compounds=rules.compounds)
    pieces = replace(words, first_piece_share=rules.first_piece_share)
    return {"today": PLAIN, "+ words": words, "+ transitions": pieces, "+ borders": rules}


def find_all(
    sets: ScoredSets, scheme: Scheme, decoding: Decoding, transitions: Sequence[Transitions | None]
) -> dict[str, Answers]:
    """The entities in each text; `transitions[fold]` are used where an example is in that fold."""
    return {
        name: [
            (each, entities(each, scheme, replace(decoding, transitions=transitions[fold_of(each.example)])))
            for each in scored
        ]
        for name, scored in sets.items()
    }


def score_sets(found: Mapping[str, Answers]) -> dict[str, Score]:
    """The fine score of each set."""
    scores = {}
    for name, pairs in found.items():
        tagger = Replayed({each.example.text: spans for each, spans in pairs})
        scores[name], _ = score_examples(tagger, [each.example for each, _ in pairs])
    return scores


def judged(pairs: Answers) -> Found:
    """Every entity with its score and whether it is right."""
    scores, is_right = [], []
    for each, spans in pairs:
        gold = set(each.example.spans)
        for span in spans:
            if span.label in each.example.annotated:
                scores.append(span.score)
                is_right.append((span.start, span.end, span.label) in gold)
    return Found(np.array(scores, dtype=np.float64), np.array(is_right, dtype=np.bool_))


def table(columns: Mapping[str, Mapping[str, Score]]) -> Iterator[str]:
    """F1 in points by set, a column for each step, and the mean over sets."""
    yield "| set | gold spans | " + " | ".join(columns) + " |"
    yield "|" + "---|" * (len(columns) + 2)
    first = next(iter(columns.values()))
    for name, score in first.items():
        if score.gold:
            yield f"| {name} | {score.gold} | " + " | ".join(f"{100 * c[name].f1:.1f}" for c in columns.values()) + " |"
    means = [np.mean([100 * score.f1 for score in column.values() if score.gold]) for column in columns.values()]
    yield "| mean of the sets | | " + " | ".join(f"{mean:.1f}" for mean in means) + " |"


def lattices(
    sets: ScoredSets, scheme: Scheme, decoding: Decoding, *, without_fold: int | None = None
) -> list[WordLattice]:
    """The words of every text, or of those outside a fold."""
    return [
        lattice_of(each, scheme, decoding)
        for scored in sets.values()
        for each in scored
        if len(each.logits) and fold_of(each.example) != without_fold
    ]

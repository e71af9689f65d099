"""Decoding options of one model for `constrained`, beyond what every model has: what its folder asks for.

A model whose folder asks for nothing is decoded by `PLAIN`. Knows no files (`service/text/decoding_files`). Whether
`I-` may begin an entity is seen in a model's own tags where its folder does not say it (`seen_inside_begins`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import softmax
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.transitions import Transitions


@dataclass(frozen=True, slots=True)
class Calibration:
    """A map from scores to the share of entities with such a score that are right: straight between its points.

    `scores` and `shares` are of equal length, neither falls; below the first and above the last the share stays.
    """

    scores: tuple[float, ...]
    shares: tuple[float, ...]

    def shares_of(self, scores: Sequence[float]) -> list[float]:
        """The share for each score."""
        found: list[float] = np.interp(scores, self.scores, self.shares).tolist()
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Decoding:
    """Decoding options that a model's folder asks for.

    Attributes:
        compounds: hyphen, slash, underscore and @ between word characters do not end a word, except between two years.
        first_piece_share: of a word's scores that its first token gives; its other tokens give the rest, equally.
        cells: a tab or three spaces end an entity.
        marks: an amount keeps its minus or brackets; other marks and half a pair of brackets are no part of an entity's
            ends, and marks alone are none.
        unknown: an entity has a token that the vocabulary knows, marks aside.
        inside_begins: `I-` may begin an entity, as in IOB1; None: the folder does not say it.
        line_boxes: a word's box is that of its line, for a model that reads boxes.
        text_tokens: such a model reads the tokens of a text on pages too, line ends among them, each with a word's box.
        text_without_boxes: such a model reads texts without pages as well; all their boxes are 0.
        transitions: the learned scores of one tag after another.
        calibration: applied to the entities' scores.
    """

    compounds: bool = False
    first_piece_share: float = 1.0
    cells: bool = False
    marks: bool = False
    unknown: bool = False
    inside_begins: bool | None = None
    line_boxes: bool = False
    text_tokens: bool = False
    text_without_boxes: bool = False
    transitions: Transitions | None = None
    calibration: Calibration | None = None

    def leaves_open(self, scheme: Scheme) -> bool:
        """True if neither the folder nor its learned transitions say whether a model's scheme is BIO or IOB1."""
        return scheme.may_be_iob1 and self.inside_begins is None and self.transitions is None


PLAIN = Decoding()

_SURE = 0.8
"""Least probability of a tag that counts as seen."""
_FEWEST_BEGINNINGS = 5
_LARGEST_SHARE = 0.05
"""Largest share of `B-` in the beginnings that a model of IOB1 tags, which should have none; one of BIO has most."""


def seen_inside_begins(texts: Iterable[Logits], scheme: Scheme) -> bool:
    """True if a model begins entities with `I-` as a rule, word by word, before a valid path is sought.

    A type without a `B-` begins with `I-` in BIO too, and tells nothing.

    Args:
        texts: the logits of each text's words, `[words, labels]`.
    """
    both = np.isin(scheme.type_of, scheme.type_of[scheme.begins])
    inside = begun = 0
    for words in texts:
        tags = words.argmax(axis=1)
        kinds, is_begun = scheme.type_of[tags], scheme.begins[tags]
        begins = both[tags] & (kinds != np.append(-1, kinds[:-1])) & (softmax(words).max(axis=1) >= _SURE)
        begun += int((begins & is_begun).sum())
        inside += int((begins & ~is_begun).sum())
    return inside >= _FEWEST_BEGINNINGS and begun <= _LARGEST_SHARE * (inside + begun)


def word_logits(
    logits: Logits, firsts: NDArray[np.intp], stop: int, scheme: Scheme, first_piece_share: float
) -> Logits:
    """The logits of a document's words, `[words, labels]`, from those of its tokens.

    Args:
        firsts: each word's first token.
        stop: the token after the last word's last one.
    """
    return join_pieces(logits, firsts, np.append(firsts, stop)[1:], scheme, first_piece_share)


def join_pieces(
    logits: Logits, firsts: NDArray[np.intp], stops: NDArray[np.intp], scheme: Scheme, first_piece_share: float
) -> Logits:
    """The logits of words, `[words, labels]`, from those of tokens; word w's tokens run from `firsts[w]` to `stops[w]`.

    A token that continues a word speaks for `B-X` by its `I-X`, because that is how it is labelled in training.
    """
    if len(firsts) == len(logits):
        return logits
    words: Logits = logits[firsts]
    further = stops - firsts - 1
    several = np.flatnonzero(further)
    if first_piece_share == 1.0 or not len(several):
        return words
    counts = further[several]
    begins = np.cumsum(counts) - counts
    pieces = np.repeat(firsts[several] + 1 - begins, counts) + np.arange(counts.sum())
    sums = np.add.reduceat(logits[pieces], begins, axis=0)
    sums *= ((1.0 - first_piece_share) / counts[:, None]).astype(np.float32)
    words[several] = words[several] * np.float32(first_piece_share) + sums[:, scheme.continued]
    return words

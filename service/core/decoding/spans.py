"""Spans: the scores of a model with free labels to candidates, and candidates to entities that go together.

A candidate is a row `[start, stop, label, score]` of float32: words `[start, stop)`, the label's number, and the
probability of the span. Heads give them in three forms: for every start, width and label (GLiNER's `markerV0`);
for each word and label, whether it starts, ends and is inside an entity (`token_level`); or for a pool of spans (2.5).

The rules, which are those of the libraries:
- A span counts if its score is not below the limit. The score of starts, ends and insides is their least.
- Of spans that may not go together the one with the highest score stays; of equal ones the one that starts first, then
  the shortest, then the first label. Where labels do not compete, each has the disjoint spans of the greatest total.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits
from service.core.decoding.windows import Window


class Overlaps(StrEnum):
    """Which entities may share words: none; one inside another; or only those of different labels.

    `…_multi_label`: besides, the same words may have several labels, as GLiNER has it.
    """

    FLAT = "flat"
    NESTED = "nested"
    PER_LABEL = "per_label"
    FLAT_MULTI_LABEL = "flat_multi_label"
    NESTED_MULTI_LABEL = "nested_multi_label"

    @property
    def allows_equal(self) -> bool:
        """True where entities of different labels may have the same words."""
        return self in (Overlaps.FLAT_MULTI_LABEL, Overlaps.NESTED_MULTI_LABEL)


Candidates = NDArray[np.float32]
"""`[candidates, 4]`: first word, the word after the last one, label, probability."""
COLUMNS = 4
MOST_A_WORD = 32
"""Candidates that begin at one word and are kept, the best first: what a low limit can take of memory is bounded."""
MASKED = -5e3
NONE: Candidates = np.empty((0, COLUMNS), dtype=np.float32)

CandidateFinder = Callable[[Logits, float], Candidates]
"""From the scores of a sequence's words, and the least probability of a candidate."""


def grid_candidates(scores: Logits, width: int, limit: float) -> Candidates:
    """Those of a grid `[words, width * labels]`: row i, column k * labels + c: words i to i + k, label c."""
    words = len(scores)
    grid = scores.reshape(words, width, -1)
    starts, more, labels = np.nonzero(grid >= _least_logit(limit))
    inside = starts + more < words
    starts, more, labels = starts[inside], more[inside], labels[inside]
    return _best(_rows(starts, starts + more + 1, labels, _probabilities(grid[starts, more, labels])), limit)


def boundary_candidates(scores: Logits, limit: float) -> Candidates:
    """Those of starts, ends and insides `[words, labels * 3]`: spans of one word, of two, as long as any goes on."""
    starts, ends, insides = _probabilities(scores.reshape(len(scores), scores.shape[1] // 3, 3)).transpose(2, 0, 1)
    first, label = np.nonzero((starts >= limit) & (insides >= limit))
    last, least, found = first, starts[first, label], [NONE]
    while len(first):
        least = np.minimum(least, insides[last, label])
        ended = ends[last, label] >= limit
        score = np.minimum(least, ends[last, label])[ended]
        found.append(_rows(first[ended], last[ended] + 1, label[ended], score))
        on = np.flatnonzero(last + 1 < len(scores))
        on = on[insides[last[on] + 1, label[on]] >= limit]
        first, last, label, least = first[on], last[on] + 1, label[on], least[on]
    return _best(np.concatenate(found), limit)


def pool_candidates(scores: Logits, limit: float) -> Candidates:
    """Those of a pool of spans `[spans, 2 + labels]`: first word, the word after the last one, a score for each label.

    A score below `MASKED` is none.
    """
    least = max(_least_logit(limit), MASKED)
    spans, labels = np.nonzero(scores[:, 2:] >= least)
    starts, stops = scores[spans, :2].T
    return _best(_rows(starts, stops, labels, _probabilities(scores[spans, 2 + labels])), limit)


def keep_window(candidates: Candidates, window: Window, labels: range) -> Candidates:
    """A window's candidates that start in its kept part, with the document's words and the request's labels."""
    starts = candidates[:, 0] + window.start
    kept = candidates[(window.keep_start <= starts) & (starts < window.keep_stop)]
    return kept + np.array([window.start, window.start, labels.start, 0], dtype=np.float32)


def over_limits(candidates: Candidates, limits: Sequence[float]) -> Candidates:
    """The candidates that their own label's limit lets through."""
    return candidates[candidates[:, 3] >= np.asarray(limits, dtype=np.float32)[candidates[:, 2].astype(np.intp)]]


def choose(candidates: Candidates, overlaps: Overlaps) -> Candidates:
    """The candidates that go together, in the order of their starts."""
    starts, stops, labels, scores = candidates.T
    order = np.lexsort((labels, stops, starts, -scores))
    if overlaps is Overlaps.PER_LABEL:
        parts = [order[labels[order] == label] for label in np.unique(labels)]
        kept = [index for part in parts for index in _greatest_total(candidates, part)]
    else:
        is_flat = overlaps in (Overlaps.FLAT, Overlaps.FLAT_MULTI_LABEL)
        kept = (_apart if is_flat else _nested)(candidates, order, equal=overlaps.allows_equal)
    chosen = candidates[kept]
    in_order: Candidates = chosen[np.lexsort((-chosen[:, 3], chosen[:, 0]))]
    return in_order


def _least_logit(limit: float) -> float:
    """A little below, since the probability decides."""
    if limit <= 0:
        return -math.inf
    limit = min(limit, 1 - 1e-7)
    return math.log(limit) - math.log1p(-limit) - 1e-3


def _probabilities(logits: Logits) -> Logits:
    with np.errstate(over="ignore"):
        found: Logits = np.reciprocal(1 + np.exp(-logits, dtype=np.float32), dtype=np.float32)
    return found


def _rows(starts: NDArray[Any], stops: NDArray[Any], labels: NDArray[np.intp], scores: Logits) -> Candidates:
    return np.stack([starts, stops, labels, scores], axis=1).astype(np.float32)


def _best(candidates: Candidates, limit: float) -> Candidates:
    """Those of at least this probability, of each start the best."""
    candidates = candidates[candidates[:, 3] >= np.float32(limit)]
    if len(candidates) <= MOST_A_WORD:
        return candidates
    order = np.lexsort((-candidates[:, 3], candidates[:, 0]))
    starts = candidates[order, 0]
    ranks = np.arange(len(starts)) - np.searchsorted(starts, starts)
    best: Candidates = candidates[np.sort(order[ranks < MOST_A_WORD])]
    return best


def _apart(candidates: Candidates, order: NDArray[np.intp], *, equal: bool) -> list[int]:
    """Of these, best first, those that share no word with a better one, or all of its words where that is allowed."""
    taken = np.zeros(int(candidates[order, 1].max(initial=0)), dtype=np.bool_)
    kept, spans = [], set()
    places = candidates[:, :2].astype(np.intp)
    for index in order.tolist():
        start, stop = places[index]
        if not taken[start:stop].any() or (equal and (start, stop) in spans):
            taken[start:stop] = True
            spans.add((start, stop))
            kept.append(index)
    return kept


def _greatest_total(candidates: Candidates, order: NDArray[np.intp]) -> list[int]:
    """Of these, the disjoint ones whose scores are most together (weighted interval scheduling)."""
    by_stop = order[np.lexsort((candidates[order, 0], candidates[order, 1]))]
    starts, stops, scores = (candidates[by_stop, column] for column in (0, 1, 3))
    before = np.searchsorted(stops, starts, side="right").tolist()
    totals, taken = [0.0], []
    for score, place in zip(scores.tolist(), before, strict=True):
        with_it = totals[place] + score
        taken.append(with_it > totals[-1])
        totals.append(max(with_it, totals[-1]))
    kept, index = [], len(before)
    while index:
        index -= 1
        if taken[index]:
            kept.append(int(by_stop[index]))
            index = before[index]
    return kept


def _nested(candidates: Candidates, order: NDArray[np.intp], *, equal: bool) -> list[int]:
    """Of these, best first, those that cross no better one, nor have its words unless that is allowed."""
    kept: list[int] = []
    over: dict[int, list[tuple[int, int]]] = {}
    places = candidates[:, :2].astype(np.intp)
    for index in order.tolist():
        start, stop = places[index].tolist()
        near = (*over.get(start, ()), *over.get(stop - 1, ()))  # What crosses a span covers one of its ends.
        if all(_is_nested(start, stop, *each, equal=equal) for each in near):
            kept.append(index)
            for word in range(start, stop):
                over.setdefault(word, []).append((start, stop))
    return kept


def _is_nested(start: int, stop: int, other_start: int, other_stop: int, *, equal: bool) -> bool:
    """True if one span is inside the other; `equal`: whether equal ones are."""
    if (start, stop) == (other_start, other_stop):
        return equal
    return (other_start <= start and stop <= other_stop) or (start <= other_start and other_stop <= stop)

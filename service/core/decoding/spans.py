"""Spans: the scores of a model with free labels to candidates, and candidates to entities that go together.

A candidate is a row `[start, stop, label, score]` of float32: words `[start, stop)`, the label's number, and the
probability of the span. Heads give them in three forms: for every start, width and label (`markerV0` of GLiNER and
GLiNER2); for each word and label, whether it starts, ends and is inside an entity (`token_level`); or for a pool of
spans (GLiNER2.5). A score below `MASKED` is none.

The rules, which are those of the libraries:
- A span counts if its score is not below the limit. The score of starts, ends and insides is their least.
- Of spans that may not go together the one with the highest score stays; of equal ones the one that starts first, then
  the shortest, then the first label. Where labels do not compete, each has the disjoint spans of the greatest total;
  of GLiNER2 its best ones, by the same rule as labels that compete.

A span is beaten by a shorter one of the same label with the same start and no lower score: wherever the longer one
could stay, the shorter one can. So to leave out beaten ones changes no answer, but where entities may share words.
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
    def keeps_beaten(self) -> bool:
        """True where a beaten span may stay beside the one that beats it."""
        return self not in (Overlaps.FLAT, Overlaps.PER_LABEL)

    @property
    def allows_equal(self) -> bool:
        """True where entities of different labels may have the same words."""
        return self in (Overlaps.FLAT_MULTI_LABEL, Overlaps.NESTED_MULTI_LABEL)


Candidates = NDArray[np.float32]
"""`[candidates, 4]`: first word, the word after the last one, label, probability."""
COLUMNS = 4
LOW_LIMIT = 0.1
"""Many more candidates than entities have a score of less."""
MOST_BEATEN, MOST_BEATEN_BY_LOW = 32, 8
"""Candidates of one label that begin at one word: so many of the best stay though they are beaten; of a low limit."""
MOST_SPAN_WORDS = 512
"""Most words of an entity that is found by its start, end and insides."""
MASKED = -5e3
NONE: Candidates = np.empty((0, COLUMNS), dtype=np.float32)

CandidateFinder = Callable[[Logits, float], Logits]
"""From the scores of a sequence, and the least probability of a candidate, to what its worker needs of them."""


def grid_candidates(scores: Logits, width: int, limit: float) -> Candidates:
    """Those of a grid `[words, width * labels]`: row i, column k * labels + c: words i to i + k, label c."""
    words = len(scores)
    grid = scores.reshape(words, width, -1)
    starts, more, labels = np.nonzero(grid >= _least_logit(limit))
    inside = starts + more < words
    starts, more, labels = starts[inside], more[inside], labels[inside]
    return _best(_rows(starts, starts + more + 1, labels, probabilities(grid[starts, more, labels])), limit)


def boundary_candidates(scores: Logits, limits: Sequence[float], overlaps: Overlaps) -> Candidates:
    """Those of starts, ends and insides `[words, labels * 3]`: spans of one word, of two, as long as any goes on.

    A span goes on while a longer one could be worth keeping, so a low limit does not cost every pair of words.

    Args:
        limits: of each label.
    """
    most = _most_beaten(min(limits)) if overlaps.keeps_beaten else 1
    starts, ends, insides = probabilities(scores.reshape(len(scores), len(limits), 3)).transpose(2, 0, 1)
    least = np.asarray(limits, dtype=np.float32)
    first, label = np.nonzero((starts >= least) & (insides >= least))
    last, score, found = first, starts[first, label], [NONE]
    best = np.full((len(first), most), -1.0, dtype=np.float32)
    for _ in range(MOST_SPAN_WORDS):
        score = np.minimum(score, insides[last, label])
        ended = np.minimum(score, ends[last, label])
        worst = best.argmin(axis=1)
        rows = np.flatnonzero((ends[last, label] >= least[label]) & (ended > best.min(axis=1)))
        best[rows, worst[rows]] = ended[rows]
        found.append(_rows(first[rows], last[rows] + 1, label[rows], ended[rows]))
        on = np.flatnonzero((last + 1 < len(scores)) & (score > best.min(axis=1)))
        on = on[insides[last[on] + 1, label[on]] >= least[label[on]]]
        if not len(on):
            break
        first, last, label, score, best = first[on], last[on] + 1, label[on], score[on], best[on]
    return np.concatenate(found)


def pool_candidates(scores: Logits, limit: float) -> Candidates:
    """Those of a pool of spans `[spans, 2 + labels]`: first word, the word after the last one, each label's score."""
    spans, labels = np.nonzero(scores[:, 2:] >= _least_logit(limit))
    starts, stops = scores[spans, :2].T
    return _best(_rows(starts, stops, labels, probabilities(scores[spans, 2 + labels])), limit)


def keep_window(candidates: Candidates, window: Window, labels: range) -> Candidates:
    """A window's candidates with their middle in its kept part, with the document's words and the request's labels.

    So one as long as an overlap is whole in the window that keeps it.
    """
    middles = (candidates[:, 0] + candidates[:, 1]) / 2 + window.start
    kept = candidates[(window.keep_start <= middles) & (middles < window.keep_stop)]
    return kept + np.array([window.start, window.start, labels.start, 0], dtype=np.float32)


def over_limits(candidates: Candidates, limits: Sequence[float]) -> Candidates:
    """The candidates that their own label's limit lets through."""
    return candidates[candidates[:, 3] >= np.asarray(limits, dtype=np.float32)[candidates[:, 2].astype(np.intp)]]


def choose(candidates: Candidates, overlaps: Overlaps, *, by_total: bool = True) -> Candidates:
    """The candidates that go together, in the order of their starts.

    Args:
        by_total: a label that does not compete has those of the greatest total; else its best ones.
    """
    starts, stops, labels, _ = candidates.T
    if overlaps is Overlaps.PER_LABEL:
        unbeaten = candidates[_unbeaten(candidates, starts, labels)]
        pick = _greatest_total if by_total else _apart
        parts = [pick(unbeaten[unbeaten[:, 2] == label]) for label in np.unique(labels)]
        chosen = np.concatenate([NONE, *parts])
    elif overlaps in (Overlaps.FLAT, Overlaps.FLAT_MULTI_LABEL):
        chosen = _apart(candidates[_unbeaten(candidates, starts)])
    else:
        chosen = _nested(candidates[_unbeaten(candidates, starts, stops)])
    if overlaps.allows_equal:  # Whatever goes with a span goes with all that are equal to it.
        chosen = candidates[np.isin(_places(candidates), _places(chosen))]
    in_order: Candidates = chosen[np.lexsort((chosen[:, 2], chosen[:, 1], -chosen[:, 3], chosen[:, 0]))]
    return in_order


def _places(candidates: Candidates) -> NDArray[np.float64]:
    """One number for the first and the last word."""
    return candidates[:, 0] * np.float64(1 << 26) + candidates[:, 1]


def _unbeaten(candidates: Candidates, *same: NDArray[np.float32]) -> NDArray[np.intp]:
    """Those that score more than each shorter one, and each one of the same words, among those with `same` equal."""
    _, stops, labels, scores = candidates.T
    order = np.lexsort((labels, -scores, stops, *same))
    group = np.zeros(len(order))
    for each in same:
        group[1:] += np.diff(each[order]) != 0
    # Of a later group every number is greater, so the greatest number so far is one of the same group.
    ranked = np.cumsum(group != 0) * 2.0 + scores[order]
    before = np.concatenate([[-1.0], np.maximum.accumulate(ranked)[:-1]])
    unbeaten: NDArray[np.intp] = np.sort(order[ranked > before])
    return unbeaten


def _least_logit(limit: float) -> float:
    """A little below, since the probability decides."""
    if limit <= 0:
        return MASKED
    limit = min(limit, 1 - 1e-7)
    return math.log(limit) - math.log1p(-limit) - 1e-3


def probabilities(logits: Logits) -> Logits:
    """What scores say, from 0 to 1."""
    with np.errstate(over="ignore"):
        found: Logits = np.reciprocal(1 + np.exp(-logits, dtype=np.float32), dtype=np.float32)
    return found


def _rows(starts: NDArray[Any], stops: NDArray[Any], labels: NDArray[np.intp], scores: Logits) -> Candidates:
    return np.stack([starts, stops, labels, scores], axis=1).astype(np.float32)


def _most_beaten(limit: float) -> int:
    return MOST_BEATEN_BY_LOW if limit < LOW_LIMIT else MOST_BEATEN


def _best(candidates: Candidates, limit: float) -> Candidates:
    """Those of at least this probability that are not beaten, and of each start and label the best ones that are."""
    candidates = candidates[candidates[:, 3] >= np.float32(limit)]
    most = _most_beaten(limit)
    if len(candidates) <= most:
        return candidates
    starts, _, labels, scores = candidates.T
    order = np.lexsort((-scores, labels, starts))
    owners = starts[order] * np.float64(1 << 20) + labels[order]
    ranks = np.arange(len(order)) - np.searchsorted(owners, owners)
    best = np.union1d(_unbeaten(candidates, starts, labels), order[ranks < most])
    kept: Candidates = candidates[best]
    return kept


def _best_first(candidates: Candidates) -> NDArray[np.intp]:
    starts, stops, labels, scores = candidates.T
    return np.lexsort((labels, stops, starts, -scores))


def _apart(candidates: Candidates) -> Candidates:
    """Those that share no word with a better one."""
    taken = np.zeros(int(candidates[:, 1].max(initial=0)), dtype=np.bool_)
    kept = []
    order = _best_first(candidates)
    places = candidates[order, :2].astype(np.intp).tolist()
    for index, (start, stop) in zip(order.tolist(), places, strict=True):
        if not taken[start:stop].any():
            taken[start:stop] = True
            kept.append(index)
    return candidates[kept]


def _greatest_total(candidates: Candidates) -> Candidates:
    """The disjoint ones whose scores are most together (weighted interval scheduling)."""
    candidates = candidates[np.lexsort((candidates[:, 3], candidates[:, 0], candidates[:, 1]))]
    starts, stops, _, scores = candidates.T
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
            kept.append(index)
            index = before[index]
    return candidates[kept]


def _nested(candidates: Candidates) -> Candidates:
    """Those that cross no better one; no two are equal."""
    kept: list[int] = []
    over: dict[int, list[tuple[int, int]]] = {}
    order = _best_first(candidates)
    places = candidates[order, :2].astype(np.intp).tolist()
    for index, (start, stop) in zip(order.tolist(), places, strict=True):
        near = (*over.get(start, ()), *over.get(stop - 1, ()))  # What crosses a span covers one of its ends.
        if all(_is_nested(start, stop, *each) for each in near):
            kept.append(index)
            for word in range(start, stop):
                over.setdefault(word, []).append((start, stop))
    return candidates[kept]


def _is_nested(start: int, stop: int, other_start: int, other_stop: int) -> bool:
    return (other_start <= start and stop <= other_stop) or (start <= other_start and other_stop <= stop)

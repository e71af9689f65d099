"""Learned scores of one tag after another, `[tags, tags]`, and the best valid path with them: exact, and seldom dear.

A path's score is the sum of its words' scores and of its steps'. A document stands between two `O`: its first word is
reached from `O`, its last one leads to `O` (a model without `O` has no such steps).

Why it is exact. Split each step's score: `step[i, j] = after[i] + before[j] - loss[i, j]`, with no loss below 0 and
infinite loss where the scheme forbids the step. Give `after` and `before` to the words. Then a path's score is the sum
of its words' *values* less its losses; so where each word's best value can be taken without loss, no path is better.
That holds for any cut as well: a segment solved by itself, free at its borders, can only be too good, and segments
that join without loss reach the bound. A model that has learned no steps is the case of losses that are 0 or infinite.

Why it is fast. `after` is the score of leaving to `O`, `before` that of coming from it, or more if another step needs
more; so where no entity is nothing is lost, nor where one ends. A lossy step matters only if a word beside it has
another label whose value is below the best by less than what is lost beside that word. Most words are surer than that;
the others are searched with the few labels that are near the best, and one in place of all the rest, as good as the
best of them and without loss: if the best path avoids it, it is the best of all paths; else the segment is searched
with all labels.

Values are float32, so of paths whose scores differ by rounding alone either may be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.tag_scheme import Scheme

NEAR_LABELS = 7
"""Labels a word that are searched at first, the best ones."""
ROWS_AT_ONCE = 4_096
"""Words whose values are computed at a time, so that they stay in a core's cache."""
CELLS_AT_ONCE = 2_000_000
"""Most steps that are weighed at a time: some 16 MB."""
_NO_LOSS = 1e-6

Labels = NDArray[np.intp]
Costs = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """A model's learned steps, split for the search. Arrays have one entry per label of its scheme.

    Attributes:
        value: what each word's label gains, wherever it stands: `after + before`, float32.
        first: what it gains in addition as a document's first word; -inf where it may not begin.
        last: what it gains in addition as a document's last word; -inf where it may not end.
        loss: `[labels, labels]`, what a step loses; inf where it is not allowed.
        loss_before: the same by label and label before, with one label more, whose steps lose nothing.
    """

    value: NDArray[np.float32]
    first: NDArray[np.float32]
    last: NDArray[np.float32]
    loss: Costs
    loss_before: Costs

    @classmethod
    def of(cls, steps: NDArray[np.floating], scheme: Scheme) -> Transitions:
        """From finite scores of steps `[labels, labels]`; those that the scheme forbids do not count."""
        step = np.where(scheme.allowed, steps.astype(np.float64), -np.inf)
        outside = scheme.labels.index(scheme.outside) if scheme.outside is not None else None
        begin = step[outside] if outside is not None else np.where(scheme.may_begin, 0.0, -np.inf)
        end = step[:, outside] if outside is not None else np.where(scheme.may_end, 0.0, -np.inf)
        stay = step[outside, outside] if outside is not None else 0.0
        after = np.where(scheme.may_end, end - stay, 0.0)
        reached = (step - after[:, None]).max(axis=0)
        before = np.where(scheme.may_begin, np.maximum(begin, reached), reached)
        after = np.where(scheme.may_end, after, (step - before).max(axis=1))
        loss = after[:, None] + before - step
        loss[loss < _NO_LOSS] = 0.0
        first, last = _single(begin - before), _single(end - after)
        return cls(_single(after + before), first, last, loss, np.ascontiguousarray(np.pad(loss.T, (0, 1))))


@lru_cache(maxsize=64)
def unlearned(scheme: Scheme) -> Transitions:
    """Make the transitions of a model that has learned none: steps are allowed or not, and none scores."""
    return Transitions.of(np.zeros((len(scheme.labels),) * 2), scheme)


def best_path(transitions: Transitions, scores: NDArray[np.float32], borders: Sequence[int] = ()) -> Labels:
    """The valid path with the highest score, for word scores `[words, labels]`: label ids `[words]`.

    `borders`: where a further document begins. Each document has the path that it has alone; only the search is shared.
    """
    return _Search(transitions, scores, borders).run() if len(scores) else np.empty(0, dtype=np.intp)


class _Search:
    """One search: `_path` is the best so far; no step on it is lossy but those within segments that were searched."""

    def __init__(self, transitions: Transitions, scores: NDArray[np.float32], borders: Sequence[int]) -> None:
        self._of = transitions
        self._scores = scores
        self._is_border = np.zeros(len(scores) + 1, dtype=np.bool_)
        self._is_border[[0, len(scores), *borders]] = True
        self._path: Labels = np.empty(len(scores), dtype=np.intp)

    def run(self) -> Labels:
        self._take_best_values()
        losses = self._losses()
        is_joined = losses > 0
        starts, stops = self._doubtful(*_runs(is_joined), losses)
        reach = 1
        while len(starts):
            self._solve(starts, stops)
            failing = np.flatnonzero((self._losses() > 0) & ~is_joined)
            if not len(failing):
                break
            is_new = np.zeros_like(is_joined)
            near = failing[:, None] + np.arange(1 - reach, reach)
            is_new[near.clip(0, len(self._path))] = True
            is_new &= ~self._is_border
            is_joined |= is_new
            starts, stops = _runs(is_joined)
            count = np.cumsum(is_new)
            changed = count[stops - 1] > count[starts]
            starts, stops, reach = starts[changed], stops[changed], reach * 2
        return self._path

    def _take_best_values(self) -> None:
        for start in range(0, len(self._path), ROWS_AT_ONCE):
            some = slice(start, start + ROWS_AT_ONCE)
            self._path[some] = (self._scores[some] + self._of.value).argmax(axis=1)
        borders = np.flatnonzero(self._is_border)
        outer = np.concatenate([borders[:-1], borders[1:] - 1])
        self._path[outer] = self._values(outer).argmax(axis=1)

    def _values(self, words: Labels) -> NDArray[np.float32]:
        """The values of these words, `[words, labels]`."""
        values: NDArray[np.float32] = self._scores[words] + self._of.value
        if (begins := self._is_border[words]).any():
            values[begins] += self._of.first
        if (ends := self._is_border[words + 1]).any():
            values[ends] += self._of.last
        return values

    def _losses(self) -> Costs:
        """What the path loses before each word, and 0 at its end; nothing between documents."""
        losses = np.zeros(len(self._path) + 1)
        losses[1:-1] = self._of.loss[self._path[:-1], self._path[1:]]
        losses[self._is_border] = 0.0
        return losses

    def _doubtful(self, starts: Labels, stops: Labels, losses: Costs) -> tuple[Labels, Labels]:
        """Choose, among segments whose words have their best labels, those in which another path could be better.

        Another path leaves the best labels on some runs of words. On such a run it costs at least each word's distance
        to its second-best label, and saves at most the losses beside its words.
        """
        words, firsts = _words_of(starts, stops)
        if not len(words):
            return starts, stops
        values = self._values(words)
        rows, best = np.arange(len(words)), self._path[words]
        top = values[rows, best]
        values[rows, best] = -np.inf
        unsure = top - values.max(axis=1) < losses[words] + losses[words + 1]
        chosen = np.logical_or.reduceat(unsure, firsts)
        return starts[chosen], stops[chosen]

    def _solve(self, starts: Labels, stops: Labels) -> None:
        """Write the best path of each segment `[start, stop)`, free at its borders, into the path."""
        labels = self._scores.shape[1]
        order = np.argsort(starts - stops, kind="stable")
        starts, stops = starts[order], stops[order]
        if labels > NEAR_LABELS + 1:
            solved = self._solve_some(starts, stops, labels - NEAR_LABELS - 1)
            starts, stops = starts[~solved], stops[~solved]
        at_once = max(1, CELLS_AT_ONCE // labels**2)
        for first in range(0, len(starts), at_once):
            some = slice(first, first + at_once)
            self._solve_with(starts[some], stops[some], rest=None)

    def _solve_some(self, starts: Labels, stops: Labels, rest: int) -> NDArray[np.bool_]:
        at_once = CELLS_AT_ONCE // (NEAR_LABELS + 1) ** 2
        parts = [slice(first, first + at_once) for first in range(0, len(starts), at_once)]
        return np.concatenate([self._solve_with(starts[some], stops[some], rest=rest) for some in parts])

    def _solve_with(self, starts: Labels, stops: Labels, *, rest: int | None) -> NDArray[np.bool_]:
        """Search segments, longest first, with all labels, or with all but the `rest` ones; True for those solved.

        All segments are searched in step: `words` are the first ones of all, then the second ones of those that go on.
        """
        running = np.searchsorted(starts - stops, -np.arange(stops[0] - starts[0]), side="left")
        ends = np.cumsum(running)
        segments = np.arange(ends[-1]) - np.repeat(ends - running, running)
        words = starts[segments] + np.repeat(np.arange(len(running)), running)
        labels, costs = self._near_labels(self._values(words), rest)
        at_steps = [slice(end - count, end) for end, count in zip(ends.tolist(), running.tolist(), strict=True)]
        best, came_from = costs[at_steps[0]].copy(), []
        for before, here in pairwise(at_steps):
            count = here.stop - here.start
            reached = best[:count, None, :] + self._lost_before(labels[here], labels[before][:count])
            came_from.append(reached.argmin(axis=2))
            best[:count] = reached.min(axis=2) + costs[here]
        at, rows = best.argmin(axis=1), np.arange(len(starts))
        path = np.empty(len(words), dtype=np.intp)
        for step in range(len(at_steps) - 1, -1, -1):
            here = at_steps[step]
            count = here.stop - here.start
            path[here] = labels[here][rows[:count], at[:count]]
            if step:
                at[:count] = came_from[step - 1][rows[:count], at[:count]]
        solved: NDArray[np.bool_] = np.isfinite(best.min(axis=1))
        solved[segments[path == self._scores.shape[1]]] = False
        kept = solved[segments]
        self._path[words[kept]] = path[kept]
        return solved

    def _lost_before(self, labels: Labels, before: Labels) -> Costs:
        """What the steps to words with these labels lose, `[words, searched, searched before]`."""
        if labels.shape[1] == self._scores.shape[1]:
            return self._of.loss_before[None, :-1, :-1]
        return self._of.loss_before[labels[:, :, None], before[:, None, :]]

    def _near_labels(self, values: NDArray[np.float32], rest: int | None) -> tuple[Labels, Costs]:
        """Each word's labels that are searched, and what they cost, `[words, searched]`.

        With `rest`, the first one stands for so many labels that are worth least, and costs what their best one does.
        """
        top = values.max(axis=1, keepdims=True)
        if rest is None:
            labels = np.broadcast_to(np.arange(values.shape[1]), values.shape)
            return labels, (top - values).astype(np.float64)
        labels = np.argpartition(values, rest, axis=1)[:, rest:]
        costs = (top - values[np.arange(len(values))[:, None], labels]).astype(np.float64)
        labels[:, 0] = values.shape[1]
        return labels, costs


def _runs(is_joined: NDArray[np.bool_]) -> tuple[Labels, Labels]:
    """The segments `[start, stop)` of words whose borders are joined."""
    starts = np.flatnonzero(is_joined[1:] & ~is_joined[:-1])
    return starts, np.flatnonzero(is_joined[:-1] & ~is_joined[1:]) + 1


def _words_of(starts: Labels, stops: Labels) -> tuple[Labels, Labels]:
    """The words of all segments, one after another, and each segment's place among them."""
    lengths = stops - starts
    firsts = np.cumsum(lengths) - lengths
    return np.repeat(starts - firsts, lengths) + np.arange(lengths.sum()), firsts


def _single(values: Costs) -> NDArray[np.float32]:
    return values.astype(np.float32)

"""Viterbi search for the best valid tag path over a whole document: exact, and almost as cheap as an argmax by token.

Scores and a `Scheme` in, one label for each token out.

Why it is exact. Take any partition of the document into segments. A valid path is, on each segment, valid inside; so
its score is at most the sum over the segments of the best score of a *relaxed* path: valid inside the segment, any
label at its borders (at the document's own borders, only labels that may begin or end there). If in every segment the
best relaxed path begins with a label that may begin and ends with one that may end, then the relaxed paths joined are
valid, because whatever may begin may follow whatever may end, and they reach the bound: no valid path is better.

Why it is fast. Where taking each token's best label (`greedy`) is valid inside a segment, it is the best relaxed path
at no cost. So the document is first cut wherever `greedy` ends with one label and begins with the next; only segments
that `greedy` breaks are solved, all at once, step by step. A solution that fails at a border removes the cuts beyond
it (twice as many each round) and its segment is solved again, joined with its neighbours. Each round removes a cut, so
it ends, at the latest with the whole document as one segment. Scores may be log-probabilities or logits: a constant
added to a token's scores changes the score of every path alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.tag_scheme import Scheme

SEGMENTS_AT_ONCE = 16_384
"""Segments that are solved in step, each with some kilobytes of its own."""

FEW_SEGMENTS = 8
"""Up to so many are solved one by one, which takes a third of the time for each."""

Labels = NDArray[np.intp]


def best_path(scores: NDArray[np.float32], scheme: Scheme, borders: Sequence[int] = ()) -> Labels:
    """The valid path with the highest sum of `scores` (`[tokens, labels]`): label ids `[tokens]`.

    `borders`: where a further document begins. Each document has the path that it has alone; only the search is shared.
    """
    tokens = len(scores)
    if tokens == 0:
        return np.empty(0, dtype=np.intp)
    path: Labels = scores.argmax(axis=1)
    is_border = np.zeros(tokens + 1, dtype=np.bool_)
    is_border[[0, tokens, *borders]] = True
    is_cut = is_border.copy()
    is_cut[1:-1] |= scheme.may_end[path[:-1]] & scheme.may_begin[path[1:]]
    unsolved, reach = _broken(path, scheme, is_border), 1
    while len(unsolved):
        cuts = np.flatnonzero(is_cut)
        segments = np.unique(np.searchsorted(cuts, unsolved, side="right") - 1)
        starts, stops = cuts[segments], cuts[segments + 1]
        if len(starts) <= FEW_SEGMENTS:
            for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
                _solve_alone(scores, scheme, start, stop, is_border, path)
        else:
            for first in range(0, len(starts), SEGMENTS_AT_ONCE):
                some = slice(first, first + SEGMENTS_AT_ONCE)
                _solve(scores, scheme, starts[some], stops[some], is_border, path)
        fails_left = ~is_border[starts] & ~scheme.may_begin[path[starts]]
        fails_right = ~is_border[stops] & ~scheme.may_end[path[stops - 1]]
        for beyond in range(reach):
            is_cut[cuts[np.maximum(segments[fails_left] - beyond, 1)]] = False
            is_cut[cuts[np.minimum(segments[fails_right] + 1 + beyond, len(cuts) - 2)]] = False
        is_cut |= is_border
        unsolved, reach = starts[fails_left | fails_right], reach * 2
    return path


def _broken(path: Labels, scheme: Scheme, is_border: NDArray[np.bool_]) -> Labels:
    """The tokens whose label is not allowed after its predecessor, or at the document's border."""
    wrong = is_border[:-1] & ~scheme.may_begin[path]
    wrong[1:] |= ~is_border[1:-1] & ~scheme.allowed[path[:-1], path[1:]]
    wrong |= is_border[1:] & ~scheme.may_end[path]
    return np.flatnonzero(wrong)


def _solve(
    scores: NDArray[np.float32],
    scheme: Scheme,
    starts: Labels,
    stops: Labels,
    is_border: NDArray[np.bool_],
    path: Labels,
) -> None:
    """Write the best relaxed path of each segment `[start, stop)` into `path`, all segments in step.

    Segments are sorted by length, longest first, so that those still running at step t are the first `running[t]`.
    """
    order = np.argsort(starts - stops, kind="stable")
    starts, stops = starts[order], stops[order]
    lengths = stops - starts
    running = np.searchsorted(-lengths, -np.arange(lengths[0]), side="left").tolist()
    best = scores[starts].astype(np.float64)
    best[np.ix_(is_border[starts], ~scheme.may_begin)] = -np.inf
    came_from = [np.empty((0, 0), dtype=np.int16)]
    for step, count in enumerate(running[1:], start=1):
        best[:count], back = _advance(best[:count], scheme)
        best[:count] += scores[starts[:count] + step]
        came_from.append(back)
    best[np.ix_(is_border[stops], ~scheme.may_end)] = -np.inf
    label = best.argmax(axis=1)
    for step in range(len(running) - 1, 0, -1):
        count = running[step]
        path[starts[:count] + step] = label[:count]
        label[:count] = came_from[step][np.arange(count), label[:count]]
    path[starts] = label


def _solve_alone(
    scores: NDArray[np.float32], scheme: Scheme, start: int, stop: int, is_border: NDArray[np.bool_], path: Labels
) -> None:
    """What `_solve` does, for one segment."""
    never = -np.inf
    best = np.append(scores[start].astype(np.float64), never)
    if is_border[start]:
        best[:-1][~scheme.may_begin] = never
    came_from = []
    for token in range(start + 1, stop):
        ended = np.where(scheme.may_end, best[:-1], never)
        end = ended.argmax()
        score = np.where(scheme.may_begin, ended[end], never)
        back = np.full(len(score), end)
        for predecessor in scheme.inner:
            candidate = best[predecessor]
            better = candidate > score
            np.copyto(score, candidate, where=better)
            np.copyto(back, predecessor, where=better)
        came_from.append(back)
        np.add(score, scores[token], out=best[:-1])
    if is_border[stop]:
        best[:-1][~scheme.may_end] = never
    label = path[stop - 1] = best[:-1].argmax()
    for token, back in zip(range(stop - 2, start - 1, -1), reversed(came_from), strict=True):
        label = path[token] = back[label]


def _advance(best: NDArray[np.float64], scheme: Scheme) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
    """One step of many segments: the best score before each label, and the label it came from, `[segments, labels]`."""
    segments, labels = best.shape
    ended = np.where(scheme.may_end, best, -np.inf)
    end = ended.argmax(axis=1)[:, None]
    score = np.where(scheme.may_begin, np.take_along_axis(ended, end, axis=1), -np.inf)
    back = np.broadcast_to(end, (segments, labels)).astype(np.int16)
    padded = np.concatenate([best, np.full((segments, 1), -np.inf)], axis=1)
    for predecessor in scheme.inner:
        candidate = padded[:, predecessor]
        better = candidate > score
        score = np.where(better, candidate, score)
        back = np.where(better, predecessor.astype(np.int16), back)
    return score, back

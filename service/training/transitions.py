"""Fit of transitions: maximum likelihood of a linear-chain CRF over frozen log-probabilities of words.

Jointly with a bias for each tag, which is thrown away: without it the matrix would learn how frequent tags are, which
the model knows. What a text's set leaves open is summed over (a lattice), so that nothing is learned about it.

Words that are `O` for certain, and whose neighbours are, teach nothing and are left out: a text falls into pieces, each
of which stands between two `O`, as a text does in decoding. Longer ones are cut, with free ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from service.core.arrays import Logits
from service.core.decoding.tag_scheme import OUTSIDE, Scheme
from service.evaluation.labelled_documents import LabelledDocument

CHUNK_WORDS: Final = 64
CERTAIN: Final = 0.999
"""Least probability of a word that is `O` for certain."""
LEAST_BATCHES: Final = 10
"""Least batches of an epoch, however few words there are."""
BATCH_WORDS: Final = 8_192
EPOCHS: Final = 12
RATE: Final = 0.08
PRIOR: Final = 0.3
"""Weight of the squared transitions, in nats over all words: steps that were never seen stay near 0."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class WordLattice:
    """The words of one text: log-probabilities `[words, tags]`, and the tags that each may have, bool alike."""

    scores: Logits
    allowed: NDArray[np.bool_]


def allowed_tags(
    words: Sequence[tuple[int, int]], document: LabelledDocument, settled: frozenset[str], scheme: Scheme
) -> NDArray[np.bool_]:
    """The tags of each word `[start, end)` that agree with the document's entities, bool `[words, tags]`.

    A word belongs to an entity if their characters overlap. Without one it is `O` or has a tag of a label that is not
    settled. An entity whose label the model does not have may be anything.
    """
    tag_ids = {tag: number for number, tag in enumerate(scheme.labels)}
    opened = np.array([tag == OUTSIDE or tag[2:] not in settled for tag in scheme.labels])
    allowed = np.tile(opened, (len(words), 1))
    starts, ends = np.array(words, dtype=np.int64).reshape(-1, 2).T
    for start, end in document.unmapped:
        allowed[(starts < end) & (ends > start)] = True
    free = np.ones(len(words), dtype=np.bool_)
    for span in document.spans:
        inside = np.flatnonzero((starts < span.end) & (ends > span.start) & free)
        for place, word in enumerate(inside):
            tag = tag_ids.get(f"{'I' if place else 'B'}-{span.label}")
            allowed[word] = True if tag is None else np.arange(len(tag_ids)) == tag
        free[inside] = False
    return allowed


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Padded pieces of texts: scores and allowed `[chunks, words, tags]`, real words, whether a text begins or ends."""

    scores: Tensor
    allowed: Tensor
    is_word: Tensor
    begins: Tensor
    ends: Tensor


def fit_transitions(
    texts: Sequence[WordLattice],
    scheme: Scheme,
    *,
    strength: float,
    progress: Progress = lambda _: None,
) -> NDArray[np.float32]:
    """The transitions `[tags, tags]`, multiplied by `strength`; 0 where the scheme forbids the step.

    Raises:
        ValueError: the scheme has no `O`, or no word is uncertain.
    """
    outside = scheme.labels.index(OUTSIDE)
    pieces = [piece for text in texts for piece in _pieces(text, outside)]
    if not pieces:
        raise ValueError("transitions need texts with words that are not certain")
    batches = _batches(pieces)
    allowed, count = torch.from_numpy(scheme.allowed), len(scheme.labels)
    steps, bias = torch.zeros(count, count, requires_grad=True), torch.zeros(count, requires_grad=True)
    optimizer = torch.optim.Adam([steps, bias], lr=RATE, betas=(0.9, 0.95))
    words, draws = sum(int(batch.is_word.sum()) for batch in batches), np.random.default_rng(0)
    for epoch in range(EPOCHS):
        total = 0.0
        for number, index in enumerate(draws.permutation(len(batches)).tolist()):
            part = (epoch + number / len(batches)) / EPOCHS
            optimizer.param_groups[0]["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * part))
            loss = lattice_loss(batches[index], steps, bias, allowed, outside)
            objective = loss * len(batches) + PRIOR * (steps.square().sum() + bias.square().sum())
            optimizer.zero_grad()
            (objective / words).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += float(loss.detach())
        progress(f"transitions: epoch {epoch + 1} of {EPOCHS}, {total / words:.4f} nats a word, {words:,} words")
    learned: NDArray[np.float32] = (steps.detach() * allowed * strength).numpy()
    return learned


def lattice_loss(chunks: Chunks, steps: Tensor, bias: Tensor, allowed: Tensor, outside: int) -> Tensor:
    """Negative log-likelihood of the chunks' lattices, in nats, summed."""
    weights = (chunks.scores + bias).exp()
    step = steps.exp() * allowed
    both = torch.cat([weights * chunks.allowed, weights])
    free = torch.ones(len(both), len(step))
    first = torch.where(chunks.begins.repeat(2)[:, None], step[outside], free)
    last = torch.where(chunks.ends.repeat(2)[:, None], step[:, outside], free)
    is_word = chunks.is_word.repeat(2, 1)
    forward = both[:, 0] * first
    logarithm = torch.zeros(len(both))
    for place in range(1, both.shape[1]):
        scale = forward.sum(1).clamp_min(1e-30)
        logarithm = logarithm + scale.log()
        forward = forward / scale[:, None]
        forward = torch.where(is_word[:, place, None], (forward @ step) * both[:, place], forward)
    logarithm = logarithm + (forward * last).sum(1).clamp_min(1e-30).log()
    given, any_path = logarithm.chunk(2)
    return (any_path - given).sum()


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some words of a text: scores and allowed `[words, tags]`, and whether an `O` stands before and behind them."""

    scores: Logits
    allowed: NDArray[np.bool_]
    begins: bool
    ends: bool


def _pieces(text: WordLattice, outside: int) -> Iterator[Piece]:
    """The words of a text that teach something, each with its neighbours."""
    is_open = (text.scores[:, outside] < math.log(CERTAIN)) | ~text.allowed[:, outside]
    kept = is_open.copy()
    kept[1:] |= is_open[:-1]
    kept[:-1] |= is_open[1:]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]])))
    for first, last in edges.reshape(-1, 2).tolist():
        for start in range(first, last, CHUNK_WORDS):
            stop = min(start + CHUNK_WORDS, last)
            yield Piece(text.scores[start:stop], text.allowed[start:stop], start == first, stop == last)


def _batches(pieces: Sequence[Piece]) -> list[Chunks]:
    """The pieces in batches of similar length."""
    ordered = sorted(pieces, key=lambda piece: len(piece.scores))
    words = sum(len(piece.scores) for piece in ordered)
    most = min(BATCH_WORDS, words // LEAST_BATCHES + 1)
    batches: list[list[Piece]] = [[]]
    for piece in ordered:
        if batches[-1] and (len(batches[-1]) + 1) * len(piece.scores) > most:
            batches.append([])
        batches[-1].append(piece)
    return [_padded(batch) for batch in batches]


def _padded(pieces: Sequence[Piece]) -> Chunks:
    tags, longest = pieces[0].scores.shape[1], max(len(piece.scores) for piece in pieces)
    scores = torch.zeros(len(pieces), longest, tags)
    allowed = torch.ones(len(pieces), longest, tags, dtype=torch.bool)
    is_word = torch.zeros(len(pieces), longest, dtype=torch.bool)
    for row, piece in enumerate(pieces):
        scores[row, : len(piece.scores)] = torch.from_numpy(piece.scores)
        allowed[row, : len(piece.scores)] = torch.from_numpy(piece.allowed)
        is_word[row, : len(piece.scores)] = True
    begins, ends = (torch.tensor(flags) for flags in zip(*((p.begins, p.ends) for p in pieces), strict=True))
    return Chunks(scores, allowed, is_word, begins, ends)

"""Learns transitions: maximum likelihood of a linear-chain CRF over frozen log-probabilities of words.

Jointly with a bias for each tag, which is thrown away: without it the matrix would learn how frequent tags are, which
the model knows. What a text's set leaves open is summed over (a lattice), so that nothing is learned about it.
Sequences longer than `CHUNK_WORDS` are cut; a cut end is free, a text's own stands beside `O`, as in decoding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model_store.builtin.training.fitting.lattice import WordLattice
from service.core.decoding.tag_scheme import OUTSIDE, Scheme

CHUNK_WORDS: Final = 64
BATCH_CHUNKS: Final = 256
EPOCHS: Final = 12
RATE: Final = 0.08
PRIOR: Final = 0.3
"""Weight of the squared transitions, in nats over all words: steps that were never seen stay near 0."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Padded pieces of texts: scores and allowed `[chunks, words, tags]`, real words, whether a text begins or ends."""

    scores: Tensor
    allowed: Tensor
    is_word: Tensor
    begins: Tensor
    ends: Tensor

    def __getitem__(self, rows: Tensor) -> Chunks:
        return Chunks(self.scores[rows], self.allowed[rows], self.is_word[rows], self.begins[rows], self.ends[rows])


def fit_transitions(
    texts: Sequence[WordLattice],
    scheme: Scheme,
    *,
    strength: float,
    seed: int = 0,
    progress: Progress = lambda _: None,
) -> NDArray[np.float32]:
    """The transitions `[tags, tags]`, multiplied by `strength`; 0 where the scheme forbids the step.

    Raises:
        ValueError: the scheme has no `O`, or there is no text.
    """
    if OUTSIDE not in scheme.labels or not any(len(text.scores) for text in texts):
        raise ValueError("transitions need texts, and tags with O among them")
    chunks = _chunks([text for text in texts if len(text.scores)])
    allowed = torch.from_numpy(scheme.allowed)
    count = len(scheme.labels)
    steps, bias = torch.zeros(count, count, requires_grad=True), torch.zeros(count, requires_grad=True)
    optimizer = torch.optim.Adam([steps, bias], lr=RATE, betas=(0.9, 0.95))
    words, draws = int(chunks.is_word.sum()), torch.Generator().manual_seed(seed)
    batches = math.ceil(len(chunks.scores) / BATCH_CHUNKS)
    for epoch in range(EPOCHS):
        total = 0.0
        for number, rows in enumerate(torch.randperm(len(chunks.scores), generator=draws).chunk(batches)):
            part = (epoch + number / batches) / EPOCHS
            optimizer.param_groups[0]["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * part))
            loss = _loss(chunks[rows], steps, bias, allowed, scheme.labels.index(OUTSIDE))
            objective = loss * len(chunks.scores) / len(rows) + PRIOR * (steps.square().sum() + bias.square().sum())
            optimizer.zero_grad()
            (objective / words).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            total += float(loss.detach())
        progress(f"transitions: epoch {epoch + 1} of {EPOCHS}, {total / words:.4f} nats a word")
    learned: NDArray[np.float32] = (steps.detach() * allowed * strength).numpy()
    return learned


def _loss(chunks: Chunks, steps: Tensor, bias: Tensor, allowed: Tensor, outside: int) -> Tensor:
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


def _chunks(texts: Sequence[WordLattice]) -> Chunks:
    parts = [
        (text.scores[start : start + CHUNK_WORDS], text.allowed[start : start + CHUNK_WORDS], start, len(text.scores))
        for text in texts
        for start in range(0, len(text.scores), CHUNK_WORDS)
    ]
    tags = parts[0][0].shape[1]
    scores = torch.zeros(len(parts), CHUNK_WORDS, tags)
    allowed = torch.ones(len(parts), CHUNK_WORDS, tags, dtype=torch.bool)
    is_word = torch.zeros(len(parts), CHUNK_WORDS, dtype=torch.bool)
    for row, (score, allow, _, _) in enumerate(parts):
        scores[row, : len(score)] = torch.from_numpy(score)
        allowed[row, : len(score)] = torch.from_numpy(allow)
        is_word[row, : len(score)] = True
    begins = torch.tensor([start == 0 for _, _, start, _ in parts])
    ends = torch.tensor([start + CHUNK_WORDS >= words for _, _, start, words in parts])
    return Chunks(scores, allowed, is_word, begins, ends)

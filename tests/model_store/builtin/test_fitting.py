"""Fits: transitions say nothing about what a set leaves open; a calibrated score is the share that is right."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
import torch

from service.core.decoding.tag_scheme import scheme_of
from service.evaluation.labelled_documents import LabelledDocument, LabelledSpan
from service.evaluation.report import calibration as reliability
from service.training.fitting import fit_calibration
from service.training.transitions import Chunks, WordLattice, allowed_tags, fit_transitions, lattice_loss

BIO = scheme_of(("O", "B-PERSON", "I-PERSON"))
TEXT = "Ada Lovelace met Bob"
WORDS = [(0, 3), (4, 12), (13, 16), (17, 20)]


def allowed(*spans: LabelledSpan, settled: str = "PERSON", unmapped: tuple[tuple[int, int], ...] = ()) -> np.ndarray:
    document = LabelledDocument("0", TEXT, spans, "group", unmapped=unmapped)
    return allowed_tags(WORDS, document, frozenset([settled]), BIO)


def test_the_words_of_a_span_have_its_tags_and_all_others_none() -> None:
    words = allowed(LabelledSpan(0, 12, "PERSON"))
    assert [np.flatnonzero(word).tolist() for word in words] == [[1], [2], [0], [0]]


def test_what_a_set_does_not_mark_stays_open() -> None:
    assert allowed(settled="DATE").all()


def test_a_span_without_a_label_of_the_models_may_be_anything() -> None:
    words = allowed(LabelledSpan(13, 16, "EMAIL"), unmapped=((0, 3),))
    assert [np.flatnonzero(word).tolist() for word in words] == [[0, 1, 2], [0], [0, 1, 2], [0]]


def by_hand(scores: np.ndarray, allowed: np.ndarray, steps: np.ndarray) -> float:
    """The negative log-likelihood of one text by the sum over all paths."""
    totals = [0.0, 0.0]
    for path in product(range(3), repeat=len(scores)):
        whole = [0, *path, 0]
        pairs = list(pairwise(whole))
        if all(BIO.allowed[pair] for pair in pairs):
            weight = np.exp(sum(steps[pair] for pair in pairs) + sum(scores[w, t] for w, t in enumerate(path)))
            totals[0] += weight
            totals[1] += weight * all(allowed[word, tag] for word, tag in enumerate(path))
    return float(np.log(totals[0] / totals[1]))


@pytest.mark.parametrize("words", [1, 2, 4])
def test_the_likelihood_is_that_of_all_paths(words: int) -> None:
    random = np.random.default_rng(words)
    scores = np.log(random.dirichlet(np.ones(3), words)).astype(np.float32)
    steps = random.normal(size=(3, 3)).astype(np.float32)
    allowed = np.zeros((words, 3), dtype=np.bool_)
    allowed[:, 0] = allowed[-1] = True
    padded = torch.zeros(1, words + 2, 3), torch.ones(1, words + 2, 3, dtype=torch.bool)
    padded[0][0, :words], padded[1][0, :words] = torch.from_numpy(scores), torch.from_numpy(allowed)
    is_word = torch.arange(words + 2)[None] < words
    whole = torch.tensor([True])
    chunks = Chunks(*padded, is_word, whole, whole)
    loss = lattice_loss(chunks, torch.from_numpy(steps), torch.zeros(3), torch.from_numpy(BIO.allowed), outside=0)
    assert float(loss) == pytest.approx(by_hand(scores, allowed, steps), abs=1e-4)


def test_entities_of_several_words_are_learned_and_frequencies_are_not() -> None:
    """Every person has two words, and the network cannot tell where one begins."""
    random = np.random.default_rng(0)
    texts = []
    for _ in range(100):
        tags = np.concatenate([[1, 2] if random.uniform() < 0.3 else [0] for _ in range(8)])
        unsure = np.where(tags[:, None] > 0, [[0.1, 0.45, 0.45]], [[0.9, 0.05, 0.05]])
        texts.append(WordLattice(np.log(unsure).astype(np.float32), np.eye(3, dtype=np.bool_)[tags]))
    steps = fit_transitions(texts, BIO, strength=0.5)
    assert steps.shape == (3, 3)
    assert steps[0, 2] == 0.0
    assert steps[1, 2] - steps[1, 0] > 1.0
    assert steps[1, 2] - steps[1, 1] > 1.0
    assert steps[2, 0] - steps[2, 2] > 1.0


def overconfident(count: int, seed: int) -> list[tuple[float, bool]]:
    """Entities of which the square of their score is right."""
    random = np.random.default_rng(seed)
    scores = random.uniform(0.2, 1.0, count)
    return list(zip(scores.tolist(), (random.uniform(size=count) < scores**2).tolist(), strict=True))


def test_a_fitted_map_takes_most_of_the_error_away_from_other_entities() -> None:
    calibration = fit_calibration(overconfident(4_000, seed=1))
    judged = overconfident(4_000, seed=2)
    mapped = calibration.shares_of([score for score, _ in judged])
    assert reliability(judged).error > 0.15
    assert reliability(zip(mapped, (right for _, right in judged), strict=True)).error < 0.03


def test_equal_scores_are_calibrated_to_the_share_of_them_all() -> None:
    judged = [(0.9, number >= 20) for number in range(60)]
    assert fit_calibration(judged).shares_of([0.9]) == pytest.approx([2 / 3], abs=0.05)

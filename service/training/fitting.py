"""Fit of transitions and calibration of a BIO model, on documents that its training left out.

Writes `transitions.safetensors` and `decoding.json` into the model's folder, with the service's own tokenizing, windows
and decoding. One matrix is fitted on each half of the groups, and their mean is written; the calibration is fitted on
documents that are each decoded with the matrix of the other half.

Calibration: isotonic regression by pooling adjacent violators (Ayer et al. 1955; Zadrozny and Elkan 2002), thinned to
few points between which the map is straight.

`fit_own` is for a team's model, whose data are often few: each file is written only if it helps the half of the groups
on which it was not fitted.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from service.core.decoding.aggregation_strategies import Aggregation, softmax
from service.core.decoding.entities import decode_logits
from service.core.decoding.model_decoding import PLAIN, Calibration, Decoding, word_logits
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.tokens import word_firsts
from service.core.decoding.transitions import Transitions
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, limited
from service.evaluation.report import calibration as reliability
from service.evaluation.span_scores import conventional, exact_spans
from service.text.decoding_files import RULES as RULES_FILE
from service.text.decoding_files import TRANSITIONS
from service.training.frozen_model import FrozenModel, ScoredDocument, ScoredPart
from service.training.model import box_facts
from service.training.transitions import Progress, WordLattice, allowed_tags, fit_transitions

STRENGTH: Final = 0.8
"""Factor of the fitted transitions."""
MOST_DOCUMENTS: Final = 160
"""Documents of a set at most."""
FOLDS: Final = 2
MOST_POINTS: Final = 20
"""Points of a calibration map at most."""
LEAST_ENTITIES: Final = 40
"""Fewest entities, and"""
LEAST_GROUPS: Final = 8
"""fewest groups of documents, from whose scores a calibration is fitted."""

Numbers = NDArray[np.float64]


def fit(
    folder: Path,
    sets: Sequence[LabelledSet],
    *,
    decoding: Decoding,
    settled: Callable[[LabelledSet], frozenset[str]],
    calibrates: Callable[[LabelledSet], bool],
    strength: float = STRENGTH,
    progress: Progress,
) -> None:
    """Fit on the sets, tell the error of the scores before and after, and write both files.

    Args:
        settled: the labels that are absent wherever a set has no entity.
        calibrates: True for a set on which the calibration is fitted; if none is, it is fitted on all.
    """
    scored = _scored(FrozenModel(folder), sets, progress)
    halves = _halves(scored, settled, decoding, strength, progress)
    of_fold = [_with_steps(decoding, steps, scored) for steps in halves]
    real = [each for each in scored.sets if calibrates(each[0])] or scored.sets
    judged = [pair for fold in range(FOLDS) for pair in _judged_fold(real, scored.scheme, of_fold[fold], fold)]
    calibration = fit_calibration(judged) if judged else Calibration((0.0, 1.0), (0.0, 1.0))
    before, after = reliability(judged).error, reliability(_mapped(calibration, judged)).error
    progress(
        f"calibration error on the documents it was fitted on: {before:.3f} → {after:.3f} ({len(judged)} entities)"
    )
    _write(folder, replace(decoding, calibration=calibration), np.stack(halves).mean(axis=0))
    progress(f"wrote {RULES_FILE} and {TRANSITIONS} to {folder}")


@dataclass(frozen=True, slots=True)
class FittedDecoding:
    """What `fit_own` found on the half of the groups on which nothing was fitted: F1 and calibration error.

    Attributes:
        entities, groups: found entities whose scores were compared with the truth, and groups of documents.
        f1, error: before and after; equal where a file does not help and was not written.
        reason: why there is no calibration; empty where there is one.
    """

    entities: int
    groups: int
    f1: tuple[float, float]
    error: tuple[float, float]
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"scores are not calibrated: {self.reason}"
        (f1, fitted_f1), (error, fitted_error) = self.f1, self.error
        steps = (
            "no transitions, which did not help" if f1 == fitted_f1 else f"transitions, F1 {f1:.3f} → {fitted_f1:.3f}"
        )
        return (
            f"scores are calibrated on {self.entities} entities left out of training: mean distance of score and share "
            f"of right entities {error:.3f} → {fitted_error:.3f}, each half measured by the other half's map; {steps}"
        )


def fit_own(folder: Path, sets: Sequence[LabelledSet], progress: Progress) -> FittedDecoding:
    """Fit a new model's transitions and calibration on the sets left out of its training; write what helps."""
    return fit_scored(folder, _scored(FrozenModel(folder), sets, progress), progress)


def fit_scored(folder: Path, scored: ScoredSets, progress: Progress) -> FittedDecoding:
    """Fit on sets whose logits are known."""
    before = [_judged_fold(scored.sets, scored.scheme, PLAIN, fold) for fold in range(FOLDS)]
    entities, groups = sum(map(len, before)), sum(each.groups for each, _ in scored.sets)
    f1, error = _f1(before, scored), reliability(chain.from_iterable(before)).error
    if entities < LEAST_ENTITIES or groups < LEAST_GROUPS or not all(before):
        few = f"{entities} entities were found in the {groups} groups left out of training"
        reason = f"{few}; {LEAST_ENTITIES} in {LEAST_GROUPS} groups are enough"
        return FittedDecoding(entities, groups, (f1, f1), (error, error), reason)
    halves = _halves(scored, lambda each: each.labels, PLAIN, STRENGTH, progress)
    stepped = [
        _judged_fold(scored.sets, scored.scheme, _with_steps(PLAIN, steps, scored), fold)
        for fold, steps in enumerate(halves)
    ]
    helps = all(stepped) and _f1(stepped, scored) > f1
    judged = stepped if helps else before
    crossed = chain.from_iterable(_mapped(fit_calibration(judged[1 - fold]), judged[fold]) for fold in range(FOLDS))
    after, found = reliability(crossed).error, [*chain(*judged)]
    if after >= error:
        reason = f"their error is {error:.3f} without it, and {after:.3f} with it"
        return FittedDecoding(len(found), groups, (f1, f1), (error, error), reason)
    calibration = fit_calibration(found)
    _write(folder, replace(PLAIN, calibration=calibration), np.stack(halves).mean(axis=0) if helps else None)
    return FittedDecoding(len(found), groups, (f1, _f1(judged, scored)), (error, after))


@dataclass(frozen=True, slots=True)
class ScoredSets:
    """Sets with the logits of their documents, and the scheme of the model's tags."""

    sets: list[tuple[LabelledSet, list[ScoredDocument]]]
    scheme: Scheme


def _scored(model: FrozenModel, sets: Sequence[LabelledSet], progress: Progress) -> ScoredSets:
    scored = [(each, model.score(limited(each, MOST_DOCUMENTS).documents, progress)) for each in sets]
    return ScoredSets(scored, model.scheme)


def _halves(
    scored: ScoredSets,
    settled: Callable[[LabelledSet], frozenset[str]],
    decoding: Decoding,
    strength: float,
    progress: Progress,
) -> list[NDArray[np.float32]]:
    """The transitions for each fold, fitted on the other one."""

    def learn(without_fold: int) -> NDArray[np.float32]:
        lattices = [
            _lattice(each.document, part, settled(labelled), scored.scheme, decoding)
            for labelled, documents in scored.sets
            for each in documents
            if _fold_of(labelled, each.document) != without_fold
            for part in each.parts
        ]
        return fit_transitions(lattices, scored.scheme, strength=strength, progress=progress)

    return [learn(fold) for fold in range(FOLDS)]


def _with_steps(decoding: Decoding, steps: NDArray[np.float32], scored: ScoredSets) -> Decoding:
    return replace(decoding, transitions=Transitions.of(steps, scored.scheme))


def _judged_fold(
    sets: Sequence[tuple[LabelledSet, list[ScoredDocument]]], scheme: Scheme, decoding: Decoding, fold: int
) -> list[tuple[float, bool]]:
    """Scores of the entities in a fold's documents, and whether they are right."""
    return [
        pair
        for labelled, documents in sets
        for each in documents
        if _fold_of(labelled, each.document) == fold
        for pair in _judged(labelled, each, scheme, decoding)
    ]


def _f1(judged: Sequence[Sequence[tuple[float, bool]]], scored: ScoredSets) -> float:
    """F1 of exact spans, from the entities found in each fold."""
    gold = sum(
        len(conventional(each.document.text, each.document.spans, labelled.labels))
        for labelled, documents in scored.sets
        for each in documents
    )
    right = sum(is_right for fold in judged for _, is_right in fold)
    return 2 * right / max(1, gold + sum(map(len, judged)))


def _mapped(calibration: Calibration, judged: Sequence[tuple[float, bool]]) -> Iterator[tuple[float, bool]]:
    return zip(calibration.shares_of([score for score, _ in judged]), (right for _, right in judged), strict=True)


def _fold_of(labelled: LabelledSet, document: LabelledDocument) -> int:
    """The number, below FOLDS, of the part that a document's group is in."""
    return zlib.crc32(f"{labelled.name}/{document.group}".encode()) % FOLDS


def _lattice(
    document: LabelledDocument, part: ScoredPart, settled: frozenset[str], scheme: Scheme, decoding: Decoding
) -> WordLattice:
    """The words into which this decoding splits a text, and the tags that each may have."""
    offsets, logits = part.encoding.offsets, part.logits.astype(np.float32)
    firsts = word_firsts(document.text, part.encoding, compounds=decoding.compounds)
    words = word_logits(logits, firsts, len(offsets), scheme, decoding.first_piece_share)
    stops = np.append(firsts[1:], len(offsets)) - 1
    bounds = list(zip(offsets[firsts, 0].tolist(), offsets[stops, 1].tolist(), strict=True)) if len(firsts) else []
    return WordLattice(np.log(softmax(words) + 1e-12), allowed_tags(bounds, document, settled, scheme))


def _judged(
    labelled: LabelledSet, scored: ScoredDocument, scheme: Scheme, decoding: Decoding
) -> Iterable[tuple[float, bool]]:
    """Scores of entities with labels that the set annotates, and whether span and label are right."""
    text = scored.document.text
    entities = (
        entity
        for part in scored.parts
        for entity in decode_logits(
            text, part.encoding, part.logits.astype(np.float32), scheme, Aggregation.CONSTRAINED, decoding
        )
    )
    found = [LabelledSpan(each.start, each.end, each.label, each.score) for each in entities]
    truth = exact_spans(text, scored.document.spans, labelled.labels)
    return [(span.score, span[:3] in truth) for span in conventional(text, found, labelled.labels)]


def fit_calibration(judged: Sequence[tuple[float, bool]]) -> Calibration:
    """The map from the scores of one entity or more to the share that is right.

    Entities are pooled by score in groups of equal size first, so that no point of the map stands for a few alone.
    """
    scores, is_right = (np.array(column) for column in zip(*judged, strict=True))
    order = np.argsort(scores, kind="stable")
    groups = np.array_split(order, min(MOST_POINTS, max(1, len(order) // 10)))
    centers = np.array([scores[group].mean() for group in groups])
    sizes = np.array([len(group) for group in groups], dtype=np.float64)
    shares = np.array([(is_right[group].sum() + 0.5) / (len(group) + 1.0) for group in groups])
    centers, shares = _pooled(np.round(centers, 6), shares, sizes)
    return Calibration(tuple(np.round(centers, 6).tolist()), tuple(np.round(shares, 6).tolist()))


def _pooled(centers: Numbers, shares: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Neighbours of equal score, or whose shares fall, become one point, weighed by their sizes."""
    blocks: list[tuple[float, float, float]] = []
    for block in zip(centers.tolist(), shares.tolist(), sizes.tolist(), strict=True):
        blocks.append(block)
        while len(blocks) > 1 and (blocks[-2][0] == blocks[-1][0] or blocks[-2][1] >= blocks[-1][1]):
            (a, b, m), (c, d, n) = blocks[-2], blocks[-1]
            blocks[-2:] = [((a * m + c * n) / (m + n), (b * m + d * n) / (m + n), m + n)]
    return np.array([block[0] for block in blocks]), np.array([block[1] for block in blocks])


def _write(folder: Path, decoding: Decoding, transitions: NDArray[np.float32] | None) -> None:
    """Write a model's decoding, and its transitions if there are some."""
    if transitions is not None:
        (folder / TRANSITIONS).write_bytes(save({"transitions": transitions.astype(np.float32)}))
    calibration = decoding.calibration
    assert calibration is not None, "it was fitted"
    switches = {
        "compounds": decoding.compounds,
        "first_piece_share": decoding.first_piece_share,
        "cells": decoding.cells,
        "marks": decoding.marks,
        "unknown": decoding.unknown,
    }
    content = {
        **box_facts(folder),
        **switches,
        "calibration": {"scores": calibration.scores, "shares": calibration.shares},
    }
    (folder / RULES_FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

"""`python -m model_store.builtin.training.fitting MODEL --data DATA`: fits transitions and calibration of a BIO model.

Writes `transitions.safetensors` and `decoding.json` into its folder. Both are fitted on the groups and templates that
training leaves out, with the service's own tokenizing, windows and decoding. One matrix is fitted on each half of the
groups, and their mean is written; the calibration is fitted on real documents alone, each decoded with the matrix of
the other half, because on generated pages a model is right too often.

Calibration: isotonic regression by pooling adjacent violators (Ayer et al. 1955; Zadrozny and Elkan 2002), thinned to
few points between which the map is straight. `gleaner evaluate` tells what the two files gain.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save
from transformers import AutoModelForTokenClassification

from model_store.builtin.training.labels import settled_labels
from model_store.builtin.training.mixture import PAGES, assemble
from model_store.builtin.training.transitions import WordLattice, allowed_tags, fit_transitions
from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import Aggregation, softmax
from service.core.decoding.entities import decode_logits
from service.core.decoding.model_decoding import Calibration, Decoding, word_logits
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.tokens import Encoding, word_starts
from service.core.decoding.transitions import Transitions
from service.core.decoding.windows import merge_windows
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet, LabelledSpan, limited
from service.evaluation.report import calibration as reliability
from service.evaluation.span_scores import conventional
from service.text.decoding_files import RULES as RULES_FILE
from service.text.decoding_files import TRANSITIONS
from service.text.pipeline import Prepared, prepare
from service.text.tokenizer import TextTokenizer

RULES: Final = Decoding(compounds=True, first_piece_share=0.5, cells=True, marks=True, unknown=True)
"""Decoding rules of the built-in model, but for its transitions and calibration."""
STRENGTH: Final = 0.8
"""Factor of the fitted transitions."""
MOST_DOCUMENTS: Final = 160
"""Documents of a set at most."""
FOLDS: Final = 2
LONGEST_TOKENS: Final = 512
OVERLAP_TOKENS: Final = 128
BATCH_TOKENS: Final = 8_192
"""Padded tokens of one forward pass."""
MOST_POINTS: Final = 20
"""Points of a calibration map at most."""
SEED: Final = 20931

Progress = Callable[[str], None]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoredDocument:
    """A labelled text, its tokens, and their logits, `[tokens, labels]` in half precision."""

    document: LabelledDocument
    encoding: Encoding
    logits: Logits


class FrozenModel:
    """The model in a folder."""

    def __init__(self, folder: Path) -> None:
        self._model = AutoModelForTokenClassification.from_pretrained(folder).float().eval()
        self._tokenizer = TextTokenizer(folder)
        labels: Mapping[int, str] = self._model.config.id2label
        self.scheme: Scheme = scheme_of(tuple(labels[number] for number in range(len(labels))))
        positions = getattr(self._model.config, "max_position_embeddings", LONGEST_TOKENS)
        self._longest = min(LONGEST_TOKENS, positions)

    def score(self, documents: Sequence[LabelledDocument], progress: Progress) -> list[ScoredDocument]:
        """The logits of all documents."""
        texts = [
            prepare(self._tokenizer, document.text, longest=self._longest, overlap=OVERLAP_TOKENS)
            for document in documents
        ]
        windows = [sequence for text in texts for sequence in text.sequences]
        logits_of: list[Logits] = [np.empty((0, 0), dtype=np.float16)] * len(windows)
        done, total = 0, sum(map(len, windows))
        for batch in _batches([len(window) for window in windows]):
            for index, logits in zip(batch, self._run([windows[i] for i in batch]), strict=True):
                logits_of[index] = logits
            done += sum(len(windows[index]) for index in batch)
            progress(f"logits: {done:,} of {total:,} tokens")
        parts = iter(logits_of)
        return [
            self._scored(document, text, [next(parts) for _ in text.sequences])
            for document, text in zip(documents, texts, strict=True)
        ]

    def _scored(self, document: LabelledDocument, text: Prepared, windows: list[Logits]) -> ScoredDocument:
        encoding = self._tokenizer.encoding(document.text, text.tokens, with_subwords=False)
        encoding = Encoding(encoding.offsets, encoding.is_subword, self._tokenizer.unknown(text.tokens))
        logits = merge_windows(text.windows, [self._tokenizer.content(part) for part in windows])
        return ScoredDocument(document, encoding, logits)

    @torch.inference_mode()
    def _run(self, sequences: Sequence[np.ndarray]) -> list[Logits]:
        ids = torch.zeros(len(sequences), max(map(len, sequences)), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, sequence in enumerate(sequences):
            ids[row, : len(sequence)] = torch.from_numpy(sequence)
            mask[row, : len(sequence)] = 1
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = self._model(input_ids=ids, attention_mask=mask).logits
        rows = logits.to(torch.float16).numpy()
        return [row[: len(sequence)] for row, sequence in zip(rows, sequences, strict=True)]


def _batches(lengths: Sequence[int]) -> Iterable[list[int]]:
    """Indices of sequences of similar length, at most BATCH_TOKENS a batch, padding included; the longest first."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def fit(folder: Path, sets: Sequence[LabelledSet], *, decoding: Decoding, strength: float = STRENGTH) -> None:
    """Fit on the sets, print the error of the scores before and after, and write both files."""
    model = FrozenModel(folder)
    scheme = model.scheme
    scored = [(each, model.score(limited(each, MOST_DOCUMENTS).documents, _progress)) for each in sets]

    def learn(without_fold: int) -> NDArray[np.float32]:
        lattices = [
            _lattice(each, settled_labels(labelled.name, labelled.labels), scheme, decoding)
            for labelled, documents in scored
            for each in documents
            if len(each.logits) and _fold_of(labelled, each.document) != without_fold
        ]
        return fit_transitions(lattices, scheme, strength=strength, progress=_progress)

    halves = [learn(fold) for fold in range(FOLDS)]
    of_fold = [replace(decoding, transitions=Transitions.of(steps, scheme)) for steps in halves]
    real = [pair for pair in scored if pair[0].name != PAGES] or scored
    judged = [
        pair
        for labelled, documents in real
        for each in documents
        for pair in _judged(labelled, each, scheme, of_fold[_fold_of(labelled, each.document)])
    ]
    calibration = fit_calibration(judged) if judged else Calibration((0.0, 1.0), (0.0, 1.0))
    mapped = zip(calibration.shares_of([score for score, _ in judged]), (right for _, right in judged), strict=True)
    before, after = reliability(judged).error, reliability(mapped).error
    print(f"calibration error on the documents it was fitted on: {before:.3f} → {after:.3f} ({len(judged)} entities)")
    _write(folder, decoding, np.stack(halves).mean(axis=0), calibration)
    _progress(f"wrote {RULES_FILE} and {TRANSITIONS} to {folder}")


def _fold_of(labelled: LabelledSet, document: LabelledDocument) -> int:
    """The number, below FOLDS, of the part that a document's group is in."""
    return zlib.crc32(f"{labelled.name}/{document.group}".encode()) % FOLDS


def _lattice(scored: ScoredDocument, settled: frozenset[str], scheme: Scheme, decoding: Decoding) -> WordLattice:
    """The words into which this decoding splits a text, and the tags that each may have."""
    offsets, logits = scored.encoding.offsets, scored.logits.astype(np.float32)
    firsts = np.flatnonzero(word_starts(scored.document.text, offsets, compounds=decoding.compounds))
    words = word_logits(logits, firsts, len(offsets), scheme, decoding.first_piece_share)
    stops = np.append(firsts[1:], len(offsets)) - 1
    bounds = list(zip(offsets[firsts, 0].tolist(), offsets[stops, 1].tolist(), strict=True)) if len(firsts) else []
    return WordLattice(np.log(softmax(words) + 1e-12), allowed_tags(bounds, scored.document, settled, scheme))


def _judged(
    labelled: LabelledSet, scored: ScoredDocument, scheme: Scheme, decoding: Decoding
) -> Iterable[tuple[float, bool]]:
    """Scores of entities with labels that the set annotates, and whether span and label are right."""
    text, logits = scored.document.text, scored.logits.astype(np.float32)
    entities = decode_logits(text, scored.encoding, logits, scheme, Aggregation.CONSTRAINED, decoding)
    found = [LabelledSpan(each.start, each.end, each.label, each.score) for each in entities]
    truth = {span[:3] for span in conventional(text, scored.document.spans, labelled.labels)}
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
    centers, shares = _pooled(centers, shares, sizes)
    return Calibration(tuple(np.round(centers, 6).tolist()), tuple(np.round(shares, 6).tolist()))


def _pooled(centers: Numbers, shares: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Neighbours whose shares fall become one point, weighed by their sizes."""
    blocks: list[tuple[float, float, float]] = []
    for block in zip(centers.tolist(), shares.tolist(), sizes.tolist(), strict=True):
        blocks.append(block)
        while len(blocks) > 1 and blocks[-2][1] >= blocks[-1][1]:
            (a, b, m), (c, d, n) = blocks[-2], blocks[-1]
            blocks[-2:] = [((a * m + c * n) / (m + n), (b * m + d * n) / (m + n), m + n)]
    return np.array([block[0] for block in blocks]), np.array([block[1] for block in blocks])


def _write(folder: Path, decoding: Decoding, transitions: NDArray[np.float32], calibration: Calibration) -> None:
    """Write both files of a model's folder."""
    (folder / TRANSITIONS).write_bytes(save({"transitions": transitions.astype(np.float32)}))
    content = {
        "compounds": decoding.compounds,
        "first_piece_share": decoding.first_piece_share,
        "cells": decoding.cells,
        "marks": decoding.marks,
        "unknown": decoding.unknown,
        "calibration": {"scores": calibration.scores, "shares": calibration.shares},
    }
    (folder / RULES_FILE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Read the arguments, and fit."""
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training.fitting", description=__doc__)
    parser.add_argument("model", type=Path, help="a model's folder; the two files are written into it")
    parser.add_argument("--data", type=Path, required=True, help="folder with train/ and MAPPING.json")
    parser.add_argument("--pages", type=int, default=1_500, help="pages to generate (%(default)s)")
    parser.add_argument("--strength", type=float, default=STRENGTH, help="factor of the transitions (%(default)s)")
    options = parser.parse_args()
    _, held_out = assemble(options.data, pages=options.pages, seed=SEED)
    fit(options.model, list(held_out.values()), decoding=RULES, strength=options.strength)
    return 0


if __name__ == "__main__":
    sys.exit(main())

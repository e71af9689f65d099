"""Frozen model: the logits of labelled documents by a model's folder, cut into windows as in serving."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch

from service.core.arrays import Logits, TokenIds
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.tokens import Encoding
from service.engine.encoder.encoder import read_checkpoint
from service.engine.encoder.padded_rows import run_padded
from service.evaluation.labelled_documents import LabelledDocument
from service.families.processor import WindowSizes
from service.families.registry import open_processor
from service.families.token_classifier.processor import TokenClassifier
from service.text.pipeline import Prepared, token_logits
from service.training.data import Cutter
from service.training.transitions import Progress

LONGEST_TOKENS: Final = 512
OVERLAP_TOKENS: Final = 128
BATCH_TOKENS: Final = 8_192
"""Padded tokens of one forward pass."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPart:
    """Tokens that are decoded together, and their logits, `[tokens, labels]` in half precision."""

    encoding: Encoding
    logits: Logits


@dataclass(frozen=True, slots=True, eq=False)
class ScoredDocument:
    """A labelled text and its scored parts: its pages if words are given, else the whole text."""

    document: LabelledDocument
    parts: tuple[ScoredPart, ...]


class FrozenModel:
    """The model in a folder."""

    def __init__(self, folder: Path) -> None:
        checkpoint = read_checkpoint(folder, torch.float32)
        self._model = checkpoint.model
        processor = open_processor(folder)
        assert isinstance(processor, TokenClassifier), "only token classifiers are fitted"
        sizes = WindowSizes(min(LONGEST_TOKENS, checkpoint.max_tokens), OVERLAP_TOKENS)
        self._cutter = Cutter(processor, checkpoint.labels, sizes, checkpoint.page)
        self.scheme: Scheme = scheme_of(checkpoint.labels)

    def score(self, documents: Sequence[LabelledDocument], progress: Progress) -> list[ScoredDocument]:
        """The logits of all documents."""
        texts = [self._cutter.prepared(document.document) for document in documents]
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
        tokenizer, parts = self._cutter.tokenizer, list[ScoredPart]()
        logits = token_logits(tokenizer, text, windows)
        for tokens in text.tokens.pages():
            rows, logits = logits[: len(tokens.ids)], logits[len(tokens.ids) :]
            encoding = tokenizer.encoding(text.text, tokens, with_subwords=False)
            parts.append(ScoredPart(replace(encoding, is_unknown=tokenizer.unknown(tokens)), rows))
        return ScoredDocument(document, tuple(part for part in parts if len(part.logits)))

    @torch.inference_mode()
    def _run(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = run_padded(self._model, sequences, page=self._cutter.page)
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

"""Frozen model: the logits of labelled documents by a model's folder, cut into windows as in serving."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch

from service.core.arrays import Logits
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.tokens import Encoding
from service.core.decoding.windows import merge_windows
from service.evaluation.labelled_documents import LabelledDocument
from service.families.token_classifier.engine.reading import read as read_checkpoint
from service.text.pipeline import Prepared, prepare
from service.text.tokenizer import TextTokenizer
from service.training.transitions import Progress

LONGEST_TOKENS: Final = 512
OVERLAP_TOKENS: Final = 128
BATCH_TOKENS: Final = 8_192
"""Padded tokens of one forward pass."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredDocument:
    """A labelled text, its tokens, and their logits, `[tokens, labels]` in half precision."""

    document: LabelledDocument
    encoding: Encoding
    logits: Logits


class FrozenModel:
    """The model in a folder."""

    def __init__(self, folder: Path) -> None:
        checkpoint = read_checkpoint(folder, torch.float32)
        self._model = checkpoint.model
        self._tokenizer = TextTokenizer(folder)
        self.scheme: Scheme = scheme_of(checkpoint.labels)
        self._longest = min(LONGEST_TOKENS, checkpoint.max_tokens)

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

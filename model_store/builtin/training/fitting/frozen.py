"""A trained model as it is served, its weights frozen: the logits of labelled texts, and its entities in them.

Tokenizing, windows and decoding are the service's own, so what is fitted here fits there. Independent of architecture
and vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from transformers import AutoModelForTokenClassification

from model_store.builtin.training.examples import Example
from model_store.builtin.training.labels import Span
from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity, decode_logits
from service.core.decoding.model_decoding import Decoding
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.tokens import Encoding
from service.core.decoding.windows import merge_windows
from service.text.pipeline import Prepared, prepare
from service.text.tokenizer import TextTokenizer

LONGEST_TOKENS: Final = 512
OVERLAP_TOKENS: Final = 128
BATCH_TOKENS: Final = 8_192
"""Padded tokens of one forward pass."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """A labelled text, its tokens, and their logits, `[tokens, labels]` in half precision."""

    example: Example
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

    def score(self, examples: Sequence[Example], progress: Progress = lambda _: None) -> list[Scored]:
        """The logits of all examples."""
        texts = [prepare(self._tokenizer, e.text, longest=self._longest, overlap=OVERLAP_TOKENS) for e in examples]
        windows = [sequence for text in texts for sequence in text.sequences]
        found: list[Logits] = [np.empty((0, 0), dtype=np.float16)] * len(windows)
        done, total = 0, sum(map(len, windows))
        for batch in _batches([len(window) for window in windows]):
            for index, logits in zip(batch, self._run([windows[i] for i in batch]), strict=True):
                found[index] = logits
            done += sum(len(windows[index]) for index in batch)
            progress(f"logits: {done:,} of {total:,} tokens")
        parts = iter(found)
        return [
            self._scored(e, text, [next(parts) for _ in text.sequences])
            for e, text in zip(examples, texts, strict=True)
        ]

    def _scored(self, example: Example, text: Prepared, windows: list[Logits]) -> Scored:
        encoding = self._tokenizer.encoding(example.text, text.tokens, with_subwords=False)
        encoding = Encoding(encoding.offsets, encoding.is_subword, self._tokenizer.unknown(text.tokens))
        logits = merge_windows(text.windows, [self._tokenizer.content(part) for part in windows])
        return Scored(example, encoding, logits)

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


def entities(scored: Scored, scheme: Scheme, decoding: Decoding) -> list[Entity]:
    """The model's entities in a text, decoded as the service would."""
    logits = scored.logits.astype(np.float32)
    return decode_logits(scored.example.text, scored.encoding, logits, scheme, Aggregation.CONSTRAINED, decoding)


class Replayed:
    """What was found in each text, as a tagger for the scores of `evaluation`."""

    def __init__(self, found: Mapping[str, Sequence[Entity]]) -> None:
        self._found = found

    def tag(self, text: str) -> list[Span]:
        """The spans that were found in this text."""
        return [Span(entity.start, entity.end, entity.label) for entity in self._found[text]]

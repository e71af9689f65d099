"""Scores on the groups left out: exact spans of the whole document, decoded as in serving.

Only labels count that the document's set marks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from transformers import PreTrainedModel

from service.engine.tools.training.examples import Cutter
from service.engine.tools.training.records import LabelledDocument
from service.text.pipeline import decode_entities, prepare


@dataclass(frozen=True, slots=True)
class SpanCounts:
    """Label → how many spans were found, were to be found, and are both."""

    found: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def f1(self, label: str | None = None) -> float:
        """Harmonic mean of precision and recall, of one label or over all spans."""
        found, gold, right = (each[label] if label else each.total() for each in (self.found, self.gold, self.right))
        return 2 * right / max(1, found + gold)


@torch.inference_mode()
def score(
    model: PreTrainedModel,
    cutter: Cutter,
    documents: Sequence[LabelledDocument],
    marked: dict[str, frozenset[str]],
) -> SpanCounts:
    """The model's counts over documents; it is left in evaluation mode."""
    model.eval()
    counts = SpanCounts()
    for document in documents:
        labels = marked[document.source]
        gold = {(entity.label, entity.start, entity.end) for entity in document.entities if entity.label in labels}
        found = {span for span in _spans(model, cutter, document.text) if span[0] in labels}
        for counter, spans in ((counts.found, found), (counts.gold, gold), (counts.right, found & gold)):
            counter.update(label for label, _, _ in spans)
    return counts


def _spans(model: PreTrainedModel, cutter: Cutter, text: str) -> set[tuple[str, int, int]]:
    prepared = prepare(cutter.tokenizer, text, longest=cutter.longest_tokens, overlap=cutter.overlap_tokens)
    logits = [
        model(input_ids=torch.from_numpy(ids).long()[None].to(model.device)).logits[0].float().cpu().numpy()
        for ids in prepared.sequences
    ]
    found = decode_entities(cutter.tokenizer, prepared, logits, cutter.tags)
    return {(entity.label, entity.start, entity.end) for entity in found}

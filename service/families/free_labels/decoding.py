"""Decoding for models with free labels: candidates of spans, or scores of words, to entities or records in a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from service.core.arrays import Logits
from service.core.decoding.entities import Entity
from service.core.decoding.records import text_records
from service.core.decoding.span_trimming import trim
from service.core.decoding.spans import Candidates, boundary_candidates, choose, keep_window, over_limits
from service.core.decoding.tokens import BLANKS
from service.core.labels.label_set import LabelSet
from service.families.free_labels.config import LabelConfig
from service.families.free_labels.word_tokenizer import PreparedWords
from service.families.processor import Record


def decode_spans(
    prepared: PreparedWords, found: Sequence[Logits], labels: LabelSet, config: LabelConfig
) -> list[Entity]:
    """The entities in a text, from what the engine found in each sequence: candidates, or scores of words."""
    if not prepared.windows:
        return []
    candidates = _from_spans(prepared, found) if config.scores_spans else _from_words(prepared, found, labels)
    chosen = choose(over_limits(candidates, labels.limits), labels.overlaps, by_total=config.chooses_by_total)
    return _entities(prepared, chosen, labels)


def decode_records(
    prepared: PreparedWords, found: Sequence[Logits], labels: LabelSet, config: LabelConfig
) -> list[Record]:
    """The records in a text, from what the engine found in each window: by kind, in the text's order."""
    records = text_records(found, prepared.windows, labels.records, config.record_scale)
    named = (
        Record(labels.records[each.kind].name, each.score, tuple(_entities(prepared, v, labels) for v in each.values))
        for each in records
    )
    return [each for each in named if each.fields[0]]


def _entities(prepared: PreparedWords, chosen: Candidates, labels: LabelSet) -> list[Entity]:
    """The entities of candidates, without those that are blank or lie behind the text."""
    names, text = labels.names, prepared.text
    words, labelled = chosen[:, :2].astype(np.intp), chosen[:, 2].astype(np.intp)
    starts = prepared.words[words[:, 0], 0].tolist()
    ends = np.minimum(prepared.words[words[:, 1] - 1, 1], len(text)).tolist()
    columns = zip(labelled.tolist(), starts, ends, chosen[:, 3].tolist(), strict=True)
    entities: dict[tuple[int, int, int], Entity] = {}  # Two may be one without the full stop behind the text.
    for label, a, b, score in columns:
        a, b = trim(text, a, b, BLANKS)
        if a < b:
            entities.setdefault((label, a, b), Entity(names[label], text[a:b], a, b, score))
    return [*entities.values()]


def _from_spans(prepared: PreparedWords, found: Sequence[Candidates]) -> Candidates:
    """Candidates of the whole text, from those of each sequence."""
    owners = [(window, group) for window in prepared.windows for group in prepared.groups]
    return np.concatenate([keep_window(part, *owner) for part, owner in zip(found, owners, strict=True)])


def _from_words(prepared: PreparedWords, found: Sequence[Logits], labels: LabelSet) -> Candidates:
    """Candidates of the whole text, from the scores of each sequence's words: one may go on in another window."""
    parts = []
    for number, group in enumerate(prepared.groups):
        own = zip(prepared.windows, found[number :: len(prepared.groups)], strict=True)
        kept = [scores[w.keep_start - w.start : w.keep_stop - w.start] for w, scores in own]
        part = boundary_candidates(np.concatenate(kept), labels.limits[group.start : group.stop], labels.overlaps)
        parts.append(part + np.array([0, 0, group.start, 0], dtype=np.float32))
    return np.concatenate(parts)

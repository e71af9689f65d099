"""Golden check: compares what a revision finds in its golden examples with what its publisher says it must find.

A text is tokenized and decoded, and rules applied, as for requests (`service/text/pipeline`); inference is passed in.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from model_store.manifest import GoldenExample, Manifest
from service.core.arrays import Logits, TokenIds
from service.core.decoding.entities import Entity
from service.settings import Settings
from service.text.pipeline import apply_rules, decode_entities, prepare
from service.text.tokenizer import TextTokenizer
from service.wire import ModelStatus

Infer = Callable[[list[TokenIds]], list[Logits]]
"""Logits of each sequence, special tokens included."""

Place = tuple[str, int, int]
MOST_SHOWN = 3


def first_failure(manifest: Manifest, model: ModelStatus, infer: Infer, settings: Settings) -> str | None:
    """A sentence on the first golden example that fails, without its text; None when all pass.

    Raises:
        GleanerError: the tokenizer cannot be read, or an example cannot be inferred.
    """
    tokenizer = TextTokenizer(Path(model.folder))
    longest = min(settings.window_tokens, model.max_tokens)
    for number, example in enumerate(manifest.golden, start=1):
        prepared = prepare(tokenizer, example.text, longest=longest, overlap=settings.overlap_tokens)
        decoded = decode_entities(tokenizer, prepared, infer(prepared.sequences), model.labels)
        found = apply_rules(tokenizer, prepared, decoded, model.labels)
        if difference := _difference(example, found):
            return f"golden example {number} of {len(manifest.golden)} fails: {difference}"
    return None


def _difference(example: GoldenExample, found: list[Entity]) -> str | None:
    wanted = {(entity.label, entity.start, entity.end) for entity in example.entities}
    given = {(entity.label, entity.start, entity.end) for entity in found}
    missing, extra = sorted(wanted - given), sorted(given - wanted)
    parts = [f"{word} {_some(places)}" for word, places in (("missing", missing), ("not wanted", extra)) if places]
    return "; ".join(parts) or None


def _some(places: list[Place]) -> str:
    shown = ", ".join(f"{label} {start}:{end}" for label, start, end in places[:MOST_SHOWN])
    return shown + (f" and {len(places) - MOST_SHOWN} more" if len(places) > MOST_SHOWN else "")

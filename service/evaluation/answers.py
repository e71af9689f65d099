"""What a tagger found in one document, and what it chose for each role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.evaluation.records import LabelledSpan


@dataclass(frozen=True, slots=True)
class FoundInDocument:
    """`fields`: role → the text chosen, None where the tagger chooses none; `tokens`: of the document's text."""

    spans: tuple[LabelledSpan, ...]
    fields: Mapping[str, str] | None = None
    by_label: Mapping[str, str] = field(default_factory=dict)
    """Role → the text with the highest score under its label: what `fields` would be without any choice."""
    tokens: int = 0
    refused: str | None = None
    """The code of the error that the document was refused with; then nothing was found in it."""


def from_answer(document: Mapping[str, Any]) -> FoundInDocument:
    """Of a document's answer by the service, with `fields` asked for."""
    spans = [
        LabelledSpan(entity["start"], entity["end"], entity["label"], entity["score"])
        for entity in document["entities"]
    ]
    best: dict[str, tuple[float, str]] = {}
    for entity in document["entities"]:
        role = entity["label"].lower()
        if role not in best or entity["score"] > best[role][0]:
            best[role] = (entity["score"], entity["text"])
    chosen = document.get("fields") or {"roles": {}}
    return FoundInDocument(
        tuple(spans),
        {role: choice["text"] for role, choice in chosen["roles"].items()},
        {role: text for role, (_, text) in best.items()},
        document["tokens"],
    )

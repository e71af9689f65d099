"""Refusals of options that families share.

The rule: what cannot be answered is refused before any work. An unknown label of a model that has its own would find
nothing, and nobody would be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from service.core.errors import InvalidOptions
from service.wire import ModelStatus

SHOWN_CHARACTERS = 64
"""Characters of an unknown label that its refusal shows."""
MOST_SHOWN = 20
"""Most labels of a model that a refusal lists."""


def no_records(model: ModelStatus) -> InvalidOptions:
    """The refusal of a schema by a model that finds no records."""
    return InvalidOptions(f"schema: {model.name} finds no records; `finds_records` in /models says which do.")


def refuse_unknown(option: str, model: ModelStatus, labels: Sequence[str], known: Sequence[str]) -> None:
    """Raise InvalidOptions for the first label that is not known, with those that are like it."""
    if (wrong := next((each for each in labels if each not in known), None)) is not None:
        shown, hint = wrong[:SHOWN_CHARACTERS], labels_like(wrong, known)
        more = " (`entity_labels` in /models has all)" if hint.endswith("…") else ""
        raise InvalidOptions(f"{option}: the model `{model.name}` has no label {shown!r}; {hint}{more}")


def labels_like(wrong: str, known: Sequence[str]) -> str:
    """A hint: labels in other case, those with it as one of their words, the one most like it, or else all."""
    upper, in_upper = wrong[:SHOWN_CHARACTERS].upper(), {each.upper(): each for each in known}
    like = [each for each in known if each.upper() == upper] or [each for each in known if upper in each.split("_")]
    like = like or [in_upper[each] for each in get_close_matches(upper, in_upper, n=1, cutoff=0.5)]
    if like:
        return f"did you mean {' or '.join(like)}?"
    if len(known) > MOST_SHOWN:
        return f"there are {len(known)}: {', '.join(known[:MOST_SHOWN])} …"
    return f"there are: {', '.join(known)}."

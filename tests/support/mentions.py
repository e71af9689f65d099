"""Mentions by hand: parts of a text under labels."""

from __future__ import annotations

from service.core.fields.mentions import Box, Mention
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value


def mention(entity: int, label: str, text: str, start: int, score: float = 0.9) -> Mention:
    """One mention, its value read from its own text."""
    value = read_value(label, text, DocumentContext(text))
    return Mention(entity, label, text, start, start + len(text), score, value)


def mentions_in(text: str, *found: tuple[str, str] | tuple[str, str, float]) -> list[Mention]:
    """Make mentions of (label, part of the text, score: 0.9 if left out), in the order of the text."""
    mentions: list[Mention] = []
    for index, (label, part, *score) in enumerate(found):
        start = text.index(part, mentions[-1].start + 1 if mentions else 0)
        mentions.append(mention(index, label, part, start, *score))
    return mentions


def boxed(mention: Mention, *boxes: Box, page: int = 1) -> Mention:
    """The mention with boxes on a page."""
    return mention._replace(page=page, boxes=boxes)

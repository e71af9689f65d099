"""Mentions by hand: parts of a text under labels."""

from __future__ import annotations

from service.core.fields.mention import Box, Mention


def mentions_in(text: str, *found: tuple[str, str] | tuple[str, str, float]) -> list[Mention]:
    """Of (label, part of the text, score: 0.9 if left out), in the order of the text."""
    mentions: list[Mention] = []
    for index, (label, part, *score) in enumerate(found):
        start = text.index(part, mentions[-1].start + 1 if mentions else 0)
        mentions.append(Mention(index, label, part, start, start + len(part), score[0] if score else 0.9))
    return mentions


def boxed(mention: Mention, *boxes: Box, page: int = 1) -> Mention:
    """The mention with boxes on a page."""
    return mention._replace(page=page, boxes=boxes)

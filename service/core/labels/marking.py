"""Marked sequences: a text's tokens and the labels that are looked for in it, as one array of int32.

    id                    the first token of a word
    -1 - id               another token of the text, or of a prompt in it
    -1 - LABEL - id       a token of a label that an encoder of its own reads
    -1 - 2 * LABEL - id   the first token of such a label

So whatever splits, orders or repeats sequences need not know of words and labels, and counts the tokens of both.
"""

from __future__ import annotations

import numpy as np

from service.core.arrays import TokenIds, ids_in, with_ids

LABEL = 1 << 24
"""More than any vocabulary has."""


def word(ids: TokenIds) -> TokenIds:
    """The tokens of a word, of which there is at least one."""
    marked = ~ids
    marked[:1] = ids[:1]
    return marked


def label(ids: TokenIds) -> TokenIds:
    """The tokens of a label that stands beside the text."""
    marked = ~(ids + np.int32(LABEL))
    marked[:1] -= LABEL
    return marked


def text_part(marked: TokenIds) -> TokenIds:
    """A sequence without the labels beside it, still marked."""
    return marked[marked >= -LABEL]


def unmarked(text: TokenIds) -> TokenIds:
    """Restore the token ids of a sequence that has no labels beside it; its boxes stay."""
    ids = ids_in(text)
    return with_ids(text, np.maximum(ids, ~ids))


def labels_beside(marked: TokenIds) -> list[TokenIds]:
    """The token ids of each label beside a text."""
    part = ~marked[marked < -LABEL] - LABEL
    if not len(part):
        return []
    firsts = np.flatnonzero(part >= LABEL)
    part[firsts] -= LABEL
    return np.split(part, firsts[1:])

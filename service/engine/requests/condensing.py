"""Condensing: of a finished batch's logits, what each document's worker has asked for.

It runs on the batch's executor, so that the loop's thread goes on, and on all documents of a batch at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits
from service.core.decoding.entities import check_finite
from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.word_tags import WordTags, search_all
from service.core.errors import GleanerError, ModelError

Words = NDArray[np.bool_]
"""True for the tokens whose logits are wanted, `[tokens]`."""
Outcome = Logits | WordTags | GleanerError


def condense(
    outcomes: Sequence[Logits | GleanerError], words: Sequence[Words | None], labels: tuple[str, ...]
) -> list[Outcome]:
    """The outcomes of a batch's sequences; where `words` is not None, the tags of its words in place of logits.

    A document with a logit that is not finite has a ModelError in its place.
    """
    found: list[Outcome] = list(outcomes)
    rows = {
        index: outcome[wanted]
        for index, (outcome, wanted) in enumerate(zip(outcomes, words, strict=True))
        if wanted is not None and isinstance(outcome, np.ndarray)
    }
    for index, each in list(rows.items()):
        try:
            check_finite(each)
        except ModelError as error:
            found[index] = error
            del rows[index]
    for index, tags in zip(rows, search_all(list(rows.values()), scheme_of(labels)), strict=True):
        found[index] = tags
    return found

"""Labelled pages for trainings on tiny models: who a name is depends on where it stands, not on its text."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from tests.support.training_data import NAMES

SIDES = {"SENDER": 20, "RECEIVER": 120}
"""Label → left edge of its names on a page of 200 by 100."""


def page(number: int) -> dict[str, Any]:
    """Two names at either side of a number, one below the other in any order of sides."""
    random = Random(number)
    labels = random.sample([*SIDES], 2)
    words = [
        {"text": random.choice(NAMES), "box": [left := SIDES[label], 10 + 20 * line, left + 40, 20 + 20 * line]}
        for line, label in enumerate(labels)
    ]
    words.append({"text": str(1000 + number), "box": [70, 50, 110, 60]})
    return {"width": 200, "height": 100, "words": words, "labels": labels}


def paged_record(number: int, *, pages: int = 1) -> dict[str, Any]:
    """A document of such pages; four are a group."""
    made = [page(100 * number + each) for each in range(pages)]
    entities = [
        {"page": place, "words": [word, word + 1], "label": label}
        for place, each in enumerate(made, 1)
        for word, label in enumerate(each.pop("labels"))
    ]
    return {"id": f"p{number}", "pages": made, "group": f"g{number // 4}", "entities": entities}


def paged_records(count: int) -> Iterable[dict[str, Any]]:
    return map(paged_record, range(count))

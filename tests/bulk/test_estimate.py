"""Estimates: a sample in which each file of a listing is as likely as any other, and what its answers cost."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from service.bulk.estimate import listed, measured
from service.bulk.storage import Content, ObjectMissing
from service.core.bulk import Item
from service.core.errors import Forbidden, QueueFull


class _Pages:
    """Inputs with as many pages as their key says; `gone` is not there."""

    @property
    def names(self) -> tuple[str, ...]:
        return ("pages",)

    def items(self) -> Iterator[Item]:
        return (Item(str(number), "v", 10) for number in range(1_000))

    def read(self, item: Item) -> Content:
        if item.key == "gone":
            raise ObjectMissing("The object is not there any more.")
        return Content(item.key, item.key.encode())


def test_each_file_of_a_listing_is_as_likely_as_any_other() -> None:
    chance, seen = random.Random(7), Counter[bool]()
    for _ in range(200):
        found = listed(_Pages().items(), 10, chance)
        assert (found.files, found.bytes, len(set(found.sample))) == (1_000, 10_000, 10)
        seen.update(int(item.key) < 500 for item in found.sample)
    assert abs(seen[True] - 1_000) < 100
    assert len(listed(_Pages().items(), 5_000, chance).sample) == 1_000


async def test_a_sample_is_answered_and_its_errors_counted() -> None:
    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        return {"pages": int(name), "tokens": 100, "ocr_pages": [{"page": 1}] if name == "2" else []}

    items = [Item(key, "v", 1) for key in ("1", "2", "3", "gone")]
    found = await measured(_Pages(), items, ask)
    assert (found.files, found.pages, found.tokens, found.scans) == (4, 6, 300, 1)
    assert found.errors == {"object_missing": 1}
    assert found.seconds > 0


async def test_a_refusal_is_waited_for_or_said_and_counts_as_no_file_answered() -> None:
    refused = [Forbidden("The key is not known."), QueueFull("Full.", retry_after_seconds=0.0)]

    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        if refused:
            raise refused.pop()
        return {"pages": 1}

    with pytest.raises(Forbidden):
        await measured(_Pages(), [Item("1", "v", 1)], ask)
    refused.append(QueueFull("Full.", retry_after_seconds=0.0))
    found = await measured(_Pages(), [Item("1", "v", 1)], ask)
    assert (found.pages, found.errors) == (1, {})

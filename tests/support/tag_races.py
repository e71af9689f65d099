"""Races of publishers for one remote tag: all of them read the tag before any of them moves it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise, takewhile

from model_store.reference import Tag, decode_tag, moved
from model_store.remote.base import Remote, tag_key
from model_store.remote.tags import change_remote_tag

NAME, TAG = "cv", "stable"
LIMIT_SECONDS = 60.0


def race(open_store: Callable[[], Remote], revisions: Sequence[str]) -> list[int]:
    """Move the tag to each revision from a thread and a connection of its own; the numbers that they were given."""
    barrier = threading.Barrier(len(revisions))

    def move(revision: str) -> int:
        reads = count()

        def change(old: Tag | None) -> Tag:
            if next(reads) == 0:
                barrier.wait(LIMIT_SECONDS)
            return moved(old, revision, now_seconds=0.0)

        return change_remote_tag(open_store(), NAME, TAG, change)[0].number

    with ThreadPoolExecutor(len(revisions)) as pool:
        return list(pool.map(move, revisions))


def assert_no_move_lost(remote: Remote, revisions: Sequence[str]) -> None:
    """There is one numbered object for each revision, and each knows the one before."""
    objects = takewhile(lambda data: data is not None, (remote.read(tag_key(NAME, TAG, n)) for n in count(1)))
    tags = [decode_tag(data) for data in objects if data is not None]
    assert sorted(tag.revision for tag in tags) == sorted(revisions)
    for before, after in pairwise(tags):
        assert after.earlier[0] == before.revision

"""Tags as numbered objects: who was first, what was lost, what is damaged."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path

import pytest

from model_store.errors import InvalidTag
from model_store.local.tags import Tag, moved
from model_store.remote.folder import FolderRemote
from model_store.remote.keys import claim_prefix, tag_key
from model_store.remote.tags import change_remote_tag, read_remote_tag

ONE, TWO = "sha256:" + "1" * 64, "sha256:" + "2" * 64


@pytest.fixture
def remote(tmp_path: Path) -> FolderRemote:
    (tmp_path / "remote").mkdir()
    return FolderRemote(tmp_path / "remote")


def to(revision: str, old: Tag | None) -> Tag:
    return moved(old, revision, now_seconds=0.0)


def test_a_tag_that_was_never_set_is_none(remote: FolderRemote) -> None:
    assert read_remote_tag(remote, "cv", "stable") is None


def test_each_move_is_a_new_number_and_knows_the_ones_before(remote: FolderRemote) -> None:
    change_remote_tag(remote, "cv", "stable", partial(to, ONE))
    new, has_moved = change_remote_tag(remote, "cv", "stable", partial(to, TWO))
    assert (new.number, new.revision, new.tag.earlier, has_moved) == (2, TWO, (ONE,), True)
    assert read_remote_tag(remote, "cv", "stable") == new
    assert change_remote_tag(remote, "cv", "stable", partial(to, TWO)) == (new, False)
    assert list(remote.stats("claims/")) == []


def test_a_move_between_reading_and_writing_is_seen_and_built_upon(remote: FolderRemote) -> None:
    asked: list[Tag | None] = []

    def late(old: Tag | None) -> Tag:
        if not asked:
            change_remote_tag(remote, "cv", "stable", partial(to, ONE))
        asked.append(old)
        return to(TWO, old)

    new, _ = change_remote_tag(remote, "cv", "stable", late)
    assert asked[0] is None
    assert (new.number, new.tag.earlier) == (2, (ONE,))


def test_a_server_that_ignores_conditions_loses_no_move_either(tmp_path: Path) -> None:
    class Careless(FolderRemote):
        """Overwrites whatever is there."""

        def create(self, key: str, data: bytes) -> bool:
            (self.root / key).unlink(missing_ok=True)
            super().create(key, data)
            return True

    remote = Careless(tmp_path)
    revisions = [f"sha256:{number:064x}" for number in range(12)]

    def move(own: list[str]) -> None:
        for revision in own:
            change_remote_tag(remote, "cv", "stable", partial(to, revision))

    threads = [threading.Thread(target=move, args=(revisions[number::3],)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read_remote_tag(remote, "cv", "stable")
    assert found is not None
    assert sorted((found.revision, *found.tag.earlier)) == revisions


def test_a_claim_whose_owner_died_stops_counting(remote: FolderRemote, tmp_path: Path) -> None:
    remote.create(claim_prefix("cv", "stable", 1) + "dead", b"")
    os.utime(remote.root / claim_prefix("cv", "stable", 1) / "dead", (1, 1))
    assert change_remote_tag(remote, "cv", "stable", partial(to, ONE))[1]


def test_a_damaged_tag_is_named_and_mended_by_the_next_move(remote: FolderRemote) -> None:
    remote.create(tag_key("cv", "stable", 1), b"{")
    with pytest.raises(InvalidTag, match="tags/cv/stable/0000000001 cannot be read"):
        read_remote_tag(remote, "cv", "stable")
    new, _ = change_remote_tag(remote, "cv", "stable", partial(to, ONE))
    assert new.number == 2
    assert read_remote_tag(remote, "cv", "stable") == new

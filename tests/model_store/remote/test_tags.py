"""Tags as numbered objects in a folder: moved, raced for, damaged."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from model_store.errors import InvalidTag, RemoteUnavailable
from model_store.reference import Tag, moved
from model_store.remote.base import tag_key
from model_store.remote.folder import FolderRemote
from model_store.remote.tags import change_remote_tag, read_remote_tag
from tests.support.tag_races import assert_no_move_lost, race

ONE, TWO = "sha256:" + "1" * 64, "sha256:" + "2" * 64
REVISIONS = [f"sha256:{number:064x}" for number in range(24)]


@pytest.fixture
def remote(tmp_path: Path) -> FolderRemote:
    (tmp_path / "remote").mkdir()
    return FolderRemote(tmp_path / "remote")


class Overwriting(FolderRemote):
    """A store that ignores the condition of `create`, and so loses moves."""

    def create(self, key: str, data: bytes) -> bool:
        (self.root / key).unlink(missing_ok=True)
        super().create(key, data)
        return True


def to(revision: str, old: Tag | None) -> Tag:
    return moved(old, revision, now_seconds=0.0)


def test_each_move_is_a_new_number_and_knows_the_ones_before(remote: FolderRemote) -> None:
    change_remote_tag(remote, "cv", "stable", partial(to, ONE))
    new, has_moved = change_remote_tag(remote, "cv", "stable", partial(to, TWO))
    assert (new.number, new.revision, new.tag.earlier, has_moved) == (2, TWO, (ONE,), True)
    assert read_remote_tag(remote, "cv", "stable") == new
    assert change_remote_tag(remote, "cv", "stable", partial(to, TWO)) == (new, False)


def test_a_move_between_reading_and_writing_is_built_upon(remote: FolderRemote) -> None:
    seen: list[Tag | None] = []

    def late(old: Tag | None) -> Tag:
        if not seen:
            change_remote_tag(remote, "cv", "stable", partial(to, ONE))
        seen.append(old)
        return to(TWO, old)

    new, _ = change_remote_tag(remote, "cv", "stable", late)
    assert seen[0] is None
    assert (new.number, new.tag.earlier) == (2, (ONE,))


def test_concurrent_publishers_lose_no_move(remote: FolderRemote) -> None:
    numbers = race(lambda: FolderRemote(remote.root), REVISIONS)
    assert sorted(numbers) == list(range(1, len(REVISIONS) + 1))
    assert_no_move_lost(remote, REVISIONS)


def test_the_race_shows_a_store_that_ignores_conditions(remote: FolderRemote) -> None:
    assert len(set(race(lambda: Overwriting(remote.root), REVISIONS))) < len(REVISIONS)


def test_a_tag_that_others_move_forever_is_given_up(remote: FolderRemote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model_store.remote.tags.FIRST_WAIT_SECONDS", 0.0)
    moves = iter(REVISIONS * 3)

    def slower(old: Tag | None) -> Tag:
        change_remote_tag(remote, "cv", "stable", partial(to, next(moves)))
        return to(TWO, old)

    with pytest.raises(RemoteUnavailable):
        change_remote_tag(remote, "cv", "stable", slower)


def test_an_unreadable_tag_is_an_error_until_the_next_move(remote: FolderRemote) -> None:
    remote.create(tag_key("cv", "stable", 1), b"{")
    with pytest.raises(InvalidTag, match=tag_key("cv", "stable", 1)):
        read_remote_tag(remote, "cv", "stable")
    new, _ = change_remote_tag(remote, "cv", "stable", partial(to, ONE))
    assert new.number == 2
    assert read_remote_tag(remote, "cv", "stable") == new

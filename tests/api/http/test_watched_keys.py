"""Keys of a running service: an edit holds, a bad file does not; a worker born meanwhile has the last good ones."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import stat
from pathlib import Path

import pytest

from service.api.http import watched_keys
from service.api.http.api_keys import BadKeysFile
from service.api.http.watched_keys import WatchedKeys, warn_if_exposed
from service.core.errors import Forbidden


def line(client: str, key: str) -> str:
    return f"{client} {hashlib.sha256(key.encode()).hexdigest()}\n"


class Home:
    """A keys file and the last good one, with what was said of them."""

    def __init__(self, folder: Path) -> None:
        self.file, self.last_good = folder / "keys", folder / "last"
        self.rejected: list[bool] = []
        self.write(line("alice", "a"))

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def keys(self, text: str = "") -> WatchedKeys:
        return WatchedKeys(self.file, text, self.last_good, self.rejected.append)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def knows(keys: WatchedKeys, key: str) -> bool:
    try:
        return bool(keys.keys.tenant(key).name)
    except Forbidden:
        return False


def test_an_edit_holds_from_the_next_look_on(home: Home) -> None:
    keys = home.keys()
    keys.load()
    home.write(line("bob", "b"))
    keys.refresh()
    assert (knows(keys, "a"), knows(keys, "b")) == (False, True)


def test_an_edit_of_the_same_length_in_the_same_moment_holds_too(home: Home) -> None:
    keys = home.keys()
    keys.load()
    before = home.file.stat()
    home.write(line("alice", "b"))
    os.utime(home.file, ns=(before.st_atime_ns, before.st_mtime_ns))
    keys.refresh()
    assert (knows(keys, "a"), knows(keys, "b")) == (False, True)


@pytest.mark.parametrize("bad", ["", "alice secret\n", "alice", "\0\xff"])
def test_a_bad_file_leaves_the_keys_and_is_logged_once(home: Home, bad: str, caplog: pytest.LogCaptureFixture) -> None:
    keys = home.keys()
    keys.load()
    home.write(bad)
    for _ in range(3):
        keys.refresh()
    assert knows(keys, "a")
    assert home.rejected[-1] is True
    assert [record.event for record in caplog.records] == ["keys_rejected"]  # type: ignore[attr-defined]
    home.write(line("alice", "a"))
    keys.refresh()
    assert home.rejected[-1] is False


def test_so_does_a_file_that_is_gone(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    keys = home.keys()
    keys.load()
    home.file.unlink()
    keys.refresh()
    keys.refresh()
    assert knows(keys, "a")
    assert len(caplog.records) == 1


def test_a_worker_that_is_born_beside_a_bad_file_has_the_last_good_keys(home: Home) -> None:
    home.keys().load(first=True)
    home.write(line("bob", "b"))
    first = home.keys()
    first.load()
    home.write("nonsense")
    born = home.keys(text=line("carol", "c"))
    born.load()
    assert [knows(born, key) for key in "abc"] == [False, True, True]
    assert home.rejected == [True]
    born.refresh()
    assert home.rejected == [True], "it was said already"
    home.write(line("dave", "d"))
    born.refresh()
    assert [knows(born, key) for key in "bcd"] == [False, True, True]


def test_a_service_does_not_start_with_a_bad_file(home: Home) -> None:
    home.keys().load(first=True)
    home.write("nonsense")
    with pytest.raises(BadKeysFile, match="entry 1"):
        home.keys().load(first=True)


def test_the_last_good_keys_are_their_owner_s_alone(home: Home) -> None:
    home.keys().load(first=True)
    assert stat.S_IMODE(home.last_good.stat().st_mode) == 0o600
    assert sorted(path.name for path in home.file.parent.iterdir()) == ["keys", "last"]


def test_a_runtime_folder_that_is_full_does_not_keep_new_keys_out(home: Home) -> None:
    keys = WatchedKeys(home.file, "", home.file.parent / "nowhere" / "last")
    keys.load()
    home.write(line("bob", "b"))
    keys.refresh()
    assert knows(keys, "b")


def test_following_looks_again_and_again_and_survives_what_it_finds(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_keys, "POLL_SECONDS", 0.001)
    keys = home.keys()
    keys.load()

    async def follow() -> None:
        following = asyncio.create_task(keys.follow())
        for text, key in (("bad", "a"), (line("bob", "b"), "b"), (line("carol", "c"), "c")):
            home.write(text)
            async with asyncio.timeout(30):
                while not knows(keys, key):
                    await asyncio.sleep(0.001)
        following.cancel()

    asyncio.run(follow())


def test_without_a_file_nothing_is_looked_at(tmp_path: Path) -> None:
    keys = WatchedKeys(None, line("alice", "a"), tmp_path / "last")
    keys.load(first=True)
    keys.refresh()
    assert knows(keys, "a")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("mode", "warned"), [(0o600, 0), (0o640, 0), (0o644, 1), (0o620, 1)])
def test_a_file_that_others_may_read_is_warned_of(
    home: Home, mode: int, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    home.file.chmod(mode)
    with caplog.at_level(logging.WARNING):
        warn_if_exposed(home.file)
    warn_if_exposed(None)
    assert len(caplog.records) == warned

"""API keys: lines of the keys file, the tenant of a presented key, and edits of the file while the service runs."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import stat
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from service.api.http import api_keys
from service.api.http.api_keys import (
    BadKeysFile,
    WatchedKeys,
    entries,
    limits_of,
    parse,
    presented_key,
    read_keys,
    read_text,
    sender_of,
    warn_if_exposed,
)
from service.core.errors import Forbidden, Unauthenticated
from service.core.tenants import ANONYMOUS, ClientQuota, RateLimits, Tenant


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def keys_file(folder: Path, text: str) -> Path:
    path = folder / "keys"
    path.write_text(text)
    return path


def test_without_keys_every_request_is_anonymous() -> None:
    keys = read_keys(None)
    assert keys.tenant(None).name == keys.tenant("anything").name == ANONYMOUS


def test_a_key_stands_for_its_client(tmp_path: Path) -> None:
    text = f"# who has which\n\nalice {digest('a')}\nbob\t{digest('b').upper()}\n"
    keys = read_keys(keys_file(tmp_path, text))
    assert (keys.tenant("a").name, keys.tenant("b").name) == ("alice", "bob")


def test_a_client_may_have_two_keys_while_one_replaces_the_other(tmp_path: Path) -> None:
    keys = read_keys(keys_file(tmp_path, f"alice {digest('old')}\nalice {digest('new')}\n"))
    assert (keys.tenant("old").name, keys.tenant("new").name) == ("alice", "alice")


@pytest.mark.parametrize("missing", [None, ""])
def test_a_missing_key_is_unauthenticated(tmp_path: Path, missing: str | None) -> None:
    with pytest.raises(Unauthenticated, match="Bearer"):
        read_keys(keys_file(tmp_path, f"alice {digest('a')}")).tenant(missing)


@pytest.mark.parametrize("wrong", ["b", "A", digest("a"), "ä"])
def test_a_wrong_key_is_forbidden_and_not_repeated(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(Forbidden) as caught:
        read_keys(keys_file(tmp_path, f"alice {digest('a')}")).tenant(wrong)
    assert f" {wrong} " not in caught.value.detail


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no keys"),
        ("# only a remark\n", "has no keys"),
        ("alice", "entry 1"),
        (f"alice {digest('a')}\nbob secret\n", "entry 2"),
        (f"alice {digest('a')} extra", "entry 1"),
        ("alice " + "ü" * 64, "entry 1"),
        ("alice " + "x" * 64, "entry 1"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadKeysFile, match=words):
        read_keys(keys_file(tmp_path, text))


def test_keys_may_come_as_text_beside_those_of_a_file(tmp_path: Path) -> None:
    keys = read_keys(keys_file(tmp_path, f"alice {digest('a')}"), f"bob {digest('b')}\n")
    assert (keys.tenant("a").name, keys.tenant("b").name) == ("alice", "bob")
    assert read_keys(None, f"bob {digest('b')}").tenant("b").name == "bob"


@pytest.mark.parametrize("text", [" ", "# none yet", "bob secret"])
def test_a_text_without_keys_is_refused(text: str) -> None:
    with pytest.raises(BadKeysFile, match="GLEANER_API_KEYS"):
        read_keys(None, text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadKeysFile, match="cannot be read"):
        read_keys(tmp_path / "nowhere")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadKeysFile, match="cannot be read"):
        read_keys(binary)


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({}, None),
        ({"Authorization": "Bearer k"}, "k"),
        ({"authorization": "bearer  k "}, "k"),
        ({"X-API-Key": "k"}, "k"),
        ({"Authorization": "Bearer first", "X-API-Key": "second"}, "first"),
        ({"Authorization": "Basic dXNlcg==", "X-API-Key": "k"}, "k"),
        ({"Authorization": "Bearer", "X-API-Key": "k"}, "k"),
        ({"Authorization": "Bearer "}, None),
    ],
)
def test_a_key_comes_as_a_bearer_token_or_in_its_own_header(headers: dict[str, str], key: str | None) -> None:
    assert presented_key(Headers(headers)) == key


def test_files_share_a_parser_by_client_or_address() -> None:
    assert sender_of("acme", "10.0.0.1") == "acme"
    assert sender_of(ANONYMOUS, "10.0.0.1") != sender_of(ANONYMOUS, "10.0.0.2")
    assert sender_of(ANONYMOUS, None) == ANONYMOUS, "whose files share none"


def tenants(text: str) -> dict[str, Tenant]:
    return parse(entries(text, "keys"))


def test_a_line_of_client_and_digest_has_no_limits() -> None:
    tenant = tenants(f"alice {digest('a')}")[digest("a")]
    assert tenant == Tenant("alice")
    assert not tenant.rates
    assert limits_of(tenant) == {}


def test_limits_follow_the_digest_in_any_order() -> None:
    line = (
        f"bob {digest('b')} tokens_per_second=2e4 weight=2 documents_in_flight=20 queued_tokens=9000 bytes_per_second=1"
    )
    tenant = tenants(line)[digest("b")]
    assert tenant.quota == ClientQuota(weight=2.0, documents_in_flight=20, queued_tokens=9_000)
    assert tenant.rates == RateLimits(tokens_per_second=20_000.0, bytes_per_second=1.0)
    assert tenant.rates
    assert limits_of(tenant)["tokens_per_second"] == "20000"


def test_a_second_key_of_a_client_has_the_client_s_limits() -> None:
    found = tenants(f"bob {digest('old')} weight=2\nbob {digest('new')}\nbob {digest('newer')} documents_per_second=5")
    assert found[digest("old")] == found[digest("new")] == found[digest("newer")]
    assert limits_of(found[digest("new")]) == {"weight": "2", "documents_per_second": "5"}


def test_nobody_is_a_set_of_no_keys() -> None:
    assert tenants("# all revoked\nnobody\n") == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("weight", "each as `name=value`"),
        ("wieght=2", "weight, documents_in_flight"),
        ("weight=0", "weight must be a number above 0"),
        ("weight=nan", "weight must be"),
        ("weight=inf", "weight must be"),
        ("weight=1e9", "weight must be"),
        ("weight=", "weight must be"),
        ("documents_in_flight=1.5", "a whole number above 0"),
        ("queued_tokens=0", "a whole number above 0"),
        ("tokens_per_second=-1", "a number above 0"),
        ("tokens_per_second=many", "a number above 0"),
        ("weight=2 weight=3", "weight is 2 in an earlier line"),
    ],
)
def test_a_bad_limit_is_refused_with_its_place_and_no_digest(line: str, words: str) -> None:
    with pytest.raises(BadKeysFile, match=words) as caught:
        tenants(f"alice {digest('a')}\nbob {digest('b')} {line}")
    assert caught.value.detail.startswith("keys, entry 2: ")
    assert digest("b") not in caught.value.detail


def test_lines_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(BadKeysFile, match="entry 2: weight is 2"):
        tenants(f"bob {digest('a')} weight=2\nbob {digest('b')} weight=3")
    with pytest.raises(BadKeysFile, match="entry 2: this key belongs to another client"):
        tenants(f"alice {digest('a')}\nbob {digest('a').upper()}")


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none"):
        with pytest.raises(BadKeysFile, match="cannot be read"):
            read_text(path)


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
    caplog.set_level("INFO")
    home.write(bad)
    for _ in range(3):
        keys.refresh()
    assert knows(keys, "a")
    assert home.rejected[-1] is True
    assert [record.event for record in caplog.records] == ["keys_rejected"]  # type: ignore[attr-defined]
    home.write(line("alice", "a"))
    keys.refresh()
    keys.refresh()
    assert home.rejected.pop() is False
    said = [record.event for record in caplog.records]  # type: ignore[attr-defined]
    assert said == ["keys_rejected", "keys_reloaded"], "its end is logged, though the keys are those from before"


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


async def test_following_looks_again_and_again_and_survives_what_it_finds(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_keys, "POLL_SECONDS", 0.001)
    keys = home.keys()
    keys.load()
    following = asyncio.create_task(keys.follow())
    for text, key in (("bad", "a"), (line("bob", "b"), "b"), (line("carol", "c"), "c")):
        home.write(text)
        async with asyncio.timeout(30):
            while not knows(keys, key):
                await asyncio.sleep(0.001)
    following.cancel()


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

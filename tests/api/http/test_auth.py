"""API keys: digests in a file, a client for a key, typed refusals."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from service.api.http.api_keys import BadKeysFile, presented_key, read_keys, sender_of
from service.core.errors import Forbidden, Unauthenticated
from service.core.tenants import ANONYMOUS


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


def test_files_share_a_parser_by_client_or_where_nobody_has_a_name_by_address() -> None:
    assert sender_of("acme", "10.0.0.1") == "acme"
    assert sender_of(ANONYMOUS, "10.0.0.1") != sender_of(ANONYMOUS, "10.0.0.2")
    assert sender_of(ANONYMOUS, None) == ANONYMOUS, "whose files share none"

"""`gleaner keys`: a key is printed once, its digest is written whole; a service can read the file at any moment."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.api.http.api_keys import digest_of, read_keys
from service.cli import main
from service.commands.keys import edit, with_key
from service.core.errors import Forbidden


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "keys"
    monkeypatch.setenv("GLEANER_API_KEYS_FILE", str(path))
    return path


def add(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """Add a key; what was printed on stdout."""
    assert main(["keys", "add", *options]) == 0
    return capsys.readouterr().out.strip()


def test_a_key_is_printed_once_and_only_its_digest_is_written(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = add(capsys, "--client", "alice")
    assert key.startswith("gleaner_")
    assert len(key) > 50
    assert key not in file.read_text()
    assert digest_of(key) in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_keys(file).tenant(key).name == "alice"
    assert add(capsys, "--client", "alice") != key


def test_limits_are_written_and_listed_and_keys_are_not(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = add(capsys, "--client", "bob", "--weight", "2", "--documents-per-second", "50", "--queued-tokens", "1000000")
    tenant = read_keys(file).tenant(key)
    assert (tenant.quota.weight, tenant.quota.queued_tokens, tenant.rates.documents_per_second) == (2, 1_000_000, 50)
    assert main(["keys", "list"]) == 0
    shown = capsys.readouterr().out
    assert "bob" in shown
    assert digest_of(key)[:12] in shown
    assert "weight=2 queued_tokens=1000000 documents_per_second=50" in shown
    assert key not in shown
    assert digest_of(key) not in shown


def test_a_client_s_keys_are_revoked_and_comments_stay(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alice, bob = add(capsys, "--client", "alice"), add(capsys, "--client", "bob")
    file.write_text("# ours\n" + file.read_text())
    assert main(["keys", "revoke", "--client", "alice"]) == 0
    with pytest.raises(Forbidden):
        read_keys(file).tenant(alice)
    assert read_keys(file).tenant(bob).name == "bob"
    assert file.read_text().startswith("# ours\n")


def test_one_key_of_a_client_is_replaced_and_its_limits_stay(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = add(capsys, "--client", "bob", "--weight", "2.5", "--queued-tokens", "1234567")
    new = add(capsys, "--client", "bob")
    assert main(["keys", "revoke", "--digest", digest_of(old)[:12]]) == 0
    tenant = read_keys(file).tenant(new)
    assert (tenant.quota.weight, tenant.quota.queued_tokens) == (2.5, 1_234_567)
    with pytest.raises(Forbidden):
        read_keys(file).tenant(old)


def test_when_the_last_key_is_revoked_nobody_is_let_in(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = add(capsys, "--client", "alice")
    assert main(["keys", "revoke", "--client", "alice"]) == 0
    with pytest.raises(Forbidden):
        read_keys(file).tenant(key)
    again = add(capsys, "--client", "alice")
    assert "nobody" not in file.read_text()
    assert read_keys(file).tenant(again).name == "alice"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["add", "--client", "two words"], 2, "no name for a client"),
        (["add", "--client", "nobody"], 2, "no name for a client"),
        (["add", "--client", "#a"], 2, "no name for a client"),
        (["add", "--client", "a", "--weight", "0"], 1, "weight must be a number above 0"),
        (["add", "--client", "bob", "--weight", "3"], 1, "weight is 2 in an earlier line"),
        (["revoke"], 2, "--client"),
        (["revoke", "--digest", "ab"], 2, "at least 8 digits"),
        (["revoke", "--client", "carol"], 2, "no such key"),
    ],
)
def test_a_bad_edit_says_why_and_leaves_the_file(
    file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    add(capsys, "--client", "bob", "--weight", "2")
    before = file.read_text()
    assert main(["keys", *arguments]) == code
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.out == ""
    assert file.read_text() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_is_bad_is_not_edited(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("alice secret\n")
    assert main(["keys", "add", "--client", "bob"]) == 1
    assert "entry 1" in capsys.readouterr().err
    assert file.read_text() == "alice secret\n"


def test_without_a_file_s_name_and_without_its_folder_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GLEANER_API_KEYS_FILE", raising=False)
    assert main(["keys", "list"]) == 2
    assert "--file" in capsys.readouterr().err
    assert main(["keys", "add", "--client", "a", "--file", str(tmp_path / "no" / "keys")]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_mode_and_link_of_a_file_stay(file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "mounted"
    add(capsys, "--client", "alice", "--file", str(target))
    target.chmod(0o640)
    file.symlink_to(target)
    key = add(capsys, "--client", "bob")
    assert file.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert read_keys(target).tenant(key).name == "bob"


def test_concurrent_edits_are_kept_and_no_reader_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    keys = [f"key {number}" for number in range(40)]

    def add_one(key: str) -> None:
        edit(path, lambda text: with_key(text, "keys", "alice", digest_of(key), {}))
        read_keys(path)

    with ThreadPoolExecutor(8) as editors:
        list(editors.map(add_one, keys))
    assert {read_keys(path).tenant(key).name for key in keys} == {"alice"}
    assert os.listdir(tmp_path) == ["keys"]

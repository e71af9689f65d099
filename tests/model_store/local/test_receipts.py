"""Receipts: written, read back, and harmless when they cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model_store.local.receipts import Stamp, VerifiedFile, read_receipt, stamp_of, write_receipt


def test_a_receipt_is_read_back(tmp_path: Path) -> None:
    files = {
        "config.json": VerifiedFile(Stamp(2, 10**18), "a" * 64),
        "model.safetensors": VerifiedFile(Stamp(0, 1), "b" * 64),
    }
    write_receipt(tmp_path / "deep" / "receipt.json", files, tmp_path / "temporary")
    assert read_receipt(tmp_path / "deep" / "receipt.json") == files


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"seals":{"a":1},"verified_at_seconds":0}'])
def test_an_unreadable_receipt_has_no_entries(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "receipt.json").write_bytes(content)
    assert read_receipt(tmp_path / "receipt.json") == {}
    assert read_receipt(tmp_path / "none.json") == {}


def test_a_receipt_that_cannot_be_written_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    write_receipt(tmp_path / "file" / "receipt.json", {}, tmp_path / "file")


def test_only_regular_files_have_a_stamp(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12")
    (tmp_path / "link").symlink_to("file")
    stamp = stamp_of(tmp_path / "file")
    assert stamp is not None
    assert stamp.size_bytes == 2
    assert [stamp_of(tmp_path / name) for name in ("link", "none", "")] == [None, None, None]


def test_the_stored_format_of_a_receipt_does_not_change(tmp_path: Path) -> None:
    """A change here makes every existing store hash its files again."""
    path = tmp_path / "receipt.json"
    write_receipt(path, {"x": VerifiedFile(Stamp(2, 3), "a" * 64)}, tmp_path / "temporary")
    content = json.loads(path.read_bytes())
    assert content["seals"] == {"x": {"stamp": {"size_bytes": 2, "mtime_ns": 3}, "sha256": "a" * 64}}
    assert set(content) == {"seals", "verified_at_seconds"}

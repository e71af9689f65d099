"""Blobs and receipts: what is intact, and what is hashed again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from model_store.errors import StoreFull, Unreadable
from model_store.fileio import SPARE_BYTES
from model_store.local.blobs import (
    Stamp,
    VerifiedFile,
    add_blob,
    check_blob,
    has_blob,
    read_receipt,
    require_space,
    stamp_of,
    write_receipt,
)
from model_store.local.layout import Layout


def test_a_blob_is_read_only_and_found_by_its_digest(tmp_path: Path) -> None:
    layout, source = Layout(tmp_path / "store"), tmp_path / "source"
    source.write_bytes(b"some bytes")
    digest = add_blob(layout, source)
    assert digest == hashlib.sha256(b"some bytes").hexdigest()
    assert layout.blob(digest).stat().st_mode & 0o777 == 0o444
    assert check_blob(layout, digest).size_bytes == 10
    assert has_blob(layout, digest)
    assert not has_blob(layout, "0" * 64)


def test_a_source_that_is_a_link_or_gone_is_not_read(tmp_path: Path) -> None:
    layout, link = Layout(tmp_path / "store"), tmp_path / "link"
    link.symlink_to("/etc/hostname")
    for source in (link, tmp_path / "gone"):
        with pytest.raises(Unreadable):
            add_blob(layout, source)
    assert list(layout.temporary.iterdir()) == []
    assert not layout.blobs.exists()


def test_space_is_required_only_if_bytes_are_needed(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    require_space(layout, 0, lambda _folder: 0)
    require_space(layout, 10, lambda _folder: 10 + SPARE_BYTES)
    with pytest.raises(StoreFull):
        require_space(layout, 11, lambda _folder: 10 + SPARE_BYTES)


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

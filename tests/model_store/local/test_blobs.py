"""Blobs under their digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from model_store.errors import StoreFull, Unreadable
from model_store.fileio import SPARE_BYTES
from model_store.local.blobs import add_blob, blob_sizes, check_blob, has_blob, require_space
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


def test_only_digests_count_as_blobs(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert blob_sizes(layout) == {}
    layout.blobs.mkdir(parents=True)
    (layout.blobs / ("a" * 64)).write_bytes(b"12")
    (layout.blobs / ".DS_Store").write_bytes(b"1")
    assert blob_sizes(layout) == {"a" * 64: 2}


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

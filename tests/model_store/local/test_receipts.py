"""What was verified, and whether it still is as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.local.receipts import Seal, Stamp, recall, remember, stamp_of


def test_what_is_remembered_is_recalled(tmp_path: Path) -> None:
    seals = {"config.json": Seal(Stamp(2, 10**18), "a" * 64), "model.safetensors": Seal(Stamp(0, 1), "b" * 64)}
    remember(tmp_path / "deep" / "receipt.json", seals, tmp_path / "temporary")
    assert recall(tmp_path / "deep" / "receipt.json") == seals


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"seals":{"a":1},"verified_at_seconds":0}'])
def test_a_receipt_that_cannot_be_read_vouches_for_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "receipt.json").write_bytes(content)
    assert recall(tmp_path / "receipt.json") == {}
    assert recall(tmp_path / "none.json") == {}


def test_a_receipt_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    remember(tmp_path / "file" / "receipt.json", {}, tmp_path / "file")


def test_only_regular_files_have_a_stamp(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12")
    (tmp_path / "link").symlink_to("file")
    stamp = stamp_of(tmp_path / "file")
    assert stamp is not None
    assert stamp.size_bytes == 2
    assert [stamp_of(tmp_path / name) for name in ("link", "none", "")] == [None, None, None]

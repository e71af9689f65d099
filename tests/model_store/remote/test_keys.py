"""Keys of a remote store: made and recognised."""

from __future__ import annotations

import pytest

from model_store.remote.keys import manifest_in, manifest_key, tag_in, tag_key

DIGEST = "a" * 64


def test_keys_are_recognised_by_what_made_them() -> None:
    assert manifest_in(manifest_key(DIGEST)) == DIGEST
    assert tag_in(tag_key("cv", "stable", 12)) == ("cv", "stable", 12)


def test_tag_keys_sort_by_number() -> None:
    keys = [tag_key("cv", "stable", number) for number in (1, 2, 9, 10, 11, 100)]
    assert sorted(keys) == keys


@pytest.mark.parametrize(
    "key",
    [
        "blobs/sha256/" + DIGEST,
        "manifests/sha256/short.json",
        "tags/cv/stable/1",
        "tags/cv/stable/0000000001/more",
        "claims/cv/stable/0000000001/0123456789abcdef",
        "",
    ],
)
def test_other_keys_are_neither_manifests_nor_tags(key: str) -> None:
    assert manifest_in(key) is None
    assert tag_in(key) is None

"""Remote stores by URL."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.errors import InvalidRemote
from model_store.remote.folder import FolderRemote
from model_store.remote.open import open_remote
from model_store.remote.s3 import S3Remote


def test_a_file_url_opens_a_folder() -> None:
    assert open_remote("file:///srv/my%20models") == FolderRemote(Path("/srv/my models"))


@pytest.mark.parametrize(
    ("url", "bucket", "prefix", "addressing"),
    [
        ("s3://models", "models", "", None),
        ("s3://models/a/b/", "models", "a/b", None),
        ("s3://models/a?addressing=path", "models", "a", "path"),
    ],
)
def test_an_s3_url_opens_a_bucket(url: str, bucket: str, prefix: str, addressing: str | None) -> None:
    assert open_remote(url) == S3Remote(bucket, prefix, addressing)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "models",
        "/srv/models",
        "file://host/models",
        "file:///models?x=1",
        "s3://",
        "ftp://models",
        "s3://models?style=path",
        "s3://models?addressing=other",
        "s3://models?addressing=path&x=1",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(InvalidRemote):
        open_remote(url)

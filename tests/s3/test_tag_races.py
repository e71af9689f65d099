"""Publishers that move one tag of a real S3 server at once: conditional writes decide, and no move is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from model_store.local.store import Store
from model_store.remote.listing import list_remote
from model_store.transfer.publish import publish
from model_store.transfer.push import push
from tests.support.model_folders import write_model
from tests.support.s3_buckets import Bucket
from tests.support.tag_races import NAME, TAG, assert_no_move_lost, race

REVISIONS = [f"sha256:{number:064x}" for number in range(16)]


def test_concurrent_publishers_lose_no_move(bucket: Bucket) -> None:
    numbers = race(bucket.remote, REVISIONS)
    assert sorted(numbers) == list(range(1, len(REVISIONS) + 1))
    assert_no_move_lost(bucket.remote(), REVISIONS)


def test_a_move_is_one_conditional_write(bucket: Bucket) -> None:
    race(bucket.remote, REVISIONS[:1])
    assert [request.method for request in bucket.proxy.requests].count("PUT") == 1
    assert not [request for request in bucket.proxy.requests if "claims" in request.path]
    key = f"models/tags/{NAME}/{TAG}/0000000001"
    with pytest.raises(ClientError, match="PreconditionFailed"):
        bucket.direct.put_object(Bucket=bucket.name, Key=key, Body=b"other", IfNoneMatch="*")


def test_claims_of_earlier_versions_are_ignored(bucket: Bucket, tmp_path: Path) -> None:
    key = f"models/claims/{NAME}/{TAG}/0000000001/0123456789abcdef"
    bucket.direct.put_object(Bucket=bucket.name, Key=key, Body=b"")
    store = Store(tmp_path / "store")
    revision = publish(write_model(tmp_path / "model"), NAME, store, tag=None).revision
    assert push(revision, store, bucket.remote(), tag=TAG).tag.number == 1
    assert [(model.name, model.tags) for model in list_remote(bucket.remote())] == [(NAME, (TAG,))]

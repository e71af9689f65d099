"""Publishers that move one tag of a real S3 server at once: conditional writes decide, and no move is lost."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

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

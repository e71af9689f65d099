"""Bulk jobs of an environment: their places, and what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from infra.bulk_jobs import BucketPrefix, BulkJobs


def test_places_are_bucket_and_prefix() -> None:
    jobs = BulkJobs(inputs="s3://contracts/2026/in/", outputs="s3://results.example/")
    assert jobs.source == BucketPrefix("contracts", "2026/in/")
    assert jobs.target == BucketPrefix("results.example", "")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": "s3://contracts/in"}, "with a slash at its end"),
        ({"inputs": "contracts/in/"}, "is not s3://bucket/prefix/"),
        ({"outputs": "s3://C/"}, "is not s3://bucket/prefix/"),
        ({"inputs": "s3://contracts/in*/"}, "is not s3://bucket/prefix/"),
        ({"inputs": "s3://contracts/"}, "would be inputs again"),
        ({"outputs": "s3://contracts/in/results/"}, "would be inputs again"),
        ({"events": "s3://elsewhere/out/"}, "events belong to a job below"),
        ({"outputs": "s3://results/", "events": "s3://results/"}, "events belong to a job below"),
        ({"tasks": -1}, "tasks is not negative"),
        ({"oldest_hours": 337}, "1 to 336 hours"),
        ({"input_key": "alias/documents"}, "no ARN of a KMS key"),
        ({"queue_key": "arn:aws:kms:eu-central-1:111122223333:alias/documents"}, "rights know no aliases"),
    ],
)
def test_what_cannot_work_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        BulkJobs(**{"inputs": "s3://contracts/in/", "outputs": "s3://contracts/out/", **changes})

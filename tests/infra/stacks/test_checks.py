"""What is synthesized is really checked: by cfn-lint, by cdk-nag, and for placeholders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra.bulk_jobs import BulkJobs
from infra.environments import Environment
from infra.stacks.__main__ import MOST_BYTES, check
from infra.stacks.app import build
from tests.support.templates import resources


def test_cfn_lint_is_really_asked(synthesized: Path, tmp_path: Path) -> None:
    assert all(check(each, ["eu-central-1"]) == [] for each in synthesized.glob("*.template.json"))
    spoilt = json.loads((synthesized / "gleaner-plain-base.template.json").read_text())
    next(iter(resources(spoilt, "AWS::S3::Bucket").values()))["Encryption"] = True
    path = tmp_path / "spoilt.template.json"
    path.write_text(json.dumps(spoilt))
    assert any("E3002" in problem for problem in check(path, ["eu-central-1"]))


def test_the_largest_base_is_sent_without_a_bucket(tmp_path: Path) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/00000000-0000-0000-0000-000000000000"
    largest = Environment(
        name="a" * 20,
        certificate=f"arn:aws:acm:us-east-1:111122223333:certificate/{key[-36:]}",
        public=True,
        zone_count=3,
        alarm_email="whoever-is-on-call-today@subdomain.example.com",
        monthly_dollars=100_000,
        bulk=BulkJobs(
            inputs=f"s3://{'i' * 63}/documents/in/",
            outputs=f"s3://{'o' * 63}/documents/out/",
            events=f"s3://{'o' * 63}/documents/out/inbox/",
            input_key=key,
            output_key=key,
            queue_key=key,
        ),
    )
    build(tmp_path, (largest,), zones=[f"us-east-1{letter}" for letter in "abcdef"]).synth()
    base = tmp_path / f"{largest.fleet}-base.template.json"
    assert check(base, ["us-east-1"]) == []
    base.write_text(base.read_text() + " " * MOST_BYTES)
    (found,) = check(base, ["us-east-1"])
    assert f"of {MOST_BYTES} without a bucket" in found


def test_cdk_nag_and_the_validation_are_really_asked(tmp_path: Path) -> None:
    from aws_cdk import Stack
    from aws_cdk import aws_s3 as s3

    app = build(tmp_path, environments=())
    s3.Bucket(Stack(app, "careless"), "Open")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert "AwsSolutions-S1" in (tmp_path / "validation-report.json").read_text()

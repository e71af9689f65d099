"""What is synthesized is really checked: by cfn-lint, by cdk-nag, and for placeholders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra.stacks.__main__ import check
from tests.support.templates import resources


def test_cfn_lint_is_really_asked(synthesized: Path, tmp_path: Path) -> None:
    assert all(check(each, ["eu-central-1"]) == [] for each in synthesized.glob("*.template.json"))
    spoilt = json.loads((synthesized / "gleaner-plain-base.template.json").read_text())
    next(iter(resources(spoilt, "AWS::S3::Bucket").values()))["Encryption"] = True
    path = tmp_path / "spoilt.template.json"
    path.write_text(json.dumps(spoilt))
    assert any("E3002" in problem for problem in check(path, ["eu-central-1"]))


def test_cdk_nag_and_the_validation_are_really_asked(tmp_path: Path) -> None:
    from aws_cdk import Stack
    from aws_cdk import aws_s3 as s3

    from infra.stacks.app import build

    app = build(tmp_path, environments=())
    s3.Bucket(Stack(app, "careless"), "Open")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    assert "AwsSolutions-S1" in (tmp_path / "validation-report.json").read_text()

"""`gleaner models` with a bucket: publish, pull, list; refusals are one line and exit code 1."""

from __future__ import annotations

from pathlib import Path

import pytest

from loadtest.s3.fault_proxy import ErrorResponse, Fault
from service.cli import main
from tests.support.model_folders import write_model
from tests.support.s3_buckets import Bucket

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def remote(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> str:
    """The settings name a bucket. Only refusals are tried here: retries would wait for a minute."""
    monkeypatch.setenv("GLEANER_MODEL_REMOTE", bucket.url)
    return bucket.url


@pytest.mark.usefixtures("remote")
def test_a_model_is_published_into_a_bucket_and_pulled_elsewhere(tmp_path: Path, capsys: Shown) -> None:
    folder = write_model(tmp_path / "model")
    assert main(["models", "publish", str(folder), "cv", "--store", str(tmp_path / "here")]) == 0
    assert main(["models", "pull", "cv", "--store", str(tmp_path / "there")]) == 0
    assert main(["models", "list", "--store", str(tmp_path / "there")]) == 0
    assert "here, remote" in capsys.readouterr().out


@pytest.mark.usefixtures("remote")
@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (ErrorResponse(400, "ExpiredToken"), "ExpiredToken"),
        (ErrorResponse(403), "AccessDenied"),
        (ErrorResponse(404, "NoSuchBucket"), "s3://bucket-"),
    ],
    ids=lambda value: str(value),
)
def test_a_refusal_of_the_server_is_one_line(
    bucket: Bucket, tmp_path: Path, capsys: Shown, fault: Fault, named: str
) -> None:
    bucket.proxy.choose = lambda _request: fault
    assert main(["models", "pull", "cv", "--store", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("gleaner: ")
    assert named in error
    assert error.count("\n") == 1


def test_a_missing_bucket_is_one_line(bucket: Bucket, tmp_path: Path, capsys: Shown) -> None:
    assert main(["models", "pull", "cv", "--store", str(tmp_path), "--remote", "s3://vanished/models"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("gleaner: ")
    assert "s3://vanished/models" in error

"""`gleaner models` with a remote store in a folder: publish, pull, list, rollback, gc."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from model_store.local.layout import Layout
from model_store.local.locks import in_use
from service.cli import main
from tests.support.tiny_models import make_model

Shown = pytest.CaptureFixture[str]
Publish = Callable[..., str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings name a local and a remote store of this test."""
    monkeypatch.setenv("GLEANER_MODEL_STORE", str(tmp_path / "here"))
    monkeypatch.setenv("GLEANER_MODEL_REMOTE", (tmp_path / "remote").as_uri())
    return tmp_path / "here"


def gleaner(*arguments: object) -> int:
    return main(["models", *map(str, arguments)])


@pytest.fixture
def publish(tmp_path: Path, capsys: Shown) -> Publish:
    """Publish a model with weights of its own for each text; its revision."""

    def publish(text: str, *options: object) -> str:
        folder = make_model(tmp_path / f"model-{text}", seed=int.from_bytes(text.encode()))
        assert gleaner("publish", folder, "cv", *options) == 0
        return str(re.findall("sha256:[0-9a-f]{64}", capsys.readouterr().out)[0])

    return publish


def test_a_model_published_here_is_pulled_elsewhere(publish: Publish, tmp_path: Path, capsys: Shown) -> None:
    revision = publish("one", "--base-model", "bert", "--data", "invoices v3", "--commit", "abc")
    assert gleaner("pull", "cv", "--store", tmp_path / "there") == 0
    said = capsys.readouterr().out
    assert revision in said
    assert re.search(r"[\d,]+ bytes fetched, 0 were here", said)
    assert gleaner("pull", "cv", "--store", tmp_path / "there") == 0
    assert " 0 bytes fetched" in capsys.readouterr().out
    assert gleaner("verify", "cv", "--store", tmp_path / "there") == 0
    manifest = next((tmp_path / "there" / "manifests" / "sha256").iterdir()).read_text()
    assert '"provenance":{"base_model":"bert","commit":"abc","data":"invoices v3"}' in manifest


def test_publishing_prints_uploaded_and_present_bytes(publish: Publish, tmp_path: Path, capsys: Shown) -> None:
    publish("one")
    assert gleaner("publish", tmp_path / "model-one", "cv") == 0
    assert "nothing was uploaded" in capsys.readouterr().out
    assert gleaner("publish", tmp_path / "model-one", "cv", "--tag", "candidate") == 0
    assert re.search(r"cv@candidate is .*: 0 bytes uploaded, [\d,]+ were there", capsys.readouterr().out)


def test_the_list_has_the_place_of_each_revision(publish: Publish, tmp_path: Path, capsys: Shown) -> None:
    one, two = publish("one"), publish("two")
    gleaner("pull", f"cv@{one}", "--store", tmp_path / "there")
    capsys.readouterr()
    assert gleaner("list", "--store", tmp_path / "there") == 0
    lines = {word: line for line in capsys.readouterr().out.splitlines() for word in line.split() if "sha256" in word}
    assert "here, remote" in lines[one]
    assert re.search(r"stable\s+.*\bremote", lines[two])
    assert "here" not in lines[two]


def test_a_rollback_moves_the_tag_and_prints_the_way_back(publish: Publish, capsys: Shown) -> None:
    one, two, three = publish("one"), publish("two"), publish("three")
    assert gleaner("rollback", "cv") == 0
    said = capsys.readouterr().out
    assert f"cv@stable is {two} now" in said
    assert f"gleaner models rollback cv --to {three}" in said
    assert gleaner("rollback", "cv") == 0
    assert f"cv@stable is {one} now" in capsys.readouterr().out
    assert gleaner("pull", "cv") == 0
    assert one in capsys.readouterr().out
    assert gleaner("rollback", "cv") == 1
    assert "cv@stable" in capsys.readouterr().err
    assert gleaner("rollback", "cv", "--to", three) == 0
    assert gleaner("rollback", "cv@candidate") == 1
    assert gleaner("rollback", f"cv@{one}") == 1


def test_gc_keeps_tagged_recent_and_used_revisions(publish: Publish, here: Path, capsys: Shown) -> None:
    revisions = [publish(text) for text in ("one", "two", "three", "four")]
    with in_use(Layout(here), revisions[0]):
        assert gleaner("gc", "--keep", "1") == 0
        said = capsys.readouterr().out
    assert f"gone: {revisions[1]}" in said
    assert said.count("gone:") == 1
    assert gleaner("gc", "--keep", "1") == 0
    assert f"gone: {revisions[0]}" in capsys.readouterr().out
    assert gleaner("verify") == 0


def test_gc_frees_down_to_a_budget_or_exits_1(publish: Publish, here: Path, capsys: Shown) -> None:
    for text in ("one", "two", "three"):
        publish(text)
    size = sum(path.stat().st_size for path in (here / "blobs").rglob("*") if path.is_file())
    assert gleaner("gc", "--keep", "0", "--budget", f"{size - 1}B") == 0
    assert capsys.readouterr().out.count("gone:") == 1
    assert gleaner("gc", "--keep", "0", "--budget", "1KB") == 1
    assert capsys.readouterr().out.count("gone:") == 1
    with pytest.raises(SystemExit, match="2"):
        gleaner("gc", "--budget", "much")


def test_a_publish_without_the_remote_store_moves_no_tag(
    tmp_path: Path, here: Path, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "remote").write_text("no folder")
    folder = make_model(tmp_path / "model")
    assert gleaner("publish", folder, "cv") == 1
    assert "gleaner: The remote store" in capsys.readouterr().err
    assert not Layout(here).tag("cv", "stable").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("pull", "cv"), "file:"),
        (("pull", "cv", "--remote", ""), "GLEANER_MODEL_REMOTE"),
        (("pull", "cv", "--remote", "ftp://x"), "ftp://x"),
        (("pull", "cv", "--remote", "s3://b?style=path"), "?addressing="),
        (("rollback", "cv", "--to", "sha256:1"), "sha256:1"),
    ],
)
def test_an_error_is_one_line(capsys: Shown, arguments: tuple[str, ...], named: str) -> None:
    assert gleaner(*arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("gleaner: ")
    assert named in error
    assert error.count("\n") == 1

"""`gleaner models canary`: what is compared, and which tag moves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.cli import main
from tests.support.local_http import Call, Reply, http_server, json_reply
from tests.support.model_folders import write_model

Shown = pytest.CaptureFixture[str]
ENTITY = {"label": "TOTAL", "start": 0, "end": 5, "text": "12.00", "score": 0.9}


def service(call: Call) -> Reply:
    """Finds one entity in each document; its candidate finds another one in documents that ask for it."""
    body = call.body
    tag = re.search(rb"documents@(stable|candidate)", body)
    is_candidate = tag is not None and tag[1] == b"candidate"
    if b"free" in body and b"invoice number" not in body:
        return json_reply({"code": "invalid_options", "detail": "it failed"}, 422)
    if is_candidate and b"fails" in body:
        return json_reply({"code": "internal_error", "detail": "it failed"}, 500)
    entity = {**ENTITY, "end": 6} if is_candidate and b"differs" in body else ENTITY
    return json_reply({"documents": [{"entities": [entity], "error": None}]})


@pytest.fixture
def url() -> Iterator[str]:
    with http_server(service) as found:
        yield found


@pytest.fixture
def revisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """`documents` with two revisions in this test's store."""
    monkeypatch.setenv("GLEANER_MODEL_STORE", str(tmp_path / "here"))
    monkeypatch.delenv("GLEANER_MODEL_REMOTE", raising=False)
    for tag in ("stable", "candidate"):
        folder = write_model(tmp_path / tag, {"model.safetensors": tag.encode() * 100})
        publish(folder, "documents", Store(tmp_path / "here"), tag=tag)
    return served(tmp_path)


def served(home: Path) -> dict[str, str]:
    store = Store(home / "here")
    return {tag: store.resolve(f"documents@{tag}").revision for tag in ("stable", "candidate")}


def canary(url: str, folder: Path, text: str, *options: str, different: int = 0) -> int:
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.txt").write_text(text if number < different else "plain")
    # A served latency on a busy machine is no matter here.
    return main(
        ["models", "canary", "documents", "--url", url, "--documents", str(folder), "--slower", "1e6", *options]
    )


def test_a_good_candidate_is_promoted(url: str, revisions: dict[str, str], tmp_path: Path, capsys: Shown) -> None:
    assert canary(url, tmp_path / "files", "differs", "--promote", "--withdraw", different=1) == 0
    assert served(tmp_path) == dict.fromkeys(("stable", "candidate"), revisions["candidate"])
    printed = capsys.readouterr().out
    assert "9.5% of the entities" in printed, "a pair of entities, and 19 that both found"
    assert "100 answers" in printed, "so that the 99th percentile is not the slowest"
    assert "TOTAL" in printed


def labelled(path: Path, wrong: int, *, documents: int = 20) -> Path:
    """Texts of two groups each in which the candidate finds 5 to 6 characters too many, or else the truth."""
    rows = [
        {"text": f"differs {number}", "group": f"g{number // 2}",
         "entities": [{"start": 0, "end": 5 if number < wrong else 6, "label": "TOTAL"}]}
        for number in range(documents)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("wrong", "documents", "code", "words", "ends_as"),
    [
        (0, 20, 0, "better: difference of F1 +", "candidate"),
        (20, 20, 1, "worse: difference of F1 -", "stable"),
        (10, 20, 1, "no proof: difference of F1 -", None),
        (0, 8, 1, "no proof: 4 groups of documents; 5 are needed", None),
    ],
)
def test_labelled_documents_decide_which_tag_moves(
    wrong: int, documents: int, code: int, words: str, ends_as: str | None, url: str, revisions: dict[str, str],
    tmp_path: Path, capsys: Shown,
) -> None:  # fmt: skip
    golden = labelled(tmp_path / "golden.jsonl", wrong, documents=documents)
    asked = ("--golden", str(golden), "--slower", "1e6", "--promote", "--withdraw")
    assert main(["models", "canary", "documents", "--url", url, *asked]) == code
    printed = capsys.readouterr().out
    assert words in printed
    assert re.search(rf"of \d+ found and {documents} labelled", printed)
    ends = revisions if ends_as is None else dict.fromkeys(revisions, revisions[ends_as])
    assert served(tmp_path) == ends


def test_labelled_pages_are_posted_as_pages(revisions: dict[str, str], tmp_path: Path) -> None:
    page = {"width": 60, "height": 80, "words": [{"text": "12.00", "box": [1, 2, 30, 12]}]}
    record = {"pages": [page], "entities": [{"page": 1, "words": [0, 1], "label": "TOTAL"}]}
    (tmp_path / "golden.jsonl").write_text(json.dumps(record))
    bodies: list[bytes] = []

    def noting(call: Call) -> Reply:
        bodies.append(call.body)
        return service(call)

    with http_server(noting) as url:
        main(["models", "canary", "documents", "--url", url, "--golden", str(tmp_path / "golden.jsonl")])
    assert bodies
    assert all(b'"pages": [{"width":60' in body for body in bodies)


def test_files_and_labelled_documents_are_not_posted_together(url: str, tmp_path: Path) -> None:
    assert main(["models", "canary", "documents", "--url", url]) == 2
    both = ("--golden", str(tmp_path), "--documents", str(tmp_path))
    assert main(["models", "canary", "documents", "--url", url, *both]) == 2


def test_without_a_word_nothing_is_moved(url: str, revisions: dict[str, str], tmp_path: Path) -> None:
    assert canary(url, tmp_path / "files", "plain") == 0
    assert served(tmp_path) == revisions


def test_a_model_with_free_labels_is_asked_with_some(url: str, revisions: dict[str, str], tmp_path: Path) -> None:
    assert canary(url, tmp_path / "a", "free", "--withdraw", different=20) == 2
    assert served(tmp_path) == revisions, "a question without labels says nothing of a revision"
    assert canary(url, tmp_path / "b", "free", "--labels", "invoice number", different=20) == 0


@pytest.mark.parametrize(
    ("text", "different", "reason"), [("differs", 5, "of the entities differ"), ("fails", 1, "it fails on 5.0%")]
)
def test_a_bad_candidate_is_withdrawn(
    text: str, different: int, reason: str, url: str, revisions: dict[str, str], tmp_path: Path, capsys: Shown
) -> None:
    assert canary(url, tmp_path / "files", text, "--promote", "--withdraw", different=different) == 1
    assert served(tmp_path) == dict.fromkeys(("stable", "candidate"), revisions["stable"])
    assert reason in capsys.readouterr().err


def test_it_is_withdrawn_by_one_command_without_a_comparison(revisions: dict[str, str], tmp_path: Path) -> None:
    assert main(["models", "canary", "documents", "--withdraw-only"]) == 0
    assert served(tmp_path)["candidate"] == revisions["stable"]

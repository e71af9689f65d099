"""`gleaner evaluate`: asking a service, a real engine over a folder, and what is refused before one is started."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from service.api.extraction.request import DocumentInput
from service.commands.evaluate import ATTEMPTS, ask_all, read_data
from service.core.errors import CapacityExceeded, GleanerError, MalformedRequest
from service.evaluation.labelled_documents import NO_SCHEME, LabelledDocument, LabelledSet
from service.evaluation.scoring import ScoredAnswer
from tests.support.service import environment
from tests.support.tiny_models import make_model

ANSWER: dict[str, Any] = {
    "entities": [{"start": 0, "end": 4, "label": "PERSON", "text": "Jane", "score": 0.9}],
    "tokens": 3,
}


class RefusingService:
    """Refuses each document so many times before it answers it."""

    def __init__(self, error: GleanerError, times: int) -> None:
        self._error, self._times = error, times
        self.asked = 0

    async def answer(self, document: DocumentInput) -> dict[str, Any]:
        self.asked += 1
        if self.asked <= self._times:
            raise self._error
        return ANSWER


def answers(service: RefusingService) -> list[ScoredAnswer]:
    document = LabelledDocument("a", "Jane", (), "a", "en", "letter", {})
    sets = [LabelledSet("letters", (document,), frozenset({"PERSON"}))]
    return asyncio.run(ask_all(service, sets, lambda *_: None, pause_seconds=0))[0]


def test_what_a_busy_machine_refuses_is_asked_for_again() -> None:
    service = RefusingService(CapacityExceeded("busy"), times=ATTEMPTS - 1)
    (found,) = answers(service)
    assert ([span.label for span in found.spans], found.refused) == (["PERSON"], None)
    assert service.asked == ATTEMPTS


def test_what_is_refused_each_time_has_nothing_found_and_says_why() -> None:
    (found,) = answers(RefusingService(CapacityExceeded("busy"), times=ATTEMPTS))
    assert (found.spans, found.refused) == ((), "too_much_at_once")


def test_a_document_that_is_no_good_is_asked_for_once() -> None:
    service = RefusingService(MalformedRequest("too long"), times=ATTEMPTS)
    (found,) = answers(service)
    assert (found.refused, service.asked) == (MalformedRequest.code, 1)


class NotingService:
    """Answers each document, and keeps it."""

    def __init__(self) -> None:
        self.asked: list[DocumentInput] = []

    async def answer(self, document: DocumentInput) -> dict[str, Any]:
        self.asked.append(document)
        return ANSWER


def test_a_file_is_asked_for_as_it_is_and_a_folder_of_files_is_a_set(tmp_path: Path) -> None:
    folder = tmp_path / "bills"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(b"%PDF-1.7")
    (folder / "a.json").write_text('{"document": "a.pdf", "kind": "invoice", "roles": {"iban": null}}')
    (tmp_path / "letters.jsonl").write_text('{"text": "Jane", "entities": []}')
    sets = read_data([folder, tmp_path / "letters.jsonl"], NO_SCHEME)
    assert [each.name for each in sets] == ["letters", "bills"]
    service = NotingService()
    asyncio.run(ask_all(service, sets, lambda *_: None))
    assert [(each.text, each.data, each.name) for each in service.asked] == [
        *(("Jane", b"", None), (None, b"%PDF-1.7", "a.pdf"))
    ]


def test_pages_are_asked_for_as_they_were_given(tmp_path: Path) -> None:
    pages = [{"width": 60, "height": 80, "words": [{"text": "Jane", "box": [1, 2, 30, 12]}]}]
    record = {"pages": pages, "entities": [{"page": 1, "words": [0, 1], "label": "PERSON"}]}
    (tmp_path / "letters.jsonl").write_text(json.dumps(record))
    service = NotingService()
    asyncio.run(ask_all(service, read_data([tmp_path / "letters.jsonl"], NO_SCHEME), lambda *_: None))
    (asked,) = service.asked
    assert asked.text is None
    assert asked.pages is not None
    assert json.loads(bytes(asked.pages)) == pages


COMMAND = [sys.executable, "-m", "service.cli", "evaluate"]
LIMIT_SECONDS = 240.0
TEXT = "Anna Smith paid the invoice in Berlin"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's folder `tiny`, and the set `letters` of six groups with a document that holds nothing."""
    home = tmp_path_factory.mktemp("home")
    make_model(home / "tiny")
    truth = [{"start": 0, "end": 10, "label": "PER"}, {"start": 31, "end": 37, "label": "LOC"}]
    records = [
        {"text": f"{TEXT} {number}", "entities": truth, "lang": "en", "group": f"g{number % 6}"} for number in range(12)
    ]
    lines = [*records, {"text": " ", "entities": [], "group": "g0"}]
    (home / "letters.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return home


def evaluate(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    ended = subprocess.run(
        [*COMMAND, *arguments],
        env=environment(home, DTYPE="float32") | {"TMPDIR": str(temporary)},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert list(temporary.iterdir()) == [], "something was left in the temporary folder"
    assert "Traceback" not in ended.stderr
    return ended


def test_a_folder_is_scored_as_it_would_be_served(home: Path) -> None:
    ended = evaluate(home, "tiny", "letters.jsonl", "--out", "report.json")
    assert ended.returncode == 0, ended.stderr
    report: dict[str, Any] = json.loads((home / "report.json").read_text())
    (found,) = report["sets"]
    assert (report["model"], found["name"], found["documents"]) == ("evaluated@stable", "letters", 13)
    assert (found["rates"]["gold"], found["rates"]["groups"]) == (24, 6)
    assert report["tokens"] > 0
    assert "letters (13 of 13 done)" in ended.stderr or "letters (1 of 13 done)" in ended.stderr
    assert "letters" in ended.stdout
    assert "PER" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [
        (("tiny", "missing.jsonl"), "cannot be read", 1),
        (("tiny", "letters.jsonl", "--sets", "other"), "there is no other", 2),
        (("tiny", "letters.jsonl", "--limit", "0"), "--limit", 2),
        (("tiny", "letters.jsonl", "--left-out", "100"), "--left-out", 2),
        (("tiny", "letters.jsonl", "--out", "nowhere/report.json"), "no folder", 2),
        (("tiny", "letters.jsonl", "--mapping", "letters.jsonl"), "letters.jsonl", 1),
        (("nobody", "letters.jsonl", "--limit", "3"), "nobody", 1),
        (("./tmp", "letters.jsonl"), "cannot be taken as a model", 1),
    ],
)
def test_what_cannot_be_scored_is_one_message(home: Path, arguments: tuple[str, ...], words: str, status: int) -> None:
    ended = evaluate(home, *arguments)
    assert ended.returncode == status
    assert words in ended.stderr
    assert ended.stderr.splitlines()[-1].startswith("gleaner: ")


def test_entities_that_overlap_and_texts_that_repeat_are_said(home: Path) -> None:
    """Both were silent: nested entities were gone from the truth, and copies of a text stood on both sides."""
    entities = [{"start": 0, "end": 10, "label": "PER"}, {"start": 0, "end": 4, "label": "PER"}]
    records = [{"text": f"{TEXT} {number // 2}", "entities": entities} for number in range(40)]
    (home / "nested.jsonl").write_text("\n".join(map(json.dumps, records)))
    ended = evaluate(home, "tiny", "nested.jsonl", "letters.jsonl", "--left-out", "15", "--out", "nested.json")
    assert ended.returncode == 0, ended.stderr
    nested, letters = json.loads((home / "nested.json").read_text())["sets"]
    assert nested["rates"]["gold"] == nested["documents"] > 0
    assert [note for note in nested["notes"] if note.startswith(f"{nested['documents']} entities not scored")]
    assert not [note for note in letters["notes"] if "not scored" in note]
    said = ended.stderr
    assert f"nested: {nested['documents']} entities not scored" in said
    assert "32 documents have the text of an earlier one" in said


def test_labels_that_the_model_lacks_are_said_before_the_scores(home: Path) -> None:
    entities = [{"start": 0, "end": 4, "label": "MEDICINE"}, {"start": 5, "end": 10, "label": "PER"}]
    (home / "meds.jsonl").write_text(json.dumps({"text": TEXT, "entities": entities}))
    ended = evaluate(home, "tiny", "meds.jsonl")
    assert ended.returncode == 0, ended.stderr
    (warning,) = [line for line in ended.stderr.splitlines() if "warning" in line]
    for words in ("MEDICINE (1)", "MAPPING.json", '{"map": {"meds": {', "DATE, ORG, PER"):
        assert words in warning
    assert "PER (" not in warning

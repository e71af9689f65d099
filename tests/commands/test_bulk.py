"""`gleaner bulk` against a service: exit codes, what a call goes on with, the rows, and its progress in words."""

from __future__ import annotations

import json
import resource
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from loadtest.service_process import KeptPort
from service.bulk import finish as outputs
from service.bulk.run import RunCounts
from service.bulk.storage import FolderStorage
from service.cli import main
from service.commands.bulk_progress import duration, in_words
from tests.support.text_service import TextService, text_service


@pytest.fixture
def service() -> Iterator[TextService]:
    with text_service() as service:
        yield service


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with lines of 120 texts."""
    lines = (json.dumps({"id": str(number), "text": f"text {number}"}) for number in range(120))
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _rows(folder: Path) -> dict[str, str | None]:
    """Key without its file → the error's code."""
    found = outputs.rows(FolderStorage(folder / "out"))
    return {row["key"].partition("#")[2]: row["error"] and row["error"]["code"] for row in found}


def _bulk(service: TextService, *arguments: str) -> int:
    return main(["bulk", "in.jsonl", "out", "--url", service.url, *arguments])


def test_all_answered_is_0_and_called_again_nothing_is_asked(
    folder: Path, service: TextService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _bulk(service, "--dollars-per-hour", "36") == 0
    assert _rows(folder) == {str(number): None for number in range(120)}
    said = capsys.readouterr()
    assert "120 files: 120 answered; by documents@sha256:ab" in said.out
    assert "120 of 120 files" in said.err
    assert "$" in said.err
    service.asked.clear()
    service.url = f"http://127.0.0.1:{KeptPort().number}"
    assert _bulk(service) == 0
    assert service.asked == []


def test_rows_that_are_errors_are_1_and_are_tried_again_when_told(
    folder: Path, service: TextService, capsys: pytest.CaptureFixture[str]
) -> None:
    service.refusals = {"text 3": (422, "unreadable_document"), "text 70": (422, "document_too_large")}
    assert _bulk(service) == 1
    assert "118 answered, 2 errors (unreadable_document 1, document_too_large 1)" in capsys.readouterr().out
    service.refusals.clear()
    service.asked.clear()
    assert _bulk(service) == 1
    assert _bulk(service, "--retry-errors", "other") == 1
    assert service.asked == []
    assert _bulk(service, "--retry-errors", "unreadable_document") == 1
    assert service.asked == ["text 3"]
    assert _bulk(service, "--retry-errors", "all") == 0
    assert list(_rows(folder).values()) == [None] * 120


def test_new_lines_are_added_and_the_revision_stays(folder: Path, service: TextService) -> None:
    assert _bulk(service) == 0
    with (folder / "in.jsonl").open("a") as lines:
        lines.write('{"id": "new", "text": "new"}\n')
    service.asked.clear()
    assert _bulk(service, "--model", "documents@sha256:ab") == 0
    assert service.asked == ["new"]
    assert len(_rows(folder)) == 121


def test_a_service_that_is_not_there_is_3(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bulk", "in.jsonl", "out", "--url", f"127.0.0.1:{KeptPort().number}"]) == 3
    assert "Call the same command again" in capsys.readouterr().err
    assert not (folder / "out/job.json").exists()


def test_a_key_that_is_not_known_is_3_and_a_wrong_option_2(folder: Path, service: TextService) -> None:
    assert _bulk(service, "--model", "secret") == 3
    service.refusals = {"-": (400, "invalid_options")}
    assert _bulk(service) == 2


def test_rows_are_written_in_other_forms_at_the_end_or_later(folder: Path, service: TextService) -> None:
    assert main(["bulk", "finish", "out"]) == 2
    assert _bulk(service, "--lines") == 0
    keys = [json.loads(line)["key"] for line in (folder / "out/documents.jsonl").read_text().splitlines()]
    assert keys == [f"in.jsonl#{number}" for number in range(120)]
    assert main(["bulk", "finish", "out", "--per-file"]) == 0
    assert json.loads((folder / "out/documents/in.jsonl#7.json").read_text())["document"]["text"] == "text 7"


@pytest.mark.parametrize(
    ("pattern", "output", "code"),
    [
        ("in/*", "in/out", 2),
        ("in/*", "in/a/out", 2),
        ("in/**", "in/a/out", 2),
        ("**/*.jsonl", "out", 2),
        ("in/*/*", "in/out", 2),
        ("in/a/*.jsonl", "in/out", 0),
        ("*.jsonl", "out", 0),
    ],
)
def test_an_output_whose_parts_a_glob_would_match_is_refused(
    folder: Path, service: TextService, pattern: str, output: str, code: int
) -> None:
    (folder / "in/a").mkdir(parents=True)
    (folder / "in/a/b.jsonl").write_text('{"text": "b"}')
    assert main(["bulk", pattern, output, "--url", service.url]) == code
    assert (folder / output).exists() is (code == 0)


@pytest.mark.parametrize(
    ("given", "output", "words"),
    [
        ("documents.jsonl", ".", "would be within the input"),
        ("documents", ".", "would be within the input"),
        ("link", "documents/out", "would be within the input"),
        ("documents", "link/out", "would be within the input"),
        ("in.jsonl", "taken", "taken/summary.json is there and belongs to no job"),
        ("in.jsonl", "another", "none of a bulk job"),
        ("in.jsonl", "s3://bucket/out", "gleaner bulk start"),
        ("s3://bucket/in", "out", "gleaner bulk start"),
        ("in.jsonl", "", "is no folder"),
        ("", "out", "no input without a name"),
    ],
)
def test_an_output_takes_the_place_of_nothing(
    folder: Path, service: TextService, capsys: pytest.CaptureFixture[str], given: str, output: str, words: str
) -> None:
    (folder / "link").symlink_to("documents")
    for name in ("documents.jsonl", "documents/a.txt", "taken/summary.json", "another/job.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("{}")
    before = sorted(folder.rglob("*"))
    assert main(["bulk", given, output, "--url", service.url, "--lines", "--per-file"]) == 2
    assert words in capsys.readouterr().err
    assert [path for path in sorted(folder.rglob("*")) if path.name != ".lock"] == before


def test_a_full_disk_is_3_and_the_next_call_goes_on(
    folder: Path, service: TextService, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, limits[1]))
    try:
        assert _bulk(service) == 3
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    said = capsys.readouterr().err
    assert "cannot be used: File too large. Call the same command again to go on." in said
    assert _bulk(service) == 0
    assert len(_rows(folder)) == 120


def test_an_output_whose_name_is_no_unicode_is_printed(
    folder: Path, service: TextService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bulk", "in.jsonl", "out\udcff", "--url", service.url]) == 0
    assert "out\\udcff/summary.json" in capsys.readouterr().out


def test_the_action_may_be_left_out_or_named(
    folder: Path, service: TextService, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bulk", "--url", service.url, "run", "in.jsonl", "other"]) == 2
    assert "There is no run" in capsys.readouterr().err
    assert main(["bulk", "run", "in.jsonl", "out", "--url", service.url]) == 0
    assert _bulk(service) == 0
    with pytest.raises(SystemExit) as ended:
        main(["bulk", "--help"])
    assert ended.value.code == 0
    assert "finish" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("counts", "seconds", "words"),
    [
        (RunCounts(), 1.0, "0 of 0 or more files, $0.01"),
        (RunCounts(files=2_000, done=50), 10.0, "50 of 2,000 or more files, 5.0 files/s, $0.10"),
        (
            RunCounts(2_000, 1_000, begun_with=500, is_planned=True, errors=Counter(a=1, b=2), later=7),
            100.0,
            "500 of 1,500 files, 5.0 files/s, 3 min left, $1.00 of $3.00, 3 errors (b 2, a 1), 7 for later",
        ),
        (
            RunCounts(303, 303, begun_with=300, answered_before=300, is_planned=True, errors=Counter(a=1)),
            3.0,
            "3 of 3 files, 1.0 files/s, 0 s left, $0.03 of $0.03, 1 errors (a 1), 300 answered before",
        ),
    ],
)
def test_files_rate_time_left_cost_and_errors(counts: RunCounts, seconds: float, words: str) -> None:
    assert in_words(counts, seconds, 36.0) == words
    assert "$" not in in_words(counts, seconds, None)


def test_durations_are_in_the_unit_that_reads_best() -> None:
    assert [duration(seconds) for seconds in (0.4, 99, 600, 12_240)] == ["0 s", "99 s", "10 min", "3.4 h"]

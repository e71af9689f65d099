"""Inputs of this machine: what is listed, under which keys, and read at the version that was listed."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from service.bulk.inputs import LocalInputs, glob_matches, local_inputs, matching
from service.bulk.storage import Content, ObjectChanged, ObjectMissing, StorageError, UnreadableFile
from service.core.errors import GleanerError, InvalidOptions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with files, a hidden one, a folder in it, and a link to itself; the current folder is above it."""
    for name in ("in/b.txt", "in/a/c.txt", "in/.hidden", "in/.git/config", "in/z.pdf"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _keys(*paths: str) -> list[str]:
    return [item.key for item in local_inputs(paths).items()]


def test_of_one_folder_keys_are_relative_to_it(folder: Path) -> None:
    assert _keys("in") == _keys("in/") == _keys(str(folder / "in")) == ["a/c.txt", "b.txt", "z.pdf"]
    inputs = local_inputs(["in"])
    assert inputs.names == (str(folder / "in"),)
    assert [inputs.read(item) for item in inputs.items()] == [
        Content("c.txt", b"in/a/c.txt"),
        Content("b.txt", b"in/b.txt"),
        Content("z.pdf", b"in/z.pdf"),
    ]


def test_of_several_paths_and_globs_keys_are_the_paths(folder: Path) -> None:
    assert _keys("in/z.pdf", "in/a") == ["in/z.pdf", "in/a/c.txt"]
    assert _keys("in/*.txt") == ["in/b.txt"]
    assert _keys("in/**/*.txt", "./in/z.pdf") == ["in/a/c.txt", "in/b.txt", "in/z.pdf"]
    inputs = local_inputs(["in/*.txt", "in/a"])
    assert [inputs.read(item).data for item in inputs.items()] == [b"in/b.txt", b"in/a/c.txt"]


@pytest.mark.parametrize("path", ["nowhere", "in/*.docx", ""])
def test_an_input_that_is_not_there_is_a_sentence(folder: Path, path: str) -> None:
    with pytest.raises(InvalidOptions, match="There is no"):
        _keys(path)


@pytest.mark.parametrize("pattern", ["in/*", "in/**/*", "**/*.txt", "in/*/c.txt", "in/.git/*", "*/[bz].*", "*"])
def test_a_glob_matches_just_what_it_finds(folder: Path, pattern: str) -> None:
    (folder / "in/loop").unlink()
    found = {os.path.abspath(path) for path in matching(pattern)}
    assert found
    assert {str(path) for path in folder.rglob("*") if glob_matches(str(folder / pattern), str(path))} == found


def test_a_glob_that_is_none_is_a_sentence(folder: Path) -> None:
    with pytest.raises(InvalidOptions, match=r"in/a\*\*: Invalid pattern"):
        _keys("in/a**")


def test_a_folder_that_goes_while_it_is_listed_is_no_empty_one(folder: Path) -> None:
    (folder / "in/m").mkdir()
    items = local_inputs(["in"]).items()
    assert [next(items).key, next(items).key] == ["a/c.txt", "b.txt"]
    (folder / "in/m").rmdir()
    (folder / "in/m").symlink_to("nowhere")
    assert next(items).version == "missing"


def test_a_file_that_changed_or_went_is_its_own_error(folder: Path) -> None:
    inputs = local_inputs(["in"])
    gone, changed, pdf = inputs.items()
    (folder / "in/a/c.txt").unlink()
    (folder / "in/b.txt").write_text("something else")
    with pytest.raises(ObjectMissing):
        inputs.read(gone)
    with pytest.raises(ObjectChanged):
        inputs.read(changed)
    assert inputs.read(pdf).data == b"in/z.pdf"
    assert [item.key for item in inputs.items()] == ["b.txt", "z.pdf"]
    assert next(inputs.items()).version != changed.version


def test_a_file_that_is_written_while_it_is_read_is_its_own_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, fstat = local_inputs(["in/b.txt"]), os.fstat
    [item] = inputs.items()

    def looked_at(descriptor: int) -> os.stat_result:
        found = fstat(descriptor)
        with (folder / "in/b.txt").open("a") as file:
            file.write("more")
        return found

    monkeypatch.setattr(os, "fstat", looked_at)
    with pytest.raises(ObjectChanged):
        inputs.read(item)


def test_a_folder_that_may_not_be_listed_stands_for_its_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listdir = os.listdir

    def refused(place: str) -> list[str]:
        if place.endswith("/a"):
            raise PermissionError(errno.EACCES, "Permission denied", place)
        return listdir(place)

    monkeypatch.setattr(os, "listdir", refused)
    inputs = local_inputs(["in"])
    first, *others = inputs.items()
    assert [first.key, *(item.key for item in others)] == ["a", "b.txt", "z.pdf"]
    with pytest.raises(UnreadableFile):
        inputs.read(first)
    with pytest.raises(InvalidOptions, match="cannot be listed: Permission denied"):
        list(local_inputs(["in/a"]).items())


def test_a_folder_that_is_gone_is_no_files_own_fault(folder: Path) -> None:
    inputs = local_inputs(["in"])
    first = next(inputs.items())
    (folder / "in").rename(folder / "unmounted")
    with pytest.raises(StorageError, match="in is not there now"):
        inputs.read(first)


def test_what_is_no_file_is_an_error_of_its_own(folder: Path) -> None:
    os.mkfifo("in/pipe")
    (folder / "in/dangling").symlink_to("nowhere")
    inputs = local_inputs(["in/pipe", "in/dangling"])
    for item, kind in zip(inputs.items(), (UnreadableFile, ObjectMissing), strict=True):
        with pytest.raises(kind):
            inputs.read(item)


LINES = """{"id": "one", "text": "Ünö", "more": 1}

{"id": 2, "text": "zwei"}
{"text": "three"}
not json
{"id": "one", "text": "again"}
{"id": "file", "path": "in/b.txt"}
{"id": "lost", "path": "in/nowhere.txt"}
{"id": "nul", "path": "in/\\u0000"}
{"id": "empty"}
{"id": "placed", "pages": [{"width": 1}]}
"""


def _read(inputs: LocalInputs) -> dict[str, object]:
    found = dict[str, object]()
    for item in inputs.items():
        try:
            found[item.key] = inputs.read(item)
        except GleanerError as error:
            found[item.key] = error.code
    return found


def test_lines_are_texts_or_files_with_an_id(folder: Path) -> None:
    (folder / "texts.jsonl").write_text(LINES)
    assert _read(local_inputs(["texts.jsonl"])) == {
        "texts.jsonl#one": Content("one", "Ünö"),
        "texts.jsonl#2": Content("2", "zwei"),
        "texts.jsonl#4": Content("4", "three"),
        "texts.jsonl#5": "unreadable_file",
        "texts.jsonl#one#6": Content("one#6", "again"),
        "texts.jsonl#file": Content("b.txt", b"in/b.txt"),
        "texts.jsonl#lost": "object_missing",
        "texts.jsonl#nul": "object_missing",
        "texts.jsonl#empty": "unreadable_file",
        "texts.jsonl#placed": Content("placed", b'{"pages":[{"width": 1}]}'),
    }


def test_byte_order_marks_are_no_part_of_a_line(folder: Path) -> None:
    lines = '\ufeff{"id": "first", "text": "a"}\r\n\ufeff\r\n\ufeff{"id": "third", "text": "c"}\r\n'
    (folder / "texts.jsonl").write_bytes(lines.encode())
    assert _read(local_inputs(["texts.jsonl"])) == {
        "texts.jsonl#first": Content("first", "a"),
        "texts.jsonl#third": Content("third", "c"),
    }


def test_lines_in_utf_16_are_refused_with_the_way_out(folder: Path) -> None:
    (folder / "texts.jsonl").write_text(LINES, encoding="utf-16")
    with pytest.raises(InvalidOptions, match=r"UTF-16.*UTF-8"):
        list(local_inputs(["texts.jsonl"]).items())


def test_each_line_has_a_key_of_its_own(folder: Path) -> None:
    ids = ("one#3", "one", "one", "one")
    (folder / "texts.jsonl").write_text("\n".join(json.dumps({"id": each, "text": "a"}) for each in ids))
    assert len(set(_keys("texts.jsonl"))) == len(ids)


def test_lines_that_are_appended_leave_the_others_as_they_were(folder: Path) -> None:
    file = folder / "texts.jsonl"
    file.write_text(LINES)
    inputs = local_inputs(["texts.jsonl", "in"])
    before = list(inputs.items())
    with file.open("a") as lines:
        lines.write('{"id": "new", "text": "new"}')
    after = list(inputs.items())
    assert set(before) < set(after)
    assert [item.key for item in after if item not in before] == ["texts.jsonl#new"]
    assert inputs.read(next(item for item in after if item not in before)) == Content("new", "new")


def test_a_line_that_changed_or_went_is_its_own_error(folder: Path) -> None:
    file = folder / "texts.jsonl"
    file.write_text(LINES)
    inputs = local_inputs(["texts.jsonl"])
    first = next(inputs.items())
    file.write_text(LINES.replace("Ünö", "Uno"))
    with pytest.raises(ObjectChanged):
        inputs.read(first)
    file.unlink()
    with pytest.raises(ObjectMissing):
        inputs.read(first)


OUTSIDE = """{"id": "up", "path": "../secret.txt"}
{"id": "far", "path": "in/../../secret.txt"}
{"id": "whole", "path": "SECRET"}
{"id": "link", "path": "in/link.txt"}
{"id": "through", "path": "in/far/secret.txt"}
{"id": "own", "path": "in/../in/b.txt"}
{"id": "home", "path": "in/home.txt"}
"""


@pytest.fixture
def job(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Inputs in a folder beside a file that none of them may name."""
    (folder / "job").mkdir()
    (folder / "in").rename(folder / "job/in")
    (folder / "secret.txt").write_text("secret")
    (folder / "job/in/link.txt").symlink_to(folder / "secret.txt")
    (folder / "job/in/far").symlink_to(folder)
    (folder / "job/in/home.txt").symlink_to("b.txt")
    (folder / "job/lines.jsonl").write_text(OUTSIDE.replace("SECRET", str(folder / "secret.txt")))
    monkeypatch.chdir(folder / "job")
    return folder / "job"


@pytest.mark.parametrize(
    "given", [["in"], ["in/*.txt"], ["in", "lines.jsonl"], ["*/*"], ["{job}/in"], ["{job}/**/*.txt"]]
)
def test_a_link_out_of_the_folder_is_not_read(job: Path, given: list[str]) -> None:
    """An unpacked archive or a foreign list of lines sent the files of its user to a service of others."""
    names = [each.replace("{job}", str(job)) for each in given]
    found, followed = _read(local_inputs(names)), _read(local_inputs(names, follow=True))
    link, home = (next(key for key in found if key.endswith(name)) for name in ("link.txt", "home.txt"))
    assert found[link] == UnreadableFile.code
    assert found[home] == followed[home] != UnreadableFile.code
    assert followed[link] == Content("link.txt", b"secret")


def test_a_line_s_path_out_of_its_folder_is_not_read(job: Path) -> None:
    names = ("up", "far", "whole", "link", "through")
    found = _read(local_inputs(["lines.jsonl"]))
    assert {found[f"lines.jsonl#{name}"] for name in names} == {UnreadableFile.code}
    assert isinstance(found["lines.jsonl#own"], Content)
    assert isinstance(found["lines.jsonl#home"], Content)
    followed = _read(local_inputs(["lines.jsonl"], follow=True))
    assert [getattr(followed[f"lines.jsonl#{name}"], "data", None) for name in names] == [b"secret"] * 5


def test_json_lines_behind_a_link_out_or_in_a_pipe_are_not_read(folder: Path) -> None:
    (folder / "outside.jsonl").write_text('{"id": "a", "text": "secret"}')
    (folder / "in/link.jsonl").symlink_to(folder / "outside.jsonl")
    (folder / "in/zero.jsonl").symlink_to("/dev/zero")
    os.mkfifo(folder / "in/pipe.jsonl")
    found = _read(local_inputs(["in/*.jsonl"]))
    assert found == dict.fromkeys(("in/link.jsonl", "in/pipe.jsonl", "in/zero.jsonl"), UnreadableFile.code)
    followed = _read(local_inputs(["in/link.jsonl"]))
    assert followed == {"in/link.jsonl#a": Content("a", "secret")}


def test_a_link_that_the_command_line_names_is_read(job: Path) -> None:
    assert _read(local_inputs(["in/link.txt"])) == {"in/link.txt": Content("link.txt", b"secret")}
    assert Content("link.txt", b"secret") in _read(local_inputs(["in/link.txt", "in"])).values()
    (job / "too").symlink_to("in")
    assert _read(local_inputs(["too"]))["link.txt"] == UnreadableFile.code
    assert isinstance(_read(local_inputs(["too"]))["b.txt"], Content)


def test_a_link_to_a_folder_outside_is_a_row_and_not_lost_in_silence(folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more/d.txt").write_text("d")
    (folder / "in/july").symlink_to(folder / "more")
    (folder / "in/latest").symlink_to("a")
    assert _keys("in") == ["a/c.txt", "b.txt", "july", "z.pdf"], "what `latest` holds is in `a`"
    for follow in (False, True):
        inputs = local_inputs(["in"], follow=follow)
        (link,) = [item for item in inputs.items() if item.key == "july"]
        with pytest.raises(UnreadableFile, match="name that folder as an input of its own"):
            inputs.read(link)

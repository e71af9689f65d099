"""Scan of a model's folder: names, sizes, the small JSON files, safetensors headers and golden examples; all problems.

The rules are in `allowed_files`, `safetensors_files` and `model_store/families`; only `require_finite` reads weights.
Golden examples are JSON lines `{"text": "…", "entities": [{"label": "…", "start": 0, "end": 4}]}`.
"""

from __future__ import annotations

import codecs
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

import msgspec

from model_store.contents.allowed_files import (
    DECODING,
    INDEX,
    RULES,
    SUBFOLDERS,
    TRANSITIONS,
    WEIGHTS,
    Entry,
    EntryKind,
    missing_problems,
    select,
)
from model_store.contents.safetensors_files import (
    LENGTH_BYTES,
    LFS_POINTER,
    header_length,
    header_problem,
    index_problems,
    lfs_problem,
    misplaced_problem,
    shards_of,
    tensor_names,
    weight_problem,
)
from model_store.contents.tokenizer_patterns import backtracks, regexes_in
from model_store.errors import FolderProblem, InvalidGolden, RefusedFolder, SourceChanged
from model_store.families.family import TOKENIZER, TOKENIZER_CONFIG, FolderFamily, ModelConfig
from model_store.families.registry import FAMILIES, owner
from model_store.manifest import File, GoldenExample, Manifest, Provenance

README = "README.md"
HEAD_CHARACTERS, LICENSE_CHARACTERS = 65_536, 100


def read_golden(path: Path) -> tuple[GoldenExample, ...]:
    """The examples of a file, one per line; blank lines and byte order marks are skipped.

    Raises:
        InvalidGolden: names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidGolden(f"The golden examples {path} cannot be read: {error.strerror}.") from error
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidGolden(f"{path} is UTF-16; golden examples are UTF-8: save it as such.")
    lines = [line.removeprefix(codecs.BOM_UTF8) for line in data.splitlines()]
    return tuple(_example(line, f"{path}, line {number}") for number, line in enumerate(lines, start=1) if line.strip())


def _example(line: bytes, where: str) -> GoldenExample:
    try:
        example = msgspec.json.decode(line, type=GoldenExample)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidGolden(f"{where}: {error}.") from error
    for entity in example.entities:
        if not entity.start < entity.end <= len(example.text):
            raise InvalidGolden(
                f"{where}: the entity {entity.label} at {entity.start}:{entity.end} "
                f"is not inside its text of {len(example.text)} characters."
            )
    return example


@dataclass(frozen=True, slots=True)
class ScannedFolder:
    """A folder that may be published: the files that are taken, the names that are left out, and its properties."""

    folder: Path
    files: tuple[Entry, ...]
    left_out: tuple[str, ...]
    family: FolderFamily
    config: ModelConfig

    def manifest(
        self,
        name: str,
        digests: Mapping[str, str],
        provenance: Provenance | None = None,
        golden: Sequence[GoldenExample] = (),
    ) -> Manifest:
        """The manifest of this folder as the model `name`; `digests` maps each file name to hex digits."""
        return Manifest(
            name=name,
            files=tuple(File(entry.name, entry.size_bytes, digests[entry.name]) for entry in self.files),
            labels=self.config.labels,
            architecture=self.config.architecture,
            model_type=self.config.model_type,
            max_tokens=self.config.max_tokens,
            task=self.config.task,
            provenance=provenance or Provenance(),
            golden=tuple(golden),
        )


def scan_folder(folder: Path) -> ScannedFolder:
    """Scan `folder` without changing it. Raises RefusedFolder with every problem found."""
    selection = select(_entries(folder))
    files = {entry.name: entry for entry in selection.taken}
    problems = [*selection.problems, *missing_problems(files.keys())]
    contents = _read_objects(folder, files, problems)
    weights = _weights(files, contents, problems)
    headers = {name: _header(folder, files[name]) for name in sorted(weights)}
    problems += [header for header in headers.values() if isinstance(header, FolderProblem)]
    tensors = {name: tensor_names(header) for name, header in headers.items() if isinstance(header, bytes)}
    if INDEX in contents and shards_of(contents[INDEX]) and (misplaced := misplaced_problem(contents[INDEX], tensors)):
        problems.append(misplaced)
    family = owner(contents)
    if family is not None:
        problems += family.problems(contents, files.keys())
    if problems or family is None:
        raise RefusedFolder(str(folder), problems)
    taken = tuple(entry for name, entry in files.items() if name in weights or not name.endswith(".safetensors"))
    stale = sorted(files.keys() - {entry.name for entry in taken})
    return ScannedFolder(folder, taken, (*selection.left_out, *stale), family, family.describe(contents))


def require_finite(scanned: ScannedFolder) -> None:
    """Read all weights. Raises RefusedFolder if one is NaN or infinite."""
    files = (scanned.folder / entry.name for entry in scanned.files if entry.name.endswith(".safetensors"))
    if problems := [problem for file in files if (problem := weight_problem(file))]:
        raise RefusedFolder(str(scanned.folder), problems)


def require_unchanged(scanned: ScannedFolder) -> None:
    """Raises SourceChanged if a file's size or modification time is not what it was in the scan."""
    now = {entry.name: entry for entry in _entries(scanned.folder)}
    for entry in scanned.files:
        if now.get(entry.name) != entry:
            raise SourceChanged(
                f"{scanned.folder / entry.name} changed while it was being published; try again when it is finished."
            )


def license_of(folder: Path) -> str:
    """The licence that a model's README.md names at its head, as model cards do; empty if it names none."""
    try:
        lines = (folder / README).read_text(encoding="utf-8", errors="replace")[:HEAD_CHARACTERS].splitlines()
    except OSError:
        return ""
    if not lines or lines[0].strip() != "---":
        return ""
    head = takewhile(lambda line: line.strip() != "---", lines[1:])
    named = (line.partition(":")[2].strip() for line in head if line.startswith("license:"))
    return next(named, "").strip("\"'")[:LICENSE_CHARACTERS]


def _entries(folder: Path) -> list[Entry]:
    try:
        with os.scandir(folder) as found:
            entries = [_entry(item) for item in found]
    except OSError as error:
        problem = FolderProblem("unreadable", f"It cannot be read: {error.strerror}.")
        raise RefusedFolder(str(folder), [problem]) from error
    return [*_with_subfolders(folder, entries)]


def _with_subfolders(folder: Path, entries: list[Entry]) -> Iterator[Entry]:
    """The entries, and in place of a subfolder that a model may have those in it."""
    for entry in entries:
        if entry.kind is EntryKind.FOLDER and entry.name in SUBFOLDERS:
            yield from (replace(each, name=f"{entry.name}/{each.name}") for each in _entries(folder / entry.name))
        else:
            yield entry


def _entry(item: os.DirEntry[str]) -> Entry:
    status = item.stat(follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return Entry(item.name, EntryKind.LINK)
    if stat.S_ISDIR(status.st_mode):
        return Entry(item.name, EntryKind.FOLDER)
    if stat.S_ISREG(status.st_mode):
        return Entry(item.name, EntryKind.FILE, status.st_size, status.st_mtime_ns)
    return Entry(item.name, EntryKind.OTHER)


def _read_objects(
    folder: Path, files: Mapping[str, Entry], problems: list[FolderProblem]
) -> dict[str, dict[str, object]]:
    """The decoded JSON files; one that is not a JSON object becomes a problem."""
    contents: dict[str, dict[str, object]] = {}
    configs = (name for each in FAMILIES.values() for name in (each.config, *each.more_configs))
    for name in dict.fromkeys((*configs, TOKENIZER, TOKENIZER_CONFIG, INDEX, RULES, DECODING)):
        if name not in files:
            continue
        try:
            written = (folder / name).read_bytes()
            if written.startswith(LFS_POINTER):
                problems.append(lfs_problem(name))
                continue
            content = json.loads(written)
        except (OSError, ValueError, RecursionError) as error:
            problems.append(FolderProblem("json", f"{name} cannot be read as JSON: {error}."))
            continue
        if isinstance(content, dict):
            contents[name] = content
        else:
            problems.append(FolderProblem("json", f"{name} must be a JSON object."))
    if TOKENIZER in contents and "model" not in contents[TOKENIZER]:
        problems.append(FolderProblem("tokenizer", f"{TOKENIZER} is no tokenizer: it has no `model`."))
    if pattern := next(filter(backtracks, regexes_in(contents.get(TOKENIZER))), None):
        said = (
            "repeats a group that holds a repeat or alternatives, or repeats too often: some texts would take for ever"
        )
        problems.append(FolderProblem("tokenizer", f"{TOKENIZER}: its pattern {pattern[:80]!r} {said}."))
    return contents


def _weights(
    files: Mapping[str, Entry], contents: Mapping[str, Mapping[str, object]], problems: list[FolderProblem]
) -> frozenset[str]:
    """The safetensors files that are read: the shards of the index, else model.safetensors; and the transitions."""
    if INDEX not in contents:
        return frozenset({WEIGHTS, TRANSITIONS} & files.keys())
    shards = shards_of(contents[INDEX])
    problems += index_problems(shards, files.keys())
    return frozenset(((shards or frozenset()) | {TRANSITIONS}) & files.keys())


def _header(folder: Path, entry: Entry) -> bytes | FolderProblem:
    """The header of a whole safetensors file, or what is wrong with the file."""
    try:
        with (folder / entry.name).open("rb") as file:
            start = file.read(len(LFS_POINTER))
            if start == LFS_POINTER:
                return lfs_problem(entry.name)
            length = header_length(start, entry.size_bytes)
            if length is None:
                return FolderProblem("header", f"{entry.name} is no safetensors file, or was cut off.")
            file.seek(LENGTH_BYTES)
            header = file.read(length)
    except OSError as error:
        return FolderProblem("unreadable", f"{entry.name} cannot be read: {error.strerror}.")
    return header_problem(entry.name, header, entry.size_bytes) or header

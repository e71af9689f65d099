"""Gathers a model's folder: reads names, sizes and the small JSON files, and says all that is wrong with it at once.

No weights are read here beyond their headers. The rules are in `admission`, `weights` and `description`.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_store.contents.allowed_files import (
    CONFIG,
    INDEX,
    TOKENIZER,
    TOKENIZER_CONFIG,
    WEIGHTS,
    Entry,
    Kind,
    missing_problems,
    select,
)
from model_store.contents.model_config import Description, describe, description_problems
from model_store.contents.safetensors_header import (
    LENGTH_BYTES,
    header_length,
    header_problem,
    index_problems,
    shards_of,
)
from model_store.errors import RefusedFolder, SourceChanged
from model_store.manifest import File, GoldenExample, Manifest, Provenance


@dataclass(frozen=True, slots=True)
class Candidate:
    """A folder that may be published: the files that are taken, the names that are left out, and what it is."""

    folder: Path
    files: tuple[Entry, ...]
    left_out: tuple[str, ...]
    description: Description

    def manifest(
        self,
        name: str,
        digests: Mapping[str, str],
        provenance: Provenance | None = None,
        golden: Sequence[GoldenExample] = (),
    ) -> Manifest:
        """The manifest of this folder as the model `name`; `digests` has one (hex digits) for each of its files."""
        return Manifest(
            name=name,
            files=tuple(File(entry.name, entry.size_bytes, digests[entry.name]) for entry in self.files),
            labels=self.description.labels,
            architecture=self.description.architecture,
            model_type=self.description.model_type,
            max_tokens=self.description.max_tokens,
            provenance=provenance or Provenance(),
            golden=tuple(golden),
        )


def gather(folder: Path) -> Candidate:
    """Look at `folder` without changing anything. Raises RefusedFolder with every reason found."""
    selection = select(_entries(folder))
    files = {entry.name: entry for entry in selection.taken}
    problems = [*selection.problems, *missing_problems(files.keys())]
    contents = _read_objects(folder, files, problems)
    weights = _weights(files, contents, problems)
    problems += [problem for name in weights if (problem := _header_problem(folder, files[name]))]
    config, tokenizer_config = contents.get(CONFIG), contents.get(TOKENIZER_CONFIG, {})
    if config is not None:
        problems += description_problems(config, tokenizer_config)
    if problems or config is None:
        raise RefusedFolder(str(folder), problems)
    taken = tuple(entry for name, entry in files.items() if name in weights or not name.endswith(".safetensors"))
    stale = sorted(files.keys() - {entry.name for entry in taken})
    return Candidate(folder, taken, (*selection.left_out, *stale), describe(config, tokenizer_config))


def require_unchanged(candidate: Candidate) -> None:
    """Raises SourceChanged if a file of the candidate is not what was gathered, by its size and modification time."""
    now = {entry.name: entry for entry in _entries(candidate.folder)}
    for entry in candidate.files:
        if now.get(entry.name) != entry:
            raise SourceChanged(
                f"{candidate.folder / entry.name} changed while it was being published; try again when it is finished."
            )


def _entries(folder: Path) -> list[Entry]:
    try:
        with os.scandir(folder) as found:
            return [_entry(item) for item in found]
    except OSError as error:
        raise RefusedFolder(str(folder), [f"It cannot be read: {error.strerror}."]) from error


def _entry(item: os.DirEntry[str]) -> Entry:
    status = item.stat(follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        return Entry(item.name, Kind.LINK)
    if stat.S_ISDIR(status.st_mode):
        return Entry(item.name, Kind.FOLDER)
    if stat.S_ISREG(status.st_mode):
        return Entry(item.name, Kind.FILE, status.st_size, status.st_mtime_ns)
    return Entry(item.name, Kind.OTHER)


def _read_objects(folder: Path, files: Mapping[str, Entry], problems: list[str]) -> dict[str, dict[str, object]]:
    """The JSON files that are looked into, decoded; what is no JSON object becomes a problem."""
    contents: dict[str, dict[str, object]] = {}
    for name in (CONFIG, TOKENIZER, TOKENIZER_CONFIG, INDEX):
        if name not in files:
            continue
        try:
            content = json.loads((folder / name).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            problems.append(f"{name} cannot be read as JSON: {error}.")
            continue
        if isinstance(content, dict):
            contents[name] = content
        else:
            problems.append(f"{name} must be a JSON object.")
    if TOKENIZER in contents and "model" not in contents[TOKENIZER]:
        problems.append(f"{TOKENIZER} is no tokenizer: it has no `model`.")
    return contents


def _weights(
    files: Mapping[str, Entry], contents: Mapping[str, Mapping[str, object]], problems: list[str]
) -> frozenset[str]:
    """The safetensors files that a loader would read: the shards of the index, else model.safetensors."""
    if INDEX not in contents:
        return frozenset({WEIGHTS} & files.keys())
    shards = shards_of(contents[INDEX])
    problems += index_problems(shards, files.keys())
    return frozenset((shards or frozenset()) & files.keys())


def _header_problem(folder: Path, entry: Entry) -> str | None:
    try:
        with (folder / entry.name).open("rb") as file:
            length = header_length(file.read(LENGTH_BYTES), entry.size_bytes)
            if length is None:
                return f"{entry.name} is no safetensors file, or was cut off."
            return header_problem(entry.name, file.read(length), entry.size_bytes)
    except OSError as error:
        return f"{entry.name} cannot be read: {error.strerror}."

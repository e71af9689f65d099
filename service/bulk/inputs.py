"""Inputs of this machine: a folder, files, globs, and JSON lines that hold texts or name files.

- A folder: its files, and those of its folders, by name; a hidden name (`.git`) and what is below it is left out. Of a
  single folder that is the only input keys are relative to it, else a key is the path as it was given.
- `FILE.jsonl`: a line is `{"id": …, "text": …}`, `{"id": …, "pages": …}` as `/extract` takes them, or
  `{"id": …, "path": …}` with a path relative to the file's folder.
  Keys are `FILE.jsonl#ID`; without an id the number of the line from 1 stands there, and behind an id that was there.
  They are UTF-8; a byte order mark at the beginning of a line, as of files that were put together, is no part of it.

What a folder, a glob or lines name is read where it stands below that folder, the glob's or the file's: a link or a
path that leads elsewhere is a row that says so, unless links are followed (`--follow`). A path that the command line
names is read.

A file's version is its size and time of change; a line's are its place, a digest and, of a path, the file's version.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path

import msgspec

from service.bulk.storage import Content, ObjectChanged, ObjectMissing, StorageError, UnreadableFile
from service.core.bulk import Item
from service.core.errors import DocumentTooLarge, InvalidOptions

LINES = (".jsonl", ".ndjson")
MOST_BYTES = 256 << 20
"""Bytes of a file or a line that is read into memory; a larger one is a row that says so."""
_GLOB_SIGNS = frozenset("*?[")
MISSING = "missing"
"""The version of a file that a line names and that is not there."""


_ABSENT = msgspec.Raw(b"")


class _Line(msgspec.Struct):
    id: str | int | None = None
    text: str | None = None
    path: str | None = None
    pages: msgspec.Raw = _ABSENT


def local_inputs(paths: Sequence[str], *, follow: bool = False) -> LocalInputs:
    """The inputs that a command line names.

    Args:
        follow: read also what links and lines' paths lead to outside of their folders.

    Raises:
        InvalidOptions: there is no such file or folder, or a glob matches none.
    """
    for path in paths:
        if path.startswith("s3://"):
            raise InvalidOptions(f"{path} is in S3: `gleaner bulk start S3IN S3OUT` has a fleet work on it.")
        if not path or not matching(os.path.normpath(path)):  # Of a variable that is not set nothing is left.
            raise InvalidOptions(f"There is no {path or 'input without a name'}.")
    normal = tuple(map(os.path.normpath, paths))
    base = normal[0] if len(normal) == 1 and os.path.isdir(normal[0]) else None
    return LocalInputs(normal, base=base, follow=follow)


class LocalInputs:
    """Files, folders, globs and JSON lines by their paths; `base`: the folder that keys are relative to."""

    def __init__(self, paths: tuple[str, ...], base: str | None, *, follow: bool = False) -> None:
        self._paths, self._base, self._follow = paths, base, follow

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(os.path.abspath, self._paths))

    def items(self) -> Iterator[Item]:
        for given in self._paths:
            for path in matching(given):
                if os.path.isdir(path):
                    for file in files_below(path):
                        yield Item(os.path.relpath(file, self._base) if self._base else file, *_version(file))
                elif path.endswith(LINES) and os.path.isfile(path) and self._is_within(path):
                    yield from _items_of_lines(path)
                else:
                    yield Item(path, *_version(path))

    def read(self, item: Item) -> Content:
        """As Inputs."""
        if "+" in item.version:
            return _read_line(item, follow=self._follow)
        path = os.path.join(self._base, item.key) if self._base is not None else item.key
        self._check_place(path)
        try:
            return Content(os.path.basename(item.key), _read_file(path, item.version))
        except ObjectMissing:
            if self._base is not None and not os.path.isdir(self._base):
                raise StorageError(f"The folder {self._base} is not there now.") from None
            raise

    def _check_place(self, path: str) -> None:
        if not (self._follow or path in self._paths):
            check_place(path, map(_top, self._paths))

    def _is_within(self, path: str) -> bool:
        """True for JSON lines that may be read; others stand for their lines: who reads them finds out why."""
        with suppress(UnreadableFile):
            self._check_place(path)
            return True
        return False


def _top(given: str) -> str:
    """The folder below which an input's files stand: itself, or what stands before a glob's first sign."""
    if os.path.lexists(given):
        return given
    parts = Path(given).parts
    return os.path.join("", *takewhile(lambda part: not _GLOB_SIGNS.intersection(part), parts)) or "."


def check_place(path: str, folders: Iterable[str]) -> None:
    """Refuse a file that stands below none of some folders, but behind a link or a `..` that leads out of them.

    Raises:
        UnreadableFile: it does.
    """
    place = os.path.realpath(path)
    if not any(Path(place).is_relative_to(os.path.realpath(folder)) for folder in folders):
        cure = "name that folder as an input of its own" if os.path.isdir(place) else "--follow reads it"
        raise UnreadableFile(f"It leads out of its folder, by a link or `..`; {cure}.")


def files_below(folder: str, top: str | None = None) -> Iterator[str]:
    """The paths of the files of a folder and of those in it, by name: none hidden, none through a link to a folder.

    A folder in it that cannot be listed, or a link to one outside of `top`, stands for its files: who reads it finds
    out why.

    Raises:
        InvalidOptions: the folder itself cannot be listed.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise InvalidOptions(f"The folder {folder} cannot be listed: {error.strerror}.") from error
    top = top or os.path.realpath(folder)
    for name in names:
        path = os.path.join(folder, name)
        if name.startswith("."):
            continue
        if not os.path.isdir(path):
            yield path
        elif os.path.islink(path):
            if not Path(os.path.realpath(path)).is_relative_to(top):
                yield path
        else:
            try:
                yield from files_below(path, top)
            except InvalidOptions:
                yield path


def matching(pattern: str) -> list[str]:
    """A path that exists, or its matches as a glob: no hidden names but its own, and no links to folders.

    Raises:
        InvalidOptions: it is no glob.
    """
    if os.path.lexists(pattern):
        return [pattern]
    top, named = Path(pattern).anchor, Path(pattern).parts
    try:
        found = list(Path(top).glob(str(Path(pattern).relative_to(top))))
    except ValueError as error:
        raise InvalidOptions(f"{pattern}: {error}.") from error
    return sorted(str(path) for path in found if not any(part[0] == "." and part not in named for part in path.parts))


def glob_matches(pattern: str, path: str) -> bool:
    """Tell whether `matching` would find a path by a glob if it were there; both absolute."""

    def match(parts: Sequence[str], wanted: Sequence[str]) -> bool:
        if not wanted or wanted[0] != "**":
            fits = bool(parts and wanted) and fnmatchcase(parts[0], wanted[0])
            return match(parts[1:], wanted[1:]) if fits else not parts and not wanted
        return any(match(parts[number:], wanted[1:]) for number in range(len(parts) + 1))

    parts, wanted = Path(path).parts, Path(pattern).parts
    return match(parts, wanted) and not any(part[0] == "." and part not in wanted for part in parts)


def _version(path: str) -> tuple[str, int]:
    """A file's version and size; a file that is gone, or is none, is found out when it is read."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # A line's path may have a NUL.
        return MISSING, 0
    return _stamp(found), found.st_size


def _stamp(found: os.stat_result) -> str:
    return f"{found.st_size}-{found.st_mtime_ns}"


def _read_file(path: str, version: str) -> bytes:
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not os.path.isfile(path):
                raise UnreadableFile("It is no file.")
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                raise DocumentTooLarge(f"The file has more than {MOST_BYTES >> 20} MiB.")
            data = file.read(MOST_BYTES)
            if version != _stamp(os.fstat(file.fileno())):  # Also of one that is written while it is read.
                raise ObjectChanged("The file has changed since it was planned; it is planned again by the next run.")
            return data
    except FileNotFoundError:
        raise ObjectMissing("The file is not there any more.") from None
    except IsADirectoryError:
        raise UnreadableFile("It is a link to a folder; name that folder as an input of its own.") from None
    except OSError as error:
        raise UnreadableFile(f"The file cannot be read: {error.strerror}.") from error


def _without_waiting(path: str, flags: int) -> int:
    """Open without waiting, as opening a pipe would for a writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def _items_of_lines(path: str) -> Iterator[Item]:
    """An item for each line that is not blank; a bad line is found out when it is read."""
    seen = set[bytes]()
    try:
        with open(path, "rb") as file:
            if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                raise InvalidOptions(f"{path} is UTF-16; JSON lines are UTF-8: save it as such.")
            file.seek(0)
            start, number = 0, 0
            while line := file.readline(MOST_BYTES):
                number += 1
                size = len(line)
                while not line.endswith(b"\n") and (more := file.readline(MOST_BYTES)):
                    size, line = size + len(more), more
                if line.removeprefix(codecs.BOM_UTF8).strip():
                    yield _item_of_line(path, line if size == len(line) else b"", start, size, number, seen)
                start += size
    except OSError as error:
        raise InvalidOptions(f"{path} cannot be read: {error.strerror}.") from error


def _item_of_line(path: str, line: bytes, start: int, size: int, number: int, seen: set[bytes]) -> Item:
    try:
        found = _decoded(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = _Line()
    name = str(number) if found.id is None else str(found.id)
    while (mark := hashlib.sha256(name.encode()).digest()[:8]) in seen:
        name = f"{name}#{number}"
    seen.add(mark)
    version = f"{start}+{size}:{hashlib.sha256(line).hexdigest()[:16]}"
    if found.path is not None:
        file_version, size = _version(os.path.join(os.path.dirname(path), found.path))
        version = f"{version}:{file_version}"
    return Item(f"{path}#{name}", version, size)


def _decoded(line: bytes) -> _Line:
    return msgspec.json.decode(line.removeprefix(codecs.BOM_UTF8), type=_Line)


def _read_line(item: Item, *, follow: bool) -> Content:
    path, name = _parts_of(item.key)
    span, digest, *file_version = item.version.split(":")
    start, size = map(int, span.split("+"))
    if size > MOST_BYTES:
        raise DocumentTooLarge(f"The line has more than {MOST_BYTES >> 20} MiB.")
    try:
        with open(path, "rb") as file:
            file.seek(start)
            line = file.read(size)
    except FileNotFoundError:
        raise ObjectMissing("The file of the line is not there any more.") from None
    except OSError as error:
        raise UnreadableFile(f"The file of the line cannot be read: {error.strerror}.") from error
    if hashlib.sha256(line).hexdigest()[:16] != digest:
        raise ObjectChanged("The line has changed since it was planned; it is planned again by the next run.")
    try:
        found = _decoded(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"The line is no JSON object with `text`, `pages` or `path`: {error}.") from None
    if found.text is not None:
        return Content(name, found.text)
    if found.pages is not _ABSENT:
        return Content(name, b'{"pages":%b}' % bytes(found.pages))
    if found.path is None:
        raise UnreadableFile("The line has none of `text`, `pages` and `path`.")
    place, folder = os.path.join(os.path.dirname(path), found.path), os.path.dirname(path) or "."
    if not follow and "\0" not in place:
        check_place(place, [folder])
    if file_version == [MISSING]:
        raise ObjectMissing("There is no file at the line's `path`.")
    return Content(os.path.basename(found.path), _read_file(place, *file_version))


def _parts_of(key: str) -> tuple[str, str]:
    """The file of a line, and the line's name: behind the first `.jsonl#` that is the end of a file's name."""
    ends = [at + len(ending) for ending in LINES if (at := key.find(f"{ending}#")) >= 0]
    assert ends, "the key of a line"
    end = min(ends)
    return key[:end], key[end + 1 :]

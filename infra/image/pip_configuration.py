"""This machine's pip configuration for a build's pip: one file, and the folders that it names.

For machines that install from folders or an index of their own, so that no address stands in the repository.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

KEYS = ("index-url", "extra-index-url", "find-links", "cert", "timeout", "default-timeout", "trusted-host", "no-index")
CONNECTION = ("cert", "timeout")
"""Keys that say how to connect, not where to."""


@dataclass(frozen=True, slots=True)
class PipConfiguration:
    """A pip.conf, and the paths that it refers to."""

    text: str
    paths: tuple[Path, ...]

    def mounts(self, file: Path) -> dict[Path, Path]:
        """Mounts of a build, with the text in this file."""
        return {file: Path("/etc/pip.conf"), **{path: path for path in self.paths}}


def read_configuration(
    listing: str, exists: Callable[[Path], bool] = Path.exists, keys: Collection[str] = KEYS
) -> PipConfiguration:
    """The configuration out of what `pip config list` prints."""
    values = {key: value for key, value in _settings(listing).items() if key in keys}
    lines = (f"{key} = {value}" for key, value in values.items())
    paths = (path for value in values.values() for path in _paths(value) if exists(path))
    return PipConfiguration("\n".join(("[global]", *lines)) + "\n", tuple(dict.fromkeys(paths)))


def _settings(listing: str) -> Mapping[str, str]:
    """The first line of a key wins: pip lists the environment before files, which must not override it."""
    found: dict[str, str] = {}
    for line in listing.splitlines():
        name, equals, quoted = line.partition("=")
        key = name.rpartition(".")[2]
        if equals and key in KEYS:
            found.setdefault(key.replace("default-timeout", "timeout"), str(ast.literal_eval(quoted)))
    return found


def _paths(value: str) -> list[Path]:
    """Folders and files of a value; for an index in a folder `simple` its parent, to which its pages point."""
    words = (Path(word.removeprefix("file://")) for word in value.split())
    return [path.parent if path.name == "simple" else path for path in words if path.is_absolute()]

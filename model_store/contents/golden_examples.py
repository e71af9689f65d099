"""Reads golden examples from JSON lines: `{"text": "…", "entities": [{"label": "…", "start": 0, "end": 4}]}`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from model_store.errors import InvalidGolden
from model_store.manifest import GoldenExample


def read_golden(path: Path) -> tuple[GoldenExample, ...]:
    """The examples of a file, one per line; blank lines are skipped. Raises InvalidGolden, which names the line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InvalidGolden(f"The golden examples {path} cannot be read: {error.strerror}.") from error
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

"""The built-in model's weights, and nothing that its folder asks for beside them: no rules, transitions or values.

What is left of a document's processor time is the path itself: HTTP, tokenizing, scheduling, decoding, JSON.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from loadtest.bench.fixtures import publish
from loadtest.service_process.managed_service import BUILTIN, MODEL_FILES

BARE = "bare"


def publish_bare(home: Path) -> str:
    """Publish it into the store `home`/store, once; returns its name."""
    folder = home / BARE
    if not folder.exists():
        write_bare(folder)
        publish(folder, BARE, home / "store")
    return BARE


def write_bare(folder: Path) -> None:
    """Write its folder."""
    folder.mkdir()
    for file in MODEL_FILES:
        shutil.copyfile(BUILTIN / file, folder / file)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(with_strange_labels(config)))


def with_strange_labels(config: dict[str, Any]) -> dict[str, Any]:
    """A model's configuration with types of entities that have no values: they are read by the labels' names."""
    labels = {number: _strange(label) for number, label in config["id2label"].items()}
    return {**config, "id2label": labels, "label2id": {label: int(number) for number, label in labels.items()}}


def _strange(label: str) -> str:
    prefix, hyphen, kind = label.partition("-")
    return f"{prefix}-BARE_{kind}" if hyphen else label

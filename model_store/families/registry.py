"""The families of models: the one dictionary that publishing, tokenizers, engine and workers share.

The package of the same name in `service/families` serves a family.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model_store.families.family import Contents, FolderFamily
from model_store.families.gliner import GlinerFolder
from model_store.families.gliner2 import Gliner2Folder
from model_store.families.layout import LayoutFolder
from model_store.families.token_classifier import TokenClassifierFolder

FAMILIES: dict[str, FolderFamily] = {
    "gliner": GlinerFolder(),
    "gliner2": Gliner2Folder(),
    "layout": LayoutFolder(),
    "token_classifier": TokenClassifierFolder(),
}
"""By name, in the order in which they are asked; the last one owns what no other does."""
CONFIGS = tuple(dict.fromkeys(each.config for each in FAMILIES.values()))
"""Files that tell to which family a folder belongs."""


def owner(contents: Contents) -> FolderFamily | None:
    """The family of a folder with these JSON files; None for one that has no configuration."""
    return next((each for each in FAMILIES.values() if each.owns(contents)), None)


def family_name(folder: Path) -> str:
    """The name of the family that a model's folder belongs to."""
    contents = {name: read_object(folder / name) for name in CONFIGS if (folder / name).is_file()}
    names = [name for name, each in FAMILIES.items() if each.owns(contents)]
    return names[0] if names else [*FAMILIES][-1]


def read_object(file: Path) -> dict[str, Any]:
    """Read the object in a model's JSON file; an empty one where it cannot be read, which others report."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}

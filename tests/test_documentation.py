"""What the documents say of the code is so."""

from __future__ import annotations

import re
from collections import Counter

from tests.documentation import ROOT, SETTINGS, settings_document
from tests.support.source_tree import PACKAGES, sources

LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
MAP_DEPTHS = {"service": 2, "model_store": 1, "infra": 1, "loadtest": 1}
"""Package → how many levels of folders below it have a row in the map; deeper ones belong to the row above them."""


def test_the_document_of_settings_is_that_of_the_code() -> None:
    assert SETTINGS.read_text() == settings_document(), "run `make docs`"


def test_relative_links_of_every_document_lead_to_files() -> None:
    documents = [
        *ROOT.glob("*.md"),
        *(path for folder in (*PACKAGES, "tests") for path in (ROOT / folder).rglob("*.md")),
    ]
    links = [(path, target) for path in documents for target in LINK.findall(path.read_text())]
    assert links, "links are not found any more"
    broken = [f"{path.relative_to(ROOT)} → {target}" for path, target in links if not (path.parent / target).exists()]
    assert not broken


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"\bmake ([a-z]+)\b", (ROOT / "README.md").read_text()):
        assert name in targets, name


def test_the_map_has_each_folder_with_modules_once() -> None:
    folders = [path.relative_to(ROOT).parent.parts for path in sources()]
    rows = {"/".join(parts[: MAP_DEPTHS[parts[0]] + 1]) for parts in folders if parts[:1] and parts[0] in MAP_DEPTHS}
    text = ARCHITECTURE.read_text().partition("## Map")[2].partition("## Words")[0]
    mapped: Counter[str] = Counter()
    for package in text.split("### ")[1:]:
        name = package.split()[0]
        for row in re.findall(r"^\| `([^`]+)` \|", package, re.MULTILINE):
            mapped[name if row == "." else f"{name}/{row}"] += 1
    assert mapped == Counter(rows)


def test_each_file_that_the_architecture_names_exists() -> None:
    text = ARCHITECTURE.read_text().partition("## Map")[0]
    names = [name for name in re.findall(r"`([a-z_/]+(?:\.py)?)`", text) if "/" in name.strip("/") or ".py" in name]
    assert names, "names are not found any more"
    assert [name for name in names if not any((folder / name).exists() for folder in (ROOT, ROOT / "service"))] == []

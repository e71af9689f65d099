"""What the documents say of the code is so."""

from __future__ import annotations

import re

from tests.documentation import ROOT, SETTINGS, settings_document
from tests.support.source_tree import PACKAGES

LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


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

"""Documents that repeat the code are equal to it; links and targets in them exist."""

from __future__ import annotations

import re

from tests.documentation import (
    CODE_MAP,
    ROOT,
    SETTINGS,
    SETTINGS_DOCUMENT,
    code_map,
    settings_document,
    settings_table,
    table_in,
)


def test_the_code_map_repeats_what_each_file_says_of_itself() -> None:
    assert table_in("ARCHITECTURE.md", CODE_MAP) == code_map(), "run `make docs`"
    assert "|  |" not in code_map(), "a file says nothing of itself"


def test_the_table_of_settings_is_that_of_the_code() -> None:
    assert table_in("README.md", SETTINGS) == settings_table(), "run `make docs`"


def test_the_document_of_settings_is_that_of_the_code() -> None:
    assert SETTINGS_DOCUMENT.read_text() == settings_document(), "run `make docs`"


def test_links_between_documents_lead_somewhere() -> None:
    for document in ROOT.glob("*.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            assert (ROOT / target).exists(), f"{document.name} → {target}"


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"\bmake ([a-z]+)\b", (ROOT / "README.md").read_text()):
        assert name in targets, name

"""What the documents say of the code is so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("service", "model_store", "infra", "loadtest")
ROW = re.compile(r"^\| `([^`]+\.py)` \| (.+) \|$", re.MULTILINE)


def code_map() -> dict[str, str]:
    """Every file with something in it, and the first sentence of its docstring."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            summary = (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n\n")[0]
            found[path.relative_to(ROOT).as_posix()] = first_sentence(summary)
    return found


def first_sentence(summary: str) -> str:
    folded = " ".join(summary.split())
    return re.split(r"(?<=[.:;])\s", folded)[0].rstrip(".:;").replace("|", "\\|")


def test_every_file_says_what_it_owns_and_the_code_map_repeats_it() -> None:
    stated = dict(ROW.findall((ROOT / "ARCHITECTURE.md").read_text()))
    assert stated == code_map()
    assert all(stated.values())


def test_links_between_documents_lead_somewhere() -> None:
    for document in ROOT.glob("*.md"):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            assert (ROOT / target).exists(), f"{document.name} → {target}"


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text()):
        assert name in targets, name

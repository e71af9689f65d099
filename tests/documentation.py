"""Documents that repeat the code, written by `make docs`: README.md's and ARCHITECTURE.md's tables, SETTINGS.md."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from service.environment import PREFIX
from service.settings import Settings

ROOT = Path(__file__).parent.parent
PACKAGES = ("service", "model_store", "infra", "loadtest")
CODE_MAP = "| file | what it owns |"
SETTINGS = "| variable | default | what it sets |"
SETTINGS_DOCUMENT = ROOT / "service" / "SETTINGS.md"


def code_map() -> str:
    """Every Python file of the packages with the first sentence of its docstring."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    rows = (f"| `{path.relative_to(ROOT).as_posix()}` | {_first_sentence(path)} |" for path in paths)
    return "\n".join((CODE_MAP, "|---|---|", *rows))


def settings_table() -> str:
    """Every setting with its default and description."""
    rows = (
        f"| `{PREFIX}{name.upper()}` | {_plain(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    )
    return "\n".join((SETTINGS, "|---|---|---|", *rows))


def settings_document() -> str:
    """SETTINGS.md: every setting, with a line that says where the document comes from."""
    return f"""# Settings

<!-- Generated from settings.py by `make docs`. -->
Environment variables that the service reads when it starts; with a bad value it refuses to, and names it. Some
are flags of `gleaner serve` as well (`--help`).

{settings_table()}
"""


def table_in(document: str, head: str) -> str:
    """The table that begins with this line."""
    lines = (ROOT / document).read_text().splitlines()
    start = lines.index(head)
    end = next((i for i in range(start, len(lines)) if not lines[i].startswith("|")), len(lines))
    return "\n".join(lines[start:end])


def _first_sentence(path: Path) -> str:
    docstring = ast.get_docstring(ast.parse(path.read_text())) or ""
    folded = " ".join(docstring.split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s", folded)[0].rstrip(".:;").replace("|", "\\|")


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return "" if value in (None, {}) else str(value)


def main() -> None:
    """Write the documents anew."""
    for document, head, table in (("ARCHITECTURE.md", CODE_MAP, code_map()), ("README.md", SETTINGS, settings_table())):
        path = ROOT / document
        path.write_text(path.read_text().replace(table_in(document, head), table))
    SETTINGS_DOCUMENT.write_text(settings_document())


if __name__ == "__main__":
    main()

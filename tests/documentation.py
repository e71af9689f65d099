"""Tables of documents that repeat the code or the decision records; `make docs` writes them, a test compares."""

from __future__ import annotations

from pathlib import Path

from service.settings import PREFIX, Settings
from tests.support import decision_records

ROOT = Path(__file__).parent.parent
SETTINGS = "| variable | default | what it sets |"


def settings_table() -> str:
    """Every setting with its default and description."""
    rows = (
        f"| `{PREFIX}{name.upper()}` | {_plain(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    )
    return "\n".join((SETTINGS, "|---|---|---|", *rows))


def table_in(document: str, head: str) -> str:
    """The table that begins with this line."""
    lines = (ROOT / document).read_text().splitlines()
    start = lines.index(head)
    end = next((i for i in range(start, len(lines)) if not lines[i].startswith("|")), len(lines))
    return "\n".join(lines[start:end])


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return "" if value in (None, {}) else str(value)


def main() -> None:
    """Write the tables anew."""
    decisions = decision_records.index_table(decision_records.read_records(ROOT))
    for document, head, table in (
        ("README.md", SETTINGS, settings_table()),
        ("DECISIONS.md", decision_records.HEAD, decisions),
    ):
        path = ROOT / document
        path.write_text(path.read_text().replace(table_in(document, head), table))


if __name__ == "__main__":
    main()

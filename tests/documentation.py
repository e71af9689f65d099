"""Documents that repeat the code, written by `make docs`: service/SETTINGS.md, and the table of DECISIONS.md."""

from __future__ import annotations

from pathlib import Path

from service.environment import PREFIX
from service.settings import Settings
from tests.support import decision_records

ROOT = Path(__file__).parent.parent
SETTINGS = ROOT / "service" / "SETTINGS.md"


def settings_document() -> str:
    """SETTINGS.md: every setting with its default and description."""
    rows = (
        f"| `{PREFIX}{name.upper()}` | {_plain(field.default)} | {field.description} |"
        for name, field in Settings.model_fields.items()
    )
    table = "\n".join(("| variable | default | what it sets |", "|---|---|---|", *rows))
    return f"""# Settings

<!-- Generated from settings.py by `make docs`. -->
Environment variables that the service reads when it starts; with a bad value it refuses to, and names it. Some
are flags of `gleaner serve` as well (`--help`).

{table}
"""


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
    """Write the documents anew."""
    SETTINGS.write_text(settings_document())
    decisions = ROOT / "DECISIONS.md"
    table = decision_records.index_table(decision_records.read_records(ROOT))
    decisions.write_text(decisions.read_text().replace(table_in("DECISIONS.md", decision_records.HEAD), table))


if __name__ == "__main__":
    main()

"""The table of settings, which repeats what the code says; `make docs` writes it, a test compares."""

from __future__ import annotations

from pathlib import Path

from service.settings import PREFIX, Settings

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
    """Write the table anew."""
    path = ROOT / "README.md"
    path.write_text(path.read_text().replace(table_in("README.md", SETTINGS), settings_table()))


if __name__ == "__main__":
    main()

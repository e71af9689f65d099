"""Settings document: writes service/SETTINGS.md from settings.py (`make docs`)."""

from __future__ import annotations

from pathlib import Path

from service.environment import PREFIX
from service.settings import Settings

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


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, Path) and value.is_relative_to(ROOT):
        return value.relative_to(ROOT).as_posix()
    return "" if value in (None, {}) else str(value)


def main() -> None:
    """Write the document anew."""
    SETTINGS.write_text(settings_document())


if __name__ == "__main__":
    main()

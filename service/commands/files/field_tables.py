"""The tables of a document's fields on a terminal: roles, rows, and the checks that were made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

Fields = dict[str, Any]
"""As `fields` of a document's answer."""
_LISTS = {
    "line_items": ("description", "quantity", "unit_price", "amount"),
    "jobs": ("title", "employer", "dates"),
    "educations": ("degree", "school", "dates"),
}


def field_tables(fields: Fields | None) -> Iterator[Table]:
    """A table of the roles, and one of each list that is not empty; none without fields."""
    if fields is None:
        return
    roles = _table(f"{fields['kind']}, by {', '.join(fields['evidence'])}", ("role", "value", "score", "reason"))
    for role, choice in fields["roles"].items():
        roles.add_row(role, _shown(choice), f"{choice['score']:.3f}", choice["reason"])
    for name in ("skills", "languages"):
        if fields.get(name):
            roles.add_row(name, _shown(fields[name]), "", "")
    for check in fields.get("checks", []):
        roles.add_row("check", f"{check['rule']}: {'yes' if check['holds'] else 'no, ' + check['difference']}", "", "")
    yield roles
    for name, columns in _LISTS.items():
        if fields.get(name):
            table = _table(name.replace("_", " "), columns)
            for row in fields[name]:
                table.add_row(*(_shown(row[column]) for column in columns))
            yield table


def _table(title: str, columns: Sequence[str]) -> Table:
    return Table(*columns, title=title, title_justify="left", box=None, pad_edge=False)


def _shown(found: Any) -> str:
    if isinstance(found, list):
        return ", ".join(map(_shown, found))
    return "" if found is None else " ".join(found["value"].split())

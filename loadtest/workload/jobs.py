"""One request as plain values: a document's bytes, what they are, and how they are to be judged."""

from __future__ import annotations

from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Job:
    """`kind` names the sort of document in the report; `tenant` whose it is."""

    kind: str
    body: bytes
    content_type: str
    query: Pairs = ()
    headers: Pairs = ()
    model: str = ""
    priority: str = "interactive"
    tenant: str = ""

"""Small-backlog batches: clients with few waiting tokens get a batch of their own while another floods.

A batch cannot be interrupted, and a short text in a full one waits for all of it. In a batch of their own the documents
of clients with a small backlog are done in a fraction of that; it costs the device a batch's fixed time. The rules:
- A client's backlog is small if its waiting interactive documents hold at most `CLIENT_SHARE` of a full batch's tokens,
  and none of its documents is in a batch that runs.
- There is no such batch if all small backlogs together hold more than `ALL_SHARE` of a full batch's tokens: it would be
  nearly a full one.
- It is formed only where a full batch takes at least `WORTHWHILE_SECONDS`, and no two of them follow each other.
- A document that an engine died on is never in one, nor is there one while such a document runs.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol, TypeVar

from service.core.scheduling.fair_queue import Client
from service.core.types import Priority, Submission

CLIENT_SHARE = 1 / 8
"""Of a full batch's tokens: the most that may wait of one client."""
ALL_SHARE = 1 / 4
"""Of a full batch's tokens: the most that may wait of all these clients together."""
WORTHWHILE_SECONDS = 0.05
"""Of a full batch on this device: where it takes less, its fixed time weighs more than the waiting that is saved."""


class WaitingDocument(Protocol):
    """The properties of a queued document that matter here."""

    submission: Submission
    waiting_tokens: int


Document = TypeVar("Document", bound=WaitingDocument)


def small_backlogs(
    backlogs: Iterable[tuple[Client, Iterable[Document]]], running: Collection[Client], full_tokens: int
) -> list[Document]:
    """The documents of the clients with a small backlog, in the order given; none if they have much together.

    Args:
        backlogs: the waiting documents of each client.
        running: clients that have a document in a batch that runs.
        full_tokens: of a full batch.
    """
    found: list[Document] = []
    for client, documents in backlogs:
        if client[1] is Priority.INTERACTIVE and client not in running:
            found += _if_small(documents, CLIENT_SHARE * full_tokens)
    return found if sum(document.waiting_tokens for document in found) <= ALL_SHARE * full_tokens else []


def _if_small(documents: Iterable[Document], most_tokens: float) -> list[Document]:
    """All of one client's documents; none if they hold more tokens than this, or one of them must run alone."""
    found, tokens = list[Document](), 0
    for document in documents:
        tokens += document.waiting_tokens
        if tokens > most_tokens or document.submission.attempt:
            return []
        found.append(document)
    return found

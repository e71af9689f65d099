"""Small-backlog batches: clients with few waiting tokens get a batch of their own while another floods.

A batch of a GPU cannot be interrupted, and a short text in a full one waits for all of it. In a batch of their own the
documents of clients with a small backlog are done in a fraction of that; it costs the device a batch's fixed time. The
rules:
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
"""Most tokens waiting for one small client, as a share of a full batch."""
ALL_SHARE = 1 / 4
"""Most tokens waiting for all small clients, as a share of a full batch."""
WORTHWHILE_SECONDS = 0.05
"""Least seconds of a full batch; in a shorter one the fixed time outweighs the saved waiting."""


class WaitingDocument(Protocol):
    """The properties of a queued document that matter here; the scheduler's own is generic in its payload."""

    submission: Submission
    waiting_tokens: int


Document = TypeVar("Document", bound=WaitingDocument)


def small_backlogs(
    backlogs: Iterable[tuple[Client, Iterable[Document]]], running: Collection[Client], full_tokens: int
) -> list[Document]:
    """Choose the documents of the clients with a small backlog, in order; none if they hold too much together.

    Args:
        backlogs: each client's waiting documents.
        running: clients with a document in a running batch.
        full_tokens: tokens of a full batch.
    """
    found: list[Document] = []
    for client, documents in backlogs:
        if client[1] is Priority.INTERACTIVE and client not in running:
            found += _if_small(documents, CLIENT_SHARE * full_tokens)
    return found if sum(document.waiting_tokens for document in found) <= ALL_SHARE * full_tokens else []


def _if_small(documents: Iterable[Document], most_tokens: float) -> list[Document]:
    """Take all of one client's documents; none if they hold more tokens than this, or one of them must run alone."""
    found, tokens = list[Document](), 0
    for document in documents:
        tokens += document.waiting_tokens
        if tokens > most_tokens or document.submission.attempt:
            return []
        found.append(document)
    return found

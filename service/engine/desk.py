"""What the engine holds for each admitted document: its token ids and the worker that waits for it.

The scheduler decides with lengths alone; the desk keeps what the decision is about.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from service.core.sequence import Sequence


@dataclass(frozen=True, slots=True)
class _Papers:
    worker: bytes
    tokens: npt.NDArray[np.int32]
    borders: tuple[int, ...]


class Desk:
    """Documents between admission and their last answer."""

    def __init__(self) -> None:
        self._papers: dict[str, _Papers] = {}

    def put(self, key: str, worker: bytes, lengths: tuple[int, ...], tokens: npt.NDArray[np.int32]) -> None:
        """Keep a document's token ids, all its sequences end to end."""
        self._papers[key] = _Papers(worker, tokens, (0, *accumulate(lengths)))

    def tokens(self, sequence: Sequence) -> npt.NDArray[np.int32]:
        """The ids of one sequence."""
        papers = self._papers[sequence.key]
        return papers.tokens[papers.borders[sequence.index] : papers.borders[sequence.index + 1]]

    def worker(self, key: str) -> bytes | None:
        """Who waits for this document; None when nobody does any more."""
        papers = self._papers.get(key)
        return papers.worker if papers else None

    def clear(self, key: str) -> None:
        """Throw a document's papers away."""
        self._papers.pop(key, None)

    def of_worker(self, worker: bytes) -> list[str]:
        """Keys of all documents that this worker waits for."""
        return [key for key, papers in self._papers.items() if papers.worker == worker]

    def waiting_workers(self) -> Counter[bytes]:
        """Documents by worker."""
        return Counter(papers.worker for papers in self._papers.values())

"""Model of one task in numbers: its device, its API workers and parsers, its documents and its limits. Pure.

a batch takes S(tokens) = base + tokens × seconds per token, and holds `batch_tokens` at most
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist, fmean

import numpy as np
import numpy.typing as npt

from infra.scaling.capacity import Capacity
from service.core.admission.policy import RESERVE
from service.core.decoding.windows import split_windows
from service.core.scheduling.batch_size_sweep import LONGEST_SECONDS

ASSUMED_BASE_SECONDS = 0.004
"""Fixed seconds of a batch, if none were measured."""


@dataclass(frozen=True, slots=True)
class Documents:
    """The lengths of documents, log-normal, and their share of files that a parser reads.

    Attributes:
        spread: sigma of the logarithm of the tokens.
        parse_seconds: of one file; 0 for text.
        text_seconds: tokenizing, decoding and HTTP of one document.
    """

    tokens: float = 400.0
    parse_seconds: float = 0.0
    spread: float = 0.55
    text_seconds: float = 0.0025

    @property
    def _median(self) -> float:
        return self.tokens * math.exp(-self.spread * self.spread / 2)

    def lengths(self, count: int, draw: np.random.Generator) -> npt.NDArray[np.int64]:
        """Tokens of documents, `[count]`."""
        drawn = draw.lognormal(math.log(self._median), self.spread, count)
        return np.maximum(np.rint(drawn), 1).astype(np.int64)

    def quantiles(self, count: int = 400) -> list[int]:
        """Draw `count` equally probable lengths."""
        normal = NormalDist(math.log(self._median), max(self.spread, 1e-9))
        return [max(round(math.exp(normal.inv_cdf((i + 0.5) / count))), 1) for i in range(count)]


@dataclass(frozen=True, kw_only=True)
class ServiceModel:
    """One task.

    Attributes:
        batch_tokens: most tokens of a batch; its memory budget admits no more.
        window_tokens, overlap_tokens: longer documents are several sequences.
        workers, parsers: processes of API workers and of parsers, the latter of all workers together.
        overhead_seconds: what an answer takes in addition to tokenizing, queue and batch.
        max_queue_seconds, queue_limit_tokens, deadline_seconds: the service's limits; infinite for none.
    """

    base_seconds: float
    seconds_per_token: float
    batch_tokens: int
    documents: Documents
    slo_seconds: float
    window_tokens: int = 512
    overlap_tokens: int = 128
    workers: int = 2
    parsers: int = 4
    overhead_seconds: float = 0.002
    max_queue_seconds: float = math.inf
    queue_limit_tokens: float = 2_000_000.0
    deadline_seconds: float = 300.0

    def batch_seconds(self, tokens: float) -> float:
        """Seconds of the device for a batch of this many tokens."""
        return self.base_seconds + self.seconds_per_token * tokens

    @cached_property
    def document_tokens(self) -> float:
        """Tokens that a document of mean length costs, overlaps of its windows counted."""
        return fmean(
            sum(w.stop - w.start for w in split_windows(each, window=self.window_tokens, overlap=self.overlap_tokens))
            for each in self.documents.quantiles()
        )

    @property
    def tokens_per_second(self) -> float:
        """Speed in full batches."""
        return self.batch_tokens / self.batch_seconds(self.batch_tokens)

    @property
    def device_seconds(self) -> float:
        """Seconds of the device for a document of mean length, in full batches."""
        return self.document_tokens / self.tokens_per_second

    @property
    def stage_seconds(self) -> dict[str, float]:
        """Seconds of each stage for one document, with all that work at it: 1 over what the stage does a second."""
        documents = self.documents
        return {
            "compute": self.device_seconds,
            "tokenize": documents.text_seconds / self.workers,
            "parse": documents.parse_seconds / self.parsers,
        }

    @property
    def document_seconds(self) -> float:
        """Seconds of the busiest stage: 1 over the task's documents a second at full load."""
        return max(self.stage_seconds.values())

    @property
    def wait_limit_seconds(self) -> float:
        """The longest wait that admission lets a document begin: the least of its limits, with the plan's reserve."""
        by_tokens = self.queue_limit_tokens / self.tokens_per_second
        return min(self.max_queue_seconds, by_tokens, self.deadline_seconds / RESERVE)


def model_of(capacity: Capacity, documents: Documents | None = None, base_seconds: float | None = None) -> ServiceModel:
    """The task that a capacity describes: full batches of a tenth of a second, at its rate at full load.

    Args:
        documents: those that the capacity was measured with; only their length is known from it.
        base_seconds: of a batch, if it was measured.
    """
    documents = documents or Documents(tokens=capacity.tokens_per_second / capacity.documents_per_second)
    base = min(ASSUMED_BASE_SECONDS if base_seconds is None else base_seconds, LONGEST_SECONDS / 2)
    unit = ServiceModel(
        base_seconds=base,
        seconds_per_token=1.0,
        batch_tokens=1,
        documents=documents,
        slo_seconds=capacity.slo_ms / 1000,
    )
    speed = capacity.full_documents_per_second * unit.document_tokens
    batch = max(round(speed * LONGEST_SECONDS), unit.window_tokens)
    return replace(unit, batch_tokens=batch, seconds_per_token=max(batch / speed - base, 0.0) / batch)

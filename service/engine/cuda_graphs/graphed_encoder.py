"""An encoder wrapper that replays small batches from CUDA graphs, where these were found accurate and faster.

A light load on a GPU is bound by Python's launching of kernels, one by one. Owns which rows are captured: those that
batches keep asking for. A graph holds addresses of weights, so all are dropped before weights are offloaded
(offloading.py), and a row must be asked for anew when they are back.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import torch

from service.core.arrays import Logits, TokenIds
from service.engine.cuda_graphs.buckets import Bucket, bucket_for, buckets
from service.engine.cuda_graphs.capturable import NotCapturable
from service.engine.cuda_graphs.graph import CapturableEncoder, GraphCapture, GraphedRow
from service.engine.cuda_graphs.validation import Clock, GraphCheck, compare, race, random_samples
from service.engine.device.selection import free_cache
from service.engine.execution.row_filling import fill
from service.metrics.gpu import GraphMetrics

EARLY_TOKENS = (256, 512)
"""Rows that most lone documents go to."""

USES = 16
"""Batches for a row before it is captured, which takes as long as some dozens of them."""

log = logging.getLogger(__name__)


class GraphedEncoder:
    """Begins batches as its encoder does, by a graph where there is one for the batch's row.

    Args:
        request_capture: runs a capture later, on the compute thread, while no batch runs; or ignores it.
        model: the revision, as metrics and log lines name it.
    """

    def __init__(
        self,
        encoder: CapturableEncoder,
        graph_capture: GraphCapture,
        request_capture: Callable[[Callable[[], None]], None],
        metrics: GraphMetrics,
        model: str,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder = encoder
        self._graph_capture = graph_capture
        self._request_capture = request_capture
        self._metrics = metrics
        self._model = model
        self._clock = clock
        self._buckets = buckets(encoder.max_tokens)
        self._uses: Counter[Bucket] = Counter()
        self._graphs: dict[Bucket, GraphedRow] = {}
        self._rejected: set[Bucket] = set()
        self._export_metrics()

    @torch.inference_mode()
    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Queue a batch; what is returned waits for its logits, in the order given. Raises what the encoder raises."""
        bucket = bucket_for(self._buckets, [len(tokens) for tokens in sequences])
        graph = None if bucket is None else self._graphs.get(bucket)
        if graph is not None:
            self._encoder.validate(sequences)
            self._metrics.batches.inc()
            return graph.begin(sequences)
        if bucket is not None and bucket not in self._rejected:
            self._uses[bucket] += 1
            if self._uses[bucket] >= USES:
                self._request_capture(partial(self._capture, bucket))
        return self._encoder.begin(sequences)

    def early_captures(self) -> list[Callable[[], None]]:
        """The captures of the rows that lone documents go to, to be run while no batch runs."""
        early = [bucket for bucket in self._buckets if bucket.tokens in EARLY_TOKENS]
        return [partial(self._capture, bucket, uses=0) for bucket in early]

    def drop_graphs(self) -> None:
        """Drop all graphs; while no batch runs. Rejected rows stay rejected."""
        self._uses.clear()
        if self._graphs:
            self._graphs.clear()
            self._export_metrics()
            free_cache(self.device)

    @torch.inference_mode()
    def try_capture(self, bucket: Bucket) -> tuple[GraphedRow, GraphCheck]:
        """Capture a row, compare it and time it; while no batch runs.

        Raises:
            NotCapturable: it can never be captured.
            Exception: the capture failed for another reason.
        """
        samples = list(random_samples(bucket, self._encoder.vocabulary_size))
        try:
            graph = GraphedRow(bucket, self._encoder, self._graph_capture)
            error = compare(partial(self._filled, bucket), graph.forward, samples)
            return graph, GraphCheck(error, *race(self._plain, graph.forward, samples[0], self._clock))
        except NotCapturable:
            raise
        except Exception:
            with suppress(Exception):  # A failed capture's error is raised by the next call: this one, not a batch's.
                self._plain(samples[0])
            raise

    @torch.inference_mode()
    def _capture(self, bucket: Bucket, uses: int = USES) -> None:
        if self._uses[bucket] < uses:  # The weights were offloaded after the request.
            return
        if bucket in self._graphs or bucket in self._rejected:
            return
        begun = self._clock()
        try:
            check = self._capture_and_keep(bucket)
        except NotCapturable as error:
            self._rejected.add(bucket)
            facts = {"model": self._model, "tokens": bucket.tokens, "reason": str(error)}
            log.info("a graph cannot be captured", extra=facts)
        else:
            self._log_check(bucket, check, self._clock() - begun)
        free_cache(self.device)  # A rejected graph is gone by now, so its memory is freed as well.

    def _capture_and_keep(self, bucket: Bucket) -> GraphCheck:
        graph, check = self.try_capture(bucket)
        if check.is_good(self._encoder.dtype_name):
            self._graphs[bucket] = graph
            self._export_metrics()
        else:
            self._rejected.add(bucket)
        return check

    def _plain(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        return self._encoder.begin(sequences)()

    def _filled(self, bucket: Bucket, sequences: Sequence[TokenIds]) -> list[Logits]:
        """The plain pass over as many tokens as the row has."""
        return self._plain(fill(sequences, bucket.tokens, bucket.longest))[: len(sequences)]

    def _export_metrics(self) -> None:
        self._metrics.held.labels(self._model).set(len(self._graphs))

    def _log_check(self, bucket: Bucket, check: GraphCheck, seconds: float) -> None:
        facts = {
            "model": self._model,
            "tokens": bucket.tokens,
            "plain_ms": round(check.plain_seconds * 1_000, 3),
            "graph_ms": round(check.graph_seconds * 1_000, 3),
            "error": round(check.error, 6),
            "kept": bucket in self._graphs,
            "seconds": round(seconds, 3),
        }
        accurate = check.is_accurate(self._encoder.dtype_name)
        log.log(logging.INFO if accurate else logging.ERROR, "a graph was captured", extra=facts)

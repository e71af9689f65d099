"""An encoder whose small batches are replayed from recordings, where these were found right and faster on this device.

A light load on a GPU is bound by Python's launching of kernels, one by one. Owns which rows are recorded: those that
batches keep asking for. A recording holds addresses of weights, so all are dropped before weights leave (`parking.py`),
and a row must be asked for anew when they are back.
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
from service.metrics import GraphMetrics

USES = 16
"""Batches for a row before it is recorded, which takes as long as some dozens of them."""

log = logging.getLogger(__name__)


class GraphedEncoder:
    """Begins batches as its encoder does.

    Args:
        ask: has a recording made later, on the thread that owns the device, while no batch runs; or does not.
        model: the revision, as metrics and log lines name it.
    """

    def __init__(
        self,
        encoder: CapturableEncoder,
        recorder: GraphCapture,
        ask: Callable[[Callable[[], None]], None],
        metrics: GraphMetrics,
        model: str,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.device = encoder.device
        self.max_tokens = encoder.max_tokens
        self._encoder = encoder
        self._recorder = recorder
        self._ask = ask
        self._metrics = metrics
        self._model = model
        self._clock = clock
        self._buckets = buckets(encoder.max_tokens)
        self._uses: Counter[Bucket] = Counter()
        self._recordings: dict[Bucket, GraphedRow] = {}
        self._refused: set[Bucket] = set()
        self._show()

    @torch.inference_mode()
    def begin(self, sequences: Sequence[TokenIds]) -> Callable[[], list[Logits]]:
        """Queue a batch; what is returned waits for its logits, in the order given. Raises what the encoder raises."""
        bucket = bucket_for(self._buckets, [len(tokens) for tokens in sequences])
        recording = None if bucket is None else self._recordings.get(bucket)
        if recording is not None:
            self._encoder.demand_sound(sequences)
            self._metrics.batches.inc()
            return recording.begin(sequences)
        if bucket is not None and bucket not in self._refused:
            self._uses[bucket] += 1
            if self._uses[bucket] >= USES:
                self._ask(partial(self._record, bucket))
        return self._encoder.begin(sequences)

    def forget(self) -> None:
        """Drop all recordings; while no batch runs. What was refused stays refused."""
        self._uses.clear()
        if self._recordings:
            self._recordings.clear()
            self._show()
            free_cache(self.device)

    @torch.inference_mode()
    def _record(self, bucket: Bucket) -> None:
        if self._uses[bucket] < USES:  # The weights left after it was asked for.
            return
        begun = self._clock()
        try:
            verdict = self._judge(bucket)
        except NotCapturable as error:
            self._refused.add(bucket)
            facts = {"model": self._model, "tokens": bucket.tokens, "reason": str(error)}
            log.info("a graph cannot be recorded", extra=facts)
        else:
            self._say(bucket, verdict, self._clock() - begun)
        free_cache(self.device)

    def _judge(self, bucket: Bucket) -> GraphCheck:
        recording, verdict = self.try_out(bucket)
        if verdict.is_good(self._encoder.dtype_name):
            self._recordings[bucket] = recording
            self._show()
        else:
            self._refused.add(bucket)
        return verdict

    @torch.inference_mode()
    def try_out(self, bucket: Bucket) -> tuple[GraphedRow, GraphCheck]:
        """Record a row, compare it and time it; while no batch runs.

        Raises:
            NotRecordable: it never can be.
            Exception: whatever else stands in the way.
        """
        samples = list(random_samples(bucket, self._encoder.vocabulary_size))
        try:
            recording = GraphedRow(bucket, self._encoder, self._recorder)
            error = compare(partial(self._filled, bucket), recording.forward, samples)
            return recording, GraphCheck(error, *race(self._plain, recording.forward, samples[0], self._clock))
        except NotCapturable:
            raise
        except Exception:
            with suppress(Exception):  # What the failure left behind is raised by the next call: not by a batch's.
                self._plain(samples[0])
            raise

    def _plain(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        return self._encoder.begin(sequences)()

    def _filled(self, bucket: Bucket, sequences: Sequence[TokenIds]) -> list[Logits]:
        """The plain pass, with more sequences behind these until there are as many tokens as in the row."""
        return self._plain(fill(sequences, bucket.tokens, bucket.longest))[: len(sequences)]

    def _show(self) -> None:
        self._metrics.held.labels(self._model).set(len(self._recordings))

    def _say(self, bucket: Bucket, verdict: GraphCheck, seconds: float) -> None:
        facts = {
            "model": self._model,
            "tokens": bucket.tokens,
            "plain_ms": round(verdict.plain_seconds * 1_000, 3),
            "graph_ms": round(verdict.graph_seconds * 1_000, 3),
            "error": round(verdict.error, 6),
            "kept": bucket in self._recordings,
            "seconds": round(seconds, 3),
        }
        right = verdict.is_right(self._encoder.dtype_name)
        log.log(logging.INFO if right else logging.ERROR, "a graph was recorded", extra=facts)

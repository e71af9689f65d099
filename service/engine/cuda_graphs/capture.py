"""Capture of forward passes as CUDA graphs.

Each graph has a memory pool of its own: with a shared pool the order of replays would matter. CUDA ends a capture in
which something waits for the device, and torch does not recover from that: the capture's stream stays the thread's
current one, and before torch 2.13 the allocator still believes that a capture is under way and frees no memory any more
(pytorch/pytorch#180395). So a pass is checked first (capturable.py), both are repaired here all the same, and after a
failure nothing more is captured in this process (capture_queue.py), because the pool of a failed capture is never freed
(pytorch/pytorch#190308).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial

import torch

from service.engine.cuda_graphs.capturable import require_capturable
from service.engine.cuda_graphs.graph import Replay
from service.engine.execution.packed_batch import PackedBatch

WARM_RUNS = 2
"""Before a capture, so that libraries choose kernels and allocate workspaces, which they must not do during it."""


class CudaGraphCapture:
    """Captures on one device; for one thread, while nothing else runs on the device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def capture(self, compute: Callable[[PackedBatch], torch.Tensor], batch: PackedBatch) -> Replay:
        """Capture a forward pass.

        Raises:
            NotCapturable: this pass can never be captured.
            Exception: the capture failed for another reason.
        """
        work = partial(compute, batch)
        main = torch.cuda.current_stream(self._device)
        graph = torch.cuda.CUDAGraph()
        self._side.wait_stream(main)
        with torch.cuda.stream(self._side):  # Restores this thread's stream, also where torch's capture does not.
            require_capturable(work)
            for _ in range(WARM_RUNS):
                work()
            with self._capturing(graph):
                logits = work()
        main.wait_stream(self._side)

        def replay() -> torch.Tensor:
            graph.replay()
            return logits

        return replay

    @contextmanager
    def _capturing(self, graph: torch.cuda.CUDAGraph) -> Iterator[None]:
        pool = torch.cuda.graph_pool_handle()
        try:
            with torch.cuda.graph(graph, pool=pool, stream=self._side, capture_error_mode="thread_local"):
                yield
        except BaseException:
            with suppress(RuntimeError):  # Raised where there is no allocation to end.
                torch._C._cuda_endAllocateToPool(self._device.index, pool)
            raise

    @cached_property
    def _side(self) -> torch.cuda.Stream:
        """One stream for all captures: libraries keep a workspace for each stream."""
        return torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]

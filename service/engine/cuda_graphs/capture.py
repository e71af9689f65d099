"""Forward passes as CUDA graphs: the one place that records them.

Each graph has memory of its own (sharing it between graphs would make their order matter). CUDA refuses a recording in
which something waits for the device, and torch does not get over that well: the stream stays this thread's current one,
and the allocator, before torch 2.13, goes on believing that a recording is under way and will not free memory any more
(pytorch/pytorch#180395). So a pass is looked at before (`recordable.py`), both are put right here all the same, and
after a failure nothing more is recorded in this process (`studio.py`): the pool of one that failed is never given back
(pytorch/pytorch#190308).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property, partial

import torch

from service.engine.cuda_graphs.capturable import demand_recordable
from service.engine.cuda_graphs.graph import Replay
from service.engine.execution.packed_batch import PackedBatch

WARM_RUNS = 2
"""Before recording: libraries choose kernels and take their workspaces, which they must not do in the middle."""


class CudaGraphCapture:
    """Records on one device; for one thread, while nothing else runs there."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def record(self, compute: Callable[[PackedBatch], torch.Tensor], batch: PackedBatch) -> Replay:
        """Record a forward pass.

        Raises:
            NotRecordable: this pass never can be.
            Exception: whatever else stands in the way.
        """
        work = partial(compute, batch)
        main = torch.cuda.current_stream(self._device)
        graph = torch.cuda.CUDAGraph()
        self._side.wait_stream(main)
        with torch.cuda.stream(self._side):  # Puts this thread's stream back, also where torch does not.
            demand_recordable(work)
            for _ in range(WARM_RUNS):
                work()
            with self._recording(graph):
                rows = work()
        main.wait_stream(self._side)

        def replay() -> torch.Tensor:
            graph.replay()
            return rows

        return replay

    @contextmanager
    def _recording(self, graph: torch.cuda.CUDAGraph) -> Iterator[None]:
        pool = torch.cuda.graph_pool_handle()
        try:
            with torch.cuda.graph(graph, pool=pool, stream=self._side, capture_error_mode="thread_local"):
                yield
        except BaseException:
            with suppress(RuntimeError):  # It says so where there is nothing to end.
                torch._C._cuda_endAllocateToPool(self._device.index, pool)
            raise

    @cached_property
    def _side(self) -> torch.cuda.Stream:
        """One for all recordings: libraries keep a workspace for each stream."""
        return torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]

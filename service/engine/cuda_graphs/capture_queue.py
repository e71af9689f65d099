"""The queue of CUDA-graph captures: one at a time, between batches, on the compute thread.

So a request waits for one capture at most; the rows of lone documents are captured before a model serves. After the
first failure nothing more is captured in this process; graphs captured before stay in use. A broken device is reported
by the next batch.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Executor

log = logging.getLogger(__name__)


class CaptureQueue:
    """Runs the captures of all encoders of one engine.

    Args:
        compute: runs what is submitted in order, each piece of work alone.
    """

    def __init__(self, compute: Executor) -> None:
        self._compute = compute
        self._rebaseline: Callable[[], None] | None = None
        self._busy = False
        self._failed = False

    def open(self, rebaseline: Callable[[], None]) -> None:
        """Accept requests from now on; `rebaseline` is called on the compute thread after each capture."""
        if not self._failed:
            self._rebaseline = rebaseline

    def run_early(self, captures: Iterable[Callable[[], None]]) -> None:
        """Run captures of a model that does not serve yet; on the compute thread."""
        for capture in captures:
            if not self._failed:
                self._run(capture, lambda: None)

    def request(self, capture: Callable[[], None]) -> None:
        """Run a capture after the batches before it; ignored before `open` and while another capture is pending.

        For the threads that queue batches, one at a time.
        """
        if self._rebaseline is None or self._busy:
            return
        self._busy = True
        try:
            self._compute.submit(self._run, capture, self._rebaseline)
        except RuntimeError:  # The engine is shutting down; the batch behind this request must still be answered.
            self._rebaseline = None

    def _run(self, capture: Callable[[], None], rebaseline: Callable[[], None]) -> None:
        try:
            capture()
        except Exception:  # Batches run without graphs, whatever failed.
            log.exception("a capture failed; nothing more is captured")
            self._failed = True
            self._rebaseline = None
        finally:
            rebaseline()
            self._busy = False

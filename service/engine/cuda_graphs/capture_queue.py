"""When forward passes are recorded: once the engine is ready, one at a time, between batches, on the compute thread.

A request so waits for one recording at most. The first one that fails is the last of this process: what recorded
before goes on, everything else runs plain. A broken device shows itself in the next batch, which says so.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor

log = logging.getLogger(__name__)


class CaptureQueue:
    """Where all encoders of one engine have their forward passes recorded.

    Args:
        compute: does what it is given in order, each alone.
    """

    def __init__(self, compute: Executor) -> None:
        self._compute = compute
        self._settle: Callable[[], None] | None = None
        self._busy = False

    def open(self, settle: Callable[[], None]) -> None:
        """From now on recordings may be asked for; `settle` is called on the compute thread after each."""
        self._settle = settle

    def ask(self, record: Callable[[], None]) -> None:
        """Have this done after the batches before it, unless it is not open or another recording waits.

        For threads that queue batches, one at a time.
        """
        if self._settle is None or self._busy:
            return
        self._busy = True
        try:
            self._compute.submit(self._do, record, self._settle)
        except RuntimeError:  # The engine is ending; the batch that asks is still to be answered.
            self._settle = None

    def _do(self, record: Callable[[], None], settle: Callable[[], None]) -> None:
        try:
            record()
        except Exception:  # Whatever a recording raises, batches run without.
            log.exception("recording failed; nothing more is recorded")
            self._settle = None
        finally:
            settle()
            self._busy = False

"""Live feed of one worker: polls the engine's debug snapshot twice a second while a page watches.

Without watchers nothing is polled and no task runs. Each snapshot is encoded once for all watchers of one client.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from typing import Any

import msgspec

from service.api.engine.client import EngineClient
from service.core.debug_snapshot import BatchRun, DebugSnapshot
from service.core.types import Phase
from service.signals.catalog import SCALE_IN_WORK_RATIO, STEP_WORK_RATIO, TARGET_WORK_RATIO

TICK_SECONDS = 0.5
KEPT_BATCHES = 256
OTHERS = "others"
"""The name that stands for all other clients of a batch."""


class LiveFeed:
    """The engine's activity as server-sent events."""

    def __init__(self, engine: EngineClient, queue_limit_tokens: int) -> None:
        self._engine = engine
        self._queue_limit_tokens = queue_limit_tokens
        self._watchers = 0
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._name = ""
        self._snapshot: DebugSnapshot | None = None
        self._batches: deque[BatchRun] = deque(maxlen=KEPT_BATCHES)
        self._fresh: tuple[BatchRun, ...] = ()
        self._encoded: dict[str | None, bytes] = {}

    async def watch(self, client: str | None) -> AsyncGenerator[bytes, None]:
        """Events for one watcher, until the service drains. `client`: whose name it may see; None: all names."""
        self._watchers += 1
        if self._task is None:
            self._task = asyncio.create_task(self._ask())
        try:
            yield b"retry: 2000\n\n"
            if self._snapshot is not None:
                yield self._event(client, tuple(self._batches))
            while self._engine.status.phase is not Phase.DRAINING:
                await self._changed.wait()
                if client not in self._encoded:
                    self._encoded[client] = self._event(client, self._fresh)
                yield self._encoded[client]
        finally:
            self._watchers -= 1
            if not self._watchers:
                self._stop()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task = self._snapshot = None
        self._batches.clear()

    async def _ask(self) -> None:
        while True:
            begun = time.monotonic()
            last = self._batches[-1].number if self._batches else 0
            snapshot = await self._engine.debug_snapshot(last)
            if snapshot is not None and snapshot.engine != self._name:
                self._batches.clear()
                self._name = snapshot.engine
                if last:
                    snapshot = await self._engine.debug_snapshot(0)
            self._snapshot = snapshot
            self._fresh = () if snapshot is None else snapshot.batches
            self._batches.extend(self._fresh)
            self._encoded.clear()
            self._changed.set()
            self._changed = asyncio.Event()
            await asyncio.sleep(max(begun + TICK_SECONDS - time.monotonic(), 0.05))

    def _event(self, client: str | None, batches: tuple[BatchRun, ...]) -> bytes:
        return b"data: " + msgspec.json.encode(self._state(client, batches)) + b"\n\n"

    def _state(self, client: str | None, batches: tuple[BatchRun, ...]) -> dict[str, Any]:
        status, seen = self._engine.status, self._snapshot
        state: dict[str, Any] = {
            "phase": status.phase if self._engine.connected else "unreachable",
            "detail": status.detail,
            "queue_limit_tokens": self._queue_limit_tokens,
            "thresholds": {"scale in": SCALE_IN_WORK_RATIO, "target": TARGET_WORK_RATIO, "step": STEP_WORK_RATIO},
            "models": [
                {
                    "name": model.name,
                    "tag": model.tag,
                    "revision": model.revision,
                    "state": model.state,
                    "place": model.place,
                    "problem": model.problem,
                    "bytes": model.parameter_bytes,
                    "code": [model.path, model.attention, model.kernels, model.dtype],
                }
                for model in status.models
            ],
        }
        if seen is not None:
            snapshot_fields = msgspec.to_builtins(msgspec.structs.replace(seen, batches=()))
            snapshot_fields["batches"] = [_shown(each, client) for each in batches]
            state["engine"] = snapshot_fields
        return state


def _shown(batch: BatchRun, client: str | None) -> dict[str, Any]:
    """A batch as a watcher sees it: of other clients it learns no more than how much they had in it."""
    clients = batch.clients
    if client is not None:
        own = clients.get(client, 0)
        rest = sum(clients.values()) - own
        clients = {name: count for name, count in ((client, own), (OTHERS, rest)) if count}
    return {
        "number": batch.number,
        "model": batch.model,
        "begun": batch.begun_seconds,
        "ended": batch.ended_seconds,
        "tokens": batch.tokens,
        "full_tokens": batch.full_tokens,
        "sequences": sum(map(len, batch.documents.values())),
        "documents": len(batch.documents),
        "bytes": batch.predicted_bytes,
        "clients": clients,
    }

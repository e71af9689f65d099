"""Live rollout: the rollout target of a running engine. The models that serve go on serving meanwhile.

Room comes from evicting others; golden examples go through the engine's own socket, as documents of workers do. What
concerns the models is done by calls onto the loop's thread.
"""

from __future__ import annotations

import time
from concurrent.futures import Future
from types import TracebackType

from service.core.arrays import Logits, TokenIds
from service.core.errors import InsufficientMemory
from service.engine.ipc.local_client import LocalClient
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.models.loaded_model import LoadedModel, ProfiledModel
from service.engine.models.manager import ModelManager

CHECK_SECONDS = 120.0
"""Most time for all golden examples of a revision."""
ROOM_SECONDS = 60.0
"""Most time to wait for room on the device."""
POLL_SECONDS = 0.05


class LiveRollout:
    """The target of one rollout; a context that closes its client of the socket."""

    def __init__(self, address: str, models: ModelManager, calls: LoopCalls) -> None:
        self._models = models
        self._calls = calls
        self._client = LocalClient(address)
        self._end_seconds = float("inf")

    def __enter__(self) -> LiveRollout:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._client.close()

    def make_room(self, revision: str, weight_bytes: int) -> None:
        end = time.monotonic() + ROOM_SECONDS

        def reserve() -> list[Future[None]] | None:
            return self._models.reserve(revision, weight_bytes, time.monotonic())

        while (moves := self._calls.call(reserve)) is None:
            if time.monotonic() > end:
                raise InsufficientMemory("the models that serve leave no room on the device to try it")
            time.sleep(POLL_SECONDS)
        for moved in moves:
            moved.result()

    def admit(self, candidate: ProfiledModel) -> None:
        self._calls.call(lambda: self._models.admit_candidate(candidate, time.monotonic()))
        self._end_seconds = time.monotonic() + CHECK_SECONDS

    def infer(self, model: LoadedModel, sequences: list[TokenIds]) -> list[Logits]:
        return self._client.infer(model.revision, sequences, self._end_seconds)

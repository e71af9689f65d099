"""Live rollout: the rollout target of a running engine. The models that serve go on serving meanwhile.

Room comes from evicting others. Golden examples go through the engine's own socket, as documents of workers do, by a
client that sends no heartbeat, so that a drain does not wait for it. What concerns the models is done by calls onto the
loop's thread.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any

import numpy as np
import zmq

from service.core.arrays import Logits, TokenIds
from service.core.errors import BY_CODE, DeadlineExceeded, InsufficientMemory, InternalError, Overloaded
from service.core.sequences import joined, shape_of
from service.core.types import Priority
from service.engine.engine_socket import LoopCalls
from service.engine.models.loaded_model import LoadedModel, ProfiledModel
from service.engine.models.manager import ModelManager
from service.wire import Refused, Scored, Submitted, WireError, delivery, messages_in, pack

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
            return self._models.weights.reserve(revision, weight_bytes, time.monotonic())

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


CLIENT = "golden examples"
RETRY_SECONDS = 0.5
"""Between two tries while the engine is overloaded."""


class LocalClient:
    """One client; to be closed."""

    def __init__(self, address: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.connect(address)
        self._number = 0

    def infer(self, revision: str, sequences: Sequence[TokenIds], deadline_seconds: float) -> list[Logits]:
        """The logits [tokens, labels] of each sequence; tries again while the engine is overloaded.

        Raises:
            GleanerError: the engine's refusal, as the error that its code names.
        """
        while True:
            try:
                return self._submit(revision, sequences, deadline_seconds)
            except Overloaded:
                if time.monotonic() + RETRY_SECONDS > deadline_seconds:
                    raise
                time.sleep(RETRY_SECONDS)

    def close(self) -> None:
        """Close the socket; answers that are missing are not waited for."""
        self._context.destroy(linger=0)

    def _submit(self, revision: str, sequences: Sequence[TokenIds], deadline_seconds: float) -> list[Logits]:
        if not sequences:
            return []
        self._number += 1
        key = f"local-{self._number}"
        asked: dict[str, Any] = {"model": revision, "client": CLIENT, "priority": Priority.INTERACTIVE}
        message = Submitted(key=key, deadline_seconds=deadline_seconds, **asked, **shape_of(sequences))
        self._socket.send(delivery(pack(message, joined(sequences))))
        logits: dict[int, Logits] = {}
        while len(logits) < len(sequences):
            self._receive(key, logits, deadline_seconds)
        return [logits[index] for index in range(len(sequences))]

    def _receive(self, key: str, logits: dict[int, Logits], deadline_seconds: float) -> None:
        left = deadline_seconds - time.monotonic()
        if left <= 0 or not self._socket.poll(int(left * 1000)):
            raise DeadlineExceeded("the engine gave no answer in time")
        ((message, buffer),) = messages_in(self._socket.recv_multipart())
        if isinstance(message, WireError):
            raise message
        match message:
            case Scored(key=found) if found == key:
                logits[message.index] = np.asarray(buffer, dtype=np.float32).reshape(message.tokens, message.labels)
            case Refused(key=found) if found == key:
                raise BY_CODE.get(message.code, InternalError)(
                    message.detail, retry_after_seconds=message.retry_after_seconds
                )

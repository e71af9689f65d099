"""A caller inside the engine's own process that comes through the front door, as workers do.

Owns a socket of its own, for the thread that made it. A guest says no hello, so nobody waits for it when the engine
drains.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import zmq

from service.core.arrays import Logits
from service.core.errors import BY_CODE, DeadlineExceeded, InternalError, Overloaded
from service.core.types import Priority
from service.wire import Refused, Scored, Submitted, pack, unpack

CLIENT = "golden examples"
PATIENCE_SECONDS = 0.5
"""Between two tries while the engine is too busy."""


class LocalClient:
    """One caller; to be closed."""

    def __init__(self, address: str) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.connect(address)
        self._number = 0

    def judge(self, revision: str, sequences: Sequence[npt.NDArray[np.int32]], deadline_seconds: float) -> list[Logits]:
        """Rows of logits [tokens, labels] of each sequence; comes again while the engine is too busy.

        Raises:
            GleanerError: the engine's refusal, as the error that its code names.
        """
        while True:
            try:
                return self._ask(revision, sequences, deadline_seconds)
            except Overloaded:
                if time.monotonic() + PATIENCE_SECONDS > deadline_seconds:
                    raise
                time.sleep(PATIENCE_SECONDS)

    def close(self) -> None:
        """Leave; what is not answered is not waited for."""
        self._context.destroy(linger=0)

    def _ask(self, revision: str, sequences: Sequence[npt.NDArray[np.int32]], deadline_seconds: float) -> list[Logits]:
        if not sequences:
            return []
        self._number += 1
        key = f"guest-{self._number}"
        lengths = tuple(map(len, sequences))
        message = Submitted(key, revision, lengths, CLIENT, Priority.INTERACTIVE, deadline_seconds, 0)
        self._socket.send_multipart(pack(message, np.concatenate(sequences)))
        rows: dict[int, Logits] = {}
        while len(rows) < len(sequences):
            self._hear(key, rows, deadline_seconds)
        return [rows[index] for index in range(len(sequences))]

    def _hear(self, key: str, rows: dict[int, Logits], deadline_seconds: float) -> None:
        left = deadline_seconds - time.monotonic()
        if left <= 0 or not self._socket.poll(int(left * 1000)):
            raise DeadlineExceeded("the engine gave no answer in time")
        message, buffer = unpack(self._socket.recv_multipart())
        match message:
            case Scored(key=found) if found == key:
                rows[message.index] = np.asarray(buffer, dtype=np.float32).reshape(message.tokens, message.labels)
            case Refused(key=found) if found == key:
                raise BY_CODE.get(message.code, InternalError)(
                    message.detail, retry_after_seconds=message.retry_after_seconds
                )

"""Client of the engine's socket inside the engine's own process: golden examples are inferred as documents are.

Owns a socket, used by the thread that made it. It sends no heartbeat, so that a drain does not wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import zmq

from service.core.arrays import Logits, TokenIds
from service.core.errors import BY_CODE, DeadlineExceeded, InternalError, Overloaded
from service.core.types import Priority
from service.wire import Refused, Scored, Submitted, WireError, delivery, messages_in, pack

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
        lengths = tuple(map(len, sequences))
        message = Submitted(key, revision, lengths, CLIENT, Priority.INTERACTIVE, deadline_seconds)
        self._socket.send(delivery(pack(message, np.concatenate(sequences))))
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

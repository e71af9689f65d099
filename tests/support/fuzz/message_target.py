"""The fuzz target of the engine's socket: what reads frames into messages."""

from __future__ import annotations

from random import Random

import numpy as np

from service.core.types import Priority
from service.wire import Cancelled, Hello, Submitted, TurnedAway, WireError, pack, unpack
from tests.support.fuzz.mutation import mutate

SUBMITTED = Submitted("a-1", "sha256:0", (3, 2), "anonymous", Priority.INTERACTIVE, 12.5, 0)
FRAMES = [
    [bytes(frame) for frame in pack(message, buffer)]
    for message, buffer in (
        (Hello(3, closed=True, models_version=2, revisions=("sha256:0",)), None),
        (SUBMITTED, np.arange(5, dtype=np.int32)),
        (Cancelled("a-1"), None),
        (TurnedAway("queue_full", 3, 900), None),
    )
]
HEADERS = [frames[0] for frames in FRAMES]


class MessageTarget:
    """Frames of a worker's message; an input is the header and, after a fixed mark, the buffer."""

    name = "message"
    _MARK = b"\x00buffer\x00"

    def make(self, draw: Random) -> bytes:
        """A message with a mutated header, buffer or both."""
        header, *buffers = draw.choice(FRAMES)
        header = mutate(header, HEADERS, draw) if draw.random() < 0.9 else header
        return self._MARK.join([header, *(mutate(buffer, HEADERS, draw) for buffer in buffers)])

    def attack(self, data: bytes) -> str:
        """Read it: a message's kind, or that it is none."""
        try:
            message, _ = unpack(data.split(self._MARK))
        except WireError:
            return "no message"
        return type(message).__name__

"""The fuzz target of the engine's socket: what reads frames into messages, and the loop that acts on them."""

from __future__ import annotations

from random import Random

from tests.support.fuzz.wire import FRAMES_OF_A_TURN, fuzz_wire


class MessageTarget:
    """Turns of a loop that gets hostile frames among honest documents; an input is a turn's seed."""

    name = "message"

    def make(self, draw: Random) -> bytes:
        """The seed of one turn's frames."""
        return draw.randbytes(8)

    def attack(self, data: bytes) -> str:
        """Play the turn: how many of its frames were messages."""
        return f"{fuzz_wire(int.from_bytes(data, 'big'), FRAMES_OF_A_TURN).understood} understood"

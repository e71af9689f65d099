"""Hostile frames for the engine's wire, by seed, and what an engine's loop makes of them.

`fuzz_wire` runs for as many frames as wanted: the tests call it for a few hundred, a longer run for as many as it has
time for. Frames are messages of every kind with a field set to something extreme, or with bytes flipped, cut or added.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

import msgspec
import numpy as np

from service.core.types import Priority, ResponseKind
from service.wire import (
    VERSION,
    Buffer,
    Cancelled,
    DebugSnapshotRequest,
    Hello,
    Message,
    Submitted,
    TurnedAway,
    WireError,
    pack,
    unpack,
)
from tests.support.engine_scenes import FAR, MODEL, OTHER_MODEL, A, B, Turn, World, document, hello, play
from tests.support.fuzz.mutation import mutate
from tests.support.wire_messages import MESSAGES

FRAMES_OF_A_TURN = 20
KINDS: tuple[type[msgspec.Struct], ...] = get_args(Message)
EXTREMES: tuple[Any, ...] = (
    *(-1, 0, 1, 2**31, 2**53, 2**63, -(2**63), 1e308, float("nan"), float("inf"), -0.0, True, None),
    *("", "k", "x" * 2_000, "\ud7ff", b"\xff\xfe", [], [[]], {}, {"a": 1}, [0], [-1], [1] * 5_000, [2**40], ["x"]),
    *(MODEL, OTHER_MODEL, "batch", "tags", "queue_full", *(kind.__name__ for kind in KINDS)),
)
FIELDS = sorted({"type", "unknown", *(name for kind in KINDS for name in kind.__struct_fields__)})
EXAMPLE_SHARE = 0.3
"""Share of frames made of an example of any message, also of one for workers; the others are for this engine."""


@dataclass(frozen=True, slots=True)
class WireFuzz:
    """What became of the frames of one run."""

    frames: int
    refused: int
    understood: int


def fuzz_wire(seed: int, frames: int) -> WireFuzz:
    """Send hostile frames to an engine's loop, honest documents among them.

    Raises:
        AssertionError: the loop ended, an honest document went unanswered, or a bad frame was not counted.
    """
    chance = random.Random(seed)
    hostile = [_hostile(chance, number) for number in range(frames)]
    turns = [hostile[start : start + FRAMES_OF_A_TURN] for start in range(0, frames, FRAMES_OF_A_TURN)]
    read = [_read(each) for each in hostile]

    def scene(world: World) -> Iterator[Turn]:
        yield [hello(A, 0), hello(B, 0)]
        for number, turn in enumerate(turns):
            honest = document(f"honest {number}", 3, worker=A)
            world.device.finish()
            world.now += 0.1
            yield [*[(B, *_read(each)) for each in turn], honest, hello(A, 0), hello(B, 0)]

    world = play(scene, workers=2)
    assert world.loop.exit_reason is None, f"seed {seed}: {world.loop.exit_reason}"
    for number in range(len(turns)):
        assert world.scored(f"honest {number}") == [0], f"seed {seed}: honest {number} was not answered"
    refused = sum(isinstance(message, WireError) for message, _ in read)
    counted = world.metrics.bad_messages._value.get()
    assert counted >= refused, f"seed {seed}: {refused} frames made no sense and {counted} were counted"
    return WireFuzz(frames, refused, frames - refused)


def _read(frames: list[bytes]) -> tuple[Any, Any]:
    try:
        return unpack(frames)
    except WireError as error:
        return error, None


def _hostile(chance: random.Random, number: int) -> list[bytes]:
    frames = honest(chance, number)
    return _with_a_field_changed(chance, frames) if chance.random() < 0.6 else _damaged(chance, frames)


def honest(chance: random.Random, number: int) -> list[bytes]:
    """The frames of a message, before anything is done to it."""
    lengths = tuple(chance.randint(1, 8) for _ in range(chance.randint(1, 4)))
    submitted = Submitted(f"fuzz {number}", MODEL, lengths, "c", Priority.INTERACTIVE, FAR, 0)
    tagged = Submitted(
        f"fuzz {number}", MODEL, lengths[:1], "c", Priority.BATCH, FAR, response_kind=ResponseKind.WORD_TAGS
    )
    boxed = Submitted(f"fuzz {number}", MODEL, lengths, "c", Priority.INTERACTIVE, FAR, columns=5)
    seen = msgspec.structs.replace(boxed, picture_of=(0,) * len(lengths), picture_side=2)
    for_this_engine: list[tuple[Message, Buffer | None]] = [
        (submitted, np.arange(submitted.tokens, dtype=np.int32)),
        (tagged, np.arange(tagged.tokens, dtype=np.int32)),
        (boxed, np.arange(5 * boxed.tokens, dtype=np.int32)),
        (seen, np.arange(5 * boxed.tokens + 3, dtype=np.int32)),
        (Hello(1, revisions=(MODEL,)), None),
        (Cancelled(f"honest {number // FRAMES_OF_A_TURN}"), None),
        (TurnedAway("queue_full", 1, 10), None),
        (DebugSnapshotRequest(chance.randint(0, number)), None),
    ]
    message, buffer = chance.choice(MESSAGES if chance.random() < EXAMPLE_SHARE else for_this_engine)
    return [bytes(frame) for frame in pack(message, buffer)]


def _with_a_field_changed(chance: random.Random, frames: list[bytes]) -> list[bytes]:
    fields = msgspec.msgpack.decode(frames[0][1:])
    for _ in range(chance.randint(1, 3)):
        name = chance.choice((*fields, *FIELDS))
        if chance.random() < 0.2:
            fields.pop(name, None)
        else:
            fields[name] = chance.choice(EXTREMES)
    return [bytes([VERSION]) + msgspec.msgpack.encode(fields), *frames[1:]]


def _damaged(chance: random.Random, frames: list[bytes]) -> list[bytes]:
    changed = list(frames)
    for _ in range(chance.randint(1, 3)):
        match chance.randrange(4):
            case 0:
                changed.append(chance.randbytes(chance.randint(0, 40)))
            case 1 if len(changed) > 1:
                changed.pop()
            case _:
                place = chance.randrange(len(changed))
                changed[place] = mutate(changed[place], frames, chance)
    return changed


class MessageTarget:
    """Target: turns of an engine's loop with hostile frames among honest documents; an input is a turn's seed."""

    name = "message"

    def make(self, draw: random.Random) -> bytes:
        """The seed of one turn's frames."""
        return draw.randbytes(8)

    def attack(self, data: bytes) -> str:
        """Play the turn: how many of its frames were messages."""
        return f"{fuzz_wire(int.from_bytes(data, 'big'), FRAMES_OF_A_TURN).understood} understood"

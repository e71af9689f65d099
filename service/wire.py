"""The messages between a front worker and the engine, and their bytes. No socket here.

Each message is one or two frames: a version byte with a msgpack header, then, where numbers travel in bulk, their raw
little-endian buffer. Messages are named after what happened.

    worker → engine   Hello · Submitted (+ int32 token ids) · Cancelled · TurnedAway
    engine → worker   Status · Started · Scored (+ float32 logits) · Refused
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec
import numpy as np
import numpy.typing as npt

from service.core.types import Load, Phase, Priority

VERSION = 1


class Hello(msgspec.Struct, frozen=True, tag=True):
    """A worker is there. Repeated as a heartbeat.

    `active_requests`: HTTP requests that it answers at this moment. `closed`: it has heard that nothing new is to be
    let in, so that no active requests means none will come. `models_version`: the last list of models that it heard;
    `revisions`: those that its requests use. Together they tell the engine when nobody needs an old revision any more.
    """

    active_requests: int
    closed: bool = False
    models_version: int = 0
    revisions: tuple[str, ...] = ()


class Submitted(msgspec.Struct, frozen=True, tag=True):
    """A document wants to be judged; its token ids, all sequences end to end, follow as int32."""

    key: str
    model: str
    lengths: tuple[int, ...]
    client: str
    priority: Priority
    deadline_seconds: float
    attempt: int


class Cancelled(msgspec.Struct, frozen=True, tag=True):
    """Nobody waits for this document any more."""

    key: str


class TurnedAway(msgspec.Struct, frozen=True, tag=True):
    """Documents like one that the engine had just refused were refused without asking it again."""

    code: str
    documents: int
    tokens: int


SERVING, PREVIOUS = "serving", "previous"


class ModelStatus(msgspec.Struct, frozen=True):
    """One revision that the engine serves; `folder` holds its tokenizer.

    `state`: `serving` is what its name and tag lead to; `previous` is served to those who ask for the revision itself.
    `place`: where its weights are, `device` or `host`. `problem`: why a newer revision was not taken, if so.
    `kernels`: what computes its linear layers: `cuda`, or on a CPU `native`, `onednn` or, in float32, `torch`.
    """

    name: str
    tag: str
    revision: str
    folder: str
    labels: tuple[str, ...]
    max_tokens: int
    packed: bool
    parameter_bytes: int
    state: str = SERVING
    place: str = "device"
    problem: str = ""
    kernels: str = ""


class Status(msgspec.Struct, frozen=True, tag=True):
    """How the engine is. `engine` differs for every engine process; `admitting` is false at the end of a drain.

    `models_version` grows with every change of `models` that changes which revision a name leads to.
    """

    engine: str
    phase: Phase
    percent: int = 0
    detail: str = ""
    admitting: bool = False
    models: tuple[ModelStatus, ...] = ()
    device: str = ""
    dtype: str = ""
    load: Load = Load()
    tokens_per_second: float | None = None
    start_seconds: dict[str, float] = {}
    models_version: int = 0


class Started(msgspec.Struct, frozen=True, tag=True):
    """Sequences of these documents go to the device now."""

    keys: tuple[str, ...]


class Scored(msgspec.Struct, frozen=True, tag=True):
    """One sequence is judged; float32 logits of shape [tokens, labels] follow.

    `batch` numbers the batch it ran in, which took `batch_seconds` of the device.
    """

    key: str
    index: int
    tokens: int
    labels: int
    batch: int
    batch_seconds: float


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The document will not be judged, and why."""

    key: str
    code: str
    detail: str
    retry_after_seconds: float | None = None


Message = Hello | Submitted | Cancelled | TurnedAway | Status | Started | Scored | Refused
Buffer = npt.NDArray[np.int32] | npt.NDArray[np.float32]

_DTYPES: dict[type, type[np.int32] | type[np.float32]] = {Submitted: np.int32, Scored: np.float32}
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Message)


class WireError(Exception):
    """Bytes that are no message of this version."""


def pack(message: Message, buffer: Buffer | None = None) -> list[bytes | memoryview]:
    """The frames of a message."""
    head = bytes([VERSION]) + _encoder.encode(message)
    return [head] if buffer is None else [head, np.ascontiguousarray(buffer).data.cast("B")]


def unpack(frames: Sequence[bytes | memoryview]) -> tuple[Message, Buffer | None]:
    """The message in these frames, with its buffer as a flat array (not copied).

    Raises:
        WireError: another version, an unknown message, or a buffer that does not belong to it.
    """
    if not 1 <= len(frames) <= 2 or bytes(frames[0][:1]) != bytes([VERSION]):
        raise WireError("not a message of wire version 1")
    try:
        message = _decoder.decode(frames[0][1:])
    except msgspec.MsgspecError as error:
        raise WireError(str(error)) from error
    dtype = _DTYPES.get(type(message))
    if (dtype is None) != (len(frames) == 1):
        raise WireError(f"{type(message).__name__} with {len(frames)} frames")
    return message, None if dtype is None else _numbers(frames[1], dtype)


def _numbers(frame: bytes | memoryview, dtype: type[np.int32] | type[np.float32]) -> Buffer:
    if len(frame) % 4:
        raise WireError("a buffer of no whole numbers")
    return cast(Buffer, np.frombuffer(frame, dtype=dtype))

"""Wire protocol: the messages between an API worker and the engine, and their bytes. Knows no socket.

A message is one or two parts: a version byte with a msgpack header, then, where numbers travel in bulk, their raw
little-endian buffer. A delivery is a msgpack array of the parts of a message, or of several that have two, end to end.
Messages are named after what happened.

    worker → engine   Hello · Submitted (+ int32 tokens) · Cancelled · TurnedAway · DebugSnapshotRequest
    engine → worker   Status · Started · Scored (+ float32 logits) · Tagged (+ probabilities, labels) · Refused
                      DebugSnapshotReply

Every field of a received message is known and within its bounds, and its buffer has the size that the header says;
anything else is a `WireError`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, cast

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from service.core.debug_snapshot import DebugSnapshot
from service.core.decoding.word_tags import WordTags
from service.core.errors import BY_CODE
from service.core.sequences import contradiction
from service.core.types import DocumentKey, Load, Name, Phase, Submission
from service.core.worker_load import WorkerLoad

VERSION = 7
Count = Annotated[int, Meta(ge=0, le=1 << 53)]


class Hello(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Heartbeat of a worker.

    Attributes:
        active_requests: HTTP requests that the worker is answering.
        closed: True if it knows that the service drains, and starts no request.
        models_version: number of the last list of models that it received.
        revisions: revisions that its requests use, which the engine may not drop.
    """

    active_requests: Count
    closed: bool = False
    models_version: Annotated[int, Meta(ge=0)] = 0
    revisions: Annotated[tuple[Name, ...], Meta(max_length=1_000)] = ()
    worker_load: WorkerLoad = WorkerLoad()


class Submitted(Submission, frozen=True, tag=True, forbid_unknown_fields=True):
    """A document for the engine; the tokens of all sequences, end to end, follow as int32, then its pictures."""


class Cancelled(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The document needs no answer: its client has left, or its deadline has passed."""

    key: DocumentKey


class TurnedAway(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Documents that a worker refused by itself for load: the engine had just refused one like them, or would."""

    code: Name
    documents: Count
    tokens: Count


class DebugSnapshotRequest(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A request for the engine's debug snapshot, with the batches after this number."""

    since: Count


SERVING, PREVIOUS, FAILED = "serving", "previous", "failed"


class ModelStatus(msgspec.Struct, frozen=True):
    """One revision that the engine serves; `folder` holds its tokenizer.

    `free_labels`: it has no labels of its own, and is given some with each request, in groups of `labels_per_pass`.
    `label_tokens`: the most tokens of a label, where a model of its own reads labels; 0: the window sets the limit.
    `finds_records`: a request may have a `schema` of up to `labels_per_pass` fields. `license`: as its folder says.
    `state`: `serving` is what its name and tag lead to; `previous` is served to those who ask for the revision itself;
    `failed` is not served: no revision of name and tag could be loaded. `place`: where its weights are, `device` or
    `host`. `problem`: why it failed, or why a newer revision was not taken.
    Code that runs its batches, as in `gleaner_model_path`: `path` is `converted` (OpenVINO, on a CPU), `fused` layers
    or `packed` rows through transformers' code (on a GPU), `padded` rows, rows of `equal` length, or `single` rows;
    `reason`: why it is no faster one. `attention`: its back-ends, joined by `+` where layers differ, `disentangled`,
    transformers' `own`, or `openvino`. `kernels`: `cuda`, or on a CPU `openvino` or `torch`. `dtype`: the format of
    its numbers; `dtype_reason`: why it is not the requested one, if so.
    `calibrated`: its scores are the share of such entities that is right, on documents like those it was fitted on.
    `scheme` of its tags: `BIO`, `IOB1` (`I-` begins entities, `B-` parts neighbours), `BIOES`, `BILOU`, `BMES`, `IO`,
    or `plain`: each tag is a label; empty with `free_labels`.
    `needs_pages`: it reads only PDFs, pictures and pages of words. `needs_pictures`: it sees a picture of each page.
    """

    name: str
    tag: str
    revision: str
    folder: str
    labels: tuple[str, ...]
    max_tokens: int
    packed: bool
    parameter_bytes: int
    free_labels: bool = False
    labels_per_pass: int = 0
    label_tokens: int = 0
    finds_records: bool = False
    license: str = ""
    state: str = SERVING
    place: str = "device"
    problem: str = ""
    path: str = ""
    reason: str = ""
    attention: str = ""
    kernels: str = ""
    dtype: str = ""
    dtype_reason: str = ""
    calibrated: bool = False
    scheme: str = ""
    needs_pages: bool = False
    needs_pictures: bool = False


class Status(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Status of the engine.

    Attributes:
        engine: name, different for every engine process.
        admitting: False before there are models, and once a drain has closed admission.
        models_version: number that grows with every change of a name's revision.
        queue_limit_tokens: most tokens that may wait; 0 while unknown.
        alone_tokens_per_second: revision → speed of the device with nothing but its work, if known.
        limits_waiting: True if documents that would wait for long are refused (GLEANER_MAX_QUEUE_MS).
        final: True if no other engine follows this one.
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
    alone_tokens_per_second: dict[str, float] = {}
    start_seconds: dict[str, float] = {}
    models_version: int = 0
    queue_limit_tokens: int = 0
    limits_waiting: bool = False
    final: bool = False


class Started(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Sequences of these documents were launched."""

    keys: tuple[str, ...]


class Scored(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The logits of one sequence, float32 of shape [tokens, labels], follow; or what `spans` asks for, in as many rows.

    Attributes:
        batch: number of the batch that it ran in, which took `batch_seconds` of the device.
    """

    key: DocumentKey
    index: Count
    tokens: Count
    labels: Count
    batch: Count
    batch_seconds: float


MOST_TAGGED = 8
"""Most documents in one `Tagged`: a worker handles all of them before it reads the next message."""


class Tagged(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The tags of documents' words follow: a float64 probability for each word in an entity, then all int16 labels.

    Attributes:
        documents: for each its key, its number of words, and its number of words in entities.
        batch: number of the batch that they ran in, which took `batch_seconds` of the device.
    """

    documents: Annotated[tuple[tuple[DocumentKey, Count, Count], ...], Meta(min_length=1, max_length=MOST_TAGGED)]
    batch: Count
    batch_seconds: float

    @property
    def buffer_bytes(self) -> int:
        """The size of the buffer that follows."""
        return sum(2 * words + 8 * inside for _, words, inside in self.documents)


class Refused(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """Refusal of one document."""

    key: str
    code: str
    detail: str
    retry_after_seconds: float | None = None


class DebugSnapshotReply(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """The answer to a `DebugSnapshotRequest` with this number."""

    since: Count
    snapshot: DebugSnapshot


FromWorker = Hello | Submitted | Cancelled | TurnedAway | DebugSnapshotRequest
FromEngine = Status | Started | Scored | Tagged | Refused | DebugSnapshotReply
Message = FromWorker | FromEngine
Buffer = npt.NDArray[np.int32] | npt.NDArray[np.float32] | npt.NDArray[np.uint8]
Parts = list[bytes | memoryview]
_Number = np.dtype[np.int32] | np.dtype[np.float32] | np.dtype[np.uint8]
_DTYPES: dict[type, _Number] = {Submitted: np.dtype("i4"), Scored: np.dtype("f4"), Tagged: np.dtype("u1")}
_VERSION_BYTE = bytes([VERSION])
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Message)
_parts_decoder = msgspec.msgpack.Decoder(list[bytes])


class WireError(Exception):
    """Bytes that are not a message of this version.

    Attributes:
        key: the document that they are about, if readable; its sender waits for an answer.
    """

    def __init__(self, reason: str, key: str | None = None) -> None:
        super().__init__(reason)
        self.key = key


def pack(message: Message, buffer: Buffer | None = None) -> Parts:
    """Encode a message as parts."""
    head = _VERSION_BYTE + _encoder.encode(message)
    return [head] if buffer is None else [head, np.ascontiguousarray(buffer).reshape(-1).view(np.uint8).data]


def tagged(
    tags: Mapping[DocumentKey, WordTags], batch: int, batch_seconds: float
) -> tuple[Tagged, npt.NDArray[np.uint8]]:
    """Make the message with the tags of some documents, and its buffer."""
    documents = tuple((key, len(each.labels), len(each.probabilities)) for key, each in tags.items())
    probabilities = np.concatenate([each.probabilities for each in tags.values()]).astype("<f8", copy=False)
    labels = np.concatenate([each.labels for each in tags.values()]).astype("<i2")
    buffer = np.concatenate([probabilities.view(np.uint8), labels.view(np.uint8)])
    return Tagged(documents, batch, batch_seconds), buffer


def tags_in(message: Tagged, buffer: Buffer) -> Iterator[tuple[DocumentKey, WordTags]]:
    """Yield each document's tags in a message."""
    border = 8 * sum(inside for _, _, inside in message.documents)
    probabilities, labels = buffer[:border].view("<f8"), buffer[border:].view("<i2").astype(np.intp)
    first = place = 0
    for key, words, inside in message.documents:
        yield key, WordTags(labels[first : first + words], probabilities[place : place + inside])
        first, place = first + words, place + inside


def unpack(parts: Sequence[bytes | memoryview]) -> tuple[Message, Buffer | None]:
    """Decode a message, with its buffer as a flat array (not copied).

    Raises:
        WireError: another version, an unknown message, a field out of bounds, or a buffer that does not belong to it.
    """
    if not 1 <= len(parts) <= 2 or parts[0][:1] != _VERSION_BYTE:
        raise WireError(f"not a message of wire version {VERSION}")
    try:
        message = _decoder.decode(parts[0][1:])
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WireError(str(error), _key_in(parts[0])) from error
    dtype = _DTYPES.get(type(message))
    if (dtype is None) != (len(parts) == 1):
        raise WireError(f"{type(message).__name__} of {len(parts)} parts", _key_in(parts[0]))
    buffer = None if dtype is None else _numbers(parts[1], dtype)
    if (reason := _contradiction(message, buffer)) is not None:
        raise WireError(reason, _key_in(parts[0]))
    return message, buffer


def delivery(parts: Parts) -> bytes:
    """Join the parts of a message, or of several of two parts, into one frame of a socket.

    Frames cost a socket more than their bytes.
    """
    return _encoder.encode(parts)


def messages_in(frames: Sequence[bytes]) -> Iterator[tuple[Message | WireError, Buffer | None]]:
    """Yield the messages of a delivery as `unpack` gives them, and its error in place of a malformed one."""
    parts = _parts_in(frames)
    for first in range(0, max(len(parts), 1), 2):
        try:
            yield unpack(parts[first : first + 2])
        except WireError as error:
            yield error, None


def _parts_in(frames: Sequence[bytes]) -> list[bytes]:
    """Divide a delivery into parts; none if it is malformed."""
    try:
        return _parts_decoder.decode(frames[0]) if len(frames) == 1 else []
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []


def _numbers(part: bytes | memoryview, dtype: _Number) -> Buffer | None:
    return None if len(part) % dtype.itemsize else cast(Buffer, np.frombuffer(part, dtype))


def _contradiction(message: Message, buffer: Buffer | None) -> str | None:
    """Name a contradiction between fields that are valid by themselves."""
    if buffer is None:
        if isinstance(message, Submitted | Scored):
            return "a buffer of no whole numbers"
        if isinstance(message, TurnedAway) and message.code not in BY_CODE:
            return f"documents refused for {message.code!r}"
        return None
    match message:
        case Submitted():
            return contradiction(message, buffer.nbytes)
        case Scored(tokens=tokens, labels=labels) if buffer.size != tokens * labels:
            return f"{buffer.size} logits for {tokens} tokens and {labels} labels"
        case Tagged(buffer_bytes=wanted_bytes) if buffer.size != wanted_bytes:
            return f"{buffer.size} bytes for tags of {wanted_bytes}"
    return None


def _key_in(head: bytes | memoryview) -> str | None:
    """Read a document's key from a malformed header."""
    try:
        return msgspec.msgpack.decode(head[1:], type=_Keyed).key
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


class _Keyed(msgspec.Struct):
    key: DocumentKey

"""Messages of the Open Inference Protocol over gRPC: their types, and how a method reads the one that is sent to it.

The rule: nothing of a message is read before its call is authorized. gRPC hands a unary method its whole message; so
all methods take a stream, which looks the same to clients, and read one message of it. What is not read waits at the
client, but for HTTP/2's window. A message takes `MOST_MESSAGE_BYTES` of a budget while it comes and its own length
until its call ends; its fields are counted before objects are made of them.

The types are built from their fields' numbers (`open_inference_grpc.proto`), so that no generated code is kept: only
what the six methods need, as protobuf keeps, and ignores, fields of requests that are not named.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from service.api.calls import RequestContext
from service.core.errors import CapacityExceeded, DocumentTooLarge, GleanerError, MalformedRequest, TooSlow

MOST_MESSAGE_BYTES = 8 << 20
"""Longest message, unless a request may be shorter (`GLEANER_MAX_REQUEST_BYTES`)."""
READ_SECONDS = 20.0
"""Time for a message to come, once it is read, and before that for bytes of the budget to be free."""
FIELDS_BESIDE_TEXTS = 1_000
"""Fields that a message may have beside one for each document."""

PACKAGE, SERVICE = "inference", "inference.GRPCInferenceService"
_TYPES = {"double": 1, "int64": 3, "uint64": 4, "bool": 8, "string": 9, "message": 11, "bytes": 12}
_TENSOR = "name:1:string datatype:2:string shape:3:*int64 parameters:4:%InferParameter contents:5:InferTensorContents"
_METADATA = "name:1:string datatype:2:string shape:3:*int64"
_MESSAGES = {
    "ServerLiveRequest": "",
    "ServerLiveResponse": "live:1:bool",
    "ServerReadyRequest": "",
    "ServerReadyResponse": "ready:1:bool",
    "ModelReadyRequest": "name:1:string version:2:string",
    "ModelReadyResponse": "ready:1:bool",
    "ServerMetadataRequest": "",
    "ServerMetadataResponse": "name:1:string version:2:string extensions:3:*string",
    "ModelMetadataRequest": "name:1:string version:2:string",
    "TensorMetadata": _METADATA,
    "ModelMetadataResponse": "name:1:string versions:2:*string platform:3:string inputs:4:*TensorMetadata "
    "outputs:5:*TensorMetadata",
    "InferParameter": "bool_param:1:|bool int64_param:2:|int64 string_param:3:|string double_param:4:|double "
    "uint64_param:5:|uint64",
    "InferTensorContents": "bytes_contents:8:*bytes",
    "InferInputTensor": _TENSOR,
    "InferRequestedOutputTensor": "name:1:string parameters:2:%InferParameter",
    "InferOutputTensor": _TENSOR,
    "ModelInferRequest": "model_name:1:string model_version:2:string id:3:string parameters:4:%InferParameter "
    "inputs:5:*InferInputTensor outputs:6:*InferRequestedOutputTensor raw_input_contents:7:*bytes",
    "ModelInferResponse": "model_name:1:string model_version:2:string id:3:string parameters:4:%InferParameter "
    "outputs:5:*InferOutputTensor raw_output_contents:6:*bytes",
}
"""`name:number:type` of each field; `*` repeats it, `%` maps strings to it, `|` puts it into the one choice."""
_CHILDREN = {
    (name, int(number)): kind
    for name, fields in _MESSAGES.items()
    for _, number, kind in (field.split(":") for field in fields.replace("*", "").split())
    if kind in _MESSAGES
}
_PACKED = {
    (name, int(number))
    for name, fields in _MESSAGES.items()
    for _, number, kind in (field.split(":") for field in fields.split())
    if kind == "*int64"
}


class MessageBudget:
    """Bytes of messages that come or are worked on; one client has at most half of them."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held: Counter[str] = Counter()
        self._changed = asyncio.Condition()

    @property
    def held_bytes(self) -> int:
        """Bytes of all clients."""
        return self._held.total()

    async def take(self, client: str, count: int) -> None:
        """Take bytes when they are free.

        Raises:
            CapacityExceeded: they were not in time.
        """
        try:
            async with asyncio.timeout(READ_SECONDS), self._changed:
                await self._changed.wait_for(lambda: self._is_free(client, count))
                self._held[client] += count
        except TimeoutError:
            raise CapacityExceeded("Messages hold all bytes that a worker has for them.") from None

    async def give(self, client: str, count: int) -> None:
        """Give bytes back."""
        async with self._changed:
            self._held[client] -= count
            if not self._held[client]:
                del self._held[client]
            self._changed.notify_all()

    def _is_free(self, client: str, count: int) -> bool:
        return self._held.total() + count <= self._limit_bytes and self._held[client] + count <= self._limit_bytes // 2


class MessageReader:
    """Reads the messages of one worker's calls."""

    def __init__(self, most_bytes: int, held_bytes: int) -> None:
        self.most_bytes = min(most_bytes, MOST_MESSAGE_BYTES)
        self.budget = MessageBudget(max(held_bytes, 2 * self.most_bytes))
        self.classes = message_classes()

    @asynccontextmanager
    async def read(self, rpc: Any, kind: str, context: RequestContext) -> AsyncIterator[Any]:
        """The message of an authorized call, of this kind; it is charged, and held until the block ends.

        Raises:
            CapacityExceeded, TooSlow: there are no bytes for it, or it does not come.
            DocumentTooLarge, MalformedRequest: it has too many fields, or is none of this kind.
        """
        held, client, limits = self.most_bytes, context.tenant.name, context.body_limits
        await self.budget.take(client, held)
        try:
            raw = await _received(rpc)
            await self.budget.give(client, held - len(raw))
            held = len(raw)
            limits.on_read(held)
            try:
                message = self._decoded(raw, kind, limits.documents)
            except GleanerError:
                context.charge_documents()
                raise
            yield message
        finally:
            await self.budget.give(client, held)

    def _decoded(self, raw: bytes, kind: str, most_documents: int) -> Any:
        count_fields(memoryview(raw), kind, most_documents + FIELDS_BESIDE_TEXTS)
        try:
            return self.classes[kind].FromString(raw)
        except DecodeError:
            raise MalformedRequest(f"The message is no {kind}.") from None


async def _received(rpc: Any) -> bytes:
    try:
        async with asyncio.timeout(READ_SECONDS):
            raw = await rpc.read()
    except TimeoutError:
        raise TooSlow(f"A message must come within {READ_SECONDS:g} s.") from None
    if not isinstance(raw, bytes):
        raise MalformedRequest("The call has no message.")
    return raw


def count_fields(raw: memoryview, kind: str, left: int) -> int:
    """How many more fields a message of this kind could have, of `left`; those of messages within it count too.

    Raises:
        DocumentTooLarge: it has more.
        MalformedRequest: it is no message. What is said of a field's content may still be untrue.
    """
    at = 0
    while at < len(raw):
        left -= 1
        tag, at = _varint(raw, at)
        wire, field = tag & 7, (kind, tag >> 3)
        if wire == 2:
            length, start = _varint(raw, at)
            at = start + length
            if field in _CHILDREN:
                left = count_fields(raw[start:at], _CHILDREN[field], left)
            elif field in _PACKED:
                left -= length
        elif wire in _FIXED_BYTES:
            at += _FIXED_BYTES[wire]
        elif wire == 0:
            _, at = _varint(raw, at)
        else:
            raise MalformedRequest(f"The message is no {kind}.")
        if left < 0:
            raise DocumentTooLarge("The message has more fields than a request may have documents.")
    return left


_FIXED_BYTES = {1: 8, 5: 4}


def _varint(raw: memoryview, at: int) -> tuple[int, int]:
    """The number at this place, and where it ends (protobuf's encoding, base 128 varints)."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(raw):
            break
        byte, at = raw[at], at + 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise MalformedRequest("The message is cut off.")


def message_classes() -> dict[str, Any]:
    """The class of each message, in a pool of its own."""
    file = descriptor_pb2.FileDescriptorProto(name="open_inference.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        _describe(file.message_type.add(name=name), name, fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _MESSAGES
    }


def _describe(message: Any, name: str, fields: str) -> None:
    for described in fields.split():
        field, number, kind = described.split(":")
        mark, kind = (kind[0], kind[1:]) if kind[0] in "*%|" else ("", kind)
        added = message.field.add(name=field, number=int(number), label=3 if mark in ("*", "%") else 1)
        if mark == "%":
            entry = message.nested_type.add(name=f"{field.title()}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, label=1, type=_TYPES["string"])
            _typed(entry.field.add(name="value", number=2, label=1), f".{PACKAGE}.{kind}")
            kind = f"{name}.{entry.name}"
        if mark == "|":
            if not message.oneof_decl:
                message.oneof_decl.add(name="parameter_choice")
            added.oneof_index = 0
        _typed(added, kind if kind in _TYPES else f".{PACKAGE}.{kind}")


def _typed(field: Any, kind: str) -> None:
    field.type = _TYPES.get(kind, _TYPES["message"])
    if kind not in _TYPES:
        field.type_name = kind

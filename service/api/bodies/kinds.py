"""Kinds of JSON bodies: how each is decoded, and divided for its way from a parser process to the worker.

Texts, and files in base64, may be long: they travel apart from the rest, so that the worker takes them in pieces. The
rest is short, and is decoded anew as what it must be, since it comes from a process that may be hostile.

A million short strings take twenty times the memory of their JSON. So the strings of a long body of an adapter are
counted, roughly and fast, before any is built: a text needs one, and names and options a few.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Generic, Protocol, Self, TypeVar

import msgspec

from service.api.bodies.json_body import ID_CHARACTERS, JsonBody, decode_option, decoded, read_json
from service.core.errors import DocumentTooLarge, MalformedRequest

COUNTED_BYTES = 1 << 18
"""The strings of a body of an adapter are counted from this length on, in bytes."""
MOST_STRINGS = 16_384
"""A longer body with more strings than this, apart from one for each document of a request, is refused."""
_MOST_CHARACTERS = 200
DOCUMENTS, FIELD = "documents", "field"

Content = str | bytes
"""A text, or a file."""
T = TypeVar("T")
_B = TypeVar("_B", bound="AdapterBody")


class JsonKindRef(msgspec.Struct, frozen=True):
    """A kind of body by its name, for another process.

    Attributes:
        kind: `documents`, `field`, or `MODULE:TYPE` of an adapter's body.
        names: the options of a body with documents, or the name of the field.
    """

    kind: str
    most_documents: int
    names: tuple[str, ...] = ()


class JsonKind(Protocol[T]):
    """One kind of body."""

    def reference(self, most_documents: int) -> JsonKindRef:
        """Its name for another process."""

    def decode(self, data: bytes, most_documents: int) -> T:
        """A body's value.

        Raises:
            MalformedRequest, InvalidOptions, DocumentTooLarge: it is none of this kind, or holds too much.
        """

    def divide(self, value: T) -> tuple[bytes, list[Content]]:
        """A value without its long contents, and these."""

    def restore(self, rest: bytes, contents: Sequence[Content]) -> T:
        """The value of which these are the parts.

        Raises:
            ValueError, msgspec.MsgspecError: they are not.
        """


class _DocumentsRest(msgspec.Struct, forbid_unknown_fields=True):
    ids: list[Annotated[str, msgspec.Meta(max_length=ID_CHARACTERS)] | None]
    batch: bool
    options: dict[str, msgspec.Raw]
    refused: dict[int, str] = {}


_decode_documents_rest = msgspec.json.Decoder(_DocumentsRest).decode


@dataclass(frozen=True, slots=True)
class DocumentsJson:
    """Documents with these options beside them, by sorted names: the bodies of /extract and /redact."""

    options: tuple[str, ...]

    def reference(self, most_documents: int) -> JsonKindRef:
        return JsonKindRef(DOCUMENTS, most_documents, self.options)

    def decode(self, data: bytes, most_documents: int) -> JsonBody:
        return read_json(data, most_documents, self.options)

    def divide(self, value: JsonBody) -> tuple[bytes, list[Content]]:
        ids = [id_ for id_, _ in value.documents]
        rest = {"ids": ids, "batch": value.batch, "options": value.options, "refused": value.refused}
        return _encoded(rest), [text for _, text in value.documents]

    def restore(self, rest: bytes, contents: Sequence[Content]) -> JsonBody:
        found = _decode_documents_rest(rest)
        if not found.options.keys() <= set(self.options):
            raise ValueError("other options")
        texts = [each for each in contents if isinstance(each, str)]
        if len(texts) != len(contents):
            raise ValueError("a file among texts")
        options = {name: decode_option(name, value) for name, value in found.options.items()}
        return JsonBody(tuple(zip(found.ids, texts, strict=True)), found.batch, options, found.refused)


class AdapterBody(Protocol):
    """The body of an adapter's request, with its contents that may be long."""

    def contents(self) -> list[Content]:
        """Its texts and files, in order."""

    def filled(self, contents: Sequence[Content]) -> Self:
        """The same with these in their places; there are as many of them, of the same types."""


@dataclass(frozen=True, slots=True)
class AdapterJson(Generic[_B]):
    """The body of an adapter's request, as this type."""

    kind: type[_B]

    def reference(self, most_documents: int) -> JsonKindRef:
        return JsonKindRef(f"{self.kind.__module__}:{self.kind.__qualname__}", most_documents)

    def decode(self, data: bytes, most_documents: int) -> _B:
        return decode_json(data, self.kind, most_documents)

    def divide(self, value: _B) -> tuple[bytes, list[Content]]:
        contents = value.contents()
        bare = value.filled([b"" if isinstance(each, bytes) else "-" for each in contents])
        return _encoded(msgspec.to_builtins(bare)), contents

    def restore(self, rest: bytes, contents: Sequence[Content]) -> _B:
        bare = msgspec.json.decode(rest, type=self.kind)
        kinds = [isinstance(each, bytes) for each in contents]
        if [isinstance(each, bytes) for each in bare.contents()] != kinds:
            raise ValueError("contents of another body")
        return bare.filled(contents)


@dataclass(frozen=True, slots=True)
class HasField:
    """Tests whether an object has a field of this name, whatever its value."""

    name: str

    def reference(self, most_documents: int) -> JsonKindRef:
        return JsonKindRef(FIELD, most_documents, (self.name,))

    def decode(self, data: bytes, most_documents: int) -> bool:
        return getattr(decode_json(data, _probe(self.name), most_documents), self.name) is not _ABSENT

    def divide(self, value: bool) -> tuple[bytes, list[Content]]:
        return _encoded(value), []

    def restore(self, rest: bytes, contents: Sequence[Content]) -> bool:
        if contents:
            raise ValueError("contents of another body")
        return msgspec.json.decode(rest, type=bool)


_ABSENT = msgspec.Raw(b"")


@cache
def _probe(name: str) -> type[Any]:
    return msgspec.defstruct("Probe", [(name, msgspec.Raw, _ABSENT)])


def kind_of(reference: JsonKindRef) -> JsonKind[Any]:
    """The kind of that name. The module of an adapter's body was imported before, where no file can be read now."""
    if reference.kind == DOCUMENTS:
        return DocumentsJson(reference.names)
    if reference.kind == FIELD:
        return HasField(*reference.names)
    module, _, name = reference.kind.partition(":")
    return AdapterJson(getattr(import_module(module), name))


def decode_json(data: bytes, kind: type[T], most_documents: int) -> T:
    """An adapter's body as a value of this type.

    Raises:
        MalformedRequest: it is not JSON, or something else than it should be; says where.
        DocumentTooLarge: it holds far more texts than one request may have.
    """
    if len(data) > COUNTED_BYTES and (data.count(b'"') - data.count(b'\\"')) // 2 > most_documents + MOST_STRINGS:
        raise DocumentTooLarge(f"The body holds too many texts; one request may have {most_documents}.")
    return decoded(
        lambda: msgspec.json.decode(data, type=kind),
        lambda error: MalformedRequest(f"{str(error)[:_MOST_CHARACTERS]}."),
    )


def _encoded(rest: Any) -> bytes:
    """As JSON, by the one encoder that writes integers of any size."""
    return json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode()

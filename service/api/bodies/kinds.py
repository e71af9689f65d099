"""The kinds of JSON bodies: how each is decoded, and how what was decoded is divided for its way between two processes.

The rule: what may be long (texts, and files in base64) travels apart from the rest, so that the worker takes it in
pieces; the rest is short, and is decoded anew as what it must be, since it comes from a process that may be hostile.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Protocol, TypeVar

import msgspec

from service.api.bodies.comprehend import BatchRequest, EntitiesRequest, TextRequest
from service.api.bodies.door_json import Content, DoorBody, decode_json
from service.api.bodies.huggingface import TokenClassificationInput
from service.api.bodies.json_body import ID_CHARACTERS, JsonBody, decode_option, read_json
from service.api.bodies.oip import InferBody
from service.api.bodies.presidio import AnalyzeRequest, AnonymizeRequest
from service.api.bodies.sagemaker import has_inputs

T = TypeVar("T")
_D = TypeVar("_D", bound=DoorBody)

DOCUMENTS, INPUTS = "documents", "inputs"


class JsonWanted(msgspec.Struct, frozen=True):
    """What a body is to be decoded as: the name of a kind, and the options of one with documents."""

    kind: str
    most_documents: int
    options: tuple[str, ...] = ()


class JsonKind(Protocol[T]):
    """One kind of body."""

    def wanted(self, most_documents: int) -> JsonWanted:
        """What names it to another process."""

    def decode(self, data: bytes, most_documents: int) -> T:
        """A body's value.

        Raises:
            MalformedRequest, InvalidOptions, DocumentTooLarge: it is none of this kind, or holds too much.
        """

    def divide(self, value: T) -> tuple[bytes, list[Content]]:
        """The rest of a value, and what of it may be long."""

    def restore(self, rest: bytes, contents: Sequence[Content]) -> T:
        """The value of which these are the parts.

        Raises:
            ValueError, msgspec.MsgspecError: they are not.
        """


class _DocumentsRest(msgspec.Struct, forbid_unknown_fields=True):
    ids: list[Annotated[str, msgspec.Meta(max_length=ID_CHARACTERS)] | None]
    batch: bool
    options: dict[str, msgspec.Raw]


_decode_documents_rest = msgspec.json.Decoder(_DocumentsRest).decode


@dataclass(frozen=True, slots=True)
class DocumentsJson:
    """Documents with these options beside them, by sorted names: what /extract and /redact take."""

    options: tuple[str, ...]

    def wanted(self, most_documents: int) -> JsonWanted:
        return JsonWanted(DOCUMENTS, most_documents, self.options)

    def decode(self, data: bytes, most_documents: int) -> JsonBody:
        return read_json(data, most_documents, self.options)

    def divide(self, value: JsonBody) -> tuple[bytes, list[Content]]:
        rest = {"ids": [id_ for id_, _ in value.documents], "batch": value.batch, "options": value.options}
        return _encoded(rest), [text for _, text in value.documents]

    def restore(self, rest: bytes, contents: Sequence[Content]) -> JsonBody:
        found = _decode_documents_rest(rest)
        if not found.options.keys() <= set(self.options):
            raise ValueError("other options")
        texts = [each for each in contents if isinstance(each, str)]
        if len(texts) != len(contents):
            raise ValueError("a file among texts")
        options = {name: decode_option(name, value) for name, value in found.options.items()}
        return JsonBody(tuple(zip(found.ids, texts, strict=True)), found.batch, options)


@dataclass(frozen=True, slots=True)
class DoorJson(Generic[_D]):
    """The body of a door's request, as this type."""

    kind: type[_D]

    def wanted(self, most_documents: int) -> JsonWanted:
        return JsonWanted(self.kind.__name__, most_documents)

    def decode(self, data: bytes, most_documents: int) -> _D:
        return decode_json(data, self.kind, most_documents)

    def divide(self, value: _D) -> tuple[bytes, list[Content]]:
        contents = value.contents()
        bare = value.filled([b"" if isinstance(each, bytes) else "-" for each in contents])
        return _encoded(msgspec.to_builtins(bare)), contents

    def restore(self, rest: bytes, contents: Sequence[Content]) -> _D:
        bare = msgspec.json.decode(rest, type=self.kind)
        kinds = [isinstance(each, bytes) for each in contents]
        if [isinstance(each, bytes) for each in bare.contents()] != kinds:
            raise ValueError("contents of another body")
        return bare.filled(contents)


@dataclass(frozen=True, slots=True)
class HasInputs:
    """Whether a body has `inputs`, whatever they are; true of Hugging Face's, and not of /extract's."""

    def wanted(self, most_documents: int) -> JsonWanted:
        return JsonWanted(INPUTS, most_documents)

    def decode(self, data: bytes, most_documents: int) -> bool:
        return has_inputs(data, most_documents)

    def divide(self, value: bool) -> tuple[bytes, list[Content]]:
        return _encoded(value), []

    def restore(self, rest: bytes, contents: Sequence[Content]) -> bool:
        if contents:
            raise ValueError("contents of another body")
        return msgspec.json.decode(rest, type=bool)


_DOORS: tuple[type[DoorBody], ...] = (
    AnalyzeRequest,
    AnonymizeRequest,
    BatchRequest,
    EntitiesRequest,
    InferBody,
    TextRequest,
    TokenClassificationInput,
)
_KINDS: dict[str, JsonKind[Any]] = {INPUTS: HasInputs(), **{each.__name__: DoorJson(each) for each in _DOORS}}


def kind_of(wanted: JsonWanted) -> JsonKind[Any]:
    """The kind of that name; a KeyError where there is none."""
    return DocumentsJson(wanted.options) if wanted.kind == DOCUMENTS else _KINDS[wanted.kind]


def _encoded(rest: Any) -> bytes:
    """As JSON, by the one encoder that writes integers of any size."""
    return json.dumps(rest, ensure_ascii=False, separators=(",", ":")).encode()

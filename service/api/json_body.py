"""JSON decoder for request bodies: sizes before values, counts before contents, the first error only.

The rule: memory and time stay within a small multiple of the body's own, whatever it holds.
- A body has at most `JSON_BYTES`: decoding holds the event loop.
- Documents and options are divided into their top-level values first, without building any of them (`msgspec.Raw`); an
  option may take `OPTION_BYTES`; documents are built as what they must be, until the first that is something else or
  one too many.
- The strings and values of an adapter's body are counted before any is built: a million short strings take twenty times
  the memory of their JSON, and empty lists forty times.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from service.core.errors import DocumentTooLarge, GleanerError, InvalidOptions, MalformedRequest
from service.documents.limits import in_bytes

JSON_BYTES = 16 * 1024 * 1024
"""Most bytes of a JSON body. Decoding a body of this size stops the worker's event loop for 10 to 60 ms, an adapter's
for 120 at most."""
ID_CHARACTERS = 1_024
"""Longest id of a document."""
OPTION_BYTES = 65_536
"""Most bytes of one option: some thousand labels."""
COUNTED_BYTES = 1 << 18
"""Bytes of an adapter's body from which on its strings and values are counted."""
MOST_STRINGS = 16_384
"""Most strings of a counted body, apart from one for each document of a request."""
MOST_VALUES = 65_536
"""Most values of a counted body, by the commas and brackets outside its strings."""
_LIKENESS = 0.6
"""Least share of letters that a name must have in common with the one that is meant (`difflib`)."""
_OF_FILES = frozenset(
    "file files filename path url urls uri href link document_url image image_url pdf content data bytes base64 "
    "documentmetadata blocks jobstatus".split()
)
"""Names by which other services take files, and the first names in Textract's answers, which are files here."""
_FILES_ARE_POSTED = (
    " Files are posted, not fetched, and no part of JSON: as `file` of a form (multipart/form-data), or as the body "
    "with its Content-Type."
)
_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*)`", re.S)
_MOST_CHARACTERS = 200
_KINDS = {"`str | null`": "a string or null", "`str`": "a string", "`object`": "an object", "`array`": "a list"}

_Id = Annotated[str, msgspec.Meta(max_length=ID_CHARACTERS)]
_CONTENTS = ("text", "pages", "documents")
_ABSENT, _NULL = msgspec.Raw(b""), msgspec.Raw(b"null")
_T = TypeVar("_T")
_decode_text = msgspec.json.Decoder(str).decode
_decode_id = msgspec.json.Decoder(_Id | None).decode


def check_json_bytes(count: int) -> None:
    """Refuse a JSON body of more bytes than `JSON_BYTES`.

    Raises:
        DocumentTooLarge: names the ways that long texts may take.
    """
    if count > JSON_BYTES:
        raise DocumentTooLarge(
            f"A JSON body may have {in_bytes(JSON_BYTES)}. Send a longer text to /extract or /redact as a `text/plain` "
            "body, or several as files of a form (multipart/form-data)."
        )


def decoded(decode: Callable[[], _T], wrong: Callable[[msgspec.ValidationError], GleanerError]) -> _T:
    """Return the result of `decode`; `wrong` makes the error for JSON of another form.

    Raises:
        GleanerError: what `wrong` made.
        MalformedRequest: it is not JSON, not UTF-8, or nested too deeply.
    """
    try:
        return decode()
    except msgspec.ValidationError as error:
        raise wrong(error) from None
    except RecursionError:
        raise MalformedRequest("The body is JSON that is nested too deeply.") from None
    except UnicodeError:
        raise MalformedRequest("The body is not JSON: it is not UTF-8.") from None
    except msgspec.DecodeError as error:
        raise MalformedRequest(f"The body is not JSON: {error}.") from None


class JsonDocument(NamedTuple):
    """A document's id, and its text or the undecoded JSON of its pages; a refused document has neither."""

    id: str | None
    text: str = ""
    pages: msgspec.Raw | None = None


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A decoded JSON body.

    Attributes:
        documents: in their order.
        batch: True if they came as a list.
        options: decoded, but not validated.
        refused: what is wrong with documents of a list, by their place; the others are answered.
    """

    documents: tuple[JsonDocument, ...]
    batch: bool
    options: dict[str, Any]
    refused: dict[int, str] = field(default_factory=dict)


class _BadDocument(MalformedRequest):
    """A document of a list has a value of another type."""


class _TooManyDocumentsError(Exception):
    """The list of documents goes on beyond the limit."""


class _DocumentsDecoder:
    """Decodes a list of at most `most` documents; one too many ends it before more are built."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._left = most
        document: Any = msgspec.defstruct(
            "JsonDocument",
            [("text", msgspec.Raw, _ABSENT), ("pages", msgspec.Raw, _ABSENT), ("id", msgspec.Raw, _NULL)],
            namespace={"__post_init__": lambda _document: self._count()},
            forbid_unknown_fields=True,
        )
        self._decoder: msgspec.json.Decoder[list[Any]] = msgspec.json.Decoder(list[document])

    def decode(self, data: msgspec.Raw) -> list[Any]:
        """The id and text or pages of each document, not decoded."""
        self._left = self._most
        return self._decoder.decode(data)

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooManyDocumentsError


def read_json(data: bytes, most_documents: int, options: tuple[str, ...]) -> JsonBody:
    """Decode a body that may have these options beside its documents; their names are sorted.

    Raises:
        MalformedRequest: not JSON, not UTF-8, or not an object with one of `text`, `pages` and `documents`.
        InvalidOptions: an option that does not exist, or one that is far too long.
        DocumentTooLarge: more documents than one request may have.
    """
    values = decoded(lambda: _envelope_decoder(options)(data), lambda error: _body_error(error, options))
    if sum(each is not _ABSENT for each in (values.text, values.pages, values.documents)) != 1:
        raise MalformedRequest("The body needs either `text`, `pages` or `documents`, and only one of them.")
    given = {name: decode_option(name, value) for name in options if (value := getattr(values, name)) is not _ABSENT}
    if values.pages is not _ABSENT:
        return JsonBody((JsonDocument(None, pages=values.pages),), False, given)
    if values.text is not _ABSENT:
        text = decoded(lambda: _decode_text(values.text), lambda error: _value_error("text", error))
        return JsonBody((JsonDocument(None, text),), False, given)
    found = _documents(values.documents, most_documents)
    refused: dict[int, str] = {}
    documents = tuple(_document(number, each, refused) for number, each in enumerate(found))
    return JsonBody(documents, True, given, refused)


def _document(number: int, raw: Any, refused: dict[int, str]) -> JsonDocument:
    """A document of a list; what is wrong with it is put in `refused`."""

    def bad(name: str) -> Callable[[msgspec.ValidationError], GleanerError]:
        return lambda error: _BadDocument(_value_error(f"documents.{number}.{name}", error).detail)

    id_ = None
    try:
        if raw.text is _ABSENT and raw.pages is _ABSENT:
            raise _BadDocument(f"documents.{number}: there is no `text`, and no `pages`.")
        id_ = decoded(lambda: _decode_id(raw.id), bad("id"))
        if raw.text is _ABSENT:
            return JsonDocument(id_, pages=raw.pages)
        if raw.pages is not _ABSENT:
            raise _BadDocument(f"documents.{number}: it has `text` and `pages`; send one of them.")
        return JsonDocument(id_, decoded(lambda: _decode_text(raw.text), bad("text")))
    except _BadDocument as error:
        refused[number] = error.detail
        return JsonDocument(id_)


def _documents(data: msgspec.Raw, most: int) -> list[Any]:
    try:
        found = decoded(lambda: _decoder(most).decode(data), lambda error: _value_error("documents", error))
    except _TooManyDocumentsError:
        raise DocumentTooLarge(f"The request has more than {most} documents, the limit of one request.") from None
    if not found:
        raise MalformedRequest("`documents` must be a list of at least one document.")
    return found


@cache
def _envelope_decoder(options: tuple[str, ...]) -> Callable[[bytes], Any]:
    fields = [(name, msgspec.Raw, _ABSENT) for name in (*_CONTENTS, *options)]
    envelope: Any = msgspec.defstruct("Envelope", fields, forbid_unknown_fields=True)
    return msgspec.json.Decoder(envelope).decode


@lru_cache(maxsize=4)
def _decoder(most: int) -> _DocumentsDecoder:
    return _DocumentsDecoder(most)


def decode_option(name: str, value: msgspec.Raw) -> Any:
    """An option's value.

    Raises:
        InvalidOptions: it is far too long.
        MalformedRequest: it is not JSON.
    """
    if len(memoryview(value)) > OPTION_BYTES:
        raise InvalidOptions(f"{name}: longer than {OPTION_BYTES:,} bytes.")
    return decoded(lambda: msgspec.json.decode(value), lambda error: _value_error(name, error))


def _body_error(error: msgspec.ValidationError, options: tuple[str, ...]) -> GleanerError:
    unknown = _UNKNOWN_FIELD.match(str(error))
    if unknown is None:
        return MalformedRequest("The body must be a JSON object with `text`, `pages` or `documents`.")
    return unknown_option(unknown[1], (*_CONTENTS, *options))


def _value_error(name: str, error: msgspec.ValidationError) -> GleanerError:
    """Describe the fault of a value, and its place: `documents.0.text: Expected a string, got …`."""
    message, _, path = str(error).rpartition(" - at `$")
    if not message:
        message, path = path, ""
    where = re.sub(r"\[(\d+)\]", r".\1", path.rstrip("`"))
    for kind, words in _KINDS.items():
        message = message.replace(kind, words)
    known = ""
    if _UNKNOWN_FIELD.match(message):
        is_file = message[:_MOST_CHARACTERS].split("`")[1].casefold() in _OF_FILES
        known = f" (known: id, text, pages).{_FILES_ARE_POSTED if is_file else ''}"
    return MalformedRequest(f"{name}{where}: {message[:200]}{known}")


def unknown_option(name: str, known: Sequence[str]) -> InvalidOptions:
    """The error for a name that is none of these; says which are like it."""
    shown = name[:100]
    meant = get_close_matches(shown.casefold(), known, n=1, cutoff=_LIKENESS)
    hint = f" Do you mean `{meant[0]}`?" if meant else ""
    if shown.casefold() in _OF_FILES:
        hint = _FILES_ARE_POSTED
    return InvalidOptions(f"{shown}: there is no such option.{hint} (known: {', '.join(known)})")


def decode_json(data: bytes, kind: type[_T], most_documents: int) -> _T:
    """An adapter's body as a value of this type.

    Raises:
        MalformedRequest: it is not JSON, or something else than it should be; says where.
        DocumentTooLarge: it holds far more texts or values than one request may have.
    """
    if len(data) > COUNTED_BYTES:
        _check_counts(data, most_documents)
    return decoded(lambda: msgspec.json.decode(data, type=kind), _adapter_error)


def has_field(data: bytes, name: str) -> bool:
    """True if a body is an object with a field of this name, whatever its value; raises as `decode_json`."""
    return getattr(decoded(lambda: _probe_decoder(name)(data), _adapter_error), name) is not _ABSENT


def _adapter_error(error: msgspec.ValidationError) -> MalformedRequest:
    return MalformedRequest(f"{str(error)[:_MOST_CHARACTERS]}.")


@cache
def _probe_decoder(name: str) -> Callable[[bytes], Any]:
    probe: Any = msgspec.defstruct("Probe", [(name, msgspec.Raw, _ABSENT)])
    return msgspec.json.Decoder(probe).decode


def _check_counts(data: bytes, most_documents: int) -> None:
    """Count strings and values: roughly first, and exactly where those in texts and escapes may be too many."""
    most = most_documents + MOST_STRINGS
    if data.count(b'"') // 2 <= most and _count_values(data) <= MOST_VALUES:
        return
    parts = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"', 2 * most + 2)
    if len(parts) // 2 > most or _count_values(b"".join(parts[::2])) > MOST_VALUES:
        raise DocumentTooLarge(f"The body holds too many texts or values; one request may have {most_documents} texts.")


def _count_values(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")

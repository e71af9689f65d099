"""JSON frames: a body that is decoded in a parser goes one way, its value or an error comes back.

The body is [header, bytes], as a file is. The answer is [header], then each long content (a text, or a file) in pieces:
frames of at most `PIECE_BYTES`, until it has the length that the header gives. A text that no document may have is left
out; its length says so. So nothing that the worker reads, decodes or waits for is ever longer than a piece, or than
`REST_BYTES`. As in `frames`, nothing is believed that was not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, TypeVar

import msgspec

from service.api.bodies.kinds import Content, JsonKind
from service.api.parsers.frames import BadAnswer, decoded_header
from service.core.errors import DocumentTooLarge
from service.documents.limits import MEBIBYTE, DocumentLimits, OversizedText

PIECE_CHARACTERS = 65_536
PIECE_BYTES = 4 * PIECE_CHARACTERS
REST_BYTES = 8 * MEBIBYTE
"""Most that a body may hold beside its texts: ids, options, and whatever else a protocol has."""
LONGEST_JSON_HEADER = REST_BYTES + MEBIBYTE
MOST_CONTENTS = 65_536

_T = TypeVar("_T")


class ContentSize(msgspec.Struct, frozen=True, array_like=True):
    """The length of a text in characters, or of a file in bytes."""

    length: Annotated[int, msgspec.Meta(ge=0)]
    is_file: bool

    def is_left_out(self, limits: DocumentLimits) -> bool:
        """Whether this is a text that no document within these limits can have."""
        return not self.is_file and self.length > min(limits.max_characters, limits.max_bytes)


class JsonHeader(msgspec.Struct, frozen=True):
    """The header of a decoded body, whose contents follow; with `error_code` or `crash` it is an error."""

    rest: bytes = b""
    sizes: Annotated[tuple[ContentSize, ...], msgspec.Meta(max_length=MOST_CONTENTS)] = ()
    error_code: str = ""
    detail: str = ""
    crash: str = ""


_decode_header = msgspec.msgpack.Decoder(JsonHeader).decode


def json_frames(rest: bytes, contents: Sequence[Content], limits: DocumentLimits) -> Iterable[bytes]:
    """The frames of a decoded body.

    Raises:
        DocumentTooLarge: it holds too many texts, or too much beside them.
    """
    if len(contents) > MOST_CONTENTS:
        raise DocumentTooLarge(f"The body holds {len(contents):,} texts; the limit is {MOST_CONTENTS:,}.")
    if len(rest) > REST_BYTES:
        raise DocumentTooLarge(f"The body holds {len(rest):,} bytes beside its texts; the limit is {REST_BYTES:,}.")
    sizes = tuple(ContentSize(len(each), isinstance(each, bytes)) for each in contents)
    head = msgspec.msgpack.encode(JsonHeader(rest, sizes))
    return _frames(head, [each for each, size in zip(contents, sizes, strict=True) if not size.is_left_out(limits)])


def _frames(head: bytes, contents: list[Content]) -> Iterator[bytes]:
    yield head
    for each in contents:
        step = PIECE_BYTES if isinstance(each, bytes) else PIECE_CHARACTERS
        for start in range(0, len(each), step):
            piece = each[start : start + step]
            yield piece if isinstance(piece, bytes) else piece.encode()


def decode_json_header(data: bytes, body_bytes: int) -> JsonHeader:
    """Decode the header of a body of so many bytes, which cannot hold more characters than that.

    Raises:
        BadAnswer: it is none.
    """
    head = decoded_header(_decode_header, data)
    if sum(size.length for size in head.sizes) > body_bytes:
        raise BadAnswer("contents of a larger body")
    return head


class ContentPieces:
    """One content while its pieces come."""

    def __init__(self, size: ContentSize) -> None:
        self._size = size
        self._missing = size.length
        self._texts: list[str] = []
        self._bytes: list[bytes] = []

    @property
    def complete(self) -> bool:
        return self._missing == 0

    def add(self, frame: bytes) -> None:
        """Add a piece.

        Raises:
            BadAnswer: it is none, or more than is missing.
        """
        try:
            length = self._kept(frame)
        except UnicodeError:
            raise BadAnswer("a text that is none") from None
        if not length or length != min(self._missing, PIECE_BYTES if self._size.is_file else PIECE_CHARACTERS):
            raise BadAnswer("a piece of another length")
        self._missing -= length

    def whole(self) -> Content:
        """The content, once it is complete."""
        return b"".join(self._bytes) if self._size.is_file else "".join(self._texts)

    def _kept(self, frame: bytes) -> int:
        if self._size.is_file:
            self._bytes.append(frame)
            return len(frame)
        self._texts.append(frame.decode())
        return len(self._texts[-1])


def left_out(size: ContentSize) -> Content:
    """What stands for a text that was left out."""
    return OversizedText(size.length)


def from_json_frames(head: JsonHeader, contents: Sequence[Content], kind: JsonKind[_T]) -> _T:
    """The value of a body.

    Raises:
        BadAnswer: its parts do not belong together.
    """
    try:
        return kind.restore(head.rest, contents)
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise BadAnswer(f"no such body: {type(error).__name__}") from None

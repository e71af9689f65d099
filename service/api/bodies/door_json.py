"""Decodes the JSON of a door: into the protocol's own types, within a small multiple of the body's size.

A million short strings take twenty times the memory of their JSON. So the strings of a long body are counted, roughly
and fast, before any is built: a text needs one, and names and options a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self, TypeVar

import msgspec

from service.api.bodies.decoding import decoded
from service.core.errors import DocumentTooLarge, MalformedRequest

COUNTED_BYTES = 1 << 18
"""A shorter body is decoded as it is."""
MOST_STRINGS = 16_384
"""In a longer one, beside its texts."""
_MOST_CHARACTERS = 200

Content = str | bytes
"""A text, or a file."""
_T = TypeVar("_T")


class DoorBody(Protocol):
    """The body of a door's request: what of it may be long, and all else."""

    def contents(self) -> list[Content]:
        """Its texts and files, in order."""

    def filled(self, contents: Sequence[Content]) -> Self:
        """The same with these in their places; there are as many of them, of the same types."""


def decode_json(data: bytes, kind: type[_T], most_documents: int) -> _T:
    """A body as a value of this type.

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

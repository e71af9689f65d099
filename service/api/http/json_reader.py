"""Decodes the JSON of one request where that harms nobody: a short body at once, a long one in a parser.

The rule: the event loop never handles a body of more than `SHORT_BYTES` as a whole. A parser decodes it by the same
code, so a body is refused with the same words wherever it was decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

from service.api.bodies.kinds import JsonKind
from service.api.bodies.received_body import ReceivedBody
from service.api.parsers.pool import ParserPool

_T = TypeVar("_T")


class JsonReader(Protocol):
    """Reads JSON bodies."""

    async def read(self, body: ReceivedBody, kind: JsonKind[_T], most_documents: int) -> _T:
        """The value of a body, of at most so many documents.

        Raises:
            MalformedRequest, InvalidOptions, DocumentTooLarge: it is none of this kind, or holds too much.
            GleanerError: there is no parser for a long one, or not in time.
        """


@dataclass(frozen=True, slots=True)
class RequestJsonReader:
    """Reads the JSON of one request. `client`: whose bodies may share a parser."""

    parsers: ParserPool
    client: str
    deadline_seconds: float

    async def read(self, body: ReceivedBody, kind: JsonKind[_T], most_documents: int) -> _T:
        if body.is_short:
            return kind.decode(await body.whole(), most_documents)
        return await self.parsers.read_json(
            body, kind, most_documents, client=self.client, deadline_seconds=self.deadline_seconds
        )

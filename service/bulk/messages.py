"""Messages of the bulk queue: a chunk of a job by its place in the plan, or S3's event of new objects.

A chunk's message names a line of the plan and holds no keys: it is small whatever the chunk is, and its body says where
to look for what a dead letter is about.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import unquote_plus

from service.core.bulk import Item


@dataclass(frozen=True, slots=True)
class ChunkMessage:
    """A chunk of a job.

    Attributes:
        job: URL of the job's output.
        segment: of its plan, from 1.
        line: of the segment, from 0.
    """

    job: str
    segment: int
    line: int

    def encoded(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class NewObject:
    """An object that was written to a bucket."""

    bucket: str
    item: Item


class UnknownMessage(Exception):
    """A message that is neither a chunk nor an event."""


def read_message(body: str) -> ChunkMessage | list[NewObject]:
    """The content of a message: a chunk, or the objects of S3's events, also by SNS or EventBridge.

    A test event has no objects.

    Raises:
        UnknownMessage: it is something else.
    """
    try:
        found = json.loads(body)
        match found:
            case {"job": str(job), "segment": int(segment), "line": int(line)}:
                return ChunkMessage(job, segment, line)
            case {"Type": "Notification", "Message": str(inner)}:
                return read_message(inner)
            case {"Event": "s3:TestEvent"}:
                return []
            case {"Records": [*records]}:
                return [_new(each["s3"], "eTag", unquote_plus) for each in records if _is_new(each["eventName"])]
            case {"source": "aws.s3", "detail-type": "Object Created", "detail": detail}:
                return [_new(detail, "etag", str)]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnknownMessage(f"A message cannot be read: {error!r}.") from error
    raise UnknownMessage("A message is neither a chunk nor S3's event of a new object.")


def _is_new(event: str) -> bool:
    return event.removeprefix("s3:").startswith("ObjectCreated:")


def _new(where: dict[str, Any], etag: str, decoded: Any) -> NewObject:
    """The object of one event; its key is URL-encoded in S3's own."""
    found = where["object"]
    item = Item(decoded(found["key"]), str(found[etag]).strip('"'), int(found.get("size", 0)))
    return NewObject(where["bucket"]["name"], item)

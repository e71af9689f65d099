"""Messages of the queue: chunks by their place, S3's events in three forms, and what is neither."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.bulk.messages import ChunkMessage, NewObject, UnknownMessage, read_message
from service.core.bulk import Item

NEW = NewObject("in", Item("2026/a b+ü.pdf", "9b2c", 12))


def _event(name: str = "ObjectCreated:Put", **more: Any) -> dict[str, Any]:
    where = {"bucket": {"name": "in"}, "object": {"key": "2026/a+b%2B%C3%BC.pdf", "size": 12, "eTag": "9b2c", **more}}
    return {"eventSource": "aws:s3", "eventName": name, "s3": where}


def test_a_chunk_is_named_by_its_place_in_the_plan() -> None:
    message = ChunkMessage("s3://out/job", 3, 17)
    assert read_message(message.encoded()) == message
    assert len(message.encoded()) < 100


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"Records": [_event()]}, [NEW]),
        ({"Records": [_event(), _event("s3:ObjectCreated:Copy"), _event("ObjectRemoved:Delete")]}, [NEW, NEW]),
        ({"Type": "Notification", "Message": json.dumps({"Records": [_event()]})}, [NEW]),
        ({"Event": "s3:TestEvent", "Bucket": "in"}, []),
        (
            {
                "source": "aws.s3",
                "detail-type": "Object Created",
                "detail": {"bucket": {"name": "in"}, "object": {"key": NEW.item.key, "size": 12, "etag": "9b2c"}},
            },
            [NEW],
        ),
    ],
)
def test_an_event_names_new_objects(body: dict[str, Any], found: list[NewObject]) -> None:
    assert read_message(json.dumps(body)) == found


@pytest.mark.parametrize("body", ["", "[]", "{}", "null", '{"Records": [{}]}', '{"Records": [1]}', '{"job": 1}'])
def test_anything_else_is_unknown(body: str) -> None:
    with pytest.raises(UnknownMessage):
        read_message(body)

"""The queue of a fleet: SQS's calls, the messages in it, and room beside a service for what they ask."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest

from service.bulk.messages import ChunkMessage, NewObject, UnknownMessage, read_message
from service.bulk.own_service import LOOK_SECONDS, ROOM_SECONDS, Room, has_room
from service.bulk.sqs import DeadLetters, QueueError, QueueMissing, SqsQueue, notify
from service.core.bulk import Item
from service.signals.points import Snapshot
from tests.support.bulk_cloud import MOST_RECEIVES, BulkCloud, refusing
from tests.support.service import wait_until


def _drained(queue: SqsQueue) -> list[str]:
    found = []
    while messages := queue.receive(most=10):
        found += [message.body for message in messages]
    return found


def test_messages_are_sent_in_batches(cloud: BulkCloud) -> None:
    queue = SqsQueue(cloud.queue)
    assert queue.send(str(number) for number in range(25)) == 25
    state = queue.state()
    assert (state.waiting, state.leased, state.lease_seconds) == (25, 0, 60)
    assert sorted(_drained(queue), key=int) == [str(number) for number in range(25)]
    assert queue.state().leased == 25


def test_a_lease_is_let_go_or_kept_and_a_message_deleted_once(cloud: BulkCloud) -> None:
    queue = SqsQueue(cloud.queue)
    queue.send(["a"])
    [message] = queue.receive(lease_seconds=60)
    assert queue.receive() == []
    assert queue.prolong(message, 0)
    [again] = queue.receive(lease_seconds=30)
    assert again.receives == 2
    assert queue.prolong(again, 60)
    queue.delete(again)
    queue.delete(again)
    assert not queue.prolong(again, 60)
    assert cloud.waiting(cloud.queue) == 0


def test_what_is_received_too_often_is_a_dead_letter_that_can_be_looked_at(cloud: BulkCloud) -> None:
    queue = SqsQueue(cloud.queue)
    queue.send(["poison"])
    for _ in range(MOST_RECEIVES):
        [message] = queue.receive()
        queue.prolong(message, 0)
    assert queue.receive() == []
    dead = queue.dead_letters()
    assert dead is not None
    wait_until(lambda: cloud.waiting(cloud.dead_letters) == 1)
    for _ in range(2):
        with dead.peeked() as messages:
            assert [message.body for message in messages] == ["poison"]
    with dead.peeked() as messages:
        dead.delete(messages[0])
    assert cloud.waiting(cloud.dead_letters) == 0
    assert dead.dead_letters() is None


async def test_dead_letters_are_counted_or_unknown(cloud: BulkCloud, caplog: pytest.LogCaptureFixture) -> None:
    queue = SqsQueue(cloud.queue)
    SqsQueue(cloud.dead_letters).send(["a", "b"])
    assert await DeadLetters(queue).count(queue.state()) == 2
    dead = SqsQueue(cloud.dead_letters)
    assert await DeadLetters(dead).count(dead.state()) == 0, "it has none"
    cloud.sqs.delete_queue(QueueUrl=cloud.dead_letters)
    unknown = DeadLetters(queue)
    state = queue.state()
    assert math.isnan(await unknown.count(state))
    assert math.isnan(await unknown.count(state))
    assert caplog.text.count("dead letters are not counted: There is no queue") == 1


def test_a_topic_is_told(cloud: BulkCloud) -> None:
    notify(cloud.topic, "done", "all of it")
    assert cloud.notifications() == ["all of it"]


def test_a_queue_or_topic_that_is_not_there_is_said(cloud: BulkCloud) -> None:
    with pytest.raises(QueueMissing, match="There is no queue http"):
        SqsQueue(cloud.queue + "-not").receive()
    with pytest.raises(QueueMissing, match="There is no topic arn:"):
        notify(cloud.topic + "-not", "done", "all")


@pytest.mark.parametrize(
    ("status", "code", "message", "words"),
    [
        (403, "ExpiredToken", "It is old", "does not accept the credentials .*Renew them"),
        (403, "AccessDeniedException", "no sqs:SendMessage", "refuses send_message_batch for .*rights"),
        (400, "AccessDeniedException", "to perform: kms:GenerateDataKey on resource", "encrypted with a KMS key"),
        (400, "KmsDisabled", "", "encrypted with a KMS key"),
        (400, "InvalidAddress", "no queue", "did not do send_message_batch"),
    ],
)
def test_a_refusal_is_a_plain_sentence(
    cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch, status: int, code: str, message: str, words: str
) -> None:
    with refusing(status, code, message) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        with pytest.raises(QueueError, match=words) as found:
            SqsQueue(cloud.queue).send(["a"])
        assert not isinstance(found.value, QueueMissing)


def test_renewed_credentials_are_read_after_a_failure(cloud: BulkCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = SqsQueue(cloud.queue)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(QueueError, match="credentials"):
        queue.send(["a"])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "renewed")
    assert queue.send(["a"]) == 1


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


READY = ("gleaner_phase", (("phase", "ready"),))
BACKLOG = ("gleaner_backlog_seconds", ())


@pytest.mark.parametrize(
    ("values", "room"),
    [
        ({READY: 1.0, BACKLOG: 0.0}, True),
        ({READY: 1.0}, True),
        ({READY: 1.0, BACKLOG: ROOM_SECONDS}, False),
        ({READY: 0.0, BACKLOG: 0.0}, False),
        ({}, False),
    ],
)
def test_there_is_room_while_a_ready_engine_has_little_to_do(values: dict, room: bool) -> None:  # type: ignore[type-arg]
    assert has_room(Snapshot(0.0, 0.0, values)) is room


async def test_many_wait_with_few_looks() -> None:
    looks = iter([False, True, False])
    seen = list[bool]()

    def look() -> bool:
        seen.append(next(looks))
        return seen[-1]

    async with asyncio.timeout(60 * LOOK_SECONDS):
        room = Room(look)
        await asyncio.gather(*(room.wait() for _ in range(50)))
    assert seen == [False, True]

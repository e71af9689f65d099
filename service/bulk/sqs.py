"""The queue of bulk jobs in SQS: messages in batches, leases, dead letters; and the message of a job's end over SNS.

SQS delivers a message at least once, in no order, and forgets it after its retention: by the rule of `core/bulk` that
still makes one part. A message whose lease ends unprolonged goes to another receiver, and after as many receipts as its
queue's `maxReceiveCount` allows to the dead letters.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

from model_store.remote.s3_connection import CREDENTIAL_CODES, aws_session, concerns_key
from service.bulk.storage import StorageError
from service.logs import LogEvent

BATCH = 10
"""Most messages of a call."""
CONNECT_SECONDS, READ_SECONDS, TRIES = 5.0, 30.0, 5
"""Seconds and tries of a call; a read may take longer than the longest wait for a message."""
SEND_TRIES = 5
"""Tries to send messages that SQS refused one by one within a batch."""
REFUSED_SECONDS = 600.0
"""Seconds after which dead letters that could not be counted are counted again: each refusal costs a client."""
PEEK_SECONDS = 120
"""Lease of dead letters that are only looked at."""
_REGION = re.compile(r"https?://(?:sqs\.([a-z0-9-]+)|([a-z0-9-]+)\.queue)\.amazonaws\.com")
_MISSING = frozenset({"NonExistentQueue", "QueueDoesNotExist", "NotFound", "NotFoundException"})
_LEASE_ENDED = frozenset({"ReceiptHandleIsInvalid", "InvalidParameterValue", "MessageNotInflight"})

log = logging.getLogger(__name__)


class QueueError(StorageError):
    """The queue or the topic cannot be used now."""

    code = "queue_error"
    title = "The queue cannot be used"


class QueueMissing(QueueError):
    """The queue or topic does not exist."""

    code = "queue_missing"
    title = "There is no such queue"


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was received.

    Attributes:
        receives: how often, this time included.
    """

    body: str
    receipt: str
    receives: int = 1


@dataclass(frozen=True, slots=True)
class SqsState:
    """A queue's numbers, which SQS calls approximate.

    Attributes:
        waiting: messages that nobody has a lease of.
        leased: messages that are being worked on.
        lease_seconds: of a message that is received.
        dead_letters: the name of the queue that they go to; None: there is none.
    """

    waiting: int
    leased: int
    lease_seconds: int
    dead_letters: str | None


class AwsClient:
    """A botocore client for all threads, made when it is first used, and anew where it is refused or finds nobody."""

    def __init__(self, service: str, region: str | None) -> None:
        self._service, self._region = service, region
        self._lock = threading.Lock()
        self._client: Any = None

    def call(self, operation: str, **arguments: Any) -> Any:
        """The answer to one call.

        Raises:
            QueueError: it failed; its cause has botocore's error.
        """
        try:
            return getattr(self._made(), operation)(**arguments)
        except (ClientError, BotoCoreError, OSError) as error:
            if _status(error) in (None, 401, 403):  # It has read the credentials of files once; they may be renewed.
                self._client = None
            kind = QueueMissing if _error_code(error) in _MISSING else QueueError
            raise kind(_sentence(self._service.upper(), operation, arguments, error)) from error

    def _made(self) -> Any:
        with self._lock:
            if self._client is None:
                config = Config(
                    connect_timeout=CONNECT_SECONDS,
                    read_timeout=READ_SECONDS,
                    retries={"total_max_attempts": TRIES, "mode": "standard"},
                )
                self._client = aws_session().create_client(self._service, region_name=self._region, config=config)
            return self._client


class SqsQueue:
    """One queue, by its URL."""

    def __init__(self, url: str, client: AwsClient | None = None) -> None:
        self.url = url
        found = _REGION.match(url)
        self._client = client or AwsClient("sqs", (found[1] or found[2]) if found else None)

    def send(self, bodies: Iterable[str]) -> int:
        """Send messages; returns their number."""
        count = 0
        left = iter(bodies)
        while batch := list(islice(left, BATCH)):
            self._send(batch)
            count += len(batch)
        return count

    def _send(self, bodies: list[str]) -> None:
        entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(bodies)]
        for _ in range(SEND_TRIES):
            answer = self._client.call("send_message_batch", QueueUrl=self.url, Entries=entries)
            failed = {each["Id"]: each for each in answer.get("Failed", ())}
            entries = [entry for entry in entries if entry["Id"] in failed]
            if not entries:
                return
        why = next(iter(failed.values()))
        raise QueueError(f"The queue {self.url} refuses messages: {why.get('Message') or why.get('Code')}")

    def receive(
        self, *, wait_seconds: int = 0, lease_seconds: int | None = None, most: int = 1
    ) -> list[Message]:  # fmt: skip
        """Messages with a lease, the queue's own unless another is given; none after a wait without any."""
        lease = {} if lease_seconds is None else {"VisibilityTimeout": lease_seconds}
        answer = self._client.call(
            "receive_message",
            QueueUrl=self.url,
            MaxNumberOfMessages=most,
            WaitTimeSeconds=wait_seconds,
            AttributeNames=["ApproximateReceiveCount"],
            **lease,
        )
        return [
            Message(each["Body"], each["ReceiptHandle"], int(each["Attributes"]["ApproximateReceiveCount"]))
            for each in answer.get("Messages", ())
        ]

    def prolong(self, message: Message, seconds: int) -> bool:
        """Let a lease end this many seconds from now; False if it has ended before."""
        try:
            self._client.call(
                "change_message_visibility",
                QueueUrl=self.url,
                ReceiptHandle=message.receipt,
                VisibilityTimeout=seconds,
            )
        except QueueError as error:
            if _error_code(error.__cause__) in _LEASE_ENDED:
                return False
            raise
        return True

    def delete(self, message: Message) -> None:
        """Delete a message; one whose lease has ended is left to its next receiver."""
        try:
            self._client.call("delete_message", QueueUrl=self.url, ReceiptHandle=message.receipt)
        except QueueError as error:
            if _error_code(error.__cause__) not in _LEASE_ENDED:
                raise

    def state(self) -> SqsState:
        """The queue's numbers."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self._client.call(
            "get_queue_attributes", QueueUrl=self.url, AttributeNames=[*names, "VisibilityTimeout", "RedrivePolicy"]
        )
        found = answer["Attributes"]
        redrive = json.loads(found.get("RedrivePolicy") or "{}")
        waiting, leased = (int(found[name]) for name in names)
        dead = redrive["deadLetterTargetArn"].rpartition(":")[2] if "deadLetterTargetArn" in redrive else None
        return SqsState(waiting, leased, int(found["VisibilityTimeout"]), dead)

    def dead_letters(self, state: SqsState | None = None) -> SqsQueue | None:
        """The queue of its dead letters, always of its own account and region; None if it has none."""
        name = (state or self.state()).dead_letters
        return None if name is None else SqsQueue(f"{self.url.rpartition('/')[0]}/{name}", self._client)

    @contextmanager
    def peeked(self, lease_seconds: int = PEEK_SECONDS) -> Iterator[list[Message]]:
        """All messages of a queue that has no receivers, with leases that end with the context."""
        seen: dict[str, Message] = {}
        try:
            while found := self.receive(most=BATCH, lease_seconds=lease_seconds, wait_seconds=1):
                seen.update((message.receipt, message) for message in found)
            yield list(seen.values())
        finally:
            for message in seen.values():
                with suppress(QueueError):
                    self.prolong(message, 0)


class DeadLetters:
    """The number of a queue's dead letters, as far as they may be counted."""

    def __init__(self, queue: SqsQueue) -> None:
        self._queue = queue
        self._again_seconds = 0.0

    async def count(self, state: SqsState) -> float:
        """The number of dead letters; NaN for a while after they could not be counted."""
        dead = self._queue.dead_letters(state)
        if dead is None:
            return 0.0
        if time.monotonic() < self._again_seconds:
            return math.nan
        try:
            return float((await asyncio.to_thread(dead.state)).waiting)
        except QueueError as error:
            self._again_seconds = time.monotonic() + REFUSED_SECONDS
            fields = {"event": LogEvent.BULK_QUEUE_UNREACHABLE}
            log.warning("the bulk queue's dead letters are not counted: %s", error.detail, extra=fields)
            return math.nan


def notify(topic: str, subject: str, text: str) -> None:
    """Publish one message to an SNS topic, by its ARN.

    Raises:
        QueueError: it was not taken.
    """
    region = topic.split(":")[3] if topic.count(":") >= 5 else None
    AwsClient("sns", region).call("publish", TopicArn=topic, Subject=subject[:100], Message=text)


def _sentence(service: str, operation: str, arguments: dict[str, Any], error: Exception) -> str:
    """A sentence on a failed call."""
    code, place = _error_code(error), arguments.get("QueueUrl") or arguments.get("TopicArn")
    said = str(error).rstrip(".")
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return f"There are no AWS credentials for {place}: {error}"
    if code in _MISSING:
        return f"There is no {'queue' if service == 'SQS' else 'topic'} {place}."
    if code in CREDENTIAL_CODES or _status(error) == 401:
        return f"{service} does not accept the credentials for {place}: {said}. Renew them."
    if concerns_key(code, str(error)):
        return f"{place} is encrypted with a KMS key that may not be used, or is disabled or gone: {said}."
    if code.startswith("AccessDenied") or _status(error) == 403:
        return f"{service} refuses {operation} for {place}: {said}. Check the credentials and their rights."
    return f"{service} did not do {operation} for {place}: {error}"


def _status(error: Exception) -> int | None:
    """The status of the answer; None if there was none."""
    answer = getattr(error, "response", None) or {}
    status: int | None = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status


def _error_code(error: BaseException | None) -> str:
    """AWS's code, without the prefix `AWS.SimpleQueueService.`; empty without an answer."""
    answer = getattr(error, "response", None) or {}
    return str(answer.get("Error", {}).get("Code", "")).removeprefix("AWS.SimpleQueueService.")

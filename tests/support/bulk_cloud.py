"""A moto server's S3, SQS and SNS for tests of bulk jobs; AWS's own variables name it to this process and others."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto.server import ThreadedMotoServer

REGION = "eu-central-1"
MOST_RECEIVES = 5


@dataclass(frozen=True, slots=True)
class BulkCloud:
    """Two buckets, a queue with dead letters, and a topic whose messages come into a queue."""

    url: str
    source: str
    target: str
    queue: str
    dead_letters: str
    topic: str
    told: str
    s3: Any
    sqs: Any

    def put(self, contents: Mapping[str, bytes]) -> None:
        """Write inputs, by key."""
        for key, data in contents.items():
            self.s3.put_object(Bucket=self.source, Key=key, Body=data)

    def output(self, name: str) -> str:
        """The URL of a job's output."""
        return f"s3://{self.target}/{name}"

    def objects(self, bucket: str, prefix: str = "") -> dict[str, bytes]:
        """The objects below a prefix."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        keys = [each["Key"] for page in pages for each in page.get("Contents", ())]
        return {key: self.s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys}

    def waiting(self, queue: str) -> int:
        """Messages of a queue, those with a lease too."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
        return sum(int(found[name]) for name in names)

    @property
    def queue_arn(self) -> str:
        return _arn(self.sqs, self.queue)

    def notifications(self) -> list[str]:
        """What was published to the topic, each once."""
        found = self.sqs.receive_message(QueueUrl=self.told, MaxNumberOfMessages=10).get("Messages", ())
        return [json.loads(message["Body"])["Message"] for message in found]


@contextmanager
def moto_server() -> Iterator[str]:
    """A running server; its URL."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@contextmanager
def refusing(status: int, code: str, message: str = "", *, writes_to: str = "") -> Iterator[str]:
    """A server that answers every call of S3 and of SQS with one error; its URL.

    Args:
        writes_to: a server whose S3 answers all but what writes objects.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _refuse(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if writes_to and self.command != "PUT":
                self._forward(sent)
                return
            is_s3 = "X-Amz-Target" not in self.headers
            xml = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
            body = (xml if is_s3 else json.dumps({"__type": code, "message": message})).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/xml" if is_s3 else "application/x-amz-json-1.0")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def _forward(self, sent: bytes) -> None:
            server = HTTPConnection(writes_to.removeprefix("http://"))
            server.request(self.command, self.path, sent, dict(self.headers))
            answer = server.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            server.close()

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _refuse  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True  # Clients keep their connections.
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def bulk_cloud(server: str, patch: pytest.MonkeyPatch, *, lease_seconds: int = 60) -> Iterator[BulkCloud]:
    """Buckets, queues and a topic of their own on a server."""
    names = {
        "AWS_ENDPOINT_URL": server,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for name, value in names.items():
        patch.setenv(name, value)
    session = boto3.Session()
    s3, sqs, sns = (session.client(service) for service in ("s3", "sqs", "sns"))
    some = uuid4().hex[:8]
    for kind in ("in", "out"):
        s3.create_bucket(Bucket=f"{kind}-{some}", CreateBucketConfiguration={"LocationConstraint": REGION})
    dead, told = (sqs.create_queue(QueueName=f"{kind}-{some}")["QueueUrl"] for kind in ("dead", "told"))
    redrive = json.dumps({"deadLetterTargetArn": _arn(sqs, dead), "maxReceiveCount": MOST_RECEIVES})
    attributes = {"VisibilityTimeout": str(lease_seconds), "RedrivePolicy": redrive}
    queue = sqs.create_queue(QueueName=f"bulk-{some}", Attributes=attributes)["QueueUrl"]
    topic = sns.create_topic(Name=f"ends-{some}")["TopicArn"]
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=_arn(sqs, told))
    yield BulkCloud(server, f"in-{some}", f"out-{some}", queue, dead, topic, told, s3, sqs)


def _arn(sqs: Any, queue: str) -> str:
    found = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
    return str(found["Attributes"]["QueueArn"])

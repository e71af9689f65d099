"""Remote store in an S3 bucket: reads, lists, conditional writes and uploads.

Small files are uploaded in one request, large ones in parts, several at once. The server checks the SHA-256 of
everything that is uploaded.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from model_store.errors import ObjectNotFound, RemoteChanged, StoreError, Unreadable
from model_store.fileio import OnBytes, Piece
from model_store.remote.base import ObjectRange, ObjectStat
from model_store.remote.retry import DEFAULT_RETRY, RetryPolicy
from model_store.remote.s3_connection import S3Connection, client_config

PART_BYTES = 16 * 2**20
"""Files larger than this are uploaded in parts of this size."""
CONCURRENT_PARTS = 4
MOST_READ_BYTES = 1 << 30
"""Bytes of an object that is read into memory as a whole."""


def upload_file(connection: S3Connection, target: dict[str, str], source: Path, on_bytes: OnBytes) -> None:
    """Write the file `source` as the object `target` ("Bucket" and "Key"). Raises StoreError."""
    size_bytes = source.stat().st_size
    if size_bytes > PART_BYTES:
        _MultipartUpload(connection, target, source, size_bytes, on_bytes).run()
        return
    data = _read(source, 0, size_bytes)
    connection.call(lambda client: client.put_object(**target, Body=data, ChecksumSHA256=checksum(data)))
    on_bytes(size_bytes)


def checksum(data: bytes) -> str:
    """The SHA-256 of `data` as S3 takes it."""
    return b64encode(sha256(data).digest()).decode()


@dataclass(frozen=True, slots=True)
class _MultipartUpload:
    """A file that is uploaded in parts; when it fails, the parts are discarded and the object is not written."""

    connection: S3Connection
    target: dict[str, str]
    source: Path
    size_bytes: int
    on_bytes: OnBytes

    def run(self) -> None:
        create = partial(_create, self.target)
        upload = {**self.target, "UploadId": self.connection.call(create)["UploadId"]}
        starts = range(0, self.size_bytes, PART_BYTES)
        pool = ThreadPoolExecutor(CONCURRENT_PARTS, thread_name_prefix="upload")
        try:
            parts = list(pool.map(partial(self._send, upload), range(1, len(starts) + 1), starts))
            self._complete(upload, parts)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            with suppress(StoreError):
                self.connection.call(lambda client: client.abort_multipart_upload(**upload))
            raise
        finally:
            pool.shutdown()

    def _send(self, upload: dict[str, str], number: int, start: int) -> dict[str, Any]:
        data = _read(self.source, start, min(start + PART_BYTES, self.size_bytes))
        digest = checksum(data)
        sent = self.connection.call(
            lambda client: client.upload_part(**upload, PartNumber=number, Body=data, ChecksumSHA256=digest)
        )
        self.on_bytes(len(data))
        return {"PartNumber": number, "ETag": sent["ETag"], "ChecksumSHA256": digest}

    def _complete(self, upload: dict[str, str], parts: list[dict[str, Any]]) -> None:
        """Assemble the parts. An upload that is gone was completed by an earlier try whose answer was lost."""
        complete = {**upload, "MultipartUpload": {"Parts": parts}}
        try:
            self.connection.call(lambda client: client.complete_multipart_upload(**complete))
        except RemoteChanged:
            if self._stored_bytes() != self.size_bytes:
                raise

    def _stored_bytes(self) -> int | None:
        try:
            size_bytes: int = self.connection.call(lambda client: client.head_object(**self.target))["ContentLength"]
        except ObjectNotFound:
            return None
        return size_bytes


def _create(target: dict[str, str], client: Any) -> Any:
    return client.create_multipart_upload(**target, ChecksumAlgorithm="SHA256")


def _read(source: Path, start: int, end: int) -> bytes:
    with source.open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    if len(data) != end - start:
        raise Unreadable(f"The file {source} became shorter while it was uploaded.")
    return data


PIECE_BYTES = 128 * 1024
"""Larger pieces leave the second-level cache before they are hashed: 1 MiB costs half as much again in CPU time."""


@dataclass(frozen=True, slots=True)
class S3Remote:
    """Implements `Remote` in a bucket, below `prefix`. `addressing`: path, virtual, auto; None: AWS's configuration."""

    bucket: str
    prefix: str
    addressing: str | None = None
    retry: RetryPolicy = DEFAULT_RETRY
    connect_timeout_seconds: float = 5.0
    read_timeout_seconds: float = 20.0
    _connection: S3Connection = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        config = client_config(self.addressing, self.connect_timeout_seconds, self.read_timeout_seconds)
        object.__setattr__(self, "_connection", S3Connection(self.url, self.retry, config))

    @property
    def url(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def stat(self, key: str) -> ObjectStat | None:
        try:
            head = self._connection.call(lambda client: client.head_object(**self._target(key)))
        except ObjectNotFound:
            return None
        return ObjectStat(key, head["ContentLength"], head["ETag"])

    def read(self, key: str) -> bytes | None:
        def get(client: Any) -> bytes:
            found = client.get_object(**self._target(key))
            with closing(found["Body"]) as body:
                if found["ContentLength"] > MOST_READ_BYTES:
                    raise Unreadable(f"The object {self.url}/{key} has more than {MOST_READ_BYTES:,} bytes.")
                data: bytes = body.read()
                return data

        try:
            return self._connection.call(get)
        except ObjectNotFound:
            return None

    @contextmanager
    def open_range(self, key: str, start: int, end: int, etag: str | None) -> Iterator[ObjectRange]:
        condition = {"IfMatch": etag} if etag else {}
        with self._connection.store_errors():
            get = partial(self._connection.client.get_object, **self._target(key), **condition)
            found = get(Range=f"bytes={start}-{end - 1}")
            with closing(found["Body"]) as body:
                if found["ContentLength"] != end - start or etag not in (None, found["ETag"]):
                    raise RemoteChanged(f"The object {self.url}/{key} is not the one that was looked at a moment ago.")
                yield ObjectRange(found["ETag"], _object_size(found), _pieces(body))

    def create(self, key: str, data: bytes) -> bool:
        def put(client: Any) -> bool:
            try:
                client.put_object(**self._target(key), Body=data, IfNoneMatch="*", ChecksumSHA256=checksum(data))
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] != 412:
                    raise
                return False
            return True

        # The key also exists if an earlier try succeeded and its response was lost.
        return self._connection.call(put) or self.read(key) == data

    def put(self, key: str, data: bytes) -> None:
        """Write an object in place of one that may be there. Raises StoreError."""
        target = self._target(key)
        self._connection.call(lambda client: client.put_object(**target, Body=data, ChecksumSHA256=checksum(data)))

    def upload(self, key: str, source: Path, on_bytes: OnBytes) -> None:
        upload_file(self._connection, self._target(key), source, on_bytes)

    def stats(self, prefix: str) -> Iterator[ObjectStat]:
        own = f"{self.prefix}/" if self.prefix else ""
        request = {"Bucket": self.bucket, "Prefix": own + prefix}
        while True:
            page = self._connection.call(partial(_list, request))
            for item in page.get("Contents", ()):
                written = item["LastModified"].timestamp()
                yield ObjectStat(item["Key"].removeprefix(own), item["Size"], item["ETag"], written)
            if not page.get("IsTruncated"):
                return
            request["ContinuationToken"] = page["NextContinuationToken"]

    def delete(self, key: str) -> None:
        with suppress(ObjectNotFound):
            self._connection.call(lambda client: client.delete_object(**self._target(key)))

    def _target(self, key: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": f"{self.prefix}/{key}" if self.prefix else key}


def _list(request: Mapping[str, str], client: Any) -> Any:
    return client.list_objects_v2(**request)


def _object_size(found: Mapping[str, Any]) -> int:
    """The size of the whole object of a range response; one without `Content-Range` has the whole object."""
    return int(found.get("ContentRange", f"/{found['ContentLength']}").rpartition("/")[2])


def _pieces(body: Any) -> Iterator[Piece]:
    """A response's bytes in pieces that share one buffer: each is valid until the next is read.

    botocore and urllib3 copy each byte three times, which costs more than hashing it. Below them is Python's
    http.client, which reads into a given buffer; where it is not found, their reading is used.
    """
    response = getattr(body, "_raw_stream", None)
    direct = getattr(response, "_fp", None)
    if response is None or not isinstance(direct, HTTPResponse):
        yield from iter(partial(body.read, PIECE_BYTES), b"")
        return
    buffer = memoryview(bytearray(PIECE_BYTES))
    while count := direct.readinto(buffer):
        if direct.isclosed():  # That was the last byte; the connection is free for the next request.
            response.release_conn()
        yield buffer[:count]

"""A remote store in an S3 bucket. botocore is the core of boto3; the rest of it would only be imported.

Retrying is ours (see retry), because botocore's does not cover a body that breaks off; so it tries once. The server
checks the SHA-256 of everything that is uploaded.
"""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, TypeVar

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from model_store import fileio
from model_store.errors import RemoteChanged, StoreError, Unreadable
from model_store.remote.base import Opened, Piece, Stat
from model_store.remote.retry import PATIENCE, Patience, again
from model_store.remote.s3_errors import said

CONNECTIONS = 10
PART_BYTES = 16 * 2**20
"""Files larger than this are uploaded in parts of this size, several at once."""
UPLOADS_AT_ONCE = 4
PIECE_BYTES = 128 * 1024
"""Larger pieces leave the second-level cache before they are hashed: 1 MiB costs half as much again in CPU time."""


Result = TypeVar("Result")
_GONE = frozenset({"404", "NoSuchKey"})


@dataclass(frozen=True, slots=True)
class S3Remote:
    """Implements `Remote` in a bucket, below `prefix`. `addressing`: path, virtual, auto, or what AWS's files say."""

    bucket: str
    prefix: str
    addressing: str | None = None
    patience: Patience = PATIENCE
    connect_seconds: float = 5.0
    silence_seconds: float = 20.0
    _client: _LazyClient = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_client", _LazyClient(self._make_client))

    @property
    def url(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}".rstrip("/")

    def stat(self, key: str) -> Stat | None:
        try:
            head = self._ask(lambda: self._client().head_object(**self._at(key)))
        except _NotThere:
            return None
        return Stat(key, head["ContentLength"], head["ETag"], head["LastModified"].timestamp())

    def read(self, key: str) -> bytes | None:
        def get() -> bytes:
            with closing(self._client().get_object(**self._at(key))["Body"]) as body:
                data: bytes = body.read()
                return data

        try:
            return self._ask(get)
        except _NotThere:
            return None

    @contextmanager
    def open_range(self, key: str, start: int, end: int, etag: str | None) -> Iterator[Opened]:
        pinned = {"IfMatch": etag} if etag else {}
        with self._translated(key):
            found = self._client().get_object(**self._at(key), Range=f"bytes={start}-{end - 1}", **pinned)
            with closing(found["Body"]) as body:
                if found["ContentLength"] != end - start or etag not in (None, found["ETag"]):
                    raise RemoteChanged(f"The object {self.url}/{key} is not the one that was looked at a moment ago.")
                yield Opened(found["ETag"], _whole_bytes(found), _pieces(body))

    def create(self, key: str, data: bytes) -> bool:
        def put() -> bool:
            try:
                self._client().put_object(**self._at(key), Body=data, IfNoneMatch="*", ChecksumSHA256=_digest(data))
            except ClientError as error:
                if error.response["Error"]["Code"] not in ("PreconditionFailed", "412"):
                    raise
                return False
            return True

        return self._ask(put) or self.read(key) == data  # Ours, if an answer to an earlier try was lost.

    def upload(self, key: str, source: Path, advance: fileio.Advance) -> None:
        size_bytes = source.stat().st_size
        if size_bytes <= PART_BYTES:
            data = _slice(source, 0, size_bytes)
            self._ask(lambda: self._client().put_object(**self._at(key), Body=data, ChecksumSHA256=_digest(data)))
            advance(size_bytes)
        else:
            self._upload_parts(key, source, size_bytes, advance)

    def stats(self, prefix: str) -> Iterator[Stat]:
        token: dict[str, str] = {}
        own = f"{self.prefix}/" if self.prefix else ""
        while True:
            ask = partial(self._client().list_objects_v2, Bucket=self.bucket, Prefix=own + prefix, **token)
            page = self._ask(ask)
            for item in page.get("Contents", ()):
                key = item["Key"].removeprefix(own)
                yield Stat(key, item["Size"], item["ETag"], item["LastModified"].timestamp())
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def delete(self, key: str) -> None:
        with suppress(_NotThere):
            self._ask(lambda: self._client().delete_object(**self._at(key)))

    def _upload_parts(self, key: str, source: Path, size_bytes: int, advance: fileio.Advance) -> None:
        begun = self._ask(lambda: self._client().create_multipart_upload(**self._at(key), ChecksumAlgorithm="SHA256"))
        upload = {**self._at(key), "UploadId": begun["UploadId"]}
        starts = range(0, size_bytes, PART_BYTES)
        send = partial(self._upload_part, upload, source, size_bytes, advance)
        pool = ThreadPoolExecutor(UPLOADS_AT_ONCE, thread_name_prefix="upload")
        try:
            parts = list(pool.map(send, range(1, len(starts) + 1), starts))
            self._complete(key, upload, parts, size_bytes)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            with suppress(StoreError):
                self._ask(lambda: self._client().abort_multipart_upload(**upload))
            raise
        finally:
            pool.shutdown()

    def _complete(self, key: str, upload: dict[str, str], parts: list[dict[str, Any]], size_bytes: int) -> None:
        try:
            self._ask(partial(self._client().complete_multipart_upload, **upload, MultipartUpload={"Parts": parts}))
        except RemoteChanged:
            # The answer to an earlier try was lost: the upload is gone because it is complete.
            stat = self.stat(key)
            if stat is None or stat.size_bytes != size_bytes:
                raise

    def _upload_part(
        self, upload: dict[str, str], source: Path, size_bytes: int, advance: fileio.Advance, number: int, start: int
    ) -> dict[str, Any]:
        data = _slice(source, start, min(start + PART_BYTES, size_bytes))
        digest = _digest(data)
        send = partial(self._client().upload_part, **upload, PartNumber=number, Body=data, ChecksumSHA256=digest)
        sent = self._ask(send)
        advance(len(data))
        return {"PartNumber": number, "ETag": sent["ETag"], "ChecksumSHA256": digest}

    def _at(self, key: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": f"{self.prefix}/{key}" if self.prefix else key}

    def _ask(self, work: Callable[[], Result]) -> Result:
        self._client()  # Making it may take a second, which is no failure of the server's.

        def one_try() -> Result:
            with self._translated():
                return work()

        return again(self.patience, one_try)

    @contextmanager
    def _translated(self, key: str = "") -> Iterator[None]:
        """What boto3, botocore and the sockets say, as the store's own errors."""
        try:
            yield
        except StoreError:
            raise
        except ClientError as error:
            if error.response["Error"]["Code"] in _GONE and not key:
                raise _NotThere from error
            raise said(self.url, error) from error
        except Exception as error:
            raise said(self.url, error) from error

    def _make_client(self) -> Any:
        config = Config(
            connect_timeout=self.connect_seconds,
            read_timeout=self.silence_seconds,
            retries={"total_max_attempts": 1},
            max_pool_connections=CONNECTIONS,
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            s3={"payload_signing_enabled": True, **({"addressing_style": self.addressing} if self.addressing else {})},
        )
        try:
            return Session().create_client("s3", config=config)
        except (BotoCoreError, ValueError) as error:
            raise said(self.url, error) from error


class _LazyClient:
    """One client for all threads, made when it is first needed."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._client: Any = None

    def __call__(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client


class _NotThere(Exception):
    """No object has the key."""


def _digest(data: bytes) -> str:
    return b64encode(sha256(data).digest()).decode()


def _slice(source: Path, start: int, end: int) -> bytes:
    with source.open("rb") as file:
        file.seek(start)
        data = file.read(end - start)
    if len(data) != end - start:
        raise Unreadable(f"The file {source} became shorter while it was uploaded.")
    return data


def _whole_bytes(found: Mapping[str, Any]) -> int:
    """The size of the object of which an answer has a range; an answer without `Content-Range` has all of it."""
    return int(found.get("ContentRange", f"/{found['ContentLength']}").rpartition("/")[2])


def _pieces(body: Any) -> Iterator[Piece]:
    """A response's bytes in pieces that share one buffer: use each before asking for the next.

    botocore's and urllib3's own reading copies each byte three times, which costs more than hashing it. The response of
    Python's http.client below them fills a buffer of ours; where that is not to be found, their reading has to do.
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

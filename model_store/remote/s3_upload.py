"""Uploads a file to an S3 bucket: small files in one request, large ones in parts, several at once.

The server checks the SHA-256 of everything that is uploaded.
"""

from __future__ import annotations

from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from model_store.errors import ObjectNotFound, RemoteChanged, StoreError, Unreadable
from model_store.progress import OnBytes
from model_store.remote.s3_connection import S3Connection

PART_BYTES = 16 * 2**20
"""Files larger than this are uploaded in parts of this size."""
CONCURRENT_PARTS = 4


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

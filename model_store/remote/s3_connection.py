"""A connection to an S3 server: a lazily made botocore client, with the store's retries and errors round each request.

botocore is the core of boto3; the rest of boto3 is not imported. botocore's own retries are off, because they do not
cover a response body that breaks off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from botocore.config import Config
from botocore.session import Session

from model_store.errors import StoreError
from model_store.remote.retry import RetryPolicy, with_retries
from model_store.remote.s3_errors import to_store_error

MAX_CONNECTIONS = 10

Result = TypeVar("Result")


def client_config(addressing: str | None, connect_timeout_seconds: float, read_timeout_seconds: float) -> Config:
    """botocore's configuration: one try, signed payloads, checksums only where they are asked for."""
    return Config(
        connect_timeout=connect_timeout_seconds,
        read_timeout=read_timeout_seconds,
        retries={"total_max_attempts": 1},
        max_pool_connections=MAX_CONNECTIONS,
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        s3={"payload_signing_enabled": True, **({"addressing_style": addressing} if addressing else {})},
    )


class S3Connection:
    """One client for all threads, made when it is first used."""

    def __init__(self, url: str, retry: RetryPolicy, config: Config) -> None:
        self._url = url
        self._retry = retry
        self._config = config
        self._lock = threading.Lock()
        self._client: Any = None

    @property
    def client(self) -> Any:
        """The botocore client. Raises RemoteRefused."""
        with self._lock:
            if self._client is None:
                with self.store_errors():
                    self._client = self._make_client()
            return self._client

    def call(self, work: Callable[[Any], Result]) -> Result:
        """The result of `work(client)`, with retries. Raises StoreError."""
        client = self.client  # Making it may take a second, which must not count as a failure of the server.

        def attempt() -> Result:
            with self.store_errors():
                return work(client)

        return with_retries(self._retry, attempt)

    @contextmanager
    def store_errors(self) -> Iterator[None]:
        """Raises a StoreError in place of the errors of botocore, urllib3 and sockets."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            raise to_store_error(self._url, error) from error

    def _make_client(self) -> Any:
        return Session().create_client("s3", config=self._config)

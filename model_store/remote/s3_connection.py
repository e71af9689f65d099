"""Connection to an S3 server: a lazily made botocore client, with the store's retries and errors round each request.

botocore is the core of boto3; the rest of boto3 is not imported. botocore's own retries are off, because they do not
cover a response body that breaks off. The mapping of errors decides which requests are tried again.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http.client import HTTPException
from typing import Any, TypeVar

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.exceptions import (
    ConnectionError as BotoConnectionError,
)
from botocore.parsers import ResponseParserError
from botocore.session import Session
from urllib3.exceptions import HTTPError

from model_store.errors import (
    KeyRefused,
    ObjectNotFound,
    RemoteChanged,
    RemoteRefused,
    RemoteUnavailable,
    StoreError,
)
from model_store.remote.retry import RetryPolicy, with_retries

_NETWORK_ERRORS = (
    HTTPClientError,
    BotoConnectionError,
    IncompleteReadError,
    ResponseParserError,
    HTTPException,
    HTTPError,
    OSError,
)
_NOT_FOUND = frozenset({"404", "NoSuchKey"})
"""404 alone is the code of a HEAD request's response, which has no body."""
_RETRIED = frozenset(
    {
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "RequestTimeout",
        "RequestTimeoutException",
        "InternalError",
        "ServiceUnavailable",
        "BadDigest",
        "XAmzContentSHA256Mismatch",
        "InvalidDigest",
        "IncompleteBody",
        "ConditionalRequestConflict",
        "OperationAborted",
    }
)
"""ConditionalRequestConflict (409): a conditional write met another write of the key in progress; S3 asks to retry."""
CREDENTIAL_CODES = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "TokenRefreshRequired",
        "InvalidToken",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "UnrecognizedClientException",
        "SignatureDoesNotMatch",
        "RequestTimeTooSkewed",
        "AuthFailure",
    }
)


_KMS = "KMS."
"""Begins codes that S3 and SQS hand on from KMS; those about rights are their own, with KMS in the message."""
_KEY_ARN = re.compile(r"arn:aws[\w-]*:kms:[\w-]+:\d+:(?:key|alias)/[\w/-]+")
_KEY_WORDS = re.compile(r"\bkms\b|\bcustomer master key\b", re.IGNORECASE)
_ELSEWHERE = frozenset(
    {"PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
)
"""botocore asks the bucket's region where it learns it; these are left where that did not help."""


def concerns_key(code: str, message: str) -> bool:
    """True for a refusal of the KMS key of an object or a queue, by the code and the message of AWS's answer."""
    is_denied = code in ("AccessDenied", "AccessDeniedException") and _KEY_WORDS.search(message) is not None
    return code.startswith((_KMS, "Kms")) or is_denied


def to_store_error(url: str, error: Exception) -> StoreError:
    """The store's error for an exception during a request to the remote store `url`; others are raised unchanged."""
    if isinstance(error, ClientError):
        return _from_response(url, error)
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return RemoteRefused(f"There are no AWS credentials for the remote store {url}: {error}.")
    if isinstance(error, _NETWORK_ERRORS):
        return RemoteUnavailable(f"The remote store {url} cannot be reached, or broke off: {_line(error)}.")
    if isinstance(error, BotoCoreError | ValueError):
        return RemoteRefused(f"The remote store {url} cannot be used: {_line(error)}.")
    raise error


def _from_response(url: str, error: ClientError) -> StoreError:
    code = str(error.response["Error"]["Code"])
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    why = f"{code}: {error.response['Error'].get('Message', '')}".rstrip(": .")
    if code == "NoSuchBucket":
        return RemoteRefused(f"The bucket of the remote store {url} is not there.")
    if code == "NotImplemented" or status == 501:
        return RemoteRefused(f"The remote store {url} does not support the request ({why}).")
    if code.removeprefix(_KMS) in _RETRIED or status >= 500 or status == 429:
        return RemoteUnavailable(f"The remote store {url} is not ready to answer ({why}).")
    if code in _NOT_FOUND or status in (404, 412, 416):
        kind = ObjectNotFound if code in _NOT_FOUND else RemoteChanged
        return kind(f"An object of the remote store {url} is not what it was a moment ago ({why}).")
    if concerns_key(code, why):
        key = _KEY_ARN.search(why)
        said = f"The remote store {url} has a KMS key that may not be used, or is disabled or gone ({why})."
        return KeyRefused(said, key[0] if key else None)
    if code in _ELSEWHERE:
        return RemoteRefused(f"The bucket of the remote store {url} is in another region than was asked ({why}).")
    if code in CREDENTIAL_CODES or status == 401:
        return RemoteRefused(f"The remote store {url} does not accept the credentials ({why}). Renew them.")
    if status == 403:
        return RemoteRefused(f"The remote store {url} refuses access ({why}). Check the credentials and their rights.")
    return RemoteRefused(f"The remote store {url} refuses the request ({why}).")


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


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
    """One client for all threads, made when it is first used, and anew after a refusal."""

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
            found = to_store_error(self._url, error)
            if isinstance(found, RemoteRefused):  # A client reads credentials of files once; they may be renewed since.
                self._client = None
            raise found from error

    def _make_client(self) -> Any:
        return aws_session().create_client("s3", config=self._config)


def aws_session() -> Session:
    """Make a session of botocore that shares its descriptions of AWS with the others of this process."""
    session = Session()
    session.register_component("data_loader", _data_loader())
    return session


@cache
def _data_loader() -> Any:
    """Loader of botocore's descriptions of AWS, which keeps them: to read them is most of the time to make a client."""
    return Session().get_component("data_loader")

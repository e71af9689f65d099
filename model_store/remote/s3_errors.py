"""Maps the errors of S3 servers, botocore and sockets to the store's errors, and so decides which ones are retried."""

from __future__ import annotations

from http.client import HTTPException

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
from urllib3.exceptions import HTTPError

from model_store.errors import ObjectNotFound, RemoteChanged, RemoteRefused, RemoteUnavailable, StoreError

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
_CREDENTIALS = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "TokenRefreshRequired",
        "InvalidToken",
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "RequestTimeTooSkewed",
        "AuthFailure",
    }
)


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
    if code in _RETRIED or status >= 500 or status == 429:
        return RemoteUnavailable(f"The remote store {url} is not ready to answer ({why}).")
    if code in _NOT_FOUND or status in (404, 412, 416):
        kind = ObjectNotFound if code in _NOT_FOUND else RemoteChanged
        return kind(f"An object of the remote store {url} is not what it was a moment ago ({why}).")
    if code in _CREDENTIALS or status == 401:
        return RemoteRefused(f"The remote store {url} does not accept the credentials ({why}). Renew them.")
    if status == 403:
        return RemoteRefused(f"The remote store {url} refuses access ({why}). Check the credentials and their rights.")
    return RemoteRefused(f"The remote store {url} refuses the request ({why}).")


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__

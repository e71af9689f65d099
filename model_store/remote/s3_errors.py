"""What an S3 server, boto3 or a socket says, as one of the store's errors: worth another try, or not."""

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

from model_store.errors import RemoteChanged, RemoteRefused, RemoteUnavailable, StoreError

_OF_THE_NETWORK = (
    HTTPClientError,
    BotoConnectionError,
    IncompleteReadError,
    ResponseParserError,
    HTTPException,
    HTTPError,
    OSError,
)
_AGAIN = frozenset(
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


def said(url: str, error: Exception) -> StoreError:
    """The store's error for what happened while the remote store `url` was asked."""
    if isinstance(error, ClientError):
        return _answered(url, error)
    if isinstance(error, NoCredentialsError | PartialCredentialsError):
        return RemoteRefused(f"There are no AWS credentials for the remote store {url}: {error}.")
    if isinstance(error, _OF_THE_NETWORK):
        return RemoteUnavailable(f"The remote store {url} cannot be reached, or broke off: {_line(error)}.")
    if isinstance(error, BotoCoreError | ValueError):
        return RemoteRefused(f"The remote store {url} cannot be used: {_line(error)}.")
    raise error


def _answered(url: str, error: ClientError) -> StoreError:
    code = str(error.response["Error"]["Code"])
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    why = f"{code}: {error.response['Error'].get('Message', '')}".rstrip(": .")
    if code == "NoSuchBucket":
        return RemoteRefused(f"The bucket of the remote store {url} is not there.")
    if code in _AGAIN or status >= 500 or status == 429:
        return RemoteUnavailable(f"The remote store {url} is not ready to answer ({why}).")
    if status in (404, 412, 416):
        return RemoteChanged(f"An object of the remote store {url} is not what it was a moment ago ({why}).")
    if code in _CREDENTIALS or status == 401:
        return RemoteRefused(f"The remote store {url} does not accept the credentials ({why}). Renew them.")
    if status == 403:
        return RemoteRefused(f"The remote store {url} refuses access ({why}). Check the credentials and their rights.")
    return RemoteRefused(f"The remote store {url} refuses the request ({why}).")


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__

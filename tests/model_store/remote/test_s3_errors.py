"""Errors of S3 servers, botocore and sockets: which are retried, which are refusals, which are changed objects."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, NoCredentialsError, ParamValidationError
from urllib3.exceptions import ProtocolError

from model_store.errors import (
    KeyRefused,
    ObjectNotFound,
    RemoteChanged,
    RemoteRefused,
    RemoteUnavailable,
    StoreError,
)
from model_store.remote.s3_connection import to_store_error

KEY = "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000000"


def response(status: int, code: str, message: str = "") -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutObject"
    )


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (409, "ConditionalRequestConflict", RemoteUnavailable),
        (409, "OperationAborted", RemoteUnavailable),
        (412, "PreconditionFailed", RemoteChanged),
        (412, "412", RemoteChanged),
        (416, "InvalidRange", RemoteChanged),
        (404, "NoSuchUpload", RemoteChanged),
        (404, "NoSuchKey", ObjectNotFound),
        (404, "404", ObjectNotFound),
        (404, "NoSuchBucket", RemoteRefused),
        (501, "NotImplemented", RemoteRefused),
        (500, "InternalError", RemoteUnavailable),
        (503, "SlowDown", RemoteUnavailable),
        (429, "TooManyRequests", RemoteUnavailable),
        (400, "BadDigest", RemoteUnavailable),
        (400, "ExpiredToken", RemoteRefused),
        (401, "Unauthorized", RemoteRefused),
        (403, "AccessDenied", RemoteRefused),
        (400, "InvalidArgument", RemoteRefused),
        (301, "PermanentRedirect", RemoteRefused),
        (400, "KMS.DisabledException", KeyRefused),
        (400, "KMS.ThrottlingException", RemoteUnavailable),
    ],
)
def test_a_response_becomes_the_error_of_its_code(status: int, code: str, kind: type[StoreError]) -> None:
    error = to_store_error("s3://bucket", response(status, code))
    assert type(error) is kind
    if code != "NoSuchBucket":
        assert code in error.detail


@pytest.mark.parametrize(
    ("code", "message", "key"),
    [
        ("AccessDenied", f"User: arn:aws:sts::1:x is not authorized to perform: kms:Decrypt on resource: {KEY}", KEY),
        ("AccessDenied", "The ciphertext refers to a customer master key that does not exist, or is not yours.", None),
        ("KMS.DisabledException", f"{KEY} is disabled.", KEY),
    ],
)
def test_a_refusal_of_a_key_names_it(code: str, message: str, key: str | None) -> None:
    error = to_store_error("s3://bucket", response(403, code, message))
    assert isinstance(error, KeyRefused)
    assert error.key == key
    assert "KMS key" in error.detail


def test_a_bucket_of_another_region_is_said() -> None:
    error = to_store_error("s3://bucket", response(400, "AuthorizationHeaderMalformed", "expecting 'eu-west-1'"))
    assert isinstance(error, RemoteRefused)
    assert "in another region" in error.detail
    assert "eu-west-1" in error.detail


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectTimeoutError(endpoint_url="http://x"), RemoteUnavailable),
        (ProtocolError("broken"), RemoteUnavailable),
        (ConnectionResetError(), RemoteUnavailable),
        (NoCredentialsError(), RemoteRefused),
        (ParamValidationError(report="bad"), RemoteRefused),
        (ValueError("Invalid endpoint"), RemoteRefused),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exception_of_the_client_becomes_a_store_error(error: Exception, kind: type[StoreError]) -> None:
    assert type(to_store_error("s3://bucket", error)) is kind


def test_other_exceptions_are_raised_unchanged() -> None:
    with pytest.raises(ZeroDivisionError):
        to_store_error("s3://bucket", ZeroDivisionError())

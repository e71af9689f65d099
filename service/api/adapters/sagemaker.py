"""SageMaker's container, and the path that boto3's `sagemaker-runtime` posts to.

    GET /ping                            200 while documents are answered, else 503
    POST /invocations                    what /extract takes (JSON, a file by its content type) or `{"inputs": …}`
    POST /endpoints/{name}/invocations   the same; the endpoint's name says nothing here

SageMaker hands on no query, so options of a file travel in `X-Amzn-SageMaker-Custom-Attributes`, as a query has them or
with commas or semicolons between them (`trace-7,labels=ORG,DATE;aggregation=simple`), and
`X-Amzn-SageMaker-Target-Model` names the model. What else stands in the attributes is the client's own; but an item of
a list after a comma is one of the option's, and refused if it is unknown. Source: SageMaker's developer guide ("Use
your own inference code"), boto3 1.44 (`sagemaker-runtime`), the attributes of SageMaker's TensorFlow Serving container
(`tfs-model-name=…,tfs-method=…`), huggingface-inference-toolkit, whose pipelines put no tokens together.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.adapters.huggingface import ANSWER_SCHEMA, BODY_SCHEMA, classify_tokens
from service.api.adapters.protocol_adapter import (
    BINARY,
    JSON,
    NOTHING,
    AdapterRoute,
    ProtocolAdapter,
    headers_with_aws_key,
    operation,
    receive_body,
    refusal,
    respond,
    with_parameters,
)
from service.api.calls import AppState, RequestContext, authorize_request
from service.api.engine.routing import is_serving
from service.api.http.request_body import FORM, media_type_of, parse_body, read_body
from service.api.http.response import DocumentOutcome, whole_result
from service.api.json_body import has_field
from service.api.options import ExtractOptions, option_names
from service.api.schemas import ExtractResult
from service.core.errors import GleanerError, UnsupportedFormat

ATTRIBUTES = "x-amzn-sagemaker-custom-attributes"
TARGET_MODEL = "x-amzn-sagemaker-target-model"
_SEPARATOR = re.compile(r"[;&]|,(?=[^,;&=]*=)")
"""Separators of two attributes; a comma is one only before a name and a sign, others are within a list."""
_OF_LINES = frozenset(
    f"{kind}/{name}"
    for kind in ("application", "text")
    for name in ("csv", "jsonl", "jsonlines", "x-jsonlines", "x-ndjson")
)
"""Media types by which a batch transform sends several records, which would be one document here."""
_KINDS = {
    401: "AccessDeniedException",
    429: "ThrottlingException",
    500: "InternalFailure",
    503: "ServiceUnavailable",
    504: "ServiceUnavailable",
    507: "InternalFailure",
}
"""AWS's names of errors by status; all others are `ValidationError`."""


async def _ping(request: Request) -> Response:
    state: AppState = request.state.app_state
    engine = state.worker.engine
    return Response(status_code=200 if is_serving(engine.status, engine.connected) else 503)


async def _invoke(request: Request, endpoint: str = "") -> Response:
    context = authorize_request(request, headers_with_aws_key(request.headers))
    options = _options(request)
    if media_type_of(request) == FORM:
        return await _extracted(request, context, await read_body(request, context.body_limits))
    if media_type_of(request) in _OF_LINES:
        raise UnsupportedFormat(
            f"Lines of {media_type_of(request)} are not taken: by `SplitType: Line` and `BatchStrategy: SingleRecord` "
            "a batch transform sends each line alone, as `text/plain` or `application/json`."
        )
    is_json, limits = media_type_of(request) == JSON, context.body_limits
    received = await receive_body(request, context, is_json=is_json)
    if is_json and limits.decode(received, lambda data: has_field(data, "inputs")):
        return await classify_tokens(request, context, received, model=options.get("model"), default="none")
    body = parse_body(received, request.headers.get("content-type"), options, limits)
    return await _extracted(request, context, body)


async def _extracted(request: Request, context: RequestContext, body: Any) -> Response:
    call = context.call(body)

    def render(outcomes: list[DocumentOutcome]) -> ExtractResult:
        return whole_result(outcomes, body, call.request, call.begun_seconds)

    return await respond(request, call, render)


def _options(request: Request) -> dict[str, str]:
    """The options of a request that stand in its query and headers."""
    given = {**request.query_params, **read_attributes(request.headers.get(ATTRIBUTES, ""))}
    options = {name: value for name, value in given.items() if name in option_names(ExtractOptions)}
    target = request.headers.get(TARGET_MODEL)
    return {**options, "model": target} if target else options


def read_attributes(text: str) -> dict[str, str]:
    """The named values among the custom attributes of a request."""
    return {name.strip(): value.strip() for name, value in parse_qsl(_SEPARATOR.sub("&", text))}


def refuse(error: GleanerError) -> Response:
    """The problem document, with the names that AWS's clients look for."""
    said = problems.problem(error)
    kind = _KINDS.get(said["status"], "ValidationError")
    return refusal(error, {**said, "message": said["detail"]}, x_amzn_ErrorType=kind)


ERROR_SCHEMA = {"type": "object", "required": ["code", "message", "status"]}
_FILES = ("application/pdf", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "text/plain")
_INVOKE = operation(
    "SageMaker: documents in, entities out",
    body={JSON: {"anyOf": [json_schemas.reference("ExtractRequest"), BODY_SCHEMA]}, **dict.fromkeys(_FILES, BINARY)},
    answer={JSON: {"anyOf": [json_schemas.reference("ExtractResponse"), ANSWER_SCHEMA]}},
    error={JSON: ERROR_SCHEMA},
)
_PING = operation("SageMaker: are documents answered?", answer=NOTHING, error=NOTHING)

ADAPTER = ProtocolAdapter(
    "sagemaker",
    (
        AdapterRoute("GET", "/ping", _ping, _PING, works=False),
        AdapterRoute("POST", "/invocations", _invoke, _INVOKE),
        AdapterRoute("POST", "/endpoints/{endpoint}/invocations", _invoke, with_parameters(_INVOKE, "endpoint")),
    ),
    refuse,
)

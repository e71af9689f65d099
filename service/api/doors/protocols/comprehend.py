"""Amazon Comprehend's detection of entities and personal data, over JSON 1.1 (`X-Amz-Target`), as boto3 sends it.

    DetectEntities        text, or a PDF or Word file in `Bytes` (with `Blocks`: where on which page)
    BatchDetectEntities   texts, each with its own error
    DetectPiiEntities     text; only labels that are personal data (`label_names`)
    ContainsPiiEntities   text; which kinds there are

The language is not looked at. `EndpointArn` ends in the name of a model; without one the first that is served answers.
SDKs that send Smithy's RPC v2 in CBOR are refused in that protocol. Source: botocore 1.44 (`comprehend/2017-11-27`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from service.api import problems
from service.api.bodies.comprehend import BatchRequest, EntitiesRequest, TextRequest
from service.api.bodies.received_body import ReceivedBody
from service.api.calls import RequestContext, authorize_request
from service.api.doors.answering import answer, asked, read, results, text_body
from service.api.doors.aws_signature import headers_with_key
from service.api.doors.doorway import DoorRoute, Doorway, refusal
from service.api.doors.label_names import COMPREHEND, COMPREHEND_PII
from service.api.doors.operation import BINARY, operation, with_parameters
from service.api.doors.protocols.comprehend_blocks import BlocksDecoder
from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body
from service.api.http.response import DocumentOutcome
from service.api.openapi import schemas
from service.api.schemas import EntityResult, read_options
from service.core.errors import GleanerError, MalformedRequest, Overloaded, UnknownRoute, UnsupportedFormat

AMZ_JSON = "application/x-amz-json-1.1"
TARGET = "x-amz-target"
PREFIX = "Comprehend_20171127"
_KINDS = {
    "unauthenticated": "MissingAuthenticationTokenException",
    "forbidden": "UnrecognizedClientException",
    "unknown_model": "ResourceUnavailableException",
    "unknown_route": "UnknownOperationException",
    "document_too_large": "TextSizeLimitExceededException",
    "queue_full": "TooManyRequestsException",
    "rate_limited": "TooManyRequestsException",
    "deadline_exceeded": "ServiceUnavailableException",
    "not_ready": "ServiceUnavailableException",
    "draining": "ServiceUnavailableException",
    "engine_restarting": "ServiceUnavailableException",
    "too_much_at_once": "ServiceUnavailableException",
}
"""How Comprehend names an error; by its status, any other is `InvalidRequestException` or `InternalServerException`."""


async def _operate(request: Request) -> Response:
    prefix, _, name = request.headers.get(TARGET, "").partition(".")
    operation = _OPERATIONS.get(name) if prefix == PREFIX else None
    if operation is None:
        raise UnknownRoute(f"There are {', '.join(_OPERATIONS)}.")
    context = authorize_request(request, headers_with_key(request.headers))
    return await operation(request, context, await read(request, context))


async def _detect_entities(request: Request, context: RequestContext, body: ReceivedBody) -> Response:
    wanted = await asked(body, context, EntitiesRequest)
    model = wanted.EndpointArn.rpartition("/")[2]
    options = {"model": model} if model else {}
    if wanted.Bytes is not None and wanted.Text is None:
        return await _detect_in_file(request, context, wanted.Bytes, options)
    if wanted.Text is None or wanted.Bytes is not None:
        raise MalformedRequest("The request needs either `Text` or `Bytes`.")
    call = context.call(text_body([wanted.Text], context, **options))

    def form(outcomes: list[DocumentOutcome]) -> Any:
        return {"Entities": [_entity(each) for each in results(outcomes)[0].entities]}

    return await answer(request, call, form, AMZ_JSON)


async def _detect_in_file(
    request: Request, context: RequestContext, file: bytes, options: Mapping[str, str]
) -> Response:
    body = Body((DocumentInput("0", data=file),), read_options(dict(options)), batch=False)
    decoder = BlocksDecoder(context.model(body).labels)
    call = context.call(body, decoder=decoder)

    def form(outcomes: list[DocumentOutcome]) -> Any:
        (result,) = results(outcomes)
        entities = [_entity(each) for each in result.entities]
        return decoder.described(entities, result.entities)

    return await answer(request, call, form, AMZ_JSON)


async def _batch_detect_entities(request: Request, context: RequestContext, body: ReceivedBody) -> Response:
    wanted = await asked(body, context, BatchRequest)
    call = context.call(text_body(wanted.TextList, context))

    def form(outcomes: list[DocumentOutcome]) -> Any:
        failed = [(index, each.error) for index, each in enumerate(outcomes) if each.error is not None]
        if len(failed) == len(outcomes) and all(isinstance(error, Overloaded) for _, error in failed):
            raise failed[0][1]
        found = [
            {"Index": index, "Entities": [_entity(entity) for entity in each.result.entities]}
            for index, each in enumerate(outcomes)
            if each.error is None
        ]
        errors = [
            {"Index": index, "ErrorCode": _kind(error), "ErrorMessage": problems.problem(error)["detail"]}
            for index, error in failed
        ]
        return {"ResultList": found, "ErrorList": errors}

    return await answer(request, call, form, AMZ_JSON)


async def _detect_pii(request: Request, context: RequestContext, body: ReceivedBody) -> Response:
    wanted = await asked(body, context, TextRequest)
    call = context.call(text_body([wanted.Text], context))

    def form(outcomes: list[DocumentOutcome]) -> Any:
        return {"Entities": _pii(results(outcomes)[0].entities)}

    return await answer(request, call, form, AMZ_JSON)


async def _contains_pii(request: Request, context: RequestContext, body: ReceivedBody) -> Response:
    wanted = await asked(body, context, TextRequest)
    call = context.call(text_body([wanted.Text], context))

    def form(outcomes: list[DocumentOutcome]) -> Any:
        best: dict[str, float] = {}
        for each in _pii(results(outcomes)[0].entities):
            best[each["Type"]] = max(best.get(each["Type"], 0.0), each["Score"])
        return {"Labels": [{"Name": name, "Score": score} for name, score in best.items()]}

    return await answer(request, call, form, AMZ_JSON)


_Operation = Callable[[Request, RequestContext, ReceivedBody], Awaitable[Response]]
_OPERATIONS: dict[str, _Operation] = {
    "DetectEntities": _detect_entities,
    "BatchDetectEntities": _batch_detect_entities,
    "DetectPiiEntities": _detect_pii,
    "ContainsPiiEntities": _contains_pii,
}


def _entity(entity: EntityResult) -> dict[str, Any]:
    return {
        "Score": entity.score,
        "Type": COMPREHEND.get(entity.label, entity.label),
        "Text": entity.text,
        "BeginOffset": entity.start,
        "EndOffset": entity.end,
    }


def _pii(entities: list[EntityResult]) -> list[dict[str, Any]]:
    return [
        {"Score": e.score, "Type": COMPREHEND_PII[e.label], "BeginOffset": e.start, "EndOffset": e.end}
        for e in entities
        if e.label in COMPREHEND_PII
    ]


def _kind(error: GleanerError) -> str:
    failed = problems.STATUS[error.code] >= 500
    return _KINDS.get(error.code, "InternalServerException" if failed else "InvalidRequestException")


def refuse(error: GleanerError) -> Response:
    """An error as AWS's JSON protocols put it."""
    said = {"__type": _kind(error), "Message": problems.problem(error)["detail"]}
    return refusal(error, said, media_type=AMZ_JSON, x_amzn_ErrorType=_kind(error))


async def _refuse_cbor(_request: Request, operation: str) -> Response:
    error = UnsupportedFormat(f"{operation} is answered in JSON 1.1 (`X-Amz-Target`), not in CBOR.")
    said = {"__type": f"com.amazonaws.comprehend#{_kind(error)}", "message": error.detail}
    content = b"".join([bytes([0xA0 + len(said)]), *(_cbor_text(part) for pair in said.items() for part in pair)])
    headers = {"smithy-protocol": "rpc-v2-cbor", "x-amzn-ErrorType": _kind(error)}
    return Response(content, problems.STATUS[error.code], headers, "application/cbor")


def _cbor_text(text: str) -> bytes:
    """A string in CBOR (RFC 8949, major type 3, with a length of 16 bits)."""
    data = text.encode()
    return b"\x79" + len(data).to_bytes(2) + data


_BODY = {"anyOf": [schemas.of(each) for each in (EntitiesRequest, BatchRequest, TextRequest)]}
_OPERATION = operation(
    "Comprehend: DetectEntities, BatchDetectEntities, DetectPiiEntities, ContainsPiiEntities (`X-Amz-Target`)",
    body={AMZ_JSON: _BODY},
    answer={AMZ_JSON: {"type": "object"}},
    error={AMZ_JSON: {"type": "object", "required": ["__type", "Message"]}},
)
_CBOR = operation(
    "Comprehend: refused, in CBOR", answer={"application/cbor": BINARY}, error={"application/cbor": BINARY}, status=415
)

_CBOR_PATH = f"/service/{PREFIX}/operation/{{operation}}"
DOOR = Doorway(
    "comprehend",
    (
        DoorRoute("POST", "/", _operate, _OPERATION, header=TARGET.encode()),
        DoorRoute("POST", _CBOR_PATH, _refuse_cbor, with_parameters(_CBOR, "operation"), works=False),
    ),
    refuse,
)

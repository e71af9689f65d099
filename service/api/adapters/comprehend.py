"""Amazon Comprehend's detection of entities and personal data, over JSON 1.1 (`X-Amz-Target`), as boto3 sends it.

    DetectEntities        text, or a PDF or Word file in `Bytes` (with `Blocks`: where on which page)
    BatchDetectEntities   texts, each with its own error
    DetectPiiEntities     text; only labels that are personal data
    ContainsPiiEntities   text; which kinds there are

The language is not looked at. `EndpointArn` ends in the name of a model; without one the first that is served answers.
SDKs that send Smithy's RPC v2 in CBOR are refused in that protocol. Source: botocore 1.44 (`comprehend/2017-11-27`).

Comprehend's blocks are all words and lines of a file; here a block is the part of an entity on one line, with its
place: a `WORD`, or a `LINE` where it has spaces. A page without text is an error of that page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.adapters.protocol_adapter import (
    BINARY,
    AdapterRoute,
    ProtocolAdapter,
    decode_body,
    headers_with_aws_key,
    operation,
    receive_body,
    refusal,
    respond,
    results,
    text_body,
    with_parameters,
)
from service.api.calls import RequestContext, authorize_request
from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body
from service.api.http.response import DocumentOutcome
from service.api.options import read_options
from service.api.schemas import EntityResult
from service.core.arrays import Logits
from service.core.decoding.entities import Entity
from service.core.decoding.tag_scheme import Scheme, scheme_named
from service.core.errors import GleanerError, MalformedRequest, Overloaded, UnknownRoute, UnsupportedFormat
from service.documents.document import Box, Document, Page
from service.documents.format_detection import Format, detect_format
from service.text.pipeline import Prepared, decode_merged
from service.text.tokenizer import TextTokenizer

AMZ_JSON = "application/x-amz-json-1.1"
TARGET = "x-amz-target"
PREFIX = "Comprehend_20171127"
_TYPES: Mapping[str, str] = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANIZATION"}
"""Comprehend's entity types, for models with CoNLL's labels."""
_PII_TYPES: Mapping[str, str] = {
    "PER": "NAME",
    "PERSON": "NAME",
    "PARTY": "NAME",
    "RECEIVER_NAME": "NAME",
    "SUPPLIER_NAME": "NAME",
    "DATE": "DATE_TIME",
    "IBAN": "INTERNATIONAL_BANK_ACCOUNT_NUMBER",
    "BIC": "SWIFT_CODE",
    **{
        label: label
        for label in (
            "ADDRESS AGE AWS_ACCESS_KEY AWS_SECRET_KEY BANK_ACCOUNT_NUMBER BANK_ROUTING CREDIT_DEBIT_CVV "
            "CREDIT_DEBIT_EXPIRY CREDIT_DEBIT_NUMBER DATE_TIME DRIVER_ID EMAIL ID_NUMBER IP_ADDRESS LICENSE_PLATE "
            "MAC_ADDRESS NAME PASSPORT_NUMBER PASSWORD PHONE PIN SSN TAX_ID URL USERNAME "
            "VEHICLE_IDENTIFICATION_NUMBER"
        ).split()
    },
}
"""Comprehend's types of personal data; what is not here is none. `ID_NUMBER` and `TAX_ID` are of no one country."""
_ERROR_TYPES = {
    "unauthenticated": "MissingAuthenticationTokenException",
    "forbidden": "UnrecognizedClientException",
    "unknown_model": "ResourceUnavailableException",
    "unknown_route": "UnknownOperationException",
    "document_too_large": "TextSizeLimitExceededException",
    "too_long_for_deadline": "TextSizeLimitExceededException",
    "queue_full": "TooManyRequestsException",
    "rate_limited": "TooManyRequestsException",
    "deadline_exceeded": "ServiceUnavailableException",
    "not_ready": "ServiceUnavailableException",
    "draining": "ServiceUnavailableException",
    "engine_restarting": "ServiceUnavailableException",
    "too_much_at_once": "ServiceUnavailableException",
}
"""Comprehend's names of errors by code; others are `InvalidRequestException` or `InternalServerException` by status."""
_FILE_TYPES = {Format.PDF: "NATIVE_PDF", Format.DOCX: "MS_WORD", Format.PICTURE: "IMAGE"}

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class TextRequest(msgspec.Struct, frozen=True):
    """The body of the operations on one text."""

    Text: _Text
    LanguageCode: str = ""


class EntitiesRequest(msgspec.Struct, frozen=True):
    """The body of DetectEntities: a text, or a file as base64."""

    Text: _Text | None = None
    Bytes: bytes | None = None
    LanguageCode: str = ""
    EndpointArn: str = ""


class BatchRequest(msgspec.Struct, frozen=True):
    """The body of BatchDetectEntities."""

    TextList: Annotated[list[_Text], msgspec.Meta(min_length=1)]
    LanguageCode: str = ""


async def _operate(request: Request) -> Response:
    prefix, _, name = request.headers.get(TARGET, "").partition(".")
    operation = _OPERATIONS.get(name) if prefix == PREFIX else None
    if operation is None:
        raise UnknownRoute(f"There are {', '.join(_OPERATIONS)}.")
    context = authorize_request(request, headers_with_aws_key(request.headers))
    return await operation(request, context, await receive_body(request, context))


async def _detect_entities(request: Request, context: RequestContext, body: bytes) -> Response:
    wanted = decode_body(body, context, EntitiesRequest)
    model = wanted.EndpointArn.rpartition("/")[2]
    options = {"model": model} if model else {}
    if wanted.Bytes is not None and wanted.Text is None:
        return await _detect_in_file(request, context, wanted.Bytes, options)
    if wanted.Text is None or wanted.Bytes is not None:
        raise MalformedRequest("The request needs either `Text` or `Bytes`.")
    call = context.call(text_body([wanted.Text], context, **options))

    def render(outcomes: list[DocumentOutcome]) -> Any:
        return {"Entities": [_entity(each) for each in results(outcomes)[0].entities]}

    return await respond(request, call, render, AMZ_JSON)


async def _detect_in_file(
    request: Request, context: RequestContext, file: bytes, options: Mapping[str, str]
) -> Response:
    body = Body((DocumentInput("0", data=file),), read_options(dict(options)), batch=False)
    model = context.model(body)
    decoder = BlocksDecoder(file, scheme_named(model.scheme, model.labels))
    call = context.call(body, decoder=decoder)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        (result,) = results(outcomes)
        entities = [_entity(each) for each in result.entities]
        return decoder.described(entities, result.entities)

    return await respond(request, call, render, AMZ_JSON)


async def _batch_detect_entities(request: Request, context: RequestContext, body: bytes) -> Response:
    wanted = decode_body(body, context, BatchRequest)
    call = context.call(text_body(wanted.TextList, context))

    def render(outcomes: list[DocumentOutcome]) -> Any:
        failed = [(index, each.error) for index, each in enumerate(outcomes) if each.error is not None]
        if len(failed) == len(outcomes) and all(isinstance(error, Overloaded) for _, error in failed):
            raise failed[0][1]
        found = [
            {"Index": index, "Entities": [_entity(entity) for entity in each.result.entities]}
            for index, each in enumerate(outcomes)
            if each.error is None
        ]
        errors = [
            {"Index": index, "ErrorCode": _error_type(error), "ErrorMessage": problems.problem(error)["detail"]}
            for index, error in failed
        ]
        return {"ResultList": found, "ErrorList": errors}

    return await respond(request, call, render, AMZ_JSON)


async def _detect_pii(request: Request, context: RequestContext, body: bytes) -> Response:
    wanted = decode_body(body, context, TextRequest)
    call = context.call(text_body([wanted.Text], context))

    def render(outcomes: list[DocumentOutcome]) -> Any:
        return {"Entities": _pii(results(outcomes)[0].entities)}

    return await respond(request, call, render, AMZ_JSON)


async def _contains_pii(request: Request, context: RequestContext, body: bytes) -> Response:
    wanted = decode_body(body, context, TextRequest)
    call = context.call(text_body([wanted.Text], context))

    def render(outcomes: list[DocumentOutcome]) -> Any:
        best: dict[str, float] = {}
        for each in _pii(results(outcomes)[0].entities):
            best[each["Type"]] = max(best.get(each["Type"], 0.0), each["Score"])
        return {"Labels": [{"Name": name, "Score": score} for name, score in best.items()]}

    return await respond(request, call, render, AMZ_JSON)


_Operation = Callable[[Request, RequestContext, bytes], Awaitable[Response]]
_OPERATIONS: dict[str, _Operation] = {
    "DetectEntities": _detect_entities,
    "BatchDetectEntities": _batch_detect_entities,
    "DetectPiiEntities": _detect_pii,
    "ContainsPiiEntities": _contains_pii,
}


def _entity(entity: EntityResult) -> dict[str, Any]:
    return {
        "Score": entity.score,
        "Type": _TYPES.get(entity.label, entity.label),
        "Text": entity.text,
        "BeginOffset": entity.start,
        "EndOffset": entity.end,
    }


def _pii(entities: list[EntityResult]) -> list[dict[str, Any]]:
    return [
        {"Score": e.score, "Type": _PII_TYPES[e.label], "BeginOffset": e.start, "EndOffset": e.end}
        for e in entities
        if e.label in _PII_TYPES
    ]


def _error_type(error: GleanerError) -> str:
    failed = problems.STATUS[error.code] >= 500
    return _ERROR_TYPES.get(error.code, "InternalServerException" if failed else "InvalidRequestException")


def refuse(error: GleanerError) -> Response:
    """An error as AWS's JSON protocols put it."""
    said = {"__type": _error_type(error), "Message": problems.problem(error)["detail"]}
    return refusal(error, said, media_type=AMZ_JSON, x_amzn_ErrorType=_error_type(error))


async def _refuse_cbor(_request: Request, operation: str) -> Response:
    error = UnsupportedFormat(f"{operation} is answered in JSON 1.1 (`X-Amz-Target`), not in CBOR.")
    said = {"__type": f"com.amazonaws.comprehend#{_error_type(error)}", "message": error.detail}
    content = b"".join([bytes([0xA0 + len(said)]), *(_cbor_text(part) for pair in said.items() for part in pair)])
    headers = {"smithy-protocol": "rpc-v2-cbor", "x-amzn-ErrorType": _error_type(error)}
    return Response(content, problems.STATUS[error.code], headers, "application/cbor")


def _cbor_text(text: str) -> bytes:
    """A string in CBOR (RFC 8949, major type 3, with a length of 16 bits)."""
    data = text.encode()
    return b"\x79" + len(data).to_bytes(2) + data


class BlocksDecoder:
    """Decodes the one document of a request as usual, and keeps its pages and layout."""

    def __init__(self, file: bytes, scheme: Scheme) -> None:
        self._file, self._scheme, self.reads_as_written = file, scheme, False
        self._document = Document("")

    def __call__(
        self, _: str, document: Document, tokenizer: TextTokenizer, prepared: Prepared, logits: Logits, /
    ) -> list[Entity]:
        """The entities of the document."""
        self._document = document
        return decode_merged(tokenizer, prepared, logits, self._scheme)

    def described(self, shown: list[dict[str, Any]], entities: list[EntityResult]) -> dict[str, Any]:
        """The answer about the file; to each entity that is shown its blocks are added."""
        document, blocks = self._document, list[dict[str, Any]]()
        for each, entity in zip(shown, entities, strict=True):
            parts = document.parts(entity.start, entity.end)
            if not parts:
                continue
            each["BlockReferences"] = []
            page = _page_at(document, entity.start)
            for start, end, box in parts:
                text = document.text[start:end].strip()
                block = _block(str(len(blocks) + 1), text, page, box)
                blocks.append(block)
                each["BlockReferences"].append({"BlockId": block["Id"], "BeginOffset": 0, "EndOffset": len(text)})
        pages = document.pages or (Page(1, 0, len(document.text)),)
        kind = _FILE_TYPES.get(detect_format(self._file), "PLAIN_TEXT")
        return {
            "Entities": shown,
            "DocumentMetadata": {
                "Pages": len(pages),
                "ExtractedCharacters": [{"Page": page.number, "Count": page.end - page.start} for page in pages],
            },
            "DocumentType": [{"Page": page.number, "Type": kind} for page in pages],
            "Blocks": blocks,
            "Errors": [_unread(number) for number in document.incomplete_pages],
        }


def _page_at(document: Document, offset: int) -> Page:
    assert document.pages, "a layout has pages"
    number = document.page_at(offset)
    return next(page for page in document.pages if page.number == number)


def _block(id_: str, text: str, page: Page, box: Box) -> dict[str, Any]:
    width, height = page.width or 1.0, page.height or 1.0
    left, right = (min(max(x / width, 0.0), 1.0) for x in (box[0], box[2]))
    top, bottom = (min(max(y / height, 0.0), 1.0) for y in (box[1], box[3]))
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return {
        "Id": id_,
        "BlockType": "LINE" if " " in text else "WORD",
        "Text": text,
        "Page": page.number,
        "Geometry": {
            "BoundingBox": {"Left": left, "Top": top, "Width": right - left, "Height": bottom - top},
            "Polygon": [{"X": x, "Y": y} for x, y in corners],
        },
    }


def _unread(number: int) -> dict[str, Any]:
    said = "Not all of the page was read: it holds images or outlines, as a scan does."
    return {"Page": number, "ErrorCode": "TEXTRACT_BAD_PAGE", "ErrorMessage": said}


_BODY = {"anyOf": [json_schemas.of(each) for each in (EntitiesRequest, BatchRequest, TextRequest)]}
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
ADAPTER = ProtocolAdapter(
    "comprehend",
    (
        AdapterRoute("POST", "/", _operate, _OPERATION, header=TARGET.encode()),
        AdapterRoute("POST", _CBOR_PATH, _refuse_cbor, with_parameters(_CBOR, "operation"), works=False),
    ),
    refuse,
)

"""Presidio's analyzer and anonymizer, as their REST services speak.

    POST /analyze             {"text": text or texts, "entities"?, "score_threshold"?, "ad_hoc_recognizers"?, …}
    POST /anonymize           {"text", "analyzer_results", "anonymizers"?} → the text without what was found
    GET  /supportedentities, /recognizers, /anonymizers, /health

The language, `context` and `return_decision_process` change nothing: one model answers, and a score is its own. The
operator `encrypt` is refused, since a request is no place for a secret key. Source: presidio-analyzer and
presidio-anonymizer (`app.py`, `docs/api-docs`).

A client's patterns are compiled and searched for in a parser (`presidio_patterns`).
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from service.api import json_schemas, problems
from service.api.adapters.presidio_bodies import AnalyzeRequest, AnonymizeRequest
from service.api.adapters.presidio_operators import OPERATORS, MarkedRange, anonymize, replace_by
from service.api.adapters.presidio_patterns import RequestPatterns
from service.api.adapters.protocol_adapter import (
    ERROR_TEXT,
    JSON,
    AdapterRoute,
    ProtocolAdapter,
    decode_body,
    operation,
    receive_body,
    refusal,
    respond,
    results,
    text_body,
)
from service.api.calls import AppState, RequestContext, authorize_request
from service.api.engine.routing import find_model, is_serving
from service.api.http.request_scope import until_disconnect
from service.api.http.response import DocumentOutcome
from service.api.parsers.patterns import Match, Patterns
from service.api.schemas import DocumentResult
from service.core.decoding.tag_scheme import scheme_of
from service.core.errors import DeadlineExceeded, GleanerError, InvalidOptions, MalformedRequest
from service.wire import FAILED, ModelStatus

_T = TypeVar("_T")


class RecognizerResult(msgspec.Struct, frozen=True):
    """One finding."""

    entity_type: str
    start: int
    end: int
    score: float
    analysis_explanation: None = None


_KINDS: Mapping[str, str] = {
    "PER": "PERSON",
    "LOC": "LOCATION",
    "ADDRESS": "LOCATION",
    "ORG": "ORGANIZATION",
    "DATE": "DATE_TIME",
    "EMAIL": "EMAIL_ADDRESS",
    "PHONE": "PHONE_NUMBER",
    "IBAN": "IBAN_CODE",
}
"""Presidio's entity types."""
FREE_KINDS = (*dict.fromkeys(_KINDS.values()), "CREDIT_CARD", "URL", "AGE")
"""Kinds that a model with free labels finds where a request names none."""
FREE_SCORE = 0.3
"""Least score of free labels where a request names none: that of Presidio's own GLiNER recognizer."""
_DEFAULT = "DEFAULT"


async def _analyze(request: Request) -> Response:
    context = authorize_request(request)
    wanted = decode_body(await receive_body(request, context), context, AnalyzeRequest)
    texts, single = wanted.texts, isinstance(wanted.text, str)
    body = text_body(texts, context)
    model = context.model(body)
    if context.state.worker.extractor.processor(model).takes("labels", model):
        least = FREE_SCORE if wanted.score_threshold is None else wanted.score_threshold
        body = text_body(texts, context, labels=_prompts(wanted), min_score=least)
    else:
        _refuse_unknown(wanted, _kinds(model))
    patterns = RequestPatterns(wanted, partial(_find, context))
    matched = await patterns.find(texts)
    call = context.call(body)

    def all_found(outcomes: list[DocumentOutcome]) -> list[tuple[str, list[MarkedRange]]]:
        found = zip(texts, results(outcomes), matched, strict=True)
        return [(text, _found(result, marked)) for text, result, marked in found]

    async def allow(outcomes: list[DocumentOutcome]) -> None:
        await patterns.allow(text[each.start : each.end] for text, found in all_found(outcomes) for each in found)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [[RecognizerResult(*each) for each in patterns.kept(*of_text)] for of_text in all_found(outcomes)]
        return found[0] if single else found

    return await respond(request, call, render, before=allow if wanted.allow_list_match == "regex" else None)


async def _find(context: RequestContext, patterns: Patterns, texts: bytes) -> list[Match]:
    """Have patterns searched for in a parser, unless the client leaves."""
    parsers, deadline = context.state.worker.parsers, context.deadline_seconds
    finding = parsers.find_patterns(patterns, texts, client=context.sender, deadline_seconds=deadline)
    return await until_disconnect(finding, context.disconnect)


def _found(result: DocumentResult, marked: list[MarkedRange]) -> list[MarkedRange]:
    """What the model found and what patterns matched, without what is there twice; the surest first."""
    named = [MarkedRange(_KINDS.get(e.label, e.label), e.start, e.end, e.score) for e in result.entities]
    best: dict[tuple[str, int, int], MarkedRange] = {}
    for each in sorted((*named, *marked), key=lambda each: -each.score):
        best.setdefault((each.kind, each.start, each.end), each)
    return list(best.values())


def _refuse_unknown(asked: AnalyzeRequest, known: Collection[str]) -> None:
    wanted, own = set(asked.entities or ()), {each.supported_entity for each in asked.ad_hoc_recognizers or ()}
    if wanted and not wanted & own and not wanted & set(known):
        raise InvalidOptions("No matching recognizers were found to serve the request.")


def _prompts(asked: AnalyzeRequest) -> dict[str, str]:
    """Each kind of entity that is asked for, with what a model with free labels reads: its name in words."""
    own = {each.supported_entity for each in asked.ad_hoc_recognizers or ()}
    wanted = [kind for kind in asked.entities or () if kind not in own] or FREE_KINDS
    return {kind: " ".join(kind.lower().split("_")) for kind in wanted}


class ClientTurns:
    """Threads for work of any length on texts, one request of a client at a time."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="anonymize")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, context: RequestContext, work: Callable[[], _T]) -> _T:
        """The result of work for a request, when it is its client's turn.

        Raises:
            DeadlineExceeded: it was not, in time.
            ClientDisconnect: the client left meanwhile.
        """
        return await until_disconnect(self._in_turn(context, work), context.disconnect)

    async def _in_turn(self, context: RequestContext, work: Callable[[], _T]) -> _T:
        turn = self._turns.setdefault(context.sender, asyncio.Lock())
        try:
            async with asyncio.timeout(context.deadline_seconds - time.monotonic()), turn:
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except TimeoutError:
            raise DeadlineExceeded("The deadline passed before the text was anonymized.") from None


TURNS = ClientTurns()
"""Turns of the clients of all requests of a worker."""


async def _anonymize(request: Request) -> Response:
    context = authorize_request(request)
    wanted = decode_body(await receive_body(request, context), context, AnonymizeRequest)
    context.charge_documents()
    context.state.worker.extractor.check_text(wanted.text)
    return Response(await TURNS.run(context, partial(_anonymized, wanted)), media_type=JSON)


def _anonymized(wanted: AnonymizeRequest) -> bytes:
    if any(not each.start <= each.end <= len(wanted.text) for each in wanted.analyzer_results):
        raise MalformedRequest("A result of `analyzer_results` is outside the text.")
    salt = secrets.token_bytes(16)
    operators = {name: each.operator(salt) for name, each in (wanted.anonymizers or {}).items()}
    default = operators.get(_DEFAULT, replace_by(None))
    marked = [MarkedRange(each.entity_type, each.start, each.end, each.score) for each in wanted.analyzer_results]
    text, items = anonymize(wanted.text, marked, lambda kind: operators.get(kind, default))
    said = [
        {"start": i.start, "end": i.end, "entity_type": i.kind, "text": i.text, "operator": i.operator}
        for i in reversed(items)
    ]
    return msgspec.json.encode({"text": text, "items": said})


async def _supported_entities(request: Request) -> Response:
    context = authorize_request(request)
    model = find_model(context.state.worker.engine.status.models, None)
    return Response(msgspec.json.encode(_kinds(model)), media_type=JSON)


async def _recognizers(request: Request) -> Response:
    models = authorize_request(request).state.worker.engine.status.models
    return Response(
        msgspec.json.encode(list(dict.fromkeys(each.name for each in models if each.state != FAILED))), media_type=JSON
    )


async def _anonymizers(_request: Request) -> Response:
    return Response(msgspec.json.encode(OPERATORS), media_type=JSON)


async def _health(request: Request) -> Response:
    state: AppState = request.state.app_state
    serves = is_serving(state.worker.engine.status, state.worker.engine.connected)
    said = "Presidio Analyzer service is up" if serves else "The service is not ready"
    return PlainTextResponse(said, 200 if serves else 503)


def _kinds(model: ModelStatus) -> list[str]:
    """The kinds of entities that a model finds, as Presidio names them; of one that is given some, the usual ones."""
    own = scheme_of(model.labels).types if model.labels else ()
    return [*dict.fromkeys(_KINDS.get(each, each) for each in own)] or [*FREE_KINDS]


def refuse(error: GleanerError) -> Response:
    """An error as Presidio puts it."""
    return refusal(error, {"error": problems.problem(error)["detail"]})


_FOUND = json_schemas.of(RecognizerResult)
_ANALYZE = operation(
    "Presidio: personal data in a text",
    body={JSON: json_schemas.of(AnalyzeRequest)},
    answer={JSON: {"type": "array", "items": {"anyOf": [_FOUND, {"type": "array", "items": _FOUND}]}}},
    error=ERROR_TEXT,
)
_ANONYMIZE = operation(
    "Presidio: a text without what was found in it",
    body={JSON: json_schemas.of(AnonymizeRequest)},
    answer={JSON: {"type": "object", "required": ["text", "items"]}},
    error=ERROR_TEXT,
)
_NAMES = {JSON: {"type": "array", "items": {"type": "string"}}}


def _list(summary: str) -> dict[str, Any]:
    return operation(summary, answer=_NAMES, error=ERROR_TEXT)


_TEXT = {"text/plain": {"type": "string"}}
_HEALTH = operation("Presidio: is the service up?", answer=_TEXT, error=_TEXT)

ADAPTER = ProtocolAdapter(
    "presidio",
    (
        AdapterRoute("POST", "/analyze", _analyze, _ANALYZE),
        AdapterRoute("POST", "/anonymize", _anonymize, _ANONYMIZE),
        AdapterRoute(
            "GET", "/supportedentities", _supported_entities, _list("Presidio: kinds of entities"), works=False
        ),
        AdapterRoute("GET", "/recognizers", _recognizers, _list("Presidio: the models"), works=False),
        AdapterRoute("GET", "/anonymizers", _anonymizers, _list("Presidio: the operators"), works=False),
        AdapterRoute("GET", "/health", _health, _HEALTH, works=False),
    ),
    refuse,
)

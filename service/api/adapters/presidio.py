"""Presidio's analyzer and anonymizer, as their REST services speak.

    POST /analyze             {"text": text or texts, "entities"?, "score_threshold"?, "ad_hoc_recognizers"?, …}
    POST /anonymize           {"text", "analyzer_results", "anonymizers"?} → the text without what was found
    GET  /supportedentities, /recognizers, /anonymizers, /health

The language, `context` and `return_decision_process` change nothing: one model answers, and a score is its own. The
operator `encrypt` is refused, since a request is no place for a secret key. Source: presidio-analyzer and
presidio-anonymizer (`app.py`, `docs/api-docs`).

A client's ad-hoc patterns may take any time: all of a request's together have `PATTERN_SECONDS`, in a thread and
without the GIL. What takes longer is refused, never answered without them. Presidio's own flags are the default
(`PatternRecognizer`: dot matches all, multiline, case is ignored).
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import regex
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from service.api import openapi, problems
from service.api.adapters.presidio_bodies import (
    FLAGS,
    OPERATORS,
    AdHocRecognizer,
    AnalyzeRequest,
    AnonymizeRequest,
    MarkedRange,
    anonymize,
    replace_by,
)
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
from service.api.calls import AppState, authorize_request
from service.api.engine.routing import find_model, is_serving
from service.api.http.response import DocumentOutcome
from service.api.schemas import DocumentResult
from service.core.decoding.tag_scheme import scheme_of
from service.core.errors import GleanerError, InvalidOptions, MalformedRequest

ALLOWED_SECONDS = 1.0
"""For all patterns of an allow list."""


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
_DEFAULT = "DEFAULT"


async def _analyze(request: Request) -> Response:
    context = authorize_request(request)
    wanted = await decode_body(await receive_body(request, context), context, AnalyzeRequest)
    texts, single = wanted.texts, isinstance(wanted.text, str)
    body = text_body(texts, context)
    search = PatternSearch(wanted.ad_hoc_recognizers or ())
    allowed = _Allowed(wanted)
    _refuse_unknown(wanted, _kinds(context.model(body).labels))
    matched = [await search.find(text) for text in texts] if wanted.ad_hoc_recognizers else [[] for _ in texts]
    call = context.call(body)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [
            allowed.kept(text, _found(result, marked))
            for text, result, marked in zip(texts, results(outcomes), matched, strict=True)
        ]
        return found[0] if single else found

    return await respond(request, call, render)


def _found(result: DocumentResult, marked: list[MarkedRange]) -> list[MarkedRange]:
    """What the model found and what patterns matched, without what is there twice; the surest first."""
    named = [MarkedRange(_KINDS.get(e.label, e.label), e.start, e.end, e.score) for e in result.entities]
    best: dict[tuple[str, int, int], MarkedRange] = {}
    for each in sorted((*named, *marked), key=lambda each: -each.score):
        best.setdefault((each.kind, each.start, each.end), each)
    return list(best.values())


class _Allowed:
    """A filter of findings: the kinds, scores and words that a request allows."""

    def __init__(self, asked: AnalyzeRequest) -> None:
        self._kinds: Collection[str] | None = frozenset(asked.entities) if asked.entities else None
        self._least = asked.score_threshold or 0.0
        self._words = frozenset(asked.allow_list or ()) if asked.allow_list_match != "regex" else frozenset()
        self._pattern: regex.Pattern[str] | None = None
        if asked.allow_list and asked.allow_list_match == "regex":
            flags = FLAGS if asked.regex_flags is None else asked.regex_flags
            self._pattern = compiled("|".join(asked.allow_list), flags)

    def kept(self, text: str, found: list[MarkedRange]) -> list[RecognizerResult]:
        return [
            RecognizerResult(each.kind, each.start, each.end, each.score)
            for each in found
            if each.score >= self._least
            and (self._kinds is None or each.kind in self._kinds)
            and not self._is_allowed(text[each.start : each.end])
        ]

    def _is_allowed(self, text: str) -> bool:
        if self._pattern is None:
            return text in self._words
        try:
            return self._pattern.search(text, timeout=ALLOWED_SECONDS) is not None
        except TimeoutError:
            raise InvalidOptions("The patterns of `allow_list` take too long.") from None


def _refuse_unknown(asked: AnalyzeRequest, known: Collection[str]) -> None:
    wanted, own = set(asked.entities or ()), {each.supported_entity for each in asked.ad_hoc_recognizers or ()}
    if wanted and not wanted & own and not wanted & set(known):
        raise InvalidOptions("No matching recognizers were found to serve the request.")


async def _anonymize(request: Request) -> Response:
    context = authorize_request(request)
    wanted = await decode_body(await receive_body(request, context), context, AnonymizeRequest)
    context.charge_documents()
    context.state.worker.extractor.check_text(wanted.text)
    if any(not each.start <= each.end <= len(wanted.text) for each in wanted.analyzer_results):
        raise MalformedRequest("A result of `analyzer_results` is outside the text.")
    salt = secrets.token_bytes(16)
    operators = {name: each.operator(salt) for name, each in (wanted.anonymizers or {}).items()}
    default = operators.get(_DEFAULT, replace_by(None))
    marked = [MarkedRange(each.entity_type, each.start, each.end, each.score) for each in wanted.analyzer_results]
    work = asyncio.to_thread(anonymize, wanted.text, marked, lambda kind: operators.get(kind, default))
    text, items = await work
    said = [
        {"start": i.start, "end": i.end, "entity_type": i.kind, "text": i.text, "operator": i.operator}
        for i in reversed(items)
    ]
    return Response(msgspec.json.encode({"text": text, "items": said}), media_type=JSON)


async def _supported_entities(request: Request) -> Response:
    context = authorize_request(request)
    model = find_model(context.state.worker.engine.status.models, None)
    return Response(msgspec.json.encode(_kinds(model.labels)), media_type=JSON)


async def _recognizers(request: Request) -> Response:
    models = authorize_request(request).state.worker.engine.status.models
    return Response(msgspec.json.encode(list(dict.fromkeys(each.name for each in models))), media_type=JSON)


async def _anonymizers(_request: Request) -> Response:
    return Response(msgspec.json.encode(OPERATORS), media_type=JSON)


async def _health(request: Request) -> Response:
    state: AppState = request.state.app_state
    serves = is_serving(state.worker.engine.status, state.worker.engine.connected)
    said = "Presidio Analyzer service is up" if serves else "The service is not ready"
    return PlainTextResponse(said, 200 if serves else 503)


def _kinds(labels: tuple[str, ...]) -> list[str]:
    """The kinds of entities that a model finds, as Presidio names them."""
    return list(dict.fromkeys(_KINDS.get(each, each) for each in scheme_of(labels).types))


def refuse(error: GleanerError) -> Response:
    """An error as Presidio puts it."""
    return refusal(error, {"error": problems.problem(error)["detail"]})


PATTERN_SECONDS = 2.0
MOST_PATTERNS = 200
MOST_MATCHES = 100_000
_KNOWN_FLAGS = FLAGS | int(regex.VERBOSE | regex.ASCII)
_TOO_LONG = f"The patterns of a request have {PATTERN_SECONDS:g} s together; these take longer."
_AT_ONCE = asyncio.Semaphore(2)


class PatternSearch:
    """The compiled patterns of one request, and the time that they have left."""

    def __init__(self, recognizers: Sequence[AdHocRecognizer]) -> None:
        if sum(len(each.patterns) + len(each.deny_list) for each in recognizers) > MOST_PATTERNS:
            raise InvalidOptions(f"A request may bring {MOST_PATTERNS} patterns and words.")
        self._left_seconds = PATTERN_SECONDS
        self._patterns = [found for each in recognizers for found in _compiled(each)]

    async def find(self, text: str) -> list[MarkedRange]:
        """All that the patterns match in a text.

        Raises:
            InvalidOptions: they take too long, or match too much.
        """
        async with _AT_ONCE:
            return await asyncio.to_thread(self._find, text)

    def _find(self, text: str) -> list[MarkedRange]:
        begun = time.monotonic()
        found: list[MarkedRange] = []
        for kind, pattern, score in self._patterns:
            left = self._left_seconds - (time.monotonic() - begun)
            if left <= 0:
                raise InvalidOptions(_TOO_LONG)
            try:
                for match in pattern.finditer(text, timeout=left, concurrent=True):
                    if match.start() < match.end():
                        found.append(MarkedRange(kind, match.start(), match.end(), score))
                    if len(found) > MOST_MATCHES:
                        raise InvalidOptions(f"The patterns match more than {MOST_MATCHES:,} times.")
            except TimeoutError:
                raise InvalidOptions(_TOO_LONG) from None
        self._left_seconds -= time.monotonic() - begun
        return found


def compiled(source: str, flags: int) -> regex.Pattern[str]:
    """A stranger's pattern.

    Raises:
        InvalidOptions: it is none.
    """
    try:
        pattern: regex.Pattern[str] = regex.compile(source, flags & _KNOWN_FLAGS, cache_pattern=False)
    except (regex.error, ValueError, RecursionError, OverflowError) as error:
        raise InvalidOptions(f"{source[:60]!r} is no pattern: {error}.") from None
    return pattern


def _compiled(recognizer: AdHocRecognizer) -> list[tuple[str, regex.Pattern[str], float]]:
    kind, flags = recognizer.supported_entity, recognizer.global_regex_flags
    found = [(kind, compiled(each.regex, flags), each.score) for each in recognizer.patterns]
    if recognizer.deny_list:
        words = "|".join(map(regex.escape, recognizer.deny_list))
        found.append((kind, compiled(rf"(?:^|(?<=\W))(?:{words})(?=\W|$)", flags), recognizer.deny_list_score))
    return found


_FOUND = openapi.of(RecognizerResult)
_ANALYZE = operation(
    "Presidio: personal data in a text",
    body={JSON: openapi.of(AnalyzeRequest)},
    answer={JSON: {"type": "array", "items": {"anyOf": [_FOUND, {"type": "array", "items": _FOUND}]}}},
    error=ERROR_TEXT,
)
_ANONYMIZE = operation(
    "Presidio: a text without what was found in it",
    body={JSON: openapi.of(AnonymizeRequest)},
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
    bodies=(AnalyzeRequest, AnonymizeRequest),
)

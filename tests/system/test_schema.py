"""/openapi.json is true: requests drawn from it are answered, and no answer is outside it. By schemathesis.

What the schema cannot know is put right in each request that is to be valid: the name of a model that is served, a
deadline that a busy machine can keep, pages that hold their words, and files that are files. Then nearly every one of
them has to be answered.
`SCHEMA_EXAMPLES=500 pytest tests/system/test_schema.py` draws more of them.
"""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument, Unsatisfiable
from schemathesis import Case, GenerationMode, HookContext, Response
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import positive_data_acceptance

from service.api.adapters.registry import open_adapters
from service.api.problems import MEDIA_TYPE, STATUS
from service.signals.routes import ADAPTERS
from tests.support.document_files import simple_docx, simple_pdf
from tests.support.drawn_sheets import sheet
from tests.support.extraction import TEXT
from tests.support.service import Service, serving

EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "150"))
ADAPTER_EXAMPLES = EXAMPLES // 6
"""For each of the adapters' routes."""
FEWEST_REQUESTS = 50
FEWEST_ANSWERED = 0.9
"""Least share of the valid requests that is answered."""
DEADLINE_MS = 240_000
PATHS = ("/extract", "/redact")
REFUSALS = frozenset({STATUS["not_ready"], STATUS["deadline_exceeded"], STATUS["insufficient_memory"]})
"""Server errors that are typed refusals."""
FILES = {
    "application/pdf": simple_pdf("Anna Smith paid"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": simple_docx("Anna Smith paid"),
    "text/html": f"<p>{TEXT}</p>".encode(),
    "text/plain": TEXT.encode(),
    "text/markdown": f"# {TEXT}".encode(),
}
FORM = "multipart/form-data"
TEXT_ONLY = frozenset(each for each in FILES if each.endswith(("wordprocessingml.document", "html")))
"""What is redacted as a text alone."""
PICTURE = base64.b64encode(sheet().file()).decode()
for media_type, file in FILES.items():
    schemathesis.openapi.media_type(media_type, st.just(file))


def known(values: Any) -> Any:
    """Options with a model that is served, its labels, a deadline that can be kept, no hashes without a key, pages that
    hold their words; no schema, which this model does not take.
    """
    if isinstance(values, dict):
        labels = ["PER", "ORG"] if isinstance(values.get("labels"), list) else "PER,ORG"
        right: dict[str, Any] = {
            "model": "tiny",
            "labels": labels,
            "min_score": 0.25,
            "deadline_ms": DEADLINE_MS,
            "mode": "mask",
        }
        right["overlaps"] = "flat"  # Others are those of models with free labels.
        right["pages"] = placed(values.get("pages") or [])
        kept = {name: value for name, value in values.items() if name != "schema"}
        return {name: right.get(name, value) if value is not None else None for name, value in kept.items()}
    return values


def placed(pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pages with their words inside, and pictures that are pictures."""
    return [
        {
            **page,
            "words": [{**word, "box": [0, 0, page["width"], page["height"]]} for word in page["words"]],
            "image": page.get("image") and PICTURE,
        }
        for page in pages
    ]


def redactable(case: Case[Any]) -> Case[Any]:
    """A request to /redact of which Word and HTML come back as text; its body is left as it is, which is checked."""
    if case.media_type in TEXT_ONLY:
        case.query = {**(case.query or {}), "output": "text"}
    return case


def without_raw(options: dict[str, Any]) -> dict[str, Any]:
    """Options of /redact that ask for a report, which several documents need."""
    return {name: value for name, value in options.items() if name != "raw"}


def schema_of(service: Service) -> Any:
    """The service's own OpenAPI document."""
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    schema.config.checks.negative_data_rejection.expected_statuses = ["4xx", "5xx"]
    return schema


def schema_with_what_it_cannot_know(service: Service) -> Any:
    """The schema as a source of requests that can be answered."""
    schema = schema_of(service)

    def map_query(_context: HookContext, query: Any) -> Any:
        return known(without_raw(query)) if isinstance(query, dict) else query

    def map_body(_context: HookContext, body: Any) -> Any:
        if isinstance(body, dict) and "file" in body:
            body = {**body, "file": list(FILES.values())[: len(body["file"])]}
        if isinstance(body, dict) and len(body.get("documents") or body.get("file") or ()) > 1:
            body = without_raw(body)
        return known(body)

    def map_case(_context: HookContext, case: Case[Any]) -> Case[Any]:
        return redactable(case) if case.path == "/redact" else case

    for hook in (map_query, map_body, map_case):
        schema.hook(hook)
    return schema


def reads_as_right(case: Case[Any]) -> bool:
    """True for a form whose options are right though the schema says otherwise.

    A list of one value is written as the value is, and an option that is left empty is not there.
    """
    if case.media_type != FORM or not isinstance(case.body, dict):
        return False
    return any(isinstance(value, list) or value == "" for name, value in case.body.items() if name != "file")


@st.composite
def drawable(draw: st.DrawFn, cases: st.SearchStrategy[Case[Any]]) -> Case[Any]:
    """The cases that schemathesis can draw: on some forms with files it fails (`Unsupported type: 'Binary'`)."""
    try:
        return draw(cases)
    except ValueError:
        reject()


def fails_alone(case: Case[Any]) -> bool:
    """True for a list of documents of which one is bad: it has its own error, in an answer with status 200."""
    documents = case.body.get("documents") if isinstance(case.body, dict) else None
    return isinstance(documents, list) and any(isinstance(each, dict) for each in documents)


def answer(case: Case[Any]) -> Response:
    """The answer to a request, which is one that the schema lists."""
    response = case.call_and_validate(timeout=DEADLINE_MS / 1000, excluded_checks=[not_a_server_error])
    assert response.status_code < 500 or response.status_code in REFUSALS
    return response


SETTINGS = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("path", PATHS)
def test_valid_requests_are_answered_as_the_schema_says(service: Service, path: str) -> None:
    statuses: Counter[int] = Counter()
    valid = schema_with_what_it_cannot_know(service)[path]["POST"]

    @settings(SETTINGS, max_examples=EXAMPLES)
    @given(case=valid.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def ask(case: Case[Any]) -> None:
        statuses[answer(case).status_code] += 1

    ask()
    assert statuses.total() >= FEWEST_REQUESTS
    assert statuses[200] / statuses.total() >= FEWEST_ANSWERED, statuses


@pytest.mark.parametrize("path", PATHS)
def test_spoilt_requests_are_answered_as_the_schema_says(service: Service, path: str) -> None:
    statuses: Counter[int] = Counter()

    @settings(SETTINGS, max_examples=EXAMPLES)
    @given(case=drawable(schema_of(service)[path]["POST"].as_strategy(generation_mode=GenerationMode.NEGATIVE)))
    def ask(case: Case[Any]) -> None:
        assume(not reads_as_right(case))
        assume(not fails_alone(case))
        response = answer(case)
        statuses[response.status_code] += 1
        if response.status_code >= 400:
            assert response.headers["content-type"] == [MEDIA_TYPE]

    ask()
    assert statuses.total() >= FEWEST_REQUESTS
    assert statuses[422] + statuses[400] > 0


@pytest.fixture(scope="module")
def all_adapters(home: Path) -> Iterator[Service]:
    """A service with every adapter open."""
    with serving(home, MODELS="tiny,other", DTYPE="float32", ADAPTERS=",".join(ADAPTERS)) as service:
        yield service


def test_the_schema_has_every_route_of_every_adapter(all_adapters: Service) -> None:
    shown = all_adapters.get("/openapi.json").json()["paths"]
    for path, routes in open_adapters(ADAPTERS).operations().items():
        assert {each.method.lower() for each in routes} <= set(shown[path]), path


ADAPTER_ROUTES = [
    ("/", "POST"),
    ("/models/{model}", "POST"),
    ("/invocations", "POST"),
    ("/endpoints/{endpoint}/invocations", "POST"),
    ("/ping", "GET"),
    ("/v2", "GET"),
    ("/v2/health/ready", "GET"),
    ("/v2/models/{model}", "GET"),
    ("/v2/models/{model}/infer", "POST"),
    ("/v2/models/{model}/versions/{version}/infer", "POST"),
    ("/analyze", "POST"),
    ("/anonymize", "POST"),
    ("/supportedentities", "GET"),
    ("/recognizers", "GET"),
    ("/anonymizers", "GET"),
    ("/health", "GET"),
    ("/service/Comprehend_20171127/operation/{operation}", "POST"),
    ("/mcp", "POST"),
    ("/mcp", "GET"),
    ("/mcp", "DELETE"),
]
"""At `/` are two adapters."""


@pytest.mark.parametrize(("path", "method"), ADAPTER_ROUTES)
def test_adapters_answer_as_the_schema_says_whatever_comes(all_adapters: Service, path: str, method: str) -> None:
    operation = schema_of(all_adapters)[path][method]
    statuses: Counter[int] = Counter()

    @settings(SETTINGS, max_examples=ADAPTER_EXAMPLES)
    @given(data=st.data(), mode=st.sampled_from(GenerationMode))
    def ask(data: st.DataObject, mode: GenerationMode) -> None:
        try:
            case = data.draw(operation.as_strategy(generation_mode=mode))
        except (Unsatisfiable, InvalidArgument):
            reject()
        assume(mode is GenerationMode.POSITIVE or not fails_alone(case))
        response = case.call_and_validate(
            timeout=DEADLINE_MS / 1000, excluded_checks=[not_a_server_error, positive_data_acceptance]
        )
        assert response.status_code < 500 or response.status_code in REFUSALS
        statuses[response.status_code] += 1

    ask()
    assert statuses.total() > 0


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/models", "/metrics"])
def test_the_other_routes_answer_as_the_schema_says(service: Service, path: str) -> None:
    response = answer(schema_of(service)[path]["GET"].Case())
    assert response.status_code == 200

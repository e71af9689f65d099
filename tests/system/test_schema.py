"""/openapi.json is true: requests drawn from it are answered, and no answer is outside it. By schemathesis.

What the schema cannot know is put right in each request that is to be valid: the name of a model that is served, a
deadline that a busy machine can keep, and files that are files. Then nearly every one of them has to be answered.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument, Unsatisfiable
from schemathesis import Case, GenerationMode, HookContext, Response
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import positive_data_acceptance

from service.api.problems import MEDIA_TYPE, STATUS
from tests.support.document_files import simple_docx, simple_pdf
from tests.support.extraction import TEXT
from tests.support.service import Service

FEWEST_REQUESTS = 50
FEWEST_ANSWERED = 0.9
"""Of the valid requests, as a share."""
DEADLINE_MS = 240_000
REFUSALS = frozenset({STATUS["not_ready"], STATUS["deadline_exceeded"], STATUS["insufficient_memory"]})
"""Server errors that are typed refusals."""
FILES = {
    "application/pdf": simple_pdf("Anna Smith paid"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": simple_docx("Anna Smith paid"),
    "text/html": f"<p>{TEXT}</p>".encode(),
    "text/plain": TEXT.encode(),
    "text/markdown": f"# {TEXT}".encode(),
}
for media_type, file in FILES.items():
    schemathesis.openapi.media_type(media_type, st.just(file))


def known(values: Any) -> Any:
    """Options with a model that is served and a deadline that can be kept."""
    if isinstance(values, dict):
        right = {"model": "tiny", "deadline_ms": DEADLINE_MS}
        return {name: right.get(name, value) if value is not None else None for name, value in values.items()}
    return values


def schema_of(service: Service) -> Any:
    """The service's own OpenAPI document."""
    schema = schemathesis.openapi.from_url(f"{service.url}/openapi.json")
    schema.config.checks.negative_data_rejection.expected_statuses = ["4xx", "5xx"]
    return schema


def schema_with_what_it_cannot_know(service: Service) -> Any:
    """The schema as a source of requests that can be answered."""
    schema = schema_of(service)

    def map_query(_context: HookContext, query: Any) -> Any:
        return known(query)

    def map_headers(_context: HookContext, headers: Any) -> Any:
        return {**headers, "Idempotency-Key": uuid4().hex} if headers and "Idempotency-Key" in headers else headers

    def map_body(_context: HookContext, body: Any) -> Any:
        if isinstance(body, dict) and "file" in body:
            body = {**body, "file": list(FILES.values())[: len(body["file"])]}
        return known(body)

    for hook in (map_query, map_headers, map_body):
        schema.hook(hook)
    return schema


def answer(case: Case[Any]) -> Response:
    """The answer to a request, which is one that the schema lists."""
    response = case.call_and_validate(timeout=DEADLINE_MS / 1000, excluded_checks=[not_a_server_error])
    assert response.status_code < 500 or response.status_code in REFUSALS
    return response


SETTINGS = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def test_valid_requests_are_answered_as_the_schema_says(service: Service) -> None:
    statuses: Counter[int] = Counter()
    valid = schema_with_what_it_cannot_know(service)["/extract"]["POST"]

    @settings(SETTINGS, max_examples=150)
    @given(case=valid.as_strategy(generation_mode=GenerationMode.POSITIVE))
    def ask(case: Case[Any]) -> None:
        statuses[answer(case).status_code] += 1

    ask()
    assert statuses.total() >= FEWEST_REQUESTS
    assert statuses[200] / statuses.total() >= FEWEST_ANSWERED, statuses


def test_spoilt_requests_are_answered_as_the_schema_says(service: Service) -> None:
    statuses: Counter[int] = Counter()

    @settings(SETTINGS, max_examples=150)
    @given(case=schema_of(service)["/extract"]["POST"].as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def ask(case: Case[Any]) -> None:
        response = answer(case)
        statuses[response.status_code] += 1
        if response.status_code >= 400:
            assert response.headers["content-type"] == [MEDIA_TYPE]

    ask()
    assert statuses.total() >= FEWEST_REQUESTS
    assert statuses[422] + statuses[400] > 0


DOOR_ROUTES = [
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
]
"""Of the doors that are open by default."""


@pytest.mark.parametrize(("path", "method"), DOOR_ROUTES)
def test_doors_answer_as_the_schema_says_whatever_comes(service: Service, path: str, method: str) -> None:
    operation = schema_of(service)[path][method]
    statuses: Counter[int] = Counter()

    @settings(SETTINGS, max_examples=25)
    @given(data=st.data(), mode=st.sampled_from(GenerationMode))
    def ask(data: st.DataObject, mode: GenerationMode) -> None:
        try:
            case = data.draw(operation.as_strategy(generation_mode=mode))
        except (Unsatisfiable, InvalidArgument):
            reject()
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

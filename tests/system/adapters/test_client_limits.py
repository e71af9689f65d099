"""A client's limits hold on every route that reads a body, whether its length was declared or not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.document_files import simple_pdf
from tests.support.service import Service, serving
from tests.system.adapters.conftest import ADAPTERS

TEXT = "Jane Doe " * 300
JSON, PDF = "application/json", "application/pdf"
TENSOR = {"name": "text", "datatype": "BYTES", "shape": [1], "data": [TEXT]}
TOOL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "extract", "arguments": {"text": TEXT}}}
ROUTES = {
    "/extract": {"text": TEXT},
    "/redact": {"text": TEXT},
    "/models/tiny": {"inputs": TEXT},
    "/invocations": {"inputs": TEXT},
    "/v2/models/tiny/infer": {"inputs": [TENSOR]},
    "/analyze": {"text": TEXT, "language": "en"},
    "/anonymize": {"text": TEXT, "analyzer_results": []},
    "/mcp": TOOL,
    "/gliner": {"text": TEXT, "labels": ["PER"]},
    "/gliner-2": {"task": "extract_entities", "text": TEXT, "schema": ["PER"]},
}
BODIES = {path: (json.dumps(body).encode(), JSON) for path, body in ROUTES.items()}
BODIES["/console/picture"] = (simple_pdf(*["Jane Doe"] * 40), PDF)
BODIES["/extract?bad"] = (b'{"text":' + b" " * 3_000, JSON)
BODIES["/analyze?bad"] = (b'{"text": [1, ' + b" " * 3_000, JSON)
LIMITS = {"bytes": "bytes_per_second=4", "documents": "documents_per_second=0.005"}
"""A row of requests is over before such a client may send again, however slow they are."""
CASES = [(path, limit, chunked) for path in BODIES for limit in LIMITS for chunked in (False, True)]


@pytest.fixture(scope="module")
def limited(home: Path) -> Iterator[Service]:
    """A service whose clients are named by the test's cases, each with one limit; the client `free` has none."""
    digest = hashlib.sha256(b"free").hexdigest()
    lines = [f"free {digest}"]
    for number, (_, limit, _) in enumerate(CASES):
        lines.append(f"c{number} {hashlib.sha256(b'k%d' % number).hexdigest()} {LIMITS[limit]}")
    with serving(home, MODELS="tiny", ADAPTERS=ADAPTERS, API_KEYS="\n".join(lines)) as service:
        yield service


def statuses(service: Service, path: str, key: str, *, chunked: bool) -> list[int]:
    """What becomes of a row of requests."""
    body, media_type = BODIES[path]
    headers = {"Content-Type": media_type, "X-API-Key": key, "Accept": "application/json, text/event-stream"}
    with service.client() as client:

        def ask() -> httpx.Response:
            content = iter([body[:100], body[100:]]) if chunked else body
            return client.post(path, content=content, headers=headers)

        return [ask().status_code for _ in range(12)]


@pytest.mark.parametrize("number", range(len(CASES)), ids=["-".join(map(str, case)) for case in CASES])
def test_a_client_over_its_limit_is_refused_on_every_route(limited: Service, number: int) -> None:
    path, _, chunked = CASES[number]
    answers = statuses(limited, path, f"k{number}", chunked=chunked)
    assert answers[0] != 429
    assert answers[-1] == 429, answers


@pytest.mark.parametrize("path", BODIES)
def test_a_client_without_limits_is_not(limited: Service, path: str) -> None:
    assert 429 not in statuses(limited, path, "free", chunked=True)

"""Spans of real requests, as a real receiver of OTLP over HTTP gets them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.document_files import simple_pdf
from tests.support.extraction import TEXT
from tests.support.local_http import Call, Reply, http_server
from tests.support.service import Service, serving, wait_until

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
STAGES = {"receive", "parse", "tokenize", "queue", "batch", "decode", "answer"}


Span = tuple[str, str, str, dict[str, str]]
"""Name, trace id, parent's id and attributes."""


class Collector:
    """A receiver of spans on the loopback."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def receive(self, call: Call) -> Reply:
        self.bodies.append(gzip.decompress(call.body) if call.headers.get("Content-Encoding") == "gzip" else call.body)
        return Reply()

    def spans(self) -> list[Span]:
        """Each span so far."""
        found = []
        for body in list(self.bodies):
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        attributes = {each.key: str(each.value) for each in span.attributes}
                        found.append((span.name, span.trace_id.hex(), span.parent_span_id.hex(), attributes))
        return found


@pytest.fixture(scope="module")
def traced(home: Path) -> Iterator[tuple[Service, Collector]]:
    collector = Collector()
    with http_server(collector.receive) as url, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        patch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        with serving(home, MODELS="tiny", DTYPE="float32", WORKERS=1) as service:
            yield service, collector


def test_all_stages_of_a_request_arrive_in_its_callers_trace(traced: tuple[Service, Collector]) -> None:
    service, collector = traced
    with service.client() as client:
        files = {"file": ("secret-name.pdf", simple_pdf("Anna Smith paid"))}
        answer = client.post("/extract", files=files, headers={"traceparent": CALLER})
        assert answer.status_code == 200

    def spans_of_the_caller() -> list[Span]:
        return [span for span in collector.spans() if span[1] == CALLER[3:35]]

    # The spans of a trace may come in several batches.
    wait_until(lambda: {name for name, *_ in spans_of_the_caller()} >= STAGES | {"POST /extract"})
    spans = spans_of_the_caller()
    assert {name for name, *_ in spans} == STAGES | {"POST /extract"}
    assert [parent for name, _, parent, _ in spans if name == "POST /extract"] == [CALLER[36:52]]
    attributes = str([attributes for *_, attributes in spans])
    assert "Smith" not in attributes
    assert "secret-name" not in attributes


def test_the_access_log_has_the_trace_id(traced: tuple[Service, Collector]) -> None:
    service, _ = traced
    service.extract(text=TEXT).raise_for_status()
    lines = [json.loads(line) for line in service.log.read_text().splitlines() if line.startswith("{")]
    requests = [line for line in lines if line.get("logger") == "gleaner.access"]
    assert requests
    assert all(len(line["trace_id"]) == 32 for line in requests)

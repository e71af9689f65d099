"""What the service says over HTTP beside its results: no answer without a type, nothing for another page to misuse."""

from __future__ import annotations

import re
import socket
import subprocess
from functools import partial

import httpx
import pytest

from service.api.problems import STATUS
from tests.support.extraction import TEXT, assert_problem
from tests.support.service import Service, wait_until

GETS = ("/livez", "/readyz", "/models", "/metrics", "/docs", "/openapi.json")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "unknown_route"),
        ("GET", "/livez/", 404, "unknown_route"),
        ("GET", "/redoc", 404, "unknown_route"),
        ("GET", "/extract", 405, "wrong_method"),
        ("HEAD", "/extract", 405, ""),
        ("DELETE", "/models", 405, "wrong_method"),
        ("OPTIONS", "/extract", 405, "wrong_method"),
        ("POST", "/livez", 405, "wrong_method"),
    ],
)
def test_what_is_not_routed_has_a_problem_document(
    service: Service, method: str, path: str, status: int, code: str
) -> None:
    with service.client() as client:
        answer = client.request(method, path)
    assert ("allow" in answer.headers) == (status == 405)
    if code:
        assert_problem(answer, status, code)
    else:
        assert (answer.status_code, answer.content) == (status, b"")


def test_every_answer_has_the_security_headers_and_no_word_of_its_server(service: Service) -> None:
    with service.client() as client:
        answers = [client.get(path) for path in (*GETS, "/nowhere")]
        answers.append(client.post("/extract", json={"text": TEXT}))
        answers.append(client.post("/extract", content=b"{", headers={"Content-Type": "application/json"}))
    for answer in answers:
        assert answer.headers["x-content-type-options"] == "nosniff", answer.url
        assert answer.headers["cache-control"] == "no-store"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers
        assert "x-request-id" in answer.headers


@pytest.mark.parametrize(
    ("method", "path", "word"),
    [
        ("POST", "/extract/", "/extract?"),
        ("POST", "/redact//", "/redact?"),
        ("GET", "/models/", "/models?"),
        ("GET", "/extract", "POST"),
        ("PUT", "/redact", "POST"),
        ("POST", "/readyz", "GET"),
    ],
)
def test_a_near_miss_is_told_what_is_meant(service: Service, method: str, path: str, word: str) -> None:
    with service.client() as client:
        assert word in client.request(method, path).json()["detail"]
        assert "Do you mean" not in client.request(method, "/nowhere/").json()["detail"]


@pytest.mark.parametrize("path", GETS)
def test_head_is_get_without_its_body(service: Service, path: str) -> None:
    with service.client() as client:
        asked, whole = client.head(path), client.get(path)
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["content-type"] == whole.headers["content-type"]


def test_the_page_of_docs_is_complete_without_another_host(service: Service) -> None:
    answer = service.get("/docs")
    assert answer.headers["content-type"].startswith("text/html")
    assert not re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(?:https?:)?//""", answer.text)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for asset in re.findall(r"""(?:src|href)="(docs/[^"]+)""", answer.text):
        loaded = service.get(f"/{asset}")
        assert (loaded.status_code, loaded.headers["content-type"].partition(";")[0]) == (
            200,
            "text/css" if asset.endswith(".css") else "text/javascript",
        )


def test_openapi_tells_the_type_of_metrics_and_the_errors_of_every_route(service: Service) -> None:
    document = service.get("/openapi.json").json()
    responses = document["paths"]["/metrics"]["get"]["responses"]
    assert list(responses["200"]["content"]) == ["text/plain"]
    assert service.get("/metrics").headers["content-type"].startswith("text/plain")
    for path, methods in document["paths"].items():
        for operation in methods.values():
            own = path in GETS or path in ("/extract", "/redact")
            refused = {"400", "405", "408", "413", "414", "431", "500", "503"} if own else {"4XX", "5XX"}
            assert refused <= set(operation["responses"])
    assert {str(status) for status in STATUS.values()} <= set(document["paths"]["/extract"]["post"]["responses"])


def test_a_request_id_is_taken_over_if_it_is_plain_and_else_replaced(service: Service) -> None:
    with service.client() as client:
        for sent, taken in (("job-7/a.b:c", True), ("x" * 129, False), ("a b", False), ("a\x85b", False), ("", False)):
            answer = client.get("/livez", headers=httpx.Headers({"X-Request-Id": sent}, encoding="latin-1"))
            assert (answer.headers["x-request-id"] == sent) == taken, repr(sent)


def test_no_line_of_the_log_can_be_broken_by_what_a_client_sends(service: Service) -> None:
    with service.client() as client:
        client.post("/extract", json={"text": TEXT, "model": "a\u2028b\u0085c"})
    assert "\u0085" not in service.log.read_text()
    assert "\u2028" not in service.log.read_text()


def test_heads_are_bounded_by_the_real_service_too(service: Service) -> None:
    host, _, port = service.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as caller:
        caller.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n" + b"a: b\r\n" * 101)
        assert caller.recv(100).startswith(b"HTTP/1.1 431 ")
    assert service.get("/livez").status_code == 200


def test_metrics_name_models_processes_and_build(service: Service) -> None:
    assert service.extract(text=TEXT).status_code == 200
    wait_until(lambda: service.metric("process_cpu_seconds_total{") > 0)
    wait_until(lambda: service.metric('process_resident_memory_bytes{process="parser"}') > 0)
    shown = service.get("/metrics").text
    served = {(each["name"], each["revision"]) for each in service.get("/models").json()["models"]}
    assert set(re.findall(r'[{,]model="([^"]*)"', shown)) == {name for name, _ in served}
    assert set(re.findall(r'model="([^"]*)".*revision="([^"]*)"', shown)) == served
    assert service.metric("gleaner_build_info{") == 1
    for name in ("cpu_seconds_total", "resident_memory_bytes", "start_time_seconds", "open_fds", "max_fds"):
        for process in ("engine", "worker"):
            assert service.metric(f'process_{name}{{process="{process}"}}') > 0, (name, process)


def test_batch_work_is_counted_and_its_time_is_not(service: Service) -> None:
    """Nobody waits for it: among those of interactive requests it would look like a slow service."""
    counted, timed = 'gleaner_requests_total{route="/extract"', 'gleaner_request_seconds_count{route="/extract"}'
    requests, times = service.metric(counted), service.metric(timed)
    for number, priority in enumerate(("batch", "interactive", "batch"), 1):
        assert service.extract(text=TEXT, priority=priority).status_code == 200
        wait_until(partial(lambda least: service.metric(counted) >= least, requests + number))
    assert service.metric(timed) == times + 1


@pytest.mark.second_tier
def test_promtool_finds_nothing_to_say_of_the_metrics(service: Service) -> None:
    shown = service.get("/metrics").text
    checked = subprocess.run(["promtool", "check", "metrics"], input=shown, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")

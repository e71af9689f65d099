"""Which adapter a request is for, what is imported for it, and refusals in its protocol's form."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from service.api.adapters.registry import AdapterRegistry, open_adapters
from service.api.app import create_app
from service.api.extraction.trace import TraceBook
from service.api.middleware import ActiveRequests
from service.core.errors import QueueFull
from service.metrics.worker import WorkerMetrics
from service.settings import BadSettings, Settings, read_settings
from service.signals.routes import ADAPTERS

AMZ = ((b"x-amz-target", b"Comprehend_20171127.DetectEntities"),)


def ask(settings: Settings, method: str, path: str) -> httpx.Response:
    """What the application of a worker answers, whose parts are not started."""
    worker = SimpleNamespace(metrics=WorkerMetrics(), active_requests=ActiveRequests(), traces=TraceBook())
    app = create_app(settings)

    async def with_state(scope: Scope, receive: Receive, send: Send) -> None:
        state = {"app_state": SimpleNamespace(worker=worker, tracing=None)}
        await app({**scope, "state": state}, receive, send)

    async def answer() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(with_state), base_url="http://localhost") as client:
            return await client.request(method, path)

    return asyncio.run(answer())


@pytest.fixture(scope="module")
def registry() -> AdapterRegistry:
    return open_adapters(ADAPTERS)


@pytest.mark.parametrize(
    ("method", "path", "adapter", "parameters"),
    [
        ("POST", "/", "huggingface", {}),
        ("POST", "/models/org/name", "huggingface", {"model": "org/name"}),
        ("GET", "/ping", "sagemaker", {}),
        ("POST", "/endpoints/e/invocations", "sagemaker", {"endpoint": "e"}),
        ("GET", "/v2/models/m/versions/sha256:1", "oip", {"model": "m", "version": "sha256:1"}),
        ("POST", "/v2/models/m/infer", "oip", {"model": "m"}),
        ("POST", "/analyze", "presidio", {}),
        ("POST", "/gliner", "gliner", {}),
        ("POST", "/gliner/org/name", "gliner", {"model": "org/name"}),
        ("POST", "/gliner-2", "gliner2", {}),
        ("POST", "/name/gliner-2", "gliner2", {"model": "name"}),
        ("POST", "/mcp", "mcp", {}),
    ],
)
def test_a_path_leads_to_its_adapter(
    registry: AdapterRegistry, method: str, path: str, adapter: str, parameters: dict[str, str]
) -> None:
    match = registry.find(method, path, ())
    assert match is not None
    assert (match.adapter.name, match.parameters) == (adapter, parameters)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/"), ("POST", "/v2/models/a/b/infer"), ("POST", "/extract"), ("POST", "/models/")]
)
def test_other_paths_are_no_adapter_s(registry: AdapterRegistry, method: str, path: str) -> None:
    assert registry.find(method, path, ()) is None


def test_at_one_path_a_header_decides(registry: AdapterRegistry) -> None:
    match = registry.find("POST", "/", AMZ)
    assert match is not None
    assert match.adapter.name == "comprehend"
    assert open_adapters(["comprehend"]).find("POST", "/", ()) is None


def test_a_wrong_method_is_refused_in_the_protocol_s_form() -> None:
    answer = ask(Settings(adapters=("sagemaker",)), "GET", "/invocations")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert answer.headers["x-amzn-errortype"] == "ValidationError"
    closed = ask(Settings(adapters=()), "GET", "/invocations")
    assert (closed.status_code, closed.json()["code"]) == (404, "unknown_route")


@pytest.mark.parametrize(("console", "expected"), [("off", (404, "unknown_route")), ("on", (405, "wrong_method"))])
def test_other_methods_of_the_root_are_not_an_adapter_s(console: str, expected: tuple[int, str]) -> None:
    answer = ask(Settings(adapters=("huggingface",), console=console), "DELETE", "/")
    assert (answer.status_code, answer.json()["code"]) == (
        (405, "wrong_method") if console == "on" else (404, "unknown_route")
    )


@pytest.mark.parametrize(
    ("method", "path", "owned"),
    [
        ("GET", "/v2/models/m/config", True),
        ("POST", "/v2/repository/index", True),
        ("GET", "/v2/", True),
        ("GET", "/v3/models", False),
        ("GET", "/v2x", False),
    ],
)
def test_a_path_that_a_protocol_lacks_is_refused_in_its_form(method: str, path: str, owned: bool) -> None:
    answer = ask(Settings(adapters=("oip",)), method, path)
    assert answer.status_code == 404
    assert (answer.headers["content-type"], next(iter(answer.json()))) == (
        ("application/json", "error") if owned else ("application/problem+json", "type")
    )


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_refusal_for_load_is_in_the_protocol_s_form_with_its_hint(registry: AdapterRegistry, name: str) -> None:
    route = next(each for opened in registry.adapters if opened.name == name for each in opened.routes if each.works)
    path = route.path.replace("{model:path}", "m").replace("{model}", "m").replace("{endpoint}", "e")
    said = registry.translation(
        route.method, path, AMZ if route.header else (), QueueFull("full", retry_after_seconds=2.1)
    )
    assert said is not None
    assert said.route == name
    assert said.response.status_code == 429
    assert said.response.headers["retry-after"] == "3"
    assert b"full" in bytes(said.response.body)


LIST_MODULES = """
import asyncio, sys
from service.api.app import create_app
from service.settings import Settings
async def start() -> None:
    state = {{}}
    started, ended = asyncio.Event(), asyncio.Event()
    async def receive():
        if started.is_set():
            await ended.wait()
            return {{"type": "lifespan.shutdown"}}
        return {{"type": "lifespan.startup"}}
    async def send(message):
        assert not message["type"].endswith("failed"), message
        started.set()
    app = create_app(Settings(adapters={adapters}, runtime_dir={runtime!r}))
    task = asyncio.create_task(app({{"type": "lifespan", "state": state, "asgi": {{}}}}, receive, send))
    await started.wait()
    names = [name for name in sys.modules if name.startswith("service.api.adapters.")]
    print(*names, *(name for name in ("mcp", "regex") if name in sys.modules))
    ended.set()
    await task
asyncio.run(start())
"""
SHARED = {"service.api.adapters.registry", "service.api.adapters.protocol_adapter", "regex"}
"""`regex`: the parsers' messages are declared beside their searches for patterns."""


@pytest.mark.parametrize(
    ("adapters", "imported"),
    [((), set()), (("huggingface",), {"service.api.adapters.huggingface"})],
)
def test_a_running_worker_imports_nothing_of_a_closed_adapter(
    tmp_path: Path, adapters: tuple[str, ...], imported: set[str]
) -> None:
    (tmp_path / "metrics").mkdir()
    program = LIST_MODULES.format(adapters=adapters, runtime=str(tmp_path))
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(tmp_path / "metrics")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert set(done.stdout.split()) == SHARED | imported


def test_a_parser_imports_neither_http_nor_rules_of_fields() -> None:
    program = "import sys, service.api.parsers.zygote, service.api.parsers.child; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not [
        name
        for name in done.stdout.split()
        if name.startswith(("service.api.adapters", "service.api.http", "starlette", "service.core.fields.vocabulary"))
    ]


def test_the_setting_names_adapters_or_none() -> None:
    assert Settings(adapters="mcp, oip,mcp").adapters == ("mcp", "oip")
    assert Settings(adapters="none").adapters == ()
    assert set(Settings().adapters) <= set(ADAPTERS)
    with pytest.raises(BadSettings, match="GLEANER_ADAPTERS"):
        read_settings(adapters="ftp")

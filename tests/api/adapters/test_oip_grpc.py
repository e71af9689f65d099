"""gRPC's port: nothing is read without a key, messages are bounded in bytes and fields, and pings are welcome."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest

from loadtest.service_process import KeptPort
from service.api.adapters import oip_grpc
from service.api.adapters.oip import InferInput, InferRequest
from service.api.adapters.oip_grpc_messages import MOST_MESSAGE_BYTES, SERVICE, count_fields, message_classes
from service.api.calls import AppState
from service.api.engine.routing import CanaryRouter
from service.api.http.access import Access
from service.api.http.request_body import BodyLimits
from service.api.middleware import ActiveRequests
from service.api.worker import Worker
from service.core.errors import DocumentTooLarge
from service.core.types import Phase
from service.host_memory import resident_bytes
from service.metrics.worker import WorkerMetrics
from service.settings import Settings
from service.wire import Status
from tests.support.engine_endpoint import MODEL

CLASSES = message_classes()
INFER = "ModelInferRequest"
MOST_FIELDS = 2_000


def field(number: int, content: bytes) -> bytes:
    """One field of bytes."""
    length, encoded = len(content), b""
    while length > 0x7F:
        length, encoded = length >> 7, encoded + bytes([length & 0x7F | 0x80])
    return bytes([number << 3 | 2]) + encoded + bytes([length]) + content


def of_texts(count: int) -> bytes:
    tensor = {"name": "text", "datatype": "BYTES", "shape": [count], "contents": {"bytes_contents": [b"a"] * count}}
    message: bytes = CLASSES[INFER](model_name="m", inputs=[tensor]).SerializeToString()
    return message


MANY = {
    "texts": field(5, field(5, field(8, b"") * 400_000)),
    "inputs": field(5, b"") * 400_000,
    "raw inputs": field(7, b"") * 400_000,
    "parameters": field(4, field(1, b"a")) * 400_000,
    "sizes": field(5, field(3, b"\1" * 400_000)),
    "unknown fields": field(15, b"") * 400_000,
    "numbers": b"\x78\1" * 400_000,
}
BROKEN = {
    "a length beyond the end": b"\x2a\x09ab",
    "an endless number": b"\x78" + b"\xff" * 20,
    "a group": b"\x7b\x7c",
    "a cut tag": b"\xff",
    "no UTF-8": field(1, b"\xff"),
}


@pytest.mark.parametrize("kind", MANY)
def test_too_many_fields_are_refused_before_objects_are_made_of_them(kind: str) -> None:
    """Forty million empty texts took two gigabytes and five seconds of the event loop."""

    begun = time.thread_time()
    with pytest.raises(DocumentTooLarge):
        count_fields(memoryview(MANY[kind]), INFER, MOST_FIELDS)
    assert time.thread_time() - begun < 0.1


def test_as_many_texts_as_a_request_may_have_are_counted() -> None:
    assert MOST_FIELDS - count_fields(memoryview(of_texts(1_000)), INFER, MOST_FIELDS) < 1_020


@pytest.mark.parametrize(
    ("timeout", "seconds"), [(5_000_000, 5.0), (10**400, 1e6), (0, None), (-1, None), ("5", None), (None, None)]
)
def test_a_timeout_of_any_size_is_one(timeout: object, seconds: float | None) -> None:
    """One of four hundred digits was an error of the service's own."""
    asked = InferRequest("m", "", "", InferInput([], ()), {"timeout": timeout})
    assert asked.timeout_seconds == seconds


class World:
    """A server with the keys `a` and `b`, in an event loop of its own thread."""

    def __init__(self, folder: Path, port: int) -> None:
        keys = "".join(f"{name} {hashlib.sha256(name.encode()).hexdigest()}\n" for name in "ab")
        self._settings = Settings(api_keys=keys, runtime_dir=folder, grpc_port=port)
        self.port, self._ready, self._over = port, threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self) -> World:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(20)

    async def _serve(self) -> None:
        self._loop, metrics = asyncio.get_running_loop(), WorkerMetrics()
        engine = SimpleNamespace(status=Status("1", Phase.READY, admitting=True, models=(MODEL,)), connected=True)
        worker = SimpleNamespace(engine=engine, metrics=metrics, active_requests=ActiveRequests())
        access = Access(self._settings, metrics)
        access.keys.load()
        state = AppState(cast(Worker, worker), access, BodyLimits(256 << 20), 10.0, CanaryRouter(0.0))
        async with oip_grpc.serving(state, self._settings):
            self._ready.set()
            await self._over.wait()

    @asynccontextmanager
    async def channel(self, **options: int) -> AsyncIterator[Any]:
        own = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        own += [(f"grpc.{name}", value) for name, value in options.items()]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options=own) as channel:
            yield channel


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    kept = KeptPort()
    with World(tmp_path, kept.number) as made:
        yield made


async def answer(channel: Any, message: bytes | Awaitable[bytes], key: str = "", method: str = "ModelReady") -> str:
    """What becomes of a call: the name of its status."""

    async def messages() -> AsyncIterator[bytes]:
        yield message if isinstance(message, bytes) else await message

    call = channel.stream_unary(f"/{SERVICE}/{method}")
    metadata = (("x-api-key", key),) if key else ()
    try:
        await call(messages(), metadata=metadata, timeout=20)
    except grpc.aio.AioRpcError as error:
        return str(error.code().name)
    return "OK"


def scene(play: Callable[[World], Awaitable[None]]) -> Callable[[World], None]:
    def test(world: World) -> None:
        asyncio.run(asyncio.wait_for(play(world), 60))

    test.__name__, test.__doc__ = play.__name__, play.__doc__
    return test


READY: bytes = CLASSES["ModelReadyRequest"](name=MODEL.name).SerializeToString()


@scene
async def test_keys_are_asked_for_and_messages_are_what_they_should_be(world: World) -> None:
    async with world.channel() as channel:
        assert await answer(channel, READY, "a") == "OK"
        assert await answer(channel, READY) == "UNAUTHENTICATED"
        assert await answer(channel, READY, "guess") == "UNAUTHENTICATED"
        for content in BROKEN.values():
            assert await answer(channel, content, "a") == "INVALID_ARGUMENT"
        for content in MANY.values():
            assert await answer(channel, content, "a", "ModelInfer") == "INVALID_ARGUMENT"
        assert await answer(channel, bytes(MOST_MESSAGE_BYTES + 1), "a") == "RESOURCE_EXHAUSTED"
        assert await answer(channel, b"anything", "", "ServerLive") == "OK"
        assert await answer(channel, READY, "b") == "OK"


PUSH = """
import asyncio, sys, grpc
async def push(method):
    options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
    async with grpc.aio.insecure_channel(sys.argv[1], options=options) as channel:
        call = channel.stream_unary(method)
        try:
            await call(iter([bytes(8 << 20)] * 4), timeout=20)
        except grpc.aio.AioRpcError as error:
            return error.code().name
        return "OK"
async def main():
    print(await asyncio.gather(*[push(method) for method in sys.argv[2:] for _ in range(12)]))
asyncio.run(main())
"""


@scene
async def test_messages_without_a_key_take_no_memory(world: World) -> None:
    """Sixteen of 120 MB, without a key, had the worker killed."""

    async with world.channel() as channel:
        assert await answer(channel, READY, "a") == "OK"
    before = resident_bytes()
    methods = [f"/{SERVICE}/{name}" for name in ("ModelInfer", "ServerLive", "ServerMetadata")]
    command = [sys.executable, "-c", PUSH, f"127.0.0.1:{world.port}", *methods]
    pushed = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=50)
    # A client that is reset while it sends may call it INTERNAL.
    assert pushed.stdout.count("UNAUTHENTICATED") + pushed.stdout.count("INTERNAL") == 24, pushed
    assert pushed.stdout.count("UNAUTHENTICATED") > 12, pushed
    assert resident_bytes() - before < 64 << 20


@scene
async def test_calls_that_send_nothing_leave_other_clients_theirs(world: World) -> None:
    never = asyncio.Event()

    async def nothing() -> bytes:
        await never.wait()
        return READY

    async with world.channel() as channel, world.channel() as other:
        stalled = [asyncio.create_task(answer(channel, nothing(), "a")) for _ in range(100)]
        await asyncio.sleep(0.5)
        begun = time.monotonic()
        assert await answer(other, READY, "b") == "OK"
        assert time.monotonic() - begun < 2.0
        never.set()
        assert set(await asyncio.gather(*stalled)) == {"OK"}


@scene
async def test_a_client_may_ping_each_other_second(world: World) -> None:
    """A connection was ended after the third ping of a long call, which failed."""

    async def late() -> bytes:
        await asyncio.sleep(9)
        return READY

    async with world.channel(keepalive_time_ms=2_000, keepalive_timeout_ms=1_000) as channel:
        assert await answer(channel, late(), "a") == "OK"

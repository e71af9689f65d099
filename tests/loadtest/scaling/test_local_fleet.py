"""The load balancer: least outstanding requests, deregistration, and no request sent twice."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import httpx

from loadtest.scaling.local_fleet import Backend, Balancer, choose


def backend_with(outstanding: int, sent: int) -> Backend:
    made = Backend(1)
    made.outstanding, made.sent = outstanding, sent
    return made


def test_the_fewest_outstanding_requests_win_then_the_fewest_ever() -> None:
    busy, idle, fresh = backend_with(2, 2), backend_with(0, 9), backend_with(0, 1)
    assert choose([busy, idle, fresh]) is fresh
    assert choose([busy, idle]) is idle
    assert choose([]) is None


class EchoServer:
    """Answers with the request's body once it is released."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.release = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length"))
        body = await reader.readexactly(length)
        self.bodies.append(body)
        await self.release.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()


async def _with_backend(use: Callable[[Balancer, EchoServer, Backend, httpx.AsyncClient], Awaitable[None]]) -> None:
    backend, balancer = EchoServer(), Balancer()
    server = await asyncio.start_server(backend.serve, "127.0.0.1", 0)
    await balancer.start()
    place = Backend(server.sockets[0].getsockname()[1])
    balancer.register(place)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{balancer.port}", timeout=20.0) as client:
        await use(balancer, backend, place, client)
    await balancer.stop()
    server.close()


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.01)


def test_requests_and_answers_pass_unchanged() -> None:
    async def use(_: Balancer, backend: EchoServer, place: Backend, client: httpx.AsyncClient) -> None:
        backend.release.set()
        answer = await client.post("/extract", content=b"x" * 100_000)
        assert (answer.status_code, answer.content) == (200, b"x" * 100_000)
        assert (place.outstanding, place.sent) == (0, 1)

    asyncio.run(_with_backend(use))


def test_a_deregistered_backend_keeps_its_open_requests_and_gets_no_more() -> None:
    async def use(balancer: Balancer, backend: EchoServer, place: Backend, client: httpx.AsyncClient) -> None:
        open_request = asyncio.create_task(client.post("/", content=b"first"))
        await _until(lambda: place.outstanding == 1)
        leaving = asyncio.create_task(balancer.deregister(place, 20.0))
        await asyncio.sleep(0)
        assert (await client.post("/", content=b"second")).status_code == 502
        assert not leaving.done()
        backend.release.set()
        assert (await open_request).content == b"first"
        await leaving
        assert backend.bodies == [b"first"]

    asyncio.run(_with_backend(use))


def test_deregistration_ends_after_its_delay() -> None:
    async def use(balancer: Balancer, backend: EchoServer, place: Backend, client: httpx.AsyncClient) -> None:
        request = asyncio.create_task(client.post("/", content=b"slow"))
        await _until(lambda: place.outstanding == 1)
        await balancer.deregister(place, 0.05)
        assert place.outstanding == 1
        backend.release.set()
        await request

    asyncio.run(_with_backend(use))


def test_an_unreachable_backend_is_a_bad_gateway_without_a_second_try() -> None:
    async def use(balancer: Balancer, backend: EchoServer, place: Backend, client: httpx.AsyncClient) -> None:
        await balancer.deregister(place, 0.0)
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            balancer.register(Backend(nobody.getsockname()[1]))
            assert (await client.post("/", content=b"x")).status_code == 502
        assert backend.bodies == []

    asyncio.run(_with_backend(use))

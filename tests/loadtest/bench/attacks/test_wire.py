"""Raw clients against a server of the service's own protocol: what they say of its answers."""

from __future__ import annotations

from loadtest.bench.attacks.wire import CLOSED, SILENCE, connected, head
from tests.support.bounded_server import World, play


def test_answers_are_told_by_status_and_code() -> None:
    async def scene(world: World) -> None:
        async with connected(f"http://127.0.0.1:{world.port}") as connection:
            connection.send(head("POST", "/extract", length=2) + b"ab")
            assert await connection.answer() == "200 ok"
            connection.send(head("POST", "/extract", length=10**9))
            assert await connection.answer() == "413 document_too_large"
            assert await connection.answer() == CLOSED

    play(scene)


def test_pouring_ends_with_the_answer_that_comes_meanwhile() -> None:
    async def scene(world: World) -> None:
        async with connected(f"http://127.0.0.1:{world.port}") as connection:
            connection.send(b"GET / HTTP/1.1\r\nA: ")
            assert await connection.pour(b"a" * 10_000, 10**9) == "431 headers_too_large"

    play(scene)


def test_pouring_ends_in_silence_when_all_is_sent() -> None:
    async def scene(world: World) -> None:
        async with connected(f"http://127.0.0.1:{world.port}") as connection:
            connection.send(head("POST", "/extract", length=1_000))
            assert await connection.pour(b"a" * 100, 500) == SILENCE
            connection.send(b"a" * 500)
            assert await connection.answer() == "200 ok"

    play(scene)

"""Code that a file has put into its parser gets nowhere: not to memory, secrets, files, network, other processes.

The code runs in place of the reader, so that it stands for any hole in pdfium, libxml2 or Python.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.api.parsers.frames import FileHeader
from service.api.parsers.pool import ParserPool
from service.core.errors import UnreadableDocument
from service.core.tenants import ANONYMOUS
from service.sandbox.apply import SandboxMode
from tests.support.parsers import PoolSetup, fresh, parsers_of, pool_of
from tests.support.processes import lives

SECRET = b"the text of another client's document"
BUFFER = ctypes.create_string_buffer(SECRET)
VARIABLE = "AWS_SECRET_ACCESS_KEY"
LIMIT_SECONDS = 120.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is made of Linux's parts")


def attacked(*attacks: tuple[object, ...], mode: SandboxMode = SandboxMode.AUTO) -> dict[tuple[object, ...], str]:
    """How each attack ended, in a parser of its own: its document's text, or the error."""

    async def scene() -> dict[tuple[object, ...], str]:
        setup = PoolSetup(mode=mode, reader="tests.support.parser_attacks:attack")
        async with asyncio.timeout(LIMIT_SECONDS), pool_of(setup) as pool:
            return {attack: await _attacked(pool, attack) for attack in attacks}

    return asyncio.run(scene())


async def _attacked(pool: ParserPool, attack: tuple[object, ...]) -> str:
    try:
        return await ask(pool, *attack)
    except UnreadableDocument as error:
        return f"refused: {error.detail}"


def succeeded(ended: dict[tuple[object, ...], str]) -> list[object]:
    return [(attack, how) for attack, how in ended.items() if not how.startswith("refused")]


async def ask(pool: ParserPool, *attack: object, client: str = ANONYMOUS) -> str:
    deadline = time.monotonic() + LIMIT_SECONDS
    header = FileHeader(None, None, pool.document_limits)
    document = await pool.parse(json.dumps(attack).encode(), header, client=client, deadline_seconds=deadline)
    return document.text


@pytest.fixture
def victim() -> Iterator[int]:
    """A process of the same user with a secret in its environment."""
    environment = {**os.environ, VARIABLE: "secret"}
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env=environment) as process:
        yield process.pid
        process.kill()


MEMORY = (os.getpid(), ctypes.addressof(BUFFER), len(SECRET))


ATTACKS: tuple[tuple[object, ...], ...] = (
    ("memory by file", *MEMORY),
    ("memory by call", *MEMORY),
    ("read", f"/proc/{os.getpid()}/maps"),
    ("read", "/etc/passwd"),
    ("read", "/proc/self/environ"),
    ("list", "/"),
    ("execute", "/bin/id"),
    ("fork",),
    ("thread",),
    ("descriptors",),
    ("executable memory",),
    ("more processes",),
    ("foreign call",),
    ("kill", os.getpid()),
    ("kill", 1),
    ("endless answer",),
)


def test_memory_files_programs_and_processes_are_refused(
    victim: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor are another process's environment, the model store and the log for it."""
    monkeypatch.setenv(VARIABLE, "secret")
    tmp_path.chmod(0o777)
    path = tmp_path / "model.safetensors"
    others = (("environment", victim, VARIABLE), ("trace", victim), ("write", str(path)), ("log", "forged"))
    assert succeeded(attacked(*ATTACKS, *others)) == []
    assert lives(victim)
    assert not path.exists()
    captured = capfd.readouterr()
    assert "forged" not in captured.out + captured.err


@contextmanager
def listener(family: socket.AddressFamily, address: Any) -> Iterator[socket.socket]:
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        server.setblocking(False)
        yield server


def test_it_reaches_no_socket(tmp_path: Path) -> None:
    """By TCP, nor by the path of a Unix socket, as the engine's, nor by an abstract one."""
    path = str(tmp_path / "engine")
    with (
        listener(socket.AF_INET, ("127.0.0.1", 0)) as tcp,
        listener(socket.AF_UNIX, path) as named,
        listener(socket.AF_UNIX, "\0" + path) as abstract,
    ):
        attacks = (("tcp", tcp.getsockname()[1]), ("connect", path), ("connect", f"@{path}"))
        assert succeeded(attacked(*attacks)) == []
        for server in (tcp, named, abstract):
            with pytest.raises(BlockingIOError):
                server.accept()


async def test_it_does_not_live_on_to_read_the_next_file() -> None:
    setup = PoolSetup(size=2, reader="tests.support.parser_attacks:attack")
    async with asyncio.timeout(LIMIT_SECONDS), pool_of(setup) as pool:
        before = set(await fresh(2))
        assert await ask(pool, "answer and live on") == "succeeded: an answer"
        gone = before - set(parsers_of(os.getpid()))
        while not gone:
            await asyncio.sleep(0.001)
            gone = before - set(parsers_of(os.getpid()))
        assert not any(lives(process) for process in gone)


async def test_a_parser_that_is_kept_for_its_client_stands_still_meanwhile() -> None:
    setup = PoolSetup(files=16, reader="tests.support.parser_attacks:attack")
    async with asyncio.timeout(LIMIT_SECONDS), pool_of(setup) as pool:
        before = await fresh()
        assert await ask(pool, "answer and live on", client="a") == "succeeded: an answer"
        while _state(before[0]) != "T":
            await asyncio.sleep(0.001)


def _state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def test_attacks_succeed_without_a_sandbox() -> None:
    """Else the tests above would show nothing."""
    attacks: tuple[tuple[object, ...], ...] = (("kill", os.getpid()), ("executable memory",))
    ended = attacked(*attacks, mode=SandboxMode.OFF)
    assert [attack for attack, how in ended.items() if how.startswith("succeeded")] == list(attacks)

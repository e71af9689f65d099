"""The processes of a benchmark: our service, and a peer that is asked by lines on its standard input."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx

START_SECONDS = 300.0


def run_module(module: str, *arguments: str) -> None:
    """Run one of our modules to its end."""
    subprocess.run([sys.executable, "-m", module, *arguments], check=True, env=quiet(), stdout=subprocess.DEVNULL)


def publish(folder: Path, name: str, store: Path, *options: str) -> None:
    """Put a model folder into a store."""
    run_module("service.cli", "models", "publish", str(folder), name, "--store", str(store), *options)


@contextmanager
def serve(
    log: Path,
    enter: Callable[[], None] | None = None,
    others: Mapping[str, str] | None = None,
    /,
    **settings: object,
) -> Iterator[str]:
    """A ready service on a free port; yields its URL.

    `enter` is called in its process before it begins; `others` are variables that are no settings of ours.
    """
    port = free_port()
    ours = {f"GLEANER_{name}": str(value) for name, value in {"PORT": port, "LOG_LEVEL": "WARNING", **settings}.items()}
    with log.open("ab") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "service.cli", "serve"],
            env={**quiet(), **(others or {}), **ours},
            stderr=sink,
            preexec_fn=enter,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process, log)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the service ended:\n{log.read_text()[-2000:]}")
        try:
            if httpx.get(url + "/readyz", timeout=5.0).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.02)
    raise SystemExit(f"the service was not ready within {START_SECONDS:.0f} s")


class PipelineProcess:
    """A peer's process: one JSON line in, one JSON line out."""

    def __init__(self, module: str, *arguments: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env=quiet(),
            text=True,
        )
        self.hello = self._read()

    def ask(self, **order: object) -> dict[str, Any]:
        """Its answer to one order."""
        sink = self._process.stdin
        assert sink is not None
        sink.write(json.dumps(order) + "\n")
        sink.flush()
        return self._read()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(30)

    def _read(self) -> dict[str, Any]:
        source: IO[str] | None = self._process.stdout
        assert source is not None
        answer: dict[str, Any] = json.loads(source.readline())
        return answer


def quiet() -> dict[str, str]:
    """This process's environment without settings of ours, and with libraries that do not chatter."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GLEANER_")}
    return {**kept, "TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_VERBOSITY": "error", "HF_HUB_OFFLINE": "1"}

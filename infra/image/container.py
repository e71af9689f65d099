"""One container of the image under podman and runc, as a cautious platform runs it: read-only, no root, no privileges.

The options also work inside a container, without systemd and without the right to raise limits.
"""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.image.engines import storage_options

GLOBAL = ("--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "none")
CAUTIOUS = (
    *("--network", "host", "--no-healthcheck", "--read-only", "--tmpfs", "/tmp:size=256m"),
    *("--cap-drop", "all", "--security-opt", "no-new-privileges"),
    *("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"),
)
READY_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Container:
    """A running service in a container."""

    name: str
    url: str
    storage: Path

    def podman(self, *arguments: str, check: bool = True) -> str:
        """A podman command's output."""
        done = subprocess.run(podman(self.storage, *arguments), capture_output=True, text=True)
        assert not check or done.returncode == 0, f"{arguments}: {done.stderr[-2000:]}"
        return done.stdout

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the container."""
        return subprocess.run(podman(self.storage, "exec", self.name, *command), capture_output=True, text=True)

    def inspect(self, what: str) -> Any:
        """One field of `podman inspect`, decoded."""
        return json.loads(self.podman("inspect", "--format", f"{{{{json {what}}}}}", self.name))

    def ask(self, path: str, body: object = None, seconds: float = 60.0) -> tuple[int, Any]:
        """Status and JSON of one request."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def metrics(self) -> str:
        """What Prometheus would read."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=60.0) as answer:
            body: bytes = answer.read()
        return body.decode()

    def wait_until_ready(self) -> float:
        """Wait until /readyz answers 200; returns the seconds that it took."""
        begun = time.monotonic()
        while not self._is_ready():
            assert time.monotonic() - begun < READY_SECONDS, self.podman("logs", self.name)[-3000:]
            time.sleep(0.1)
        return time.monotonic() - begun

    def _is_ready(self) -> bool:
        try:
            return self.ask("/readyz")[0] == 200
        except OSError:
            return False


def podman(storage: Path, *arguments: str) -> list[str]:
    """A podman command on this storage."""
    return ["podman", *storage_options(storage), *GLOBAL, *arguments]


@contextmanager
def running(tag: str, storage: Path, port: int, volumes: Mapping[Path, str], **settings: str) -> Iterator[Container]:
    """A container of this image with folders of the host, read-only; removed at the end."""
    name = f"gleaner-{port}"
    variables: dict[str, object] = {"GLEANER_PORT": port, "GLEANER_HOST": "127.0.0.1", "GLEANER_DEVICE": "cpu"}
    variables |= {f"GLEANER_{name}": value for name, value in settings.items()}
    options = [part for key, value in variables.items() for part in ("--env", f"{key}={value}")]
    options += [part for here, there in volumes.items() for part in ("--volume", f"{here}:{there}:ro")]
    subprocess.run(
        podman(storage, "run", "--detach", "--name", name, *CAUTIOUS, *options, tag),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield Container(name, f"http://127.0.0.1:{port}", storage)
    finally:
        subprocess.run(podman(storage, "rm", "--force", "--volumes", name), capture_output=True)

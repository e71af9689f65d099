"""`make image-check`: builds the image without a registry, runs it as a container, checks what it promises.

Needs root, buildah, podman, runc and debootstrap. The base is a plain Debian made by debootstrap, the same distribution
as the usual base; torch comes with CUDA, or as the index of `--pip-conf` has it. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.image.build import ROOT, arguments, build_command

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
        return _output(podman(self.storage, *arguments), check=check)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
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
        """Text that Prometheus would read."""
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


def _output(command: list[str], check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert not check or done.returncode == 0, f"{command}: {done.stderr[-2000:]}"
    return done.stdout


def podman(storage: Path, *arguments: str) -> list[str]:
    """A podman command on this storage."""
    return ["podman", *storage_options(storage), *GLOBAL, *arguments]


def storage_options(storage: Path) -> list[str]:
    """Options that keep podman's or buildah's storage in one folder."""
    return ["--root", str(storage / "layers"), "--runroot", str(storage / "run"), "--storage-driver", "overlay"]


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


SCRATCH = ROOT / "build"
NEEDED = ("buildah", "podman", "runc", "debootstrap")
BASE = "localhost/gleaner-base"
TAG = "localhost/gleaner"
STORAGE = SCRATCH / "image"
BAKED = "baked-in"
MODEL = ROOT / "model_store" / "builtin" / "documents"
TEXT = "Jane Doe of Acme GmbH, jane@acme.example"
STOP_SECONDS = 90


def make_base() -> None:
    """Import a minimal Debian with Python as the base image, unless it exists."""
    if subprocess.run(podman(STORAGE, "image", "exists", BASE)).returncode == 0:
        return
    folder = STORAGE / "debian"
    shutil.rmtree(folder, ignore_errors=True)
    packages = "--include=python3,python3-venv,ca-certificates"
    subprocess.run(
        ["debootstrap", "--variant=minbase", packages, "bookworm", str(folder)], check=True, stdout=sys.stderr
    )
    with subprocess.Popen(["tar", "-C", str(folder), "-c", "."], stdout=subprocess.PIPE) as tar:
        subprocess.run(podman(STORAGE, "import", "--quiet", "-", BASE), stdin=tar.stdout, check=True, stdout=sys.stderr)
    shutil.rmtree(folder)


def make_remote() -> Path:
    """A remote store with a manifest and without blobs: only an image with the files baked in can serve the model."""
    folder = SCRATCH / "remote"
    shutil.rmtree(folder, ignore_errors=True)
    stores = [f"GLEANER_MODEL_STORE={SCRATCH / 'store'}", f"GLEANER_MODEL_REMOTE={folder.as_uri()}"]
    publish = ["env", *stores, sys.executable, "-m", "service.cli", "models", "publish", str(MODEL), BAKED]
    subprocess.run(publish, check=True, cwd=ROOT, stdout=sys.stderr)
    shutil.rmtree(folder / "blobs" / "sha256")
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    return folder


def build(tag: str, pip_conf: Path | None, volumes: Sequence[Path]) -> float:
    """Build the image; returns the seconds that it took."""
    storage, given = storage_options(STORAGE), arguments(BASE, MODEL)
    command = build_command("buildah", tag, given, pip_conf=pip_conf, storage=storage, volumes=volumes)
    begun = time.monotonic()
    subprocess.run(command, check=True, stdout=sys.stderr)
    return time.monotonic() - begun


def answers(container: Container) -> str:
    status, body = container.ask("/extract", {"text": TEXT})
    assert status == 200, body
    found = {entity["label"]: entity["text"] for entity in body["documents"][0]["entities"]}
    assert found["EMAIL"] == "jane@acme.example", found
    return f"`POST /extract` answers 200 with {len(found)} entities"


def has_its_baked_model(container: Container) -> str:
    status, body = container.ask("/extract", {"text": TEXT, "model": BAKED})
    assert status == 200, body
    assert body["model"]["name"] == BAKED
    return "a model that was baked in is served, though its remote store has lost its files"


def runs_unprivileged(container: Container) -> str:
    status = container.run("cat", "/proc/1/status").stdout
    user = next(line.split()[1] for line in status.splitlines() if line.startswith("Uid:"))
    assert user == "10001", status
    return f"PID 1 is the supervisor, as user {user}, without capabilities"


def confines_parsers(container: Container) -> str:
    """An ordinary container's rights suffice for the parts that matter; the answer names the others."""
    parts = dict(re.findall(r'gleaner_parser_sandbox{part="(\w+)"} (\d)', container.metrics()))
    assert parts["seccomp"] == parts["no_privileges"] == "1", parts
    given = [part for part, value in parts.items() if value == "1"]
    missing = sorted(parts.keys() - set(given))
    return f"parsers are confined by {', '.join(given)}; not given here: {', '.join(missing) or 'nothing'}"


def is_read_only(container: Container) -> str:
    for path in ("/new", "/opt/gleaner/new", "/etc/new"):
        assert container.run("touch", path).returncode != 0, path
    return "the root file system is read-only; `/tmp` and `/models` are not"


def has_no_tools(container: Container) -> str:
    for module in ("pip", "triton", "infra", "loadtest"):
        assert container.run("/opt/gleaner/bin/python", "-c", f"import {module}").returncode != 0, module
    assert container.run("gleaner", "loadtest").returncode == 2
    return "pip, triton, the load tester and the infrastructure are not in it"


def is_healthy(container: Container) -> str:
    image = container.inspect(".Image")
    healthcheck = json.loads(container.podman("image", "inspect", "--format", "{{json .HealthCheck}}", image))["Test"]
    assert healthcheck[0] == "CMD", healthcheck
    assert container.run(*healthcheck[1:]).returncode == 0
    return "the health check's own command succeeds"


def has_labels(container: Container) -> str:
    labels = container.inspect(".Config.Labels")
    assert re.fullmatch(r"[0-9a-f]{40}(-changed)?", labels["org.opencontainers.image.revision"]), labels
    assert labels["org.opencontainers.image.version"], labels
    variables = container.inspect(".Config.Env")
    for variable in ("NVIDIA_DRIVER_CAPABILITIES=compute,utility", "NVIDIA_REQUIRE_CUDA=cuda>=13.0"):
        assert variable in variables, variables
    return "labels have version and commit; `NVIDIA_DRIVER_CAPABILITIES=compute,utility`"


def reaps_orphans(container: Container) -> str:
    """An orphan becomes PID 1's child; PID 1 must reap it, or a zombie is left."""
    container.run("sh", "-c", "(sleep 0.2 &) ; true")
    _kill_engine(container)
    time.sleep(2.0)
    container.wait_until_ready()
    states = container.run("sh", "-c", "cat /proc/[0-9]*/stat").stdout.splitlines()
    assert states
    assert not [line for line in states if line.rpartition(")")[2].split()[0] == "Z"], states
    return "an engine that is killed is replaced; no zombie is left, so no other init is needed"


def stops_gracefully(container: Container) -> str:
    """A request that was accepted before SIGTERM is answered."""
    results: list[int] = []
    long = " ".join([TEXT] * 2_000)
    asking = threading.Thread(target=lambda: results.append(container.ask("/extract", {"text": long}, 300.0)[0]))
    asking.start()
    time.sleep(0.3)
    begun = time.monotonic()
    container.podman("stop", "--time", str(STOP_SECONDS), container.name)
    asking.join(STOP_SECONDS)
    assert results == [200], results
    assert container.inspect(".State.ExitCode") == 0
    return f"SIGTERM: a request in flight was answered, exit code 0 after {time.monotonic() - begun:.1f} s"


CHECKS: tuple[Callable[[Container], str], ...] = (
    answers,
    has_its_baked_model,
    runs_unprivileged,
    confines_parsers,
    is_read_only,
    has_no_tools,
    is_healthy,
    has_labels,
    reaps_orphans,
    stops_gracefully,
)
"""Checks in their order: the last one ends the container."""


def _kill_engine(container: Container) -> None:
    find = "for p in /proc/[0-9]*; do tr '\\0' ' ' < $p/cmdline | grep -q '[s]ervice.engine' && echo ${p#/proc/}; done"
    engines = container.run("sh", "-c", find).stdout.split()
    assert engines, "no engine is running"
    assert container.run("sh", "-c", f"kill -9 {engines[0]}").returncode == 0


def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> int:
    """Build, run, try, report."""
    parser = argparse.ArgumentParser(prog="python -m infra.image.check", description=__doc__)
    parser.add_argument("--tag", default=TAG)
    parser.add_argument("--pip-conf", type=Path, metavar="FILE", help="pip.conf of the index to install from")
    parser.add_argument(
        "--volume", type=Path, action="append", default=[], metavar="PATH", help="file or folder that pip.conf names"
    )
    chosen = parser.parse_args()
    missing = [tool for tool in NEEDED if shutil.which(tool) is None]
    if missing:
        print(f"Please install {' '.join(missing)} (Debian: apt install …) and run this as root.", file=sys.stderr)
        return 1
    STORAGE.mkdir(parents=True, exist_ok=True)
    make_base()
    seconds = build(chosen.tag, chosen.pip_conf, chosen.volume)
    megabytes = int(_output(podman(STORAGE, "image", "inspect", "--format", "{{.Size}}", chosen.tag))) / 1e6
    print(f"Built in {seconds:.0f} s, {megabytes:,.0f} MB on disk.", end=" ", flush=True)
    settings = {"MODELS": f"documents,{BAKED}", "MODEL_REMOTE": "file:///remote"}
    with running(chosen.tag, STORAGE, free_port(), {make_remote(): "/remote"}, **settings) as container:
        print(f"Ready {container.wait_until_ready():.1f} s after the container's start.\n")
        for check in CHECKS:
            print(f"- {check(container)}.", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A service of our own to load: `gleaner serve` on a free port, with a store and API keys of its own if need be."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

from loadtest.errors import Unreachable
from loadtest.service_process.ports import KeptPort
from loadtest.telemetry.process_usage import descendants

START_SECONDS = 300.0
STOP_SECONDS = 90.0
BUILTIN = Path(__file__).parents[2] / "model_store" / "builtin" / "documents"
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


class ServiceProcess:
    """One `gleaner serve`."""

    def __init__(self, log: Path, settings: dict[str, str]) -> None:
        self._kept = KeptPort()
        self.port = self._kept.number
        self.url = f"http://127.0.0.1:{self.port}"
        self.begun = time.monotonic()
        self.start_seconds = 0.0
        self._log = log
        with log.open("ab") as sink:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "service.cli", "serve"],
                env={**_environment(), **settings, "GLEANER_PORT": str(self.port)},
                stderr=sink,
                stdout=sink,
            )

    def wait_until_ready(self) -> None:
        """Return when it serves.

        Raises:
            Unreachable: it ended, or takes too long.
        """
        while time.monotonic() < self.begun + START_SECONDS:
            if self.process.poll() is not None:
                raise Unreachable(
                    f"the service ended while it started; its last lines:\n{self._log.read_text()[-2000:]}"
                )
            if is_ready(self.url):
                self.start_seconds = time.monotonic() - self.begun
                return
            time.sleep(0.05)
        raise Unreachable(f"the service was not ready within {START_SECONDS:.0f} s; its log is {self._log}")

    def kill_engine(self) -> None:
        """As the kernel does when memory runs out."""
        for process in descendants(self.process.pid):
            with contextlib.suppress(OSError):
                if b"service.engine" in Path(f"/proc/{process}/cmdline").read_bytes():
                    os.kill(process, signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, and wait for the end of the drain."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class ManagedService:
    """The service of one load test, with its folder; its context ends all of it."""

    def __init__(self, settings: dict[str, str | int | float], tenants: list[str], *, needs_store: bool) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="gleaner-loadtest-"))
        self.log = self.home / "serve.log"
        self.keys = {tenant: f"{tenant}-key" for tenant in tenants}
        self._settings = {f"GLEANER_{name}": str(value) for name, value in settings.items()}
        self._settings.setdefault("GLEANER_LOG_LEVEL", "WARNING")
        self._needs_store = needs_store
        self._published = 0
        self._stopping: list[ServiceProcess] = []

    def __enter__(self) -> ManagedService:
        try:
            self._prepare()
            self.instance = ServiceProcess(self.log, self._settings)
            self.instance.wait_until_ready()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def url(self) -> str:
        return self.instance.url

    def publish(self, name: str = "documents") -> None:
        """A new revision of the built-in model: the same weights under a configuration with a counter in it."""
        self._published += 1
        folder = self.home / f"revision-{self._published}"
        folder.mkdir()
        for file in MODEL_FILES:
            shutil.copyfile(BUILTIN / file, folder / file)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "loadtest_revision": self._published}))
        command = ("-m", "service.cli", "models", "publish", str(folder), name, "--store", str(self.home / "store"))
        subprocess.run([sys.executable, *command], check=True, env=_environment(), stdout=subprocess.DEVNULL)

    def replace(self) -> str:
        """Start another instance; when it is ready, give its URL. `retire` then stops the one before."""
        before, self.instance = self.instance, ServiceProcess(self.log, self._settings)
        self._stopping.append(before)
        self.instance.wait_until_ready()
        return self.instance.url

    def retire(self) -> None:
        """Stop those that were replaced."""
        while self._stopping:
            self._stopping.pop().stop()

    def _prepare(self) -> None:
        if self.keys:
            file = self.home / "keys"
            digests = {tenant: hashlib.sha256(key.encode()).hexdigest() for tenant, key in self.keys.items()}
            file.write_text("".join(f"{tenant} {digest}\n" for tenant, digest in digests.items()))
            self._settings["GLEANER_API_KEYS_FILE"] = str(file)
        if self._needs_store:
            self._settings["GLEANER_MODEL_STORE"] = str(self.home / "store")
            for name in self._settings.get("GLEANER_MODELS", "documents").split(","):
                self.publish(name)

    def _close(self) -> None:
        if hasattr(self, "instance"):
            self._stopping.append(self.instance)
        self.retire()
        shutil.rmtree(self.home, ignore_errors=True)


def is_ready(url: str) -> bool:
    """Whether a service of ours says so."""
    try:
        return httpx.get(f"{url}/readyz", timeout=5.0).status_code == 200
    except httpx.HTTPError:
        return False


def _environment() -> dict[str, str]:
    return {**os.environ, "TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}

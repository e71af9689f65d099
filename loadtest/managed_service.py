"""The service that a load test starts for itself: with a store and API keys if needed, and replaceable under load."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from loadtest.service_process import QUIET_LIBRARIES, ServiceProcess, settings_environment

BUILTIN = Path(__file__).parents[1] / "model_store" / "builtin" / "documents"
REVISION = re.compile(r"sha256:[0-9a-f]{64}")
MODEL_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")


class ManagedService:
    """A service and its folder; both end with the context. Settings of the caller's environment apply to it."""

    def __init__(self, settings: dict[str, str | int | float], tenants: list[str], *, needs_store: bool) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="gleaner-loadtest-"))
        self.log = self.home / "serve.log"
        self.keys = {tenant: f"{tenant}-key" for tenant in tenants}
        self._settings: dict[str, object] = {"LOG_LEVEL": "WARNING", **settings}
        self._needs_store = needs_store
        self._published = 0
        self._publisher_environment: Mapping[str, str] = {}
        self._replaced: list[ServiceProcess] = []

    def __enter__(self) -> ManagedService:
        try:
            self._prepare()
            self.instance = self._start()
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

    def publish_through(self, environment: Mapping[str, str]) -> None:
        """Publish with these variables into another store; revisions reach the service by a remote one."""
        self._publisher_environment = environment

    def publish(self, name: str = "documents") -> str:
        """Publish a new revision of the built-in model: the same weights, and a configuration with a counter in it.

        Returns:
            The revision.
        """
        self._published += 1
        folder = self.home / f"revision-{self._published}"
        folder.mkdir()
        for file in MODEL_FILES:
            shutil.copyfile(BUILTIN / file, folder / file)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "loadtest_revision": self._published}))
        store = self.home / ("publisher" if self._publisher_environment else "store")
        command = (sys.executable, "-m", "service.cli", "models", "publish", str(folder), name, "--store", str(store))
        environment = {**os.environ, **QUIET_LIBRARIES, **self._publisher_environment}
        printed = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
        shutil.rmtree(folder)
        return str(REVISION.findall(printed)[0])

    def replace(self) -> str:
        """Start another instance and return its URL when it is ready; the one before runs until `stop_replaced`."""
        before, self.instance = self.instance, self._start()
        self._replaced.append(before)
        self.instance.wait_until_ready()
        return self.instance.url

    def stop_replaced(self) -> None:
        """Stop the replaced instances."""
        while self._replaced:
            self._replaced.pop().stop()

    def _start(self) -> ServiceProcess:
        return ServiceProcess(self.log, {**os.environ, **QUIET_LIBRARIES, **settings_environment(self._settings)})

    def _prepare(self) -> None:
        if self.keys:
            file = self.home / "keys"
            digests = {tenant: hashlib.sha256(key.encode()).hexdigest() for tenant, key in self.keys.items()}
            file.touch(mode=0o600)
            file.write_text("".join(f"{tenant} {digest}\n" for tenant, digest in digests.items()))
            self._settings["API_KEYS_FILE"] = file
        if self._needs_store:
            self._settings["MODEL_STORE"] = self.home / "store"
            for name in str(self._settings.get("MODELS", "documents")).split(","):
                self.publish(name)

    def _close(self) -> None:
        if hasattr(self, "instance"):
            self._replaced.append(self.instance)
        self.stop_replaced()
        shutil.rmtree(self.home, ignore_errors=True)

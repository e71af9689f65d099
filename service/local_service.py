"""Local service for one command: runs the engine process and worker code of `gleaner serve`, without HTTP.

A dead engine is started again; a stuck one is killed first. The documents that it had are
submitted again, running ones alone (`service/api/engine/resubmission.py`): a document over which it dies twice
fails, and its neighbours are answered.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from model_store.reference import parse_reference
from service.api.engine.routing import find_model
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import StageTimer
from service.api.options import ExtractOptions, Options, read_options
from service.api.redaction.schemas import RedactOptions
from service.api.worker import Worker, open_worker
from service.core.errors import ModelError, Overloaded, ServiceError
from service.core.types import Phase
from service.environment import HEARTBEAT_VARIABLE, PREFIX, child_environment
from service.logs import LogEvent
from service.process import EngineWatchdog, is_traced
from service.runtime_folder import runtime_folder
from service.settings import read_settings
from service.wire import ModelStatus


def settings_for(options: Mapping[str, Any]) -> dict[str, str]:
    """Make the settings of a service with the model of these options: it alone, unless the settings name it anyway."""
    wanted = options.get("model")
    if wanted is None:
        return {}
    name = parse_reference(wanted).name
    return {} if name in (parse_reference(each).name for each in read_settings().models) else {"models": wanted}


UNHURRIED = {"deadline_ms": "3600000", "max_queue_ms": "0"}
"""Settings where nobody waits for a single answer, so that a slow machine refuses no file."""
POLL_SECONDS = 0.02
MOST_DEATHS = 4
"""Engines that may die in a row without an answer: over a document, over it alone, and twice more."""


log = logging.getLogger(__name__)


class EnginesDied(ServiceError):
    """Engines died again and again, not over one document."""

    code = "engines_died"
    title = "The engine cannot be kept alive"


class LocalService:
    """Engine process and worker that live as long as the context; `settings` replace some of the environment's.

    Attributes:
        options: the options of the next documents.
    """

    def __init__(
        self,
        options: dict[str, Any],
        report: Callable[[str], None],
        settings: Mapping[str, str] | None = None,
        kind: type[Options] = ExtractOptions,
    ) -> None:
        self.options = read_options(options, kind)
        self._report = report
        self._settings = dict(settings or {})
        self._stack = AsyncExitStack()
        self._watch: EngineWatchdog | None = None

    async def __aenter__(self) -> LocalService:
        try:
            await self._open()
        except BaseException:  # __aexit__ is not called when __aenter__ raises.
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def extract(self, path: Path, data: bytes | str) -> dict[str, Any]:
        """Extract from one file or text; returns the document as /extract does.

        Raises:
            GleanerError: the file is bad, engines died over it, or engines die again and again.
        """
        if isinstance(data, str):
            return await self.answer(DocumentInput(path.name, text=data))
        return await self.answer(DocumentInput(path.name, data=data, name=path.name))

    async def revision(self) -> str:
        """Name the answering model as `name@sha256:…`."""
        return f"{self.model.name}@{self.model.revision}"

    def pin(self, revision: str) -> None:
        """Let this revision answer, also after an engine died and a tag moved."""
        self.options = self.options.model_copy(update={"model": revision})
        self._environment[f"{PREFIX}MODELS"] = revision

    async def redact(self, path: Path, data: bytes) -> dict[str, Any]:
        """Redact one file; returns the document as /redact does, and raises as `extract`."""
        source = DocumentInput(path.name, data=data, name=path.name)
        assert isinstance(self.options, RedactOptions), "made for it"
        request = await self._request()
        return await self._finished(self._worker.redactor.redact(source, request, self.options, StageTimer()))

    @property
    def model(self) -> ModelStatus:
        return find_model(self._worker.engine.status.models, self.options.model)

    async def answer(self, source: DocumentInput) -> dict[str, Any]:
        """Extract from one document; raises as `extract`."""
        request = await self._request()
        return await self._finished(self._worker.extractor.extract(source, request, StageTimer()))

    async def _request(self) -> ExtractRequest:
        while not self._worker.engine.serving and not self._engines.done():  # After a death.
            await asyncio.sleep(POLL_SECONDS)
        options = self.options.for_extraction()
        task = self._worker.extractor.task(self.model, options)
        deadline_seconds = time.monotonic() + self._deadline_seconds
        return ExtractRequest(self.model, options, task, "cli", deadline_seconds, self._deadline_seconds, alone=True)

    async def _finished(self, working: Coroutine[Any, Any, msgspec.Struct]) -> dict[str, Any]:
        work = asyncio.create_task(working)
        try:
            await asyncio.wait((work, self._engines), return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise EnginesDied(f"{MOST_DEATHS} engines died one after the other; the last lines of each say why.")
        finally:
            work.cancel()
        if not isinstance(work.exception(), Overloaded):
            self._deaths = 0
        found: dict[str, Any] = msgspec.to_builtins(work.result())
        return found

    async def _open(self) -> None:
        folder = self._stack.enter_context(runtime_folder(None))
        settings = read_settings(runtime_dir=folder, **self._settings)
        self._deadline_seconds = settings.deadline_ms / 1000
        self._silence_seconds = settings.engine_silence_seconds
        chosen = {"log_level": "ERROR", "model_poll_seconds": "0", **self._settings}
        self._environment = child_environment(folder, **{name.upper(): value for name, value in chosen.items()})
        self._start_engine()
        self._stack.callback(self._stop_engine)
        self._worker: Worker = await self._stack.enter_async_context(open_worker(settings))
        await self._wait_until_ready()
        self._deaths = 0
        self._engines: asyncio.Task[None] = asyncio.create_task(self._keep_an_engine())
        self._stack.callback(self._engines.cancel)

    def _start_engine(self) -> None:
        """Start an engine that a terminal's Ctrl-C does not reach; it ends with this process."""
        command = [sys.executable, "-m", "service.engine"]
        if self._watch is not None:
            self._watch.close()
        self._watch = EngineWatchdog(self._silence_seconds)
        pipe = self._watch.writer
        environment = self._environment | {HEARTBEAT_VARIABLE: str(pipe)}
        self._engine = subprocess.Popen(command, env=environment, process_group=0, pass_fds=(pipe,))
        self._watch.started()

    def _stop_engine(self) -> None:
        self._engine.kill()
        self._engine.wait()
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    def _is_alive(self) -> bool:
        """True while the engine runs; one silent for too long is killed, unless it is debugged."""
        if self._engine.poll() is not None:
            return False
        if self._watch is not None and self._watch.is_stuck(time.monotonic()):
            self._watch.excuse()
            if not is_traced(self._engine.pid):
                log.error("the engine is stopped or stuck, and is killed", extra={"event": LogEvent.ENGINE_STUCK})
                os.killpg(self._engine.pid, signal.SIGKILL)
        return True

    async def _keep_an_engine(self) -> None:
        """Start one engine after another; end when too many have died without an answer."""
        while True:
            while self._is_alive():
                await asyncio.sleep(POLL_SECONDS)
            self._deaths += 1
            if self._deaths == MOST_DEATHS:
                return
            self._start_engine()

    async def _wait_until_ready(self) -> None:
        while not self._worker.engine.serving:
            if self._worker.starting.done():
                self._worker.starting.result()
            status = self._worker.engine.status
            self._report(f"{status.phase.value} {status.percent} %")
            if status.phase is Phase.FAILED or not self._is_alive():
                raise ModelError(status.detail or "the engine could not start; its last lines say why")
            await asyncio.sleep(POLL_SECONDS)

"""The parts of one worker process, built from settings: engine client, parser pool, extractor, metrics. No HTTP."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec

from service.api.engine.client import EngineClient
from service.api.extraction.extractor import Extractor
from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.trace import TraceBook
from service.api.middleware import ActiveRequests
from service.api.parsers.pool import ParseLimits, ParserPool
from service.api.parsers.zygote import ZygoteConfig
from service.api.parsers.zygote_client import IdleParserPool, ZygoteClient, announce
from service.api.redaction.document_redactor import Redactor
from service.api.redaction.file_redactor import FileRedactor
from service.core.tenants import ANONYMOUS
from service.core.worker_load import WorkerLoad, worker_load
from service.documents.limits import DocumentLimits
from service.documents.ocr.networks import BUILTIN_WEIGHTS
from service.environment import distribution_version
from service.metrics.worker import WorkerMetrics
from service.sandbox.apply import SandboxMode
from service.settings import Settings

THREADS = 4
"""Threads that tokenize and decode long texts, so that the event loop is free meanwhile."""

ENGINE_WAIT_SECONDS, ALONE_WAIT_SECONDS = 60.0, 10.0
"""Most seconds during which a worker that replaces another accepts no connections, as it cannot answer them yet: beside
other workers, and alone, when nobody else answers health checks."""

QUEUED_REQUESTS = 2
"""Requests of the largest size whose files may wait for the parsers."""


@dataclass(frozen=True, slots=True)
class Worker:
    """The parts that answer requests in one process.

    Attributes:
        starting: the start of the parsers and then of the engine's client; raises InternalError if the zygote dies,
            BadSettings if the sandbox is required and does not hold.
    """

    starting: asyncio.Task[None]
    engine: EngineClient
    extractor: Extractor
    redactor: Redactor
    parsers: ParserPool
    metrics: WorkerMetrics
    active_requests: ActiveRequests
    traces: TraceBook

    async def wait_for_engine(self, *, alone: bool) -> None:
        """Wait until the parsers have started and the engine has sent its status, for a limited time.

        Args:
            alone: there is no other worker.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(ALONE_WAIT_SECONDS if alone else ENGINE_WAIT_SECONDS):
                await asyncio.wait((self.starting,))
                await self.engine.heard.wait()


@asynccontextmanager
async def open_worker(settings: Settings) -> AsyncIterator[Worker]:
    """Start the parts, without waiting for it; stop them when the context ends."""
    active_requests, metrics = ActiveRequests(), WorkerMetrics()
    metrics.build.labels(distribution_version(), platform.python_version()).set(1)
    engine = EngineClient(settings.engine_address, lambda: active_requests.count, metrics.resubmitted.inc)
    limits = document_limits(settings)
    parsers = _make_parsers(settings, limits, metrics, engine)
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix="text")
    ocr = PageRecognizer(
        parsers, limits, is_available=ocr_folder(settings) is not None, most_pages=settings.max_ocr_pages
    )
    extractor = Extractor(
        engine,
        parsers,
        threads,
        limits=limits,
        window_tokens=settings.window_tokens,
        overlap_tokens=settings.overlap_tokens,
        ocr=ocr,
    )
    engine.on_models_change(extractor.load_tokenizers)
    engine.report_load(lambda: _load_of(extractor, parsers, time.monotonic()))
    starting = asyncio.create_task(_start(parsers, engine))
    try:
        redactor = Redactor(extractor, FileRedactor(parsers, ocr), settings.redact_key)
        yield Worker(starting, engine, extractor, redactor, parsers, metrics, active_requests, TraceBook())
    finally:
        starting.cancel()
        await asyncio.wait((starting,))
        await parsers.stop()
        await engine.stop()
        threads.shutdown(wait=False, cancel_futures=True)


async def _start(parsers: ParserPool, engine: EngineClient) -> None:
    """Start the parsers, however slowly, and only then look for the engine: until then the worker is not ready."""
    await parsers.start()
    engine.start()


def _load_of(extractor: Extractor, parsers: ParserPool, now: float) -> WorkerLoad:
    """How busy this worker is; called on its event loop's thread."""
    parsers.asked.did(parsers.seconds_worked(now), now)
    extractor.text.work.did(time.thread_time(), now)
    return worker_load(extractor.text.work, parsers.asked, parsers.wait_seconds, now, extractor.held_tokens)


def ocr_folder(settings: Settings) -> str | None:
    """The weights of OCR's networks; None where it is off, or what runs them is not installed."""
    if settings.ocr == "off" or find_spec("onnxruntime") is None:
        return None
    return str(settings.ocr_folder or BUILTIN_WEIGHTS)


def _make_parsers(
    settings: Settings, limits: DocumentLimits, metrics: WorkerMetrics, engine: EngineClient
) -> ParserPool:
    mode = SandboxMode(settings.parser_sandbox)
    config = ZygoteConfig(mode, settings.parse_memory_bytes, settings.parse_seconds, ocr_folder=ocr_folder(settings))
    zygote = ZygoteClient(config, lambda report: announce(report, mode, metrics))
    queue_bytes = QUEUED_REQUESTS * settings.max_request_bytes
    parse_limits = ParseLimits(limits, settings.parse_seconds, queue_bytes, settings.wait_limit_seconds)
    idle = IdleParserPool(settings.parsers, settings.parser_files, zygote, anonymous=ANONYMOUS)

    def refused(code: str) -> None:
        engine.count_unread(code, 1)

    return ParserPool(settings.parsers, parse_limits, idle, metrics.parser_deaths.inc, refused)


def document_limits(settings: Settings) -> DocumentLimits:
    """The limits that the settings set on one document."""
    return DocumentLimits(
        max_bytes=settings.max_document_bytes,
        max_pages=settings.max_document_pages,
        max_characters=settings.max_document_characters,
        max_tokens=settings.max_document_tokens,
    )

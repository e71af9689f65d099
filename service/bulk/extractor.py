"""`BulkExtractor`: files to rows in one call, for Ray Data, Spark, Daft and other programs that bring their own files.

    extractor = BulkExtractor(fields=True)              # or BulkExtractor(url="http://gleaner:8080", key="…")
    rows = extractor.rows(["a.pdf"], [b"%PDF-1.7 …"])   # as those of `gleaner bulk`
    extractor.close()

- It is made without work, and can be pickled. Its engine is started by the first call, once for each process and set
  of options, also where a program unpickles it again for each task; `url` asks a running service instead.
- A bad file is a row with an error, also one over which an engine dies twice; its neighbours are answered. So is a file
  that was refused for `patience_seconds` for no fault of its own: `queue_full`, `unreachable`; ask for such again.
- It raises only where nothing could be answered: a bad option, an unknown model, a key that is not known.

Calls block; several threads may call. An engine takes a device, or half the processors: let one process of a machine
have it, or all ask one service.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.bulk.chunk_worker import IN_FLIGHT, PATIENCE_SECONDS, ChunkWorker, InFlight, NotFinished
from service.bulk.finish import flat_row
from service.bulk.storage import Content
from service.core.bulk import BulkJob, Item, row
from service.core.errors import GleanerError
from service.core.types import Priority

CLOSE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class _Setup:
    """The service to ask, and the options; equal ones share one engine."""

    options: str
    url: str | None
    key: str | None
    in_flight: int
    patience_seconds: float


class BulkExtractor:
    """Files to rows; see the module.

    Args:
        url: a running service; None: an engine of this machine.
        key: that service's API key.
        in_flight: files that are asked for at a time.
        patience_seconds: how long a file is asked for again where nothing is wrong with it.
        options: of /extract: `model`, `labels`, `min_score`, `fields`, `ocr` …
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        key: str | None = None,
        in_flight: int = IN_FLIGHT,
        patience_seconds: float = PATIENCE_SECONDS,
        **options: Any,
    ) -> None:
        asked = {"priority": Priority.BATCH.value, **options}
        self._setup = _Setup(json.dumps(asked, sort_keys=True), url, key, in_flight, patience_seconds)

    def rows(self, paths: Iterable[str], contents: Iterable[bytes | str]) -> list[dict[str, Any]]:
        """The rows of files, in their order: `key` is the path, `version` the content's digest.

        Args:
            paths: their names, whose endings say what they are.
            contents: as many: a file's bytes, or a text.

        Raises:
            GleanerError: nothing can be answered; see the module.
        """
        return _running(self._setup).rows(list(zip(map(str, paths), contents, strict=True)))

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """A batch of columns `path` and `bytes` to columns of rows, with the document as JSON (`flat_row`)."""
        found = [flat_row(each) for each in self.rows(batch["path"], batch["bytes"])]
        return {name: [each[name] for each in found] for name in _COLUMNS}

    def close(self) -> None:
        """End the engine of this process, if it was started; the next call starts another."""
        with _LOCK:
            running = _RUNNING.pop((os.getpid(), self._setup), None)
        if running is not None:
            running.close()

    def __enter__(self) -> BulkExtractor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_COLUMNS = tuple(flat_row(row(Item("", "", 0), model="")))


class _Batch:
    """Inputs in memory."""

    names = ()

    def __init__(self) -> None:
        self._contents: dict[Item, bytes | str] = {}

    def add(self, path: str, content: bytes | str) -> Item:
        data = content.encode("utf-8", "replace") if isinstance(content, str) else bytes(content)
        item = Item(path, hashlib.sha256(data).hexdigest(), len(data))
        self._contents[item] = content if isinstance(content, str) else data
        return item

    def items(self) -> Iterator[Item]:
        return iter(self._contents)

    def read(self, item: Item) -> Content:
        return Content(os.path.basename(item.key), self._contents[item])


class _Running:
    """A service, and an event loop in a thread of its own that asks it."""

    def __init__(self, setup: _Setup) -> None:
        self._setup = setup
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gleaner-bulk", daemon=True)
        self._thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        except BaseException:
            self._end()
            raise

    def rows(self, files: list[tuple[str, bytes | str]]) -> list[dict[str, Any]]:
        return asyncio.run_coroutine_threadsafe(self._rows(files), self._loop).result()

    def close(self) -> None:
        try:
            asyncio.run_coroutine_threadsafe(self._service.__aexit__(None, None, None), self._loop).result(
                CLOSE_SECONDS
            )
        finally:
            self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _open(self) -> None:
        """Start; imported here, because the workers' code takes half a second."""
        options = json.loads(self._setup.options)
        if self._setup.url is not None:
            from service.remote_service import RemoteService

            self._service: Any = RemoteService(self._setup.url, options, self._setup.key)
        else:
            from service.local_service import UNHURRIED, LocalService

            model = options.get("model")
            settings = UNHURRIED | ({"models": model} if model else {})
            self._service = LocalService(options, lambda _: None, settings)
        await self._service.__aenter__()
        try:
            self._job = BulkJob(await self._service.revision(), options)
        except BaseException:
            await self._service.__aexit__(None, None, None)
            raise
        self._service.pin(self._job.model)
        self._in_flight = InFlight(self._setup.in_flight)

    async def _rows(self, files: list[tuple[str, bytes | str]]) -> list[dict[str, Any]]:
        batch = _Batch()
        items = [batch.add(path, content) for path, content in files]

        async def ask(name: str, data: bytes | str) -> dict[str, Any]:
            found: dict[str, Any] = await self._service.extract(Path(name), data)
            return found

        worker = ChunkWorker(batch, ask, self._job, self._in_flight, patience_seconds=self._setup.patience_seconds)
        return await asyncio.gather(*(self._row(worker, item) for item in items))

    async def _row(self, worker: ChunkWorker, item: Item) -> dict[str, Any]:
        try:
            return await worker.row(item)
        except NotFinished as error:
            last = error.__cause__
            assert isinstance(last, GleanerError), "it was raised from it"
            failed = {"code": last.code, "detail": last.detail}
            return row(item, model=self._job.model, sha256=item.version, error=failed)


_LOCK = threading.Lock()
_RUNNING: dict[tuple[int, _Setup], _Running] = {}
"""Running services by set-up; after a fork those of the parent process, whose threads are not here."""


def _running(setup: _Setup) -> _Running:
    with _LOCK:
        key = (os.getpid(), setup)
        if key not in _RUNNING:
            if not _RUNNING:
                atexit.register(_close_all)
            _RUNNING[key] = _Running(setup)
        return _RUNNING[key]


def _close_all() -> None:
    for (process, _), running in list(_RUNNING.items()):
        if process == os.getpid():
            running.close()
    _RUNNING.clear()

"""The service that is asked, of a model folder, of a name in the store, or of the built-in model; and its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from model_store.builtin import NAME
from model_store.contents.allowed_files import CONFIG
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.api.extraction.request import DocumentInput
from service.commands.files.local_service import LocalService
from service.core.errors import Overloaded, RequestError
from service.evaluation.labelled_documents import LabelledDocument, LabelledSet
from service.evaluation.scoring import ScoredAnswer, from_answer

BUILTIN = "builtin"
FOLDER_NAME = "evaluated"
"""The name under which a folder is published to a store of its own."""
OPTIONS = {"fields": True}
UNHURRIED = {"deadline_ms": str(24 * 3_600_000), "max_queue_ms": "0"}
"""Settings of the service that is asked: what a slow machine would refuse in service is no miss of the model."""
AT_ONCE = 16
"""Documents that are asked for at the same time, so that batches fill."""
ATTEMPTS, PAUSE_SECONDS = 6, 2.0
"""How often a document is asked for that a busy machine refuses, and how long is waited before each further time."""


class Answering(Protocol):
    """What answers documents: a service."""

    async def answer(self, document: DocumentInput) -> dict[str, Any]:
        """The answer to one document. Raises RequestError or Overloaded where it refuses."""


OnProgress = Callable[[str, int, int], None]
"""Called with (what is done, documents done, documents in all)."""


@contextmanager
def evaluated_service(model: str, report: Callable[[str], None]) -> Iterator[LocalService]:
    """A service of this model, with the decoding, windows and precision of `gleaner serve`; to be entered by itself.

    Raises:
        StoreError: the folder is no model, or there is none of this name.
    """
    with TemporaryDirectory(prefix="gleaner-evaluate-") as store:
        if model == BUILTIN:
            settings = {"models": NAME, "model_store": store, "model_remote": ""}
        elif "/" in model or (Path(model) / CONFIG).is_file():
            report("taking the folder")
            publish(Path(model), FOLDER_NAME, Store(Path(store)))
            settings = {"models": FOLDER_NAME, "model_store": store, "model_remote": ""}
        else:
            settings = {"models": model}
        yield LocalService(OPTIONS, report, settings | UNHURRIED)


async def ask_all(
    service: Answering, sets: Sequence[LabelledSet], show: OnProgress, *, pause_seconds: float = PAUSE_SECONDS
) -> list[list[ScoredAnswer]]:
    """The answers to each set's documents, in their order.

    Raises:
        ServiceError: the engine failed, or died.
    """
    gate = asyncio.Semaphore(AT_ONCE)
    total, done = sum(len(each.documents) for each in sets), 0

    async def ask(name: str, document: LabelledDocument) -> ScoredAnswer:
        nonlocal done
        async with gate:
            found = await _ask(service, document, pause_seconds)
        done += 1
        show(name, done, total)
        return found

    return [list(await asyncio.gather(*(ask(each.name, document) for document in each.documents))) for each in sets]


async def _ask(service: Answering, document: LabelledDocument, pause_seconds: float) -> ScoredAnswer:
    """What the service finds; nothing in a document that it refuses. A failure of its own is no answer."""
    asked = DocumentInput(document.id, text=document.text)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return from_answer(await service.answer(asked))
        except Overloaded as error:
            refused = error.code
            if attempt < ATTEMPTS:
                await asyncio.sleep(pause_seconds)
        except RequestError as error:
            refused = error.code
            break
    return ScoredAnswer((), {}, refused=refused)

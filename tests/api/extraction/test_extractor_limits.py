"""Work on a document ends as soon as it cannot be answered any more: too many tokens, too late, or its client gone."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

import pytest

from service.api.extraction.extractor import SAMPLE_CHARACTERS
from service.api.extraction.request import LONG_TEXTS_AT_ONCE, DocumentInput, ExtractRequest
from service.api.extraction.trace import PageProgress, StageTimer
from service.api.options import ExtractOptions
from service.api.schemas import DocumentResult
from service.core.admission.size import DocumentMemory
from service.core.errors import (
    DeadlineExceeded,
    DocumentTooLarge,
    GleanerError,
    InsufficientMemory,
    QueueFull,
    TooLongForDeadline,
)
from service.core.types import Load, Phase
from service.documents.limits import DocumentLimits
from service.text.split_points import SHORTEST_CHARACTERS
from service.wire import ModelStatus, Status
from tests.support.extractors import CountingThreads, EagerEngine, extractor_of, model_in

FAR = 1e9
GIANT = "- " * 2_000_000
GIANT_PIECES = len(GIANT) // SHORTEST_CHARACTERS
FEW = 6
"""Pieces that may be tokenized before it is noticed that they were for nothing."""
ALONE = {"sha256:0": 1_000.0}
SLOW = Status("1", Phase.READY, tokens_per_second=1_000.0, alone_tokens_per_second=ALONE, queue_limit_tokens=10_000)


class Scene:
    """An extractor with everything around it."""

    def __init__(self, model: ModelStatus, status: Status = SLOW, **limits: int) -> None:
        self.model = model
        self.engine = EagerEngine(status)
        self.thread = CountingThreads(1)
        self.extractor = extractor_of(self.engine, self.thread, DocumentLimits(**limits))

    def request(self, deadline_seconds: float = FAR, allowed_seconds: float = math.inf) -> ExtractRequest:
        task = self.extractor.task(self.model, ExtractOptions())
        return ExtractRequest(self.model, ExtractOptions(), task, "c", deadline_seconds, allowed_seconds)

    def extract(self, text: str, request: ExtractRequest) -> Awaitable[DocumentResult]:
        return self.extractor.extract(DocumentInput("0", text=text), request, StageTimer())

    def run(self, text: str, deadline_seconds: float = FAR, allowed_seconds: float = math.inf) -> DocumentResult:
        """One text's result, by an extractor that knows the tokenizer."""

        async def scene() -> DocumentResult:
            await self.extractor.load_tokenizers((self.model,))
            self.thread.asked = 0
            return await self.extract(text, self.request(deadline_seconds, allowed_seconds))

        return asyncio.run(scene())


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelStatus:
    return model_in(tmp_path_factory.mktemp("model"))


@pytest.fixture
def scene_of(model: ModelStatus) -> Iterator[Callable[..., Scene]]:
    scenes: list[Scene] = []

    def make(status: Status = SLOW, **limits: int) -> Scene:
        scenes.append(Scene(model, status, **limits))
        return scenes[-1]

    yield make
    for scene in scenes:
        scene.thread.shutdown(wait=True, cancel_futures=True)


@pytest.mark.parametrize(
    ("status", "seconds", "limits", "error"),
    [
        (SLOW, 10.0, {}, DeadlineExceeded),
        (Status("1", Phase.READY, load=Load(tokens=1), queue_limit_tokens=10_000), FAR, {}, QueueFull),
        (Status("1", Phase.READY), FAR, {"max_tokens": 10_000}, DocumentTooLarge),
    ],
    ids=["deadline", "queue", "limit"],
)
def test_a_text_is_tokenized_no_further_than_its_tokens_may_be_admitted(
    scene_of: Callable[..., Scene], status: Status, seconds: float, limits: dict[str, int], error: type[GleanerError]
) -> None:
    scene = scene_of(status, **limits)
    with pytest.raises(error):
        scene.run(GIANT, time.monotonic() + seconds)
    assert scene.thread.asked <= FEW < GIANT_PIECES
    assert scene.engine.submitted == []


def test_the_engine_hears_of_what_was_refused_for_its_tokens(scene_of: Callable[..., Scene]) -> None:
    scene = scene_of()
    with pytest.raises(DeadlineExceeded):
        scene.run(GIANT, time.monotonic() + 10.0)
    ((code, (documents, tokens)),) = scene.engine.refusals.take_counts().items()
    assert (code, documents) == ("deadline_exceeded", 1)
    assert 10_000 < tokens < 10_000 + 2 * SHORTEST_CHARACTERS


def test_a_text_too_long_for_an_idle_engine_is_not_tokenized_whole(scene_of: Callable[..., Scene]) -> None:
    scene = scene_of()
    with pytest.raises(TooLongForDeadline, match=r"about 800\.0 s .* leaves (10\.0|[6-9]\.\d) s") as refused:
        scene.run(GIANT, time.monotonic() + 10.0, 10.0)
    assert refused.value.retry_after_seconds is None
    assert scene.thread.asked <= FEW < GIANT_PIECES
    assert scene.engine.refusals.take_counts() == {}
    (beginning,) = scene.engine.submitted
    assert 0 < beginning <= 2 * SAMPLE_CHARACTERS, "the engine has something to measure by"
    assert scene.extractor.text.work.ratio(time.monotonic()) < 0.05, "what is left untokenized is asked of nobody"


def test_texts_too_long_for_an_idle_engine_cost_a_client_s_others_nothing(scene_of: Callable[..., Scene]) -> None:
    scene, giants = scene_of(), 10

    async def batch() -> list[DocumentResult | BaseException]:
        await scene.extractor.load_tokenizers((scene.model,))
        request = scene.request(time.monotonic() + 10.0, 10.0)
        texts = [GIANT] * giants + ["anna " * 20] * 5
        return await asyncio.gather(*(scene.extract(text, request) for text in texts), return_exceptions=True)

    *refused, a, b, c, d, e = asyncio.run(batch())
    assert {type(each) for each in refused} == {TooLongForDeadline}
    assert {type(each) for each in (a, b, c, d, e)} == {DocumentResult}
    assert scene.engine.refusals.take_counts() == {}


def test_an_engine_that_was_not_measured_judges_alone(scene_of: Callable[..., Scene]) -> None:
    scene = scene_of(Status("1", Phase.READY, tokens_per_second=1_000.0))
    text = "- " * 50_000
    assert scene.run(text, time.monotonic() + 60.0, 60.0).tokens == 50_000
    assert len(scene.engine.submitted) == 1


def test_a_deadline_that_passes_over_own_work_alone_is_too_short(scene_of: Callable[..., Scene]) -> None:
    """As over pages that are recognized for all of that time. What waited for others may succeed later."""
    for own, error in ((0.19, TooLongForDeadline), (0.0, DeadlineExceeded)):
        scene = scene_of(Status("1", Phase.READY))
        timer = StageTimer(pages=PageProgress(parser_seconds=own))
        request = scene.request(time.monotonic() - 0.001 + 0.2, 0.2)
        scene.engine.answers = asyncio.Event()
        with pytest.raises(error):
            asyncio.run(scene.extractor.extract(DocumentInput("0", text="anna"), request, timer))


def test_a_text_is_tokenized_no_further_than_memory_holds_its_scores(scene_of: Callable[..., Scene]) -> None:
    """With 71 labels a million tokens take 0.8 GB of the worker, all of which came after the engine's work."""
    scene = scene_of(Status("1", Phase.READY))
    scene.extractor.memory = DocumentMemory(lambda: 60_000_000)
    with pytest.raises(InsufficientMemory, match="30 MB are free"):
        scene.run(GIANT)
    assert scene.thread.asked < GIANT_PIECES / 4
    assert scene.engine.submitted == []
    assert scene.extractor.memory.reserved_bytes == 0


def test_a_text_of_one_piece_with_too_many_tokens_is_too_large(scene_of: Callable[..., Scene]) -> None:
    with pytest.raises(DocumentTooLarge, match="5,001 tokens"):
        scene_of(max_tokens=5_000).run("-" * 5_001)
    assert scene_of(max_tokens=5_000).run("-" * 5_000).tokens == 5_000


def test_a_text_with_too_many_characters_is_refused_before_it_is_tokenized(scene_of: Callable[..., Scene]) -> None:
    scene = scene_of(max_characters=1_000)
    with pytest.raises(DocumentTooLarge, match="has 44,739 characters; the limit is 1,000: 43,739 too many"):
        scene.run("-" * 44_739)
    assert scene.thread.asked == 0


def test_nothing_is_begun_for_a_document_that_is_late_already(scene_of: Callable[..., Scene]) -> None:
    for text in ("anna", GIANT):
        scene = scene_of()
        with pytest.raises(DeadlineExceeded):
            scene.run(text, time.monotonic() - 0.001)
        assert (scene.thread.asked, scene.engine.submitted) == (0, [])


def test_a_deadline_ends_the_tokenizing_of_a_text(scene_of: Callable[..., Scene]) -> None:
    scene = scene_of(Status("1", Phase.READY))
    with pytest.raises(DeadlineExceeded):
        scene.run(GIANT, time.monotonic() + 0.2)
    assert scene.thread.asked < GIANT_PIECES
    assert scene.engine.submitted == []


async def test_a_client_that_is_gone_ends_the_tokenizing_of_its_text(scene_of: Callable[..., Scene]) -> None:
    scene = scene_of(Status("1", Phase.READY))
    await scene.extractor.load_tokenizers((scene.model,))
    working = asyncio.ensure_future(scene.extract(GIANT, scene.request()))
    while scene.thread.asked < 3:
        await asyncio.sleep(0)
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working
    assert scene.thread.asked <= FEW
    assert scene.engine.submitted == []


def test_a_batch_s_first_long_texts_are_ready_before_its_last_are_begun(scene_of: Callable[..., Scene]) -> None:
    """So that a deadline finds some of them done, rather than all of them nearly."""
    scene, documents, pieces = scene_of(Status("1", Phase.READY)), 8, 2
    asked: list[int] = []

    async def one(request: ExtractRequest, text: str) -> None:
        await scene.extract(text, request)
        asked.append(scene.thread.asked)

    async def batch() -> None:
        await scene.extractor.load_tokenizers((scene.model,))
        scene.thread.asked, request = 0, scene.request()
        await asyncio.gather(*(one(request, "- " * (pieces * SHORTEST_CHARACTERS // 2)) for _ in range(documents)))

    asyncio.run(batch())
    assert asked[0] <= (LONG_TEXTS_AT_ONCE + 1) * (pieces + 1)
    assert len(asked) == documents


def test_texts_late_behind_their_client_s_others_are_refused_untokenized(
    scene_of: Callable[..., Scene],
) -> None:
    scene, count = scene_of(), 100
    text = "anna " * 200

    async def batch() -> list[DocumentResult | BaseException]:
        await scene.extractor.load_tokenizers((scene.model,))
        request = scene.request(time.monotonic() + 10.0)
        return await asyncio.gather(*(scene.extract(text, request) for _ in range(count)), return_exceptions=True)

    outcomes = asyncio.run(batch())
    refused = [outcome for outcome in outcomes if isinstance(outcome, DeadlineExceeded)]
    assert 30 < len(refused) < 80
    assert len(scene.engine.submitted) == count - len(refused)
    ((code, (documents, _)),) = scene.engine.refusals.take_counts().items()
    assert (code, documents) == ("deadline_exceeded", len(refused))

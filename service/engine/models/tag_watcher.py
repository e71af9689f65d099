"""Follows the tags: a revision that a tag newly points to is fetched, made and proven beside the one that serves.

Runs in a thread of its own (the one that loaded the first models); what concerns the engine's models it asks the loop's
thread to do. The rule: whatever fails, the revision that serves goes on serving, and it is said loudly, in a log line,
in a metric and in /models. What failed for good is tried again only when the tag has moved.
"""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future
from enum import StrEnum

from model_store.errors import StoreError
from model_store.local.store import Revision
from service.core.errors import GleanerError, InsufficientMemory, ModelError, Overloaded
from service.engine.ipc.local_client import LocalClient
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.models.factory import ModelFactory
from service.engine.models.golden_check import first_failure
from service.engine.models.manager import ModelManager
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository, is_tag
from service.engine.models.rollout_journal import RolloutJournal, RolloutRecord
from service.metrics.engine import EngineMetrics
from service.settings import Settings

PROVING_SECONDS = 120.0
ROOM_SECONDS = 60.0
LOOK_SECONDS = 0.05
DIED = "the engine died while it was tried"

log = logging.getLogger(__name__)


class RolloutOutcome(StrEnum):
    """How a new revision ended, as metrics say it."""

    SWITCHED = "switched"
    FETCH_FAILED = "fetch_failed"
    LOAD_FAILED = "load_failed"
    GOLDEN_FAILED = "golden_failed"
    NO_ROOM = "no_room"


class GoldenFailed(ModelError):
    """A revision does not find what its golden examples say."""


class TagWatcher:
    """The tags of one engine.

    Args:
        memory: what the engine before left; its deadly revisions are not tried.
    """

    def __init__(
        self,
        settings: Settings,
        fetcher: ModelRepository,
        maker: ModelFactory,
        measuring: ModelProfiler,
        residents: ModelManager,
        errands: LoopCalls,
        metrics: EngineMetrics,
        memo: RolloutJournal,
        memory: RolloutRecord,
    ) -> None:
        self._settings = settings
        self._fetcher = fetcher
        self._maker = maker
        self._measuring = measuring
        self._residents = residents
        self._errands = errands
        self._metrics = metrics
        self._memo = memo
        self._deadly = dict(memory.deadly)
        self._refused = dict(memory.deadly)
        self._said: dict[str, str] = {}
        self._tags = [reference for reference in settings.models if is_tag(reference)]

    def run(self) -> None:
        """Follow the tags until the process ends."""
        self.remind()
        while True:
            self.look()
            time.sleep(self._settings.model_poll_seconds)

    def remind(self) -> None:
        """Say which revisions are not tried because an engine died over them."""
        for reference, revision in self._deadly.items():
            self._complain(reference, revision, RolloutOutcome.LOAD_FAILED, DIED)

    def look(self) -> None:
        """Look at every tag once, and take what is new."""
        for reference in self._tags:
            try:
                self._look(reference)
            except Exception:  # One tag's trouble must not keep the others from being followed.
                log.exception("a tag could not be followed", extra={"model": reference})

    def _look(self, reference: str) -> None:
        try:
            wanted = self._fetcher.points_to(reference)
        except StoreError as error:
            self._complain(reference, "its tag", RolloutOutcome.FETCH_FAILED, error.detail)
            return
        if wanted == self._errands.ask(lambda: self._residents.leads_to(reference)):
            self._said.pop(reference, None)
            self._errands.ask(lambda: self._residents.clear_problem(reference))
        elif self._refused.get(reference) != wanted:
            self._take(reference, wanted)

    def _take(self, reference: str, wanted: str) -> None:
        begun = time.monotonic()
        try:
            revision = self._proven(reference, wanted)
        except StoreError as error:
            self._complain(reference, wanted, RolloutOutcome.FETCH_FAILED, error.detail)
        except (Overloaded, InsufficientMemory) as error:
            self._complain(reference, wanted, RolloutOutcome.NO_ROOM, error.detail)
        except GleanerError as error:
            golden = isinstance(error, GoldenFailed)
            self._refused[reference] = wanted
            self._complain(
                reference, wanted, RolloutOutcome.GOLDEN_FAILED if golden else RolloutOutcome.LOAD_FAILED, error.detail
            )
        except Exception as error:
            log.exception("a new revision could not be tried")
            self._refused[reference] = wanted
            self._complain(reference, wanted, RolloutOutcome.LOAD_FAILED, f"{type(error).__name__}: {error}")
        else:
            if revision != self._errands.ask(lambda: self._residents.leads_to(reference)):  # It may have moved back.
                self._switch(reference, revision, time.monotonic() - begun)

    def _switch(self, reference: str, revision: str, seconds: float) -> None:
        self._errands.ask(lambda: self._residents.switch(reference, revision))
        self._refused.pop(reference, None)
        self._said.pop(reference, None)
        self._note()
        self._metrics.models.switches.labels(reference, RolloutOutcome.SWITCHED.value).inc()
        facts = {"model": reference, "revision": revision, "seconds": round(seconds, 3)}
        log.warning("a new revision serves", extra=facts)

    def _proven(self, reference: str, wanted: str) -> str:
        """The revision to switch to, made and proven; one that was served before is there already."""
        if self._errands.ask(lambda: wanted in self._residents):
            return wanted
        revision = self._fetcher.obtain(reference)
        if self._errands.ask(lambda: revision.revision in self._residents):
            return revision.revision
        self._note(trying={reference: revision.revision})
        try:
            self._try(revision)
        except BaseException:
            self._errands.ask(lambda: self._residents.give_up(revision.revision))
            raise
        finally:
            self._note()
        return revision.revision

    def _try(self, revision: Revision) -> None:
        name = revision.revision
        held = self._maker.make(revision, lambda weight_bytes: self._reserve(name, weight_bytes))
        self._measuring.warm(held)
        memory = self._measuring.measure(held)
        self._errands.ask(lambda: self._residents.try_out(held, memory, time.monotonic()))
        guest = LocalClient(self._settings.engine_address)
        end = time.monotonic() + PROVING_SECONDS
        try:
            problem = first_failure(
                revision.manifest, held.status, lambda sequences: guest.judge(name, sequences, end), self._settings
            )
        finally:
            guest.close()
        if problem is not None:
            raise GoldenFailed(problem)

    def _reserve(self, revision: str, weight_bytes: int) -> None:
        """Wait until the device has room for the weights; others wait in host memory meanwhile, if they must."""
        end = time.monotonic() + ROOM_SECONDS

        def reserve() -> list[Future[None]] | None:
            return self._residents.reserve(revision, weight_bytes, time.monotonic())

        while (leaving := self._errands.ask(reserve)) is None:
            if time.monotonic() > end:
                raise InsufficientMemory("the models that serve leave no room on the device to try it")
            time.sleep(LOOK_SECONDS)
        for moved in leaving:
            moved.result()

    def _complain(self, reference: str, revision: str, outcome: RolloutOutcome, detail: str) -> None:
        self._metrics.models.switches.labels(reference, outcome.value).inc()
        problem = f"{revision} is not taken: {detail}"
        self._errands.ask(lambda: self._residents.note_problem(reference, problem))
        if self._said.get(reference) != problem:
            self._said[reference] = problem
            facts = {"model": reference, "revision": revision, "outcome": outcome.value, "reason": detail}
            log.error("a new revision is not taken; the one before goes on serving", extra=facts)

    def _note(self, trying: dict[str, str] | None = None) -> None:
        serving = self._errands.ask(self._residents.serving)
        self._memo.write(RolloutRecord(serving, trying or {}, self._deadly))

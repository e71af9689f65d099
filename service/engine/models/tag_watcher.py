"""Tag watcher: follows the tags of the served models, and has each new revision replace the one that serves.

Runs in the loading thread; what concerns the models it does by calls onto the loop's thread. The rule: whatever fails,
the revision that serves goes on serving, and the failure is reported in a log line, a metric and /models. A revision
that failed for good is tried again only when the tag has moved.
"""

from __future__ import annotations

import logging
import time
from enum import StrEnum

from model_store.errors import StoreError
from service.core.errors import GleanerError, InsufficientMemory, Overloaded
from service.engine.ipc.loop_calls import LoopCalls
from service.engine.models.manager import ModelManager
from service.engine.models.repository import is_tag
from service.engine.models.rollout.bring_up import GoldenFailed, Rollout
from service.engine.models.rollout.journal import RolloutJournal
from service.engine.models.rollout.live import LiveRollout
from service.metrics.engine import EngineMetrics
from service.process import collect_once
from service.settings import Settings

DIED = "the engine died while it was tried"

log = logging.getLogger(__name__)


class RolloutOutcome(StrEnum):
    """How the rollout of a new revision ended, as metrics name it."""

    SWITCHED = "switched"
    FETCH_FAILED = "fetch_failed"
    LOAD_FAILED = "load_failed"
    GOLDEN_FAILED = "golden_failed"
    NO_ROOM = "no_room"


class TagWatcher:
    """The tags of one engine."""

    def __init__(
        self,
        settings: Settings,
        rollout: Rollout,
        models: ModelManager,
        calls: LoopCalls,
        metrics: EngineMetrics,
        journal: RolloutJournal,
    ) -> None:
        self._settings = settings
        self._rollout = rollout
        self._models = models
        self._calls = calls
        self._metrics = metrics
        self._journal = journal
        self._rejected = dict(journal.before.crashed)
        self._reported: dict[str, str] = {}
        self._loaded: tuple[str, ...] = ()
        self._references = [reference for reference in settings.models if is_tag(reference)]

    def run(self) -> None:
        """Follow the tags until the process ends."""
        self.report_crashed()
        self._loaded = self._calls.call(self._models.loaded)
        while True:
            self.poll()
            self._collect()
            time.sleep(self._settings.model_poll_seconds)

    def _collect(self) -> None:
        """Collect what a revision that was dropped has left: no other collection looks through what was loaded."""
        try:
            loaded = self._calls.call(self._models.loaded)
            if loaded != self._loaded:
                collect_once()
            self._loaded = loaded
        except Exception:  # As in `poll`.
            log.exception("garbage could not be collected")

    def report_crashed(self) -> None:
        """Report the revisions that are not tried because an engine died during their rollout."""
        for reference, revision in self._journal.before.crashed.items():
            self._reject(reference, revision, RolloutOutcome.LOAD_FAILED, DIED)

    def poll(self) -> None:
        """Read every tag once, and roll out what is new."""
        for reference in self._references:
            try:
                self._poll(reference)
            except Exception:  # The failure of one tag must not keep the others from being followed.
                log.exception("a tag could not be followed", extra={"model": reference})

    def _poll(self, reference: str) -> None:
        try:
            wanted = self._rollout.repository.points_to(reference)
        except StoreError as error:
            self._reject(reference, "its tag", RolloutOutcome.FETCH_FAILED, error.detail)
            return
        if wanted == self._calls.call(lambda: self._models.resolve(reference)):
            self._reported.pop(reference, None)
            self._calls.call(lambda: self._models.clear_problem(reference))
        elif self._rejected.get(reference) != wanted:
            self._follow(reference, wanted)

    def _follow(self, reference: str, wanted: str) -> None:
        begun = time.monotonic()
        try:
            revision = self._bring_up(reference, wanted)
        except StoreError as error:
            self._reject(reference, wanted, RolloutOutcome.FETCH_FAILED, error.detail)
        except (Overloaded, InsufficientMemory) as error:
            self._reject(reference, wanted, RolloutOutcome.NO_ROOM, error.detail)
        except GleanerError as error:
            golden = isinstance(error, GoldenFailed)
            outcome = RolloutOutcome.GOLDEN_FAILED if golden else RolloutOutcome.LOAD_FAILED
            self._rejected[reference] = wanted
            self._reject(reference, wanted, outcome, error.detail)
        except Exception as error:
            log.exception("a new revision could not be tried")
            self._rejected[reference] = wanted
            self._reject(reference, wanted, RolloutOutcome.LOAD_FAILED, f"{type(error).__name__}: {error}")
        else:
            if revision != self._calls.call(lambda: self._models.resolve(reference)):  # It may have moved back.
                self._switch(reference, revision, time.monotonic() - begun)

    def _bring_up(self, reference: str, wanted: str) -> str:
        """The revision to switch to, loaded and checked; a previous one is loaded already."""
        if self._calls.call(lambda: wanted in self._models):
            return wanted
        revision = self._rollout.repository.obtain(reference)
        name = revision.revision
        if self._calls.call(lambda: name in self._models):
            return name
        self._write_journal(in_trial={reference: name})
        try:
            with LiveRollout(self._settings.engine_address, self._models, self._calls) as target:
                self._rollout.bring_up(revision, target)
        except BaseException:
            self._calls.call(lambda: self._models.discard(name))
            raise
        finally:
            self._write_journal()
        return name

    def _switch(self, reference: str, revision: str, seconds: float) -> None:
        self._calls.call(lambda: self._models.switch(reference, revision))
        self._rejected.pop(reference, None)
        self._reported.pop(reference, None)
        self._write_journal()
        self._metrics.models.switches.labels(reference, RolloutOutcome.SWITCHED.value).inc()
        facts = {"model": reference, "revision": revision, "seconds": round(seconds, 3)}
        log.warning("a new revision serves", extra=facts)

    def _reject(self, reference: str, revision: str, outcome: RolloutOutcome, detail: str) -> None:
        self._metrics.models.switches.labels(reference, outcome.value).inc()
        problem = f"{revision} is not taken: {detail}"
        self._calls.call(lambda: self._models.note_problem(reference, problem))
        if self._reported.get(reference) != problem:
            self._reported[reference] = problem
            facts = {"model": reference, "revision": revision, "outcome": outcome.value, "reason": detail}
            log.error("a new revision is not taken; the one before goes on serving", extra=facts)

    def _write_journal(self, in_trial: dict[str, str] | None = None) -> None:
        self._journal.write(self._calls.call(self._models.serving), in_trial)

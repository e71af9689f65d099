"""Tag watcher: follows the tags of the served models, and has each new revision replace the one that serves.

Runs in the loading thread; what concerns the models it does by calls onto the loop's thread. The rule: whatever fails,
the revision that serves goes on serving, and the failure is reported in a log line, a metric and /models. A revision
that failed for good is tried again only when the tag has moved.

The rollout journal is one small file in the service's runtime folder: what the next engine must know if this one dies.
An engine that starts again serves what its predecessor served, so that requests tokenized for those revisions are
answered by them, even if tags have moved meanwhile; and a revision during whose rollout an engine died is not tried
again.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from model_store.errors import StoreError
from service.core.errors import GleanerError, InsufficientMemory, Overloaded
from service.engine.engine_socket import LoopCalls
from service.engine.models.bring_up import GoldenFailed, Rollout
from service.engine.models.live_rollout import LiveRollout
from service.engine.models.loaded_model import FailedModel
from service.engine.models.manager import ModelManager
from service.engine.models.repository import is_tag, model_and_tag
from service.metrics.engine import EngineMetrics
from service.process import collect_once
from service.settings import Settings

log = logging.getLogger(__name__)


class RolloutRecord(msgspec.Struct, frozen=True):
    """By reference: the revision that was serving, the one in trial, and the one that may not be tried again."""

    serving: dict[str, str] = {}
    in_trial: dict[str, str] = {}
    crashed: dict[str, str] = {}


class RolloutJournal:
    """The journal of one service; without a folder nothing is kept.

    Attributes:
        before: what the previous engine left. What was in trial when it died counts as crashed.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / "revisions.json" if folder else None
        self.before = self._read()

    def write(self, serving: Mapping[str, str], in_trial: Mapping[str, str] | None = None) -> None:
        """Replace the record; where that fails the engine goes on without."""
        if self._path is None:
            return
        record = RolloutRecord(dict(serving), dict(in_trial or {}), self.before.crashed)
        temporary = self._path.with_suffix(".new")
        try:
            temporary.write_bytes(msgspec.json.encode(record))
            os.replace(temporary, self._path)
        except OSError as error:
            log.warning("what is served could not be noted", extra={"error": str(error)})

    def _read(self) -> RolloutRecord:
        if self._path is None:
            return RolloutRecord()
        try:
            found = msgspec.json.decode(self._path.read_bytes(), type=RolloutRecord)
        except (OSError, msgspec.DecodeError):
            return RolloutRecord()
        return RolloutRecord(found.serving, {}, {**found.crashed, **found.in_trial})


DIED = "the engine died while it was tried"


class RolloutOutcome(StrEnum):
    """The end of a new revision's rollout, as metrics name it."""

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

    def run(self, failed: Mapping[str, FailedModel]) -> None:
        """Follow the tags until the process ends; `failed`: the references that are not served."""
        self._rejected |= {reference: each.revision for reference, each in failed.items() if not each.tries_again}
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
        if wanted == self._calls.call(lambda: self._models.aliases.resolve(reference)):
            self._reported.pop(reference, None)
            self._calls.call(lambda: self._models.aliases.clear_problem(reference))
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
            if revision != self._calls.call(lambda: self._models.aliases.resolve(reference)):  # It may have moved back.
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
        self._metrics.models.switches.labels(*model_and_tag(reference), RolloutOutcome.SWITCHED.value).inc()
        facts = {"model": reference, "revision": revision, "seconds": round(seconds, 3)}
        log.info("a new revision serves", extra=facts)

    def _reject(self, reference: str, revision: str, outcome: RolloutOutcome, detail: str) -> None:
        self._metrics.models.switches.labels(*model_and_tag(reference), outcome.value).inc()
        problem = f"{revision} is not taken: {detail}"
        self._calls.call(lambda: self._models.aliases.note_problem(reference, problem))
        if self._reported.get(reference) != problem:
            self._reported[reference] = problem
            facts = {"model": reference, "revision": revision, "outcome": outcome.value, "reason": detail}
            log.error("a new revision is not taken; the one before goes on serving", extra=facts)

    def _write_journal(self, in_trial: dict[str, str] | None = None) -> None:
        self._journal.write(self._calls.call(lambda: self._models.aliases.serving()), in_trial)

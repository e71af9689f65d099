"""Engine loop: receives, schedules, launches, delivers.

One thread owns the queue, the socket and the models; the device's executor computes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from service.core.drain import NONE_FOLLOWS
from service.core.liveness import BatchWatchdog
from service.engine.batch_forming import BatchFormer
from service.engine.engine_socket import EngineSocket
from service.engine.execution.in_flight import InFlightBatch
from service.engine.lifecycle import ExitReason, Lifecycle
from service.engine.models.loaded_model import InitialModels
from service.engine.requests.intake import RequestIntake
from service.engine.requests.status import StatusPublisher
from service.wire import Hello

IDLE_SECONDS = 0.25
LOADING_SECONDS = 0.01
"""Seconds between tries while all waiting work is for models that may not be loaded to the device yet."""

LOOK_SECONDS = 0.005
"""Least seconds between two checks of the device; an idle loop checks every `IDLE_SECONDS`."""

PARTING_SECONDS = 2.0
"""Seconds for a worker to confirm that no engine follows."""


class EngineLoop:
    """One engine from its first heartbeat to its last answer.

    Attributes:
        models: the models that it serves; none until `open`.
    """

    def __init__(
        self,
        ipc: EngineSocket,
        requests: RequestIntake,
        former: BatchFormer,
        lifecycle: Lifecycle,
        status: StatusPublisher,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ipc = ipc
        self._requests = requests
        self.models = former.models
        self._lifecycle = lifecycle
        self._status = status
        self._clock = clock
        self._table = requests.table
        self._scheduler = requests.table.scheduler
        self._former = former
        self._in_flight = former.in_flight
        self._batch_watchdog = BatchWatchdog()
        self._next_look_seconds = 0.0

    def run(self, stopping: Callable[[], bool], beat: Callable[[bool], None] = lambda _: None) -> None:
        """Serve until a drain is done, or until the engine must exit (`exit_reason`).

        `beat` is called with each status: the heartbeat of this thread, with whether models are served.
        """
        while not self._is_over():
            self._receive()
            self._advance(stopping=stopping())
            self._requests.expire(self._clock())
            self.models.guard.refresh(self._clock())
            self._launch()
            self._deliver()
            self._look(beat)
        self._advance(stopping=False)
        if self.exit_reason is not None and self.exit_reason.final:
            self._table.refuse_all("engine_restarting", NONE_FOLLOWS, retry_after_seconds=1.0)
        self._part()

    def _part(self) -> None:
        """Send the last status, and wait until the workers have it if no engine follows.

        A socket may lose what it received right before its peer closes (ZMQ_IMMEDIATE in libzmq).
        """
        self._status.export_metrics(self._clock())
        self._status.send_to_all(self._clock())
        if self.exit_reason is None or not self.exit_reason.final:
            return
        end = time.monotonic() + PARTING_SECONDS
        workers = self._lifecycle.workers
        while not (workers.all_reported() and workers.closed()) and time.monotonic() < end:
            for worker, message, buffer in self._ipc.receive(IDLE_SECONDS):
                if isinstance(message, Hello):
                    self._requests.handle(worker, message, buffer, self._clock())

    def open(self, initial: InitialModels) -> None:
        """Begin to serve these models; called on the loop's thread once the start-up has brought them up."""
        self.models.open(initial)
        self._lifecycle.begin_gpu_monitoring()
        self._status.opened(initial)
        for each in initial.models:
            if each.timed is not None:
                self._batch_watchdog.measured(each.timed.seconds)

    @property
    def exit_reason(self) -> ExitReason | None:
        """Reason for which the loop ended without being told to; None if it was told."""
        return self._lifecycle.exit_reason

    def _is_over(self) -> bool:
        busy = bool(len(self._scheduler) or self._in_flight)
        return self._lifecycle.is_over(busy=busy, now=self._clock())

    # Receive

    def _receive(self) -> None:
        after = LOADING_SECONDS if self._former.waits_for_weights else self._former.forms_after(self._clock())
        for worker, message, buffer in self._ipc.receive(min(after, IDLE_SECONDS)):
            self._requests.handle(worker, message, buffer, self._clock())
        self._ipc.calls.run()

    def _advance(self, *, stopping: bool) -> None:
        now = self._clock()
        if self._lifecycle.advance(stopping=stopping, now=now):
            self._status.send_to_all(now)

    # Launch

    def _launch(self) -> None:
        while (formed := self._former.next_batch(self._clock())) is not None:
            batch = formed.batch
            model = self.models[batch.model]
            finish = self._table.postprocessor(batch, model.reduce, model.status.labels)
            handle = model.runner.launch(self._table.start(batch), finish, yields=formed.yields)
            now, full_tokens = self._clock(), self.models.guard.budget_tokens(batch.model)
            self.models.launched(batch.model, batch.tokens, now)
            self._in_flight.add(batch, handle, full_tokens, timed=formed.timed)
            self._status.launched(batch.tokens, full_tokens)

    # Deliver

    def _deliver(self) -> None:
        for launched in self._in_flight.completed():
            if launched.handle.device_error is not None:
                self._lifecycle.device_failed(launched.handle.device_error)
                return
            self._learn(launched)
            handle = launched.handle
            self._table.ran(launched)
            self._table.deliver(launched.batch, handle.result(), launched.number, handle.seconds)

    def _learn(self, launched: InFlightBatch) -> None:
        """Update throughput and memory budget by a completed batch; its time counts unless the process was paused."""
        timed = launched.timed and not self._lifecycle.was_paused_since(launched.handle.begun_seconds)
        self._status.completed(launched, timed=timed)
        if timed:
            self._batch_watchdog.measured(launched.handle.seconds)
        for shape in launched.handle.out_of_memory:
            self.models.guard.budget.failed(launched.batch.model, shape, self._clock())

    # Look

    def _look(self, beat: Callable[[bool], None]) -> None:
        """Check the device and publish what is due, but not in every round of the loop."""
        now = self._clock()
        if now < self._next_look_seconds:
            return
        self._next_look_seconds = now + LOOK_SECONDS
        self._check_device()
        if self._status.is_due(now):
            self._publish(now)
            beat(self.models.is_open)

    def _check_device(self) -> None:
        hung_seconds = self._batch_watchdog.hung_seconds(self._in_flight.progress, self._lifecycle.awake_seconds)
        if hung_seconds is not None:
            self._lifecycle.device_hung(hung_seconds)
        self._lifecycle.check_device(computing=bool(self._in_flight))

    def _publish(self, now: float) -> None:
        self._requests.forget_silent()
        self.models.collect_retired(self._lifecycle.workers, now)
        self._status.export_metrics(now)
        self._status.send_to_all(now)

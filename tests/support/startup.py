"""A start-up that is run to its end, with this thread as the loop's."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import cast

from service.engine.engine_socket import LoopCalls
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.loaded_model import InitialModels
from service.engine.models.manager import ModelManager
from service.engine.models.startup import MakeFactory, Startup, StartupState, model_factory
from service.metrics.engine import EngineMetrics
from service.settings import Settings

LIMIT_SECONDS = 60.0


@dataclass
class Outcome:
    """Where a start-up ended; `initial`: what it would serve with, if it was successful."""

    state: StartupState
    initial: InitialModels | None = None


def start_up(settings: Settings, executor: DeviceExecutor, make_factory: MakeFactory = model_factory) -> Outcome:
    """Bring up the models of these settings, which follow no tags."""
    assert not settings.model_poll_seconds
    calls = LoopCalls(lambda: None)
    startup = Startup(settings, executor, calls, EngineMetrics(), make_factory)
    outcome = Outcome(startup.state)

    def opened(initial: InitialModels) -> None:
        outcome.initial = initial

    thread = startup.begin(cast(ModelManager, None), opened)  # Asked for only where tags are followed.
    end = time.monotonic() + LIMIT_SECONDS
    while thread.is_alive():
        calls.run()
        thread.join(0.01)
        assert time.monotonic() < end, "the start-up has no end"
    return outcome

"""A device that dies or hangs: how batches, the engine and the service end, and who hears of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.logs import LogEvent
from tests.cuda_emulator.conftest import Modelled
from tests.cuda_emulator.devices import A10G, GPU_IS_LOST, LAUNCH_FAILED
from tests.cuda_emulator.emulated_run import Gpu, emulate
from tests.cuda_emulator.engine_parts import SmallEngine
from tests.support.service import Service, serving, start, wait_until
from tests.support.tiny_models import make_model

LIMIT_SECONDS = 150.0
TEXT = "invoice number 7 from anna maria smith, berlin"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    publish(make_model(tmp_path / "m", hidden=64), "tiny", Store(tmp_path / "store"))
    return tmp_path


def _dies_in_a_batch(gpu: Gpu) -> tuple[list[object], list[bool], int]:
    engine = SmallEngine(gpu)
    woken = engine.woken
    gpu.set(dies_after_launches=5)
    handles = [engine.launch(100, 20) for _ in range(3)]
    return engine.answers(handles), [handle.device_error is not None for handle in handles], engine.woken - woken


def test_every_batch_of_a_device_that_dies_ends_and_wakes_the_loop(tmp_path: Path) -> None:
    answers, errors, woken = emulate(_dies_in_a_batch, A10G, tmp_path)
    assert answers == ["broken"] * 3
    assert errors == [True] * 3
    assert woken == 3


def _dies_while_memory_is_freed(gpu: Gpu) -> tuple[list[object], int]:
    engine = SmallEngine(gpu)
    engine.answers([engine.launch(*[100] * 50)])

    class WantsMemory:
        def forward(self, _: object) -> list[object]:
            gpu.set(dead=LAUNCH_FAILED)
            raise torch.OutOfMemoryError("CUDA out of memory")

    engine.model.runner.encoder = WantsMemory()  # type: ignore[assignment]
    woken = engine.woken
    handle = engine.launch(100, 20)
    return engine.answers([handle]), engine.woken - woken


def test_a_batch_ends_when_the_device_is_found_dead_by_freeing_memory(tmp_path: Path) -> None:
    assert emulate(_dies_while_memory_is_freed, A10G, tmp_path) == (["broken"], 1)


def _ended(service: Service) -> bool:
    return service.process.poll() is not None


def _noticed(service: Service) -> bool:
    return _ended(service) or not {LogEvent.GPU_LOST, LogEvent.ENGINE_DIED}.isdisjoint(service.events())


def _no_traceback_of_the_loop(service: Service) -> bool:
    return "loop.run(" not in service.log.read_text()


def test_a_gpu_that_is_lost_ends_the_service_in_words(home: Path, modelled: Modelled) -> None:
    state = modelled(A10G)
    with serving(home, MODELS="tiny", DEVICE="cuda", THREADS=1) as service:
        assert service.extract(text=TEXT).status_code == 200
        state.set(dead=LAUNCH_FAILED, fail=GPU_IS_LOST)
        wait_until(lambda: _ended(service), LIMIT_SECONDS)
        assert service.process.returncode == 1
        assert _no_traceback_of_the_loop(service)
        assert service.events().count(LogEvent.GPU_LOST) == 1
        assert LogEvent.ENGINE_DIED not in service.events()


def test_a_device_that_dies_idle_ends_its_engine_in_words(home: Path, modelled: Modelled) -> None:
    state = modelled(A10G)
    with serving(home, MODELS="tiny", DEVICE="cuda", THREADS=1) as service:
        state.set(dead=LAUNCH_FAILED)
        wait_until(lambda: _noticed(service), LIMIT_SECONDS)
        assert _no_traceback_of_the_loop(service)


def test_documents_of_a_dead_device_are_answered_by_the_next_engine(home: Path, modelled: Modelled) -> None:
    state = modelled(A10G)
    with serving(home, MODELS="tiny", DEVICE="cuda", THREADS=1) as service, ThreadPoolExecutor() as callers:
        state.set(dies_after_launches=5)
        call = callers.submit(service.extract, text=TEXT, timeout=LIMIT_SECONDS)
        wait_until(lambda: LogEvent.ENGINE_DIED in service.events(), LIMIT_SECONDS)
        state.set()
        assert call.result().status_code == 200
        assert _no_traceback_of_the_loop(service)


def test_a_driver_that_hangs_is_noticed_and_its_documents_are_answered(home: Path, modelled: Modelled) -> None:
    state = modelled(A10G)
    with serving(home, MODELS="tiny", DEVICE="cuda", THREADS=1) as service, ThreadPoolExecutor() as callers:
        state.set(hang=1)
        call = callers.submit(service.extract, text=TEXT, timeout=LIMIT_SECONDS)
        wait_until(lambda: _noticed(service), 60.0)
        state.set()
        assert call.result().status_code in (200, 503)


def test_a_device_that_dies_during_loading_is_lost_without_model_blame(home: Path, modelled: Modelled) -> None:
    state = modelled(A10G)
    state.set(dies_in_copy=1)
    with start(home, MODELS="tiny", DEVICE="cuda", THREADS=1) as service:
        wait_until(lambda: _ended(service), LIMIT_SECONDS)
        assert service.process.returncode == 1
        assert LogEvent.GPU_LOST in service.events()
        assert LogEvent.ENGINE_UNUSABLE not in service.events()

"""The memory guard on a CUDA device: predictions, another process that takes memory, a batch that runs out of it."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from service.core.memory.budget import ModelMemory
from service.core.types import Shape
from service.engine.device.nvml import Gpu
from service.engine.device.selection import choose_device, choose_dtype, gpu_uuid
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.runner import Runner
from service.engine.memory.guard import Guard
from service.engine.memory.probe import CudaProbe, MemoryLimit
from service.engine.memory.profiler import profile_memory
from tests.support.tiny_models import MAX_TOKENS, make_model

pytestmark = pytest.mark.needs("cuda")

MOST_TOKENS = 65_536
MODEL = "sha256:a"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> TransformersEncoder:
    folder: Path = make_model(tmp_path_factory.mktemp("m") / "m", hidden=512, layers=4)
    device = choose_device("cuda")
    return load_encoder(folder, device, choose_dtype("auto", device))


@pytest.fixture
def probe(encoder: TransformersEncoder) -> Iterator[CudaProbe]:
    probe = CudaProbe(encoder.device, MemoryLimit(0.9))
    yield probe
    torch.cuda.set_per_process_memory_fraction(1.0, encoder.device)
    probe.release_cache()


def _guard(encoder: TransformersEncoder, probe: CudaProbe, compute: DeviceExecutor) -> Guard:
    function = profile_memory(encoder, probe, MAX_TOKENS, MOST_TOKENS)
    probe.rebaseline()
    return Guard(probe, {MODEL: ModelMemory(function, MAX_TOKENS, MOST_TOKENS)}, compute)


def test_predictions_are_never_below_and_little_above_a_peak(encoder: TransformersEncoder, probe: CudaProbe) -> None:
    function = profile_memory(encoder, probe, MAX_TOKENS, MOST_TOKENS)
    draw = random.Random(0)
    for _ in range(200):
        lengths = [draw.randint(1, MAX_TOKENS) for _ in range(draw.randint(1, 200))]
        batch = [np.zeros(length, dtype=np.int32) for length in lengths]
        peak = probe.peak_bytes(lambda batch=batch: encoder.forward(batch))  # type: ignore[misc]
        predicted = function.bytes(Shape.of(lengths))
        assert predicted >= peak
        assert predicted <= 1.15 * peak + 2 * probe.accuracy.noise_bytes


HOG = """
import sys, torch
held = torch.ones(int(sys.argv[1]), dtype=torch.uint8, device="cuda")
print("taken", flush=True)
sys.stdin.read()
"""


@contextmanager
def _hog(size_bytes: int) -> Iterator[None]:
    """Another process that allocates memory of the GPU meanwhile."""
    command = [sys.executable, "-c", HOG, str(size_bytes)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "taken"
        yield
        process.kill()


def test_headroom_shrinks_before_a_batch_fails_and_grows_back(encoder: TransformersEncoder, probe: CudaProbe) -> None:
    with DeviceExecutor() as compute:
        guard = _guard(encoder, probe, compute)
        before = guard.budget.headroom.bytes
        free, _ = torch.cuda.mem_get_info(encoder.device)
        with _hog(int(free * 0.9)):
            guard.refresh(0.0)
            shrunk = guard.budget.headroom.bytes
            assert shrunk < 0.3 * before
            tokens = guard.budget_tokens(MODEL)
            encoder.forward([np.zeros(MAX_TOKENS, dtype=np.int32)] * max(1, tokens // MAX_TOKENS))
        for second in range(1, 60):
            guard.refresh(float(second))
        assert guard.budget.headroom.bytes > 0.8 * before


def test_a_batch_that_runs_out_of_memory_is_split_and_computed(encoder: TransformersEncoder, probe: CudaProbe) -> None:
    sequences = [np.zeros(MAX_TOKENS, dtype=np.int32)] * 64
    peak = probe.peak_bytes(lambda: encoder.forward(sequences))
    probe.rebaseline()
    probe.release_cache()
    total = torch.cuda.get_device_properties(encoder.device).total_memory
    torch.cuda.set_per_process_memory_fraction((probe.rest_bytes + 0.6 * peak) / total, encoder.device)
    compute = DeviceExecutor()
    handle = Runner(encoder, compute, lambda: None).launch(sequences)
    assert all(isinstance(outcome, np.ndarray) for outcome in handle.result())
    assert handle.splits >= 1
    assert handle.out_of_memory
    compute.shutdown()


def test_nvml_shows_the_device_that_torch_computes_on(encoder: TransformersEncoder) -> None:
    uuid = gpu_uuid(encoder.device)
    assert uuid is not None
    reading = Gpu(uuid).read()
    assert reading.memory_total_bytes == pytest.approx(
        torch.cuda.get_device_properties(encoder.device).total_memory, rel=0.1
    )

"""Offloaded models come back as they were, and refuse batches until then."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError, ModelError
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.encoder.forward_path import CONVERTED, ChosenPath, ForwardPath
from service.engine.execution.offloading import HostCopy, HostOffloaded, Offloadable, ReloadedFromDisk
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
PADDED = ChosenPath(ForwardPath.PADDED)
IDS: list[TokenIds] = [np.arange(5, 25, dtype=np.int32), np.arange(9, dtype=np.int32)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"), "bert")


def load(folder: Path, known: ChosenPath | None = None) -> TransformersEncoder:
    return load_encoder(folder, CPU, torch.float32, known=known)


def reloaded(folder: Path) -> Offloadable:
    return ReloadedFromDisk(load(folder), lambda: load(folder, CONVERTED))


def host_offloaded(folder: Path) -> Offloadable:
    encoder = load(folder, PADDED)
    return HostOffloaded(encoder, encoder.module)


def same(left: list[Logits], right: list[Logits]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("make", [reloaded, host_offloaded])
def test_a_model_that_was_offloaded_computes_as_before(folder: Path, make: Callable[[Path], Offloadable]) -> None:
    model = make(folder)
    before = model.forward(IDS)
    for _ in range(2):
        model.offload()
        with pytest.raises(InternalError, match="not on the device"):
            model.forward(IDS)
        model.load()
        model.load()
        assert same(model.forward(IDS), before)


def test_offloading_frees_the_device_memory_of_the_weights(folder: Path) -> None:
    encoder = load(folder, PADDED)
    model = HostOffloaded(encoder, encoder.module)
    addresses = {tensor.data_ptr() for tensor in encoder.module.parameters()}
    model.offload()
    assert addresses.isdisjoint(tensor.data_ptr() for tensor in encoder.module.parameters())


def test_a_model_whose_reload_fails_stays_offloaded(folder: Path, tmp_path: Path) -> None:
    model = ReloadedFromDisk(load(folder), lambda: load(tmp_path))
    model.offload()
    with pytest.raises(ModelError, match="safetensors"):
        model.load()
    with pytest.raises(InternalError, match="not on the device"):
        model.forward(IDS)


def test_after_openvino_ran_out_of_memory_the_next_batch_runs(tmp_path: Path) -> None:
    """On one thread and on two, each in a process of its own."""
    command = [sys.executable, "-c", SHORT_OF_MEMORY, str(make_model(tmp_path / "model", hidden=256))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True", "True"] * 2, done.stderr


SHORT_OF_MEMORY = """
import os, resource, sys, numpy as np, torch
from pathlib import Path
from service.engine.encoder.encoder import load_encoder
from service.engine.execution.device_errors import is_out_of_memory
from service.engine.execution.offloading import ReloadedFromDisk

def load():
    return load_encoder(Path(sys.argv[1]), torch.device("cpu"), torch.float32)

if os.fork():
    os.wait()
    torch.set_num_threads(2)
else:
    torch.set_num_threads(1)
encoder = ReloadedFromDisk(load(), load)
short, many = [np.arange(5, 40, dtype=np.int32)], [np.arange(5, 200, dtype=np.int32)] * 200
before = encoder.forward(short)[0]
in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
usual = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (in_use + (16 << 20), resource.RLIM_INFINITY))
try:
    encoder.forward(many)
except Exception as error:
    print(is_out_of_memory(error))
resource.setrlimit(resource.RLIMIT_AS, usual)
print(len(encoder.forward(many)) == len(many))
print(np.allclose(encoder.forward(short)[0], before, atol=1e-5))
"""


class Cudart:
    """CUDA's calls for pinned memory, noted."""

    def __init__(self, result: int = 0) -> None:
        self.pinned: dict[int, int] = {}
        self.unpinned = threading.Event()
        self._result = result

    def cudaHostRegister(self, address: int, size_bytes: int, _flags: int) -> int:  # noqa: N802
        self.pinned[address] = size_bytes
        return self._result

    def cudaHostUnregister(self, address: int) -> int:  # noqa: N802
        del self.pinned[address]
        self.unpinned.set()
        return 0


def tensors_of_odd_sizes() -> list[torch.Tensor]:
    """Some 3 MB in 200 tensors, as torch's own pinned memory would round up by a half."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(100 + 77 * number, generator=generator).half() for number in range(200)]


def test_pinned_memory_is_little_more_than_the_weights_and_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    cudart = Cudart()
    monkeypatch.setattr(torch.cuda, "cudart", lambda: cudart)
    weights = tensors_of_odd_sizes()
    copy = HostCopy(weights, pinned=True)
    assert len(cudart.pinned) == 1
    assert sum(cudart.pinned.values()) <= 1.05 * sum(each.nbytes for each in weights)
    assert all(torch.equal(a, b) for a, b in zip(copy.tensors(), weights, strict=True))
    assert all(each.data_ptr() % 256 == 0 for each in copy.tensors())
    del copy
    assert cudart.unpinned.wait(30)
    assert cudart.pinned == {}


def test_memory_that_cannot_be_pinned_is_used_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(torch.cuda, "cudart", lambda: Cudart(result=2))
    weights = tensors_of_odd_sizes()
    assert torch.equal(HostCopy(weights, pinned=True).tensors()[7], weights[7])
    assert "cannot be pinned" in caplog.text

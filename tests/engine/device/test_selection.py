"""The choice of a device and its description."""

from __future__ import annotations

import os

import pytest
import torch

from service.core.errors import ModelError
from service.engine.device.selection import choose_device, describe, keep_freed_memory, usable_cores, use_threads

no_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is there")


@no_cuda
def test_auto_is_the_cpu_where_there_is_no_cuda() -> None:
    assert choose_device("auto") == torch.device("cpu")


@no_cuda
def test_cuda_without_a_device_is_refused_with_advice() -> None:
    with pytest.raises(ModelError, match="choose cpu or auto"):
        choose_device("cuda")


def test_the_cpu_can_always_be_chosen() -> None:
    assert choose_device("cpu").type == "cpu"


def test_threads_are_as_set_or_one_for_each_core() -> None:
    before = torch.get_num_threads()
    try:
        use_threads(1)
        assert torch.get_num_threads() == 1
        use_threads(0)
        assert torch.get_num_threads() == usable_cores() <= (os.cpu_count() or 1)
    finally:
        torch.set_num_threads(before)


def test_a_description_names_threads_and_memory() -> None:
    description = describe(torch.device("cpu"))
    assert " threads, " in description
    assert description.endswith(" GiB")


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="glibc's allocator")
def test_freed_memory_is_kept_on_glibc() -> None:
    assert keep_freed_memory()


def test_a_cuda_device_attends_without_cudnn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    torch.backends.cuda.enable_cudnn_sdp(True)
    try:
        assert choose_device("auto") == torch.device("cuda", 0)
        assert not torch.backends.cuda.cudnn_sdp_enabled()  # type: ignore[no-untyped-call]
    finally:
        torch.backends.cuda.enable_cudnn_sdp(True)


def test_beside_a_gpu_one_thread_is_enough() -> None:
    before = torch.get_num_threads()
    try:
        use_threads(0, on_gpu=True)
        assert torch.get_num_threads() == 1
        use_threads(2, on_gpu=True)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)

"""The emulator itself: CUDA's rules that the service depends on are kept by it, or these tests would show nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.cuda_emulator.devices import A10G, H200, LAUNCH_FAILED, T4, Device
from tests.cuda_emulator.emulated_run import EmulatedRunFailed, Gpu, emulate

NOT_YET_COPIED = 0xEE


def _error(work: Callable[[], object]) -> str:
    try:
        work()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return ""


def _properties(_: Gpu) -> tuple[str, tuple[int, int], int, int]:
    found = torch.cuda.get_device_properties(0)
    return found.name, (found.major, found.minor), found.total_memory, found.multi_processor_count


@pytest.mark.parametrize("device", [T4, A10G, H200], ids=lambda device: device.name)
def test_torch_sees_the_device_of_the_table(device: Device, tmp_path: Path) -> None:
    sm = (device.sm // 10, device.sm % 10)
    assert emulate(_properties, device, tmp_path) == (device.name, sm, device.memory_bytes, device.multiprocessors)


def _early_and_late(_: Gpu) -> tuple[int, int]:
    source = torch.full((64 << 20,), 7, dtype=torch.uint8).to("cuda")
    target = torch.empty(64 << 20, dtype=torch.uint8, pin_memory=True)
    target.copy_(source, non_blocking=True)
    early = int(target[0])
    torch.cuda.synchronize()
    return early, int(target[0])


def test_a_copy_comes_true_when_it_is_due_and_not_before(tmp_path: Path) -> None:
    assert emulate(_early_and_late, replace(A10G, bus_rate=64 << 20), tmp_path) == (NOT_YET_COPIED, 7)


def _in_order(_: Gpu) -> list[int]:
    target = torch.empty(1, dtype=torch.int32).repeat(1024).pin_memory()
    block = torch.zeros(1024, dtype=torch.int32, device="cuda")
    seen = []
    for value in (1, 2):
        block.copy_(torch.full((1024,), value, dtype=torch.int32).pin_memory(), non_blocking=True)
        target.copy_(block, non_blocking=True)
        arrived = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]
        arrived.record()
        arrived.synchronize()
        seen.append(int(target[0]))
    return seen


def test_work_of_one_stream_is_done_in_order(tmp_path: Path) -> None:
    assert emulate(_in_order, A10G, tmp_path) == [1, 2]


def _waiting(gpu: Gpu, blocking: bool) -> tuple[float, float]:
    before = gpu.report()
    left = torch.zeros(8_192, 8_192, device="cuda", dtype=torch.bfloat16)
    for _ in range(5):
        torch.mm(left, left)
    done = torch.cuda.Event(blocking=blocking)  # type: ignore[no-untyped-call]
    done.record()
    done.synchronize()
    after = gpu.report()
    return after["spun_seconds"] - before["spun_seconds"], after["slept_seconds"] - before["slept_seconds"]


def test_an_event_spins_unless_it_is_made_to_block(tmp_path: Path) -> None:
    spun, slept = emulate(_waiting, A10G, tmp_path / "a", False)
    assert (spun > 0.01, slept) == (True, 0)
    spun, slept = emulate(_waiting, A10G, tmp_path / "b", True)
    assert (spun < 0.001, slept > 0.01) == (True, True)


def _others(gpu: Gpu) -> tuple[int, str, str]:
    free, _ = torch.cuda.mem_get_info()
    gpu.set(others_bytes=free - (64 << 20))
    error = _error(lambda: torch.empty(1 << 30, device="cuda"))
    left, _ = torch.cuda.mem_get_info()
    gpu.set()
    return left, error, _error(lambda: torch.empty(1 << 30, device="cuda"))


def test_memory_that_others_hold_is_not_there(tmp_path: Path) -> None:
    left, error, later = emulate(_others, A10G, tmp_path)
    assert left == 64 << 20
    assert error.startswith("CUDA out of memory")
    assert later == ""


SLOW_A10G = replace(A10G, least_kernel_ns=2_000_000_000)
"""So slow that a busy host asks after a launch before its kernel has run."""


def _death(gpu: Gpu) -> list[str]:
    block = torch.ones(1024, device="cuda")
    gpu.set(dies_after_launches=0)
    first = _error(lambda: block.add_(1))
    found = [first, _error(torch.cuda.synchronize)]
    gpu.set()
    return [*found, _error(torch.cuda.synchronize), _error(torch.cuda.mem_get_info), _error(lambda: block.cpu())]


def test_a_broken_device_is_found_late_and_stays_broken(tmp_path: Path) -> None:
    launch, *later = emulate(_death, SLOW_A10G, tmp_path)
    assert launch == "", "a launch does not know what becomes of its kernel"
    assert all("unspecified launch failure" in error for error in later), later


def _too_wide(_: Gpu) -> str:
    from torch.nn.attention.varlen import varlen_attn

    query = torch.zeros(65_536 * 2, 1, 8, device="cuda", dtype=torch.bfloat16)
    borders = torch.arange(65_536 + 2, dtype=torch.int32, device="cuda")
    return _error(lambda: varlen_attn(query, query, query, borders, borders, 2, 2))


def test_a_grid_beyond_the_limits_is_refused(tmp_path: Path) -> None:
    assert "invalid configuration argument" in emulate(_too_wide, A10G, tmp_path)


def _raises(_: Gpu) -> None:
    raise ValueError("the run's own")


def test_a_run_s_error_is_told(tmp_path: Path) -> None:
    with pytest.raises(EmulatedRunFailed, match="the run's own"):
        emulate(_raises, A10G, tmp_path)


def _hangs(gpu: Gpu) -> tuple[bool, bool]:
    block = torch.ones(1024, device="cuda")
    gpu.set(hang=1)
    ended = threading.Event()

    def wait() -> None:
        block.cpu()
        ended.set()

    threading.Thread(target=wait).start()
    hung = not ended.wait(1.0)
    gpu.set()
    return hung, ended.wait(30.0)


def test_calls_of_a_driver_that_hangs_return_when_it_does_not_any_more(tmp_path: Path) -> None:
    assert emulate(_hangs, A10G, tmp_path) == (True, True)


def _fault_number(gpu: Gpu) -> str:
    gpu.set(dead=LAUNCH_FAILED)
    return _error(lambda: torch.zeros(1, device="cuda"))


def test_a_device_that_is_dead_from_the_start_says_so(tmp_path: Path) -> None:
    assert "unspecified launch failure" in emulate(_fault_number, A10G, tmp_path)

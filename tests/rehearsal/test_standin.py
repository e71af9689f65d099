"""The stand-in itself: CUDA's rules that the service depends on are kept by it, or these tests would show nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.rehearsal.devices import A10G, H200, T4, Device
from tests.rehearsal.scene import Gpu, SceneFailed, play
from tests.rehearsal.state import LAUNCH_FAILED

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
    assert play(_properties, device, tmp_path) == (device.name, sm, device.memory_bytes, device.multiprocessors)


def _early_and_late(_: Gpu) -> tuple[int, int]:
    source = torch.full((64 << 20,), 7, dtype=torch.uint8).to("cuda")
    target = torch.empty(64 << 20, dtype=torch.uint8, pin_memory=True)
    target.copy_(source, non_blocking=True)
    early = int(target[0])
    torch.cuda.synchronize()
    return early, int(target[0])


def test_a_copy_comes_true_when_it_is_due_and_not_before(tmp_path: Path) -> None:
    assert play(_early_and_late, replace(A10G, bus_rate=64 << 20), tmp_path) == (NOT_YET_COPIED, 7)


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
    assert play(_in_order, A10G, tmp_path) == [1, 2]


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
    spun, slept = play(_waiting, A10G, tmp_path / "a", False)
    assert (spun > 0.01, slept) == (True, 0)
    spun, slept = play(_waiting, A10G, tmp_path / "b", True)
    assert (spun < 0.001, slept > 0.01) == (True, True)


def _capturing(work: Callable[[], object], mode: str = "thread_local") -> str:
    """The error of a capture of `work`; empty if it was captured."""
    graph = torch.cuda.CUDAGraph()
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    block = torch.zeros(1024, device="cuda")

    def capture() -> None:
        with torch.cuda.stream(side), torch.cuda.graph(graph, stream=side, capture_error_mode=mode):
            block.add_(1)
            work()

    return _error(capture)


def _elsewhere(work: Callable[[], object]) -> str:
    errors: list[str] = []
    thread = threading.Thread(target=lambda: errors.append(_error(work)))
    thread.start()
    thread.join()
    return errors[0]


def _captures(_: Gpu) -> dict[str, tuple[str, str]]:
    block = torch.ones(1024, device="cuda")
    pageable = torch.empty(1024)
    found = {}
    theirs = ""

    def beside(work: Callable[[], object]) -> None:
        nonlocal theirs
        theirs = _elsewhere(work)

    cases: dict[str, tuple[Callable[[], object], str]] = {
        "nothing": (lambda: None, "thread_local"),
        "synchronize": (torch.cuda.synchronize, "thread_local"),
        "item": (lambda: block.sum().item(), "thread_local"),
        "pageable copy": (lambda: pageable.copy_(block), "thread_local"),
        "other thread, thread_local": (lambda: beside(lambda: block.sum().item()), "thread_local"),
        "other thread, global": (lambda: beside(lambda: torch.cuda.current_stream().synchronize()), "global"),
    }
    for name, (work, mode) in cases.items():
        theirs = ""
        found[name] = (_capturing(work, mode), theirs)
    found["afterwards"] = (_error(torch.cuda.synchronize), "")
    return found


def test_captures_forbid_what_cuda_forbids_in_them(tmp_path: Path) -> None:
    found = play(_captures, A10G, tmp_path)
    assert found["nothing"] == ("", "")
    assert found["other thread, thread_local"] == ("", "")
    for name in ("synchronize", "item", "pageable copy"):
        assert "captur" in found[name][0], name
    ours, theirs = found["other thread, global"]
    assert "operation not permitted when stream is capturing" in theirs
    assert "previous error during capture" in ours
    assert found["afterwards"] == ("", "")


def _replay(gpu: Gpu) -> tuple[int, int]:
    graph = torch.cuda.CUDAGraph()
    block = torch.zeros(1024, dtype=torch.uint8, device="cuda")
    copied = torch.zeros(1024, dtype=torch.uint8, device="cuda")
    with torch.cuda.graph(graph):
        copied.copy_(block)
    block.copy_(torch.full((1024,), 9, dtype=torch.uint8))
    graph.replay()
    return int(copied.cpu()[0]), gpu.report()["graph_launches"]


def test_a_replay_does_again_what_was_captured(tmp_path: Path) -> None:
    assert play(_replay, A10G, tmp_path) == (9, 1)


def _others(gpu: Gpu) -> tuple[int, str, str]:
    free, _ = torch.cuda.mem_get_info()
    gpu.set(others_bytes=free - (64 << 20))
    error = _error(lambda: torch.empty(1 << 30, device="cuda"))
    left, _ = torch.cuda.mem_get_info()
    gpu.set()
    return left, error, _error(lambda: torch.empty(1 << 30, device="cuda"))


def test_memory_that_others_hold_is_not_there(tmp_path: Path) -> None:
    left, error, later = play(_others, A10G, tmp_path)
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
    launch, *later = play(_death, SLOW_A10G, tmp_path)
    assert launch == "", "a launch does not know what becomes of its kernel"
    assert all("unspecified launch failure" in error for error in later), later


def _too_wide(_: Gpu) -> str:
    from torch.nn.attention.varlen import varlen_attn

    query = torch.zeros(65_536 * 2, 1, 8, device="cuda", dtype=torch.bfloat16)
    borders = torch.arange(65_536 + 2, dtype=torch.int32, device="cuda")
    return _error(lambda: varlen_attn(query, query, query, borders, borders, 2, 2))


def test_a_grid_beyond_the_limits_is_refused(tmp_path: Path) -> None:
    assert "invalid configuration argument" in play(_too_wide, A10G, tmp_path)


def _shared(_: Gpu) -> list[str]:
    kernel = torch.cuda._compile_kernel('extern "C" __global__ void k(float* x) {}', "k")
    block = torch.zeros(32, device="cuda")
    kernel.set_shared_memory_config(60_000)
    fits = _error(lambda: kernel((1, 1, 1), (32, 1, 1), (block,), shared_mem=60_000))
    return [fits, _error(lambda: kernel.set_shared_memory_config(100_000))]


def test_a_kernel_gets_no_more_shared_memory_than_the_device_has(tmp_path: Path) -> None:
    assert play(_shared, A10G, tmp_path / "a") == ["", ""]
    fits, too_much = play(_shared, T4, tmp_path / "b")
    assert fits == ""
    assert too_much


def _raises(_: Gpu) -> None:
    raise ValueError("a scene's own")


def test_a_scene_s_error_is_told(tmp_path: Path) -> None:
    with pytest.raises(SceneFailed, match="a scene's own"):
        play(_raises, A10G, tmp_path)


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
    assert play(_hangs, A10G, tmp_path) == (True, True)


def _fault_number(gpu: Gpu) -> str:
    gpu.set(dead=LAUNCH_FAILED)
    return _error(lambda: torch.zeros(1, device="cuda"))


def test_a_device_that_is_dead_from_the_start_says_so(tmp_path: Path) -> None:
    assert "unspecified launch failure" in play(_fault_number, A10G, tmp_path)

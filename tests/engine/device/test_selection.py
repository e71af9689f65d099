"""The choice of a device and of its floating-point format."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

from service.core.errors import ModelError
from service.engine.device import selection
from service.engine.device.selection import (
    FAST_INT8_FLAGS,
    choose_device,
    choose_dtype,
    cpu_has,
    cpu_is_fast_at_bfloat16,
    name_of,
    use_threads,
)
from service.host_memory import usable_cores

no_cuda = pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is there")


@no_cuda
def test_auto_is_the_cpu_where_there_is_no_cuda() -> None:
    assert choose_device("auto") == torch.device("cpu")


@no_cuda
def test_cuda_without_a_device_is_refused_with_advice() -> None:
    with pytest.raises(ModelError, match="choose cpu or auto"):
        choose_device("cuda")


def test_threads_are_as_set_or_one_for_each_core() -> None:
    before = torch.get_num_threads()
    try:
        use_threads(1)
        assert torch.get_num_threads() == 1
        use_threads(0)
        assert torch.get_num_threads() == usable_cores() <= (os.cpu_count() or 1)
    finally:
        torch.set_num_threads(before)


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


CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("vendor", "line", "fast"),
    [
        ("AuthenticAMD", "flags\t\t: fpu sse2 avx512f avx512_bf16 avx512_vnni", True),
        ("GenuineIntel", "flags\t\t: fpu sse2 avx512f avx512_bf16 avx512_vnni", False),
        ("GenuineIntel", "flags\t\t: fpu sse2 avx512_bf16 amx_bf16 amx_tile", True),
        ("0x41", "Features\t: fp asimd bf16 i8mm", True),
        ("AuthenticAMD", "flags\t\t: fpu sse2 avx2 avx512f", False),
        ("GenuineIntel", "", False),
    ],
)
def test_a_processor_is_fast_at_bfloat16_by_its_kind(tmp_path: Path, vendor: str, line: str, fast: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\nmodel name\t: Some CPU\n{line}\n" * 2)
    assert cpu_is_fast_at_bfloat16(cpuinfo) == fast


def test_a_system_without_cpuinfo_computes_in_float32(tmp_path: Path) -> None:
    assert not cpu_is_fast_at_bfloat16(tmp_path / "none")


@pytest.mark.parametrize(
    ("fast", "name"), [pytest.param(True, "bfloat16", marks=pytest.mark.needs("bfloat16")), (False, "float32")]
)
def test_a_processor_computes_in_bfloat16_if_it_is_fast_at_it(
    monkeypatch: pytest.MonkeyPatch, fast: bool, name: str
) -> None:
    monkeypatch.setattr(selection, "cpu_is_fast_at_bfloat16", lambda: fast)
    assert name_of(choose_dtype("auto", CPU)) == name


def test_float16_on_a_cpu_is_refused() -> None:
    with pytest.raises(ModelError, match="float16"):
        choose_dtype("float16", CPU)


def test_int8_needs_a_processor_with_vnni() -> None:
    if cpu_has(FAST_INT8_FLAGS):
        assert choose_dtype("int8", CPU) == choose_dtype("auto", CPU)
    else:
        with pytest.raises(ModelError, match="VNNI"):
            choose_dtype("int8", CPU)


def test_int8_on_a_gpu_is_refused() -> None:
    with pytest.raises(ModelError, match="CPUs"):
        choose_dtype("int8", torch.device("cuda"))


@pytest.mark.parametrize(
    ("capability", "setting", "name"),
    [
        ((7, 5), "auto", "float16"),
        ((7, 5), "float16", "float16"),
        ((7, 5), "float32", "float32"),
        ((8, 0), "auto", "bfloat16"),
        ((8, 0), "bfloat16", "bfloat16"),
        ((9, 0), "float16", "float16"),
    ],
)
def test_a_gpu_computes_in_what_it_is_fast_at(
    capability: tuple[int, int], setting: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    assert name_of(choose_dtype(setting, torch.device("cuda"))) == name


def test_bfloat16_on_a_gpu_that_only_emulates_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    with pytest.raises(ModelError, match="bfloat16 needs"):
        choose_dtype("bfloat16", torch.device("cuda"))

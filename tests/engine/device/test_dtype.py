"""The choice of a floating-point format."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from service.core.errors import ModelError
from service.engine.device.dtype import (
    FAST_BFLOAT16_FLAGS,
    FAST_INT8_FLAGS,
    choose_dtype,
    cpu_has,
    cpu_is_fast_at_bfloat16,
    name_of,
)

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("line", "fast"),
    [
        ("flags\t\t: fpu sse2 avx512f avx512_bf16 avx512_vnni", True),
        ("flags\t\t: fpu sse2 amx_bf16 amx_tile", True),
        ("Features\t: fp asimd bf16 i8mm", True),
        ("flags\t\t: fpu sse2 avx2 avx512f", False),
        ("", False),
    ],
)
def test_a_processor_is_fast_at_bfloat16_by_its_flags(tmp_path: Path, line: str, fast: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nmodel name\t: Some CPU\n{line}\n")
    assert cpu_has(FAST_BFLOAT16_FLAGS, cpuinfo) == fast


def test_without_cpuinfo_bfloat16_is_slow(tmp_path: Path) -> None:
    assert not cpu_has(FAST_BFLOAT16_FLAGS, tmp_path / "missing")


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_a_setting_is_followed(name: str) -> None:
    assert name_of(choose_dtype(name, CPU)) == name


def test_auto_on_a_cpu_follows_the_processor() -> None:
    assert choose_dtype("auto", CPU) == (torch.bfloat16 if cpu_is_fast_at_bfloat16() else torch.float32)


def test_float16_on_a_cpu_is_refused() -> None:
    with pytest.raises(ModelError, match="float16"):
        choose_dtype("float16", CPU)


def test_int8_needs_a_processor_with_vnni() -> None:
    if cpu_has(FAST_INT8_FLAGS):
        assert choose_dtype("int8", CPU) == choose_dtype("auto", CPU)
    else:
        with pytest.raises(ModelError, match="VNNI"):
            choose_dtype("int8", CPU)


def test_fp8_on_a_cpu_is_refused() -> None:
    with pytest.raises(ModelError, match="CUDA"):
        choose_dtype("fp8", CPU)


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

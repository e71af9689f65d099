"""The floating-point format in which a device computes. Knows devices; knows no model."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import torch

from service.core.errors import ModelError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

INT8 = "int8"
"""A value of the setting: linear layers, and attention where compiled, in 8-bit integers, the rest as `auto`."""
FP8 = "fp8"
"""A value of the setting: linear layers in 8-bit floating point, the rest in bfloat16."""
FP8_CAPABILITY = (8, 9)
"""Ada and later: L4, H100, H200."""

FAST_INT8_FLAGS = {"avx512_vnni", "avx_vnni"}
FAST_BFLOAT16_FLAGS = {"avx512_bf16", "amx_bf16", "bf16"}
"""As /proc/cpuinfo spells them: Intel and AMD, Intel's matrix unit (AMX), Arm."""
MATRIX_UNIT_FLAGS = {"amx_bf16"}
"""AMX multiplies whole tiles, several times as fast as the processor's vectors."""


def choose_dtype(setting: str, device: torch.device) -> torch.dtype:
    """The format of a setting; `auto` is the fastest one that keeps the scores.

    `auto` is bfloat16 where the device multiplies it in hardware; else float16 on CUDA (Turing and older) and float32
    on CPUs.

    Raises:
        ModelError: float16 for a CPU, which computes it far slower than float32; bfloat16 for a GPU that only emulates
            it; 8-bit integers for a device on which their products are not exact; or 8-bit floating point for one that
            has no such products.
    """
    if setting == INT8:
        _require_exact_int8(device)
    elif setting == FP8:
        _require_fp8(device)
    elif setting != "auto":
        if setting == "float16" and device.type == "cpu":
            raise ModelError("float16 is for CUDA devices; choose auto, bfloat16 or float32 on a CPU")
        if setting == "bfloat16" and device.type == "cuda" and not gpu_has_bfloat16(device):
            raise ModelError("bfloat16 needs a GPU of compute capability 8.0; choose auto, float16 or float32")
        return DTYPES[setting]
    if device.type == "cuda":
        return torch.bfloat16 if gpu_has_bfloat16(device) else torch.float16
    return torch.bfloat16 if cpu_is_fast_at_bfloat16() else torch.float32


def _require_exact_int8(device: torch.device) -> None:
    """Raise ModelError unless the device is a CPU with VNNI: without it, sums of 8-bit products saturate at 16 bits."""
    if device.type != "cpu":
        raise ModelError("int8 is for CPUs; choose auto, bfloat16 or float16 on a CUDA device")
    if not cpu_has(FAST_INT8_FLAGS):
        raise ModelError("int8 needs a processor with VNNI instructions; choose auto, bfloat16 or float32")


def _require_fp8(device: torch.device) -> None:
    """Raise ModelError unless the device multiplies 8-bit floating point."""
    if device.type != "cuda":
        raise ModelError("fp8 is for CUDA devices; choose auto, int8, bfloat16 or float32 on a CPU")
    if torch.cuda.get_device_capability(device) < FP8_CAPABILITY:
        raise ModelError("fp8 needs a GPU of compute capability 8.9; choose auto, bfloat16, float16 or float32")


def gpu_has_bfloat16(device: torch.device) -> bool:
    """True for Ampere and later; older GPUs have no attention kernel for it."""
    return torch.cuda.get_device_capability(device) >= (8, 0)


def cpu_is_fast_at_bfloat16() -> bool:
    """True if the processor multiplies bfloat16 in hardware (AVX512-BF16, AMX, Arm's BF16)."""
    return cpu_has(FAST_BFLOAT16_FLAGS)


def cpu_has(wanted: Set[str], cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """True if /proc/cpuinfo lists one of these features."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return not wanted.isdisjoint(flags.partition(":")[2].split())


def name_of(dtype: torch.dtype) -> str:
    """The name of a format, such as `bfloat16`."""
    return str(dtype).removeprefix("torch.")

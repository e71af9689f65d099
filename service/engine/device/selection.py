"""Device selection: chooses device, floating-point format, threads and allocator settings. Knows no model."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Set
from pathlib import Path

import torch

from service.core.errors import ModelError
from service.host_memory import usable_cores

GIBIBYTE = 1 << 30
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # From glibc's <malloc.h>.
KEPT_BLOCK_BYTES = GIBIBYTE

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}

INT8 = "int8"
"""Value of the format setting: products in 8-bit integers, the rest as `auto`."""

FAST_INT8_FLAGS = {"avx512_vnni", "avx_vnni"}
"""Products of 8-bit integers; with AVX2 alone OpenVINO takes as long for them as for float32."""
FAST_BFLOAT16_FLAGS = {"amx_bf16", "bf16"}
"""Features of Intel's matrix unit (AMX) and of Arm, as /proc/cpuinfo spells them."""
CPUINFO = Path("/proc/cpuinfo")


class DeviceMissing(ModelError):
    """The setting asks for CUDA, and torch sees no CUDA device."""


def choose_device(setting: str) -> torch.device:
    """Choose the device of a setting; `auto` is CUDA where torch sees a CUDA device.

    On CUDA torch is kept from cuDNN's attention, which it prefers on Hopper: the packing check and models that run
    padded would load that library and build a plan for every new shape, for which a start-up pays seconds.

    Raises:
        DeviceMissing: the setting is CUDA, and torch sees no CUDA device.
    """
    if setting == "cpu" or (setting == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise DeviceMissing(
            "the device is to be CUDA, but torch sees no CUDA device: is there a GPU, and a driver for CUDA "
            f"{torch.version.cuda or 13} (580 or later for 13)? Else choose cpu or auto"
        )
    torch.backends.cuda.enable_cudnn_sdp(False)
    return torch.device("cuda", torch.cuda.current_device())


def choose_dtype(setting: str, device: torch.device) -> torch.dtype:
    """Choose the format of a setting; `auto` is the fastest that keeps the scores.

    `auto` is bfloat16 where the device multiplies it in hardware, and a CPU does so faster than float32; else float16
    on CUDA (Turing and older) and float32 on CPUs.

    Raises:
        ModelError: float16 for a CPU, which computes it far slower than float32; bfloat16 for a GPU that only emulates
            it; or 8-bit integers for a device without products of them.
    """
    if setting == INT8:
        _require_int8(device)
    elif setting != "auto":
        if setting == "float16" and device.type == "cpu":
            raise ModelError(
                "float16 is for CUDA devices, and this device is a CPU: set GLEANER_DTYPE or --dtype to auto, bfloat16 "
                "or float32"
            )
        if setting == "bfloat16" and device.type == "cuda" and not gpu_has_bfloat16(device):
            raise ModelError("bfloat16 needs a GPU of compute capability 8.0; choose auto, float16 or float32")
        return DTYPES[setting]
    if device.type == "cuda":
        return torch.bfloat16 if gpu_has_bfloat16(device) else torch.float16
    return torch.bfloat16 if cpu_is_fast_at_bfloat16() and onednn_has_bfloat16() else torch.float32


def _require_int8(device: torch.device) -> None:
    if device.type != "cpu":
        raise ModelError("int8 is for CPUs; choose auto, bfloat16 or float16 on a CUDA device")
    if not cpu_has(FAST_INT8_FLAGS):
        raise ModelError("int8 needs a processor with VNNI instructions; choose auto, bfloat16 or float32")


def onednn_has_bfloat16() -> bool:
    """True if oneDNN has bfloat16 products for this processor, within `ONEDNN_MAX_CPU_ISA`."""
    try:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    except AttributeError:  # This build of torch has no oneDNN.
        return False


def gpu_has_bfloat16(device: torch.device) -> bool:
    """True for Ampere and later; older GPUs have no attention kernel for it."""
    return torch.cuda.get_device_capability(device) >= (8, 0)


def cpu_is_fast_at_bfloat16(cpuinfo: Path = CPUINFO) -> bool:
    """True if the processor multiplies bfloat16 in hardware, and faster than float32.

    AVX512-BF16 counts on AMD's processors alone: on Intel's, where a virtual machine hides the matrix unit, it takes
    1.7 times the seconds of float32. The kind of processor decides and not a trial, which beside other work chose
    another format from one start to the next.
    """
    if cpu_has(FAST_BFLOAT16_FLAGS, cpuinfo):
        return True
    return cpu_has({"avx512_bf16"}, cpuinfo) and cpu_has({"AuthenticAMD"}, cpuinfo)


def cpu_has(wanted: Set[str], cpuinfo: Path = CPUINFO) -> bool:
    """True if /proc/cpuinfo lists one of these features, or this vendor."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    keys = ("vendor_id", "flags", "features")
    return any(not wanted.isdisjoint(line.partition(":")[2].split()) for line in lines if line.lower().startswith(keys))


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def gpu_uuid(device: torch.device) -> str | None:
    """Name the GPU for NVML, independent of its number in this process; None for a CPU.

    For a part of a GPU (MIG) it is that part's UUID, which NVML knows as `MIG-…` (nvml.py).
    """
    return f"GPU-{torch.cuda.get_device_properties(device).uuid}" if device.type == "cuda" else None


def describe(device: torch.device) -> str:
    """Describe a device, as in `NVIDIA L4, 22.0 GiB` or `AMD EPYC 9R14, 2 threads, 7.6 GiB`."""
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        return f"{properties.name}, {properties.total_memory / GIBIBYTE:.1f} GiB"
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{_processor_name()}, {torch.get_num_threads()} threads, {memory_bytes / GIBIBYTE:.1f} GiB"


def use_threads(threads: int, *, on_gpu: bool = False) -> None:
    """Compute with this many CPU threads, and keep freed memory (`keep_freed_memory`).

    Args:
        threads: 0: one for each core that this process may use.
        on_gpu: with 0, one in all, since the host of a GPU only packs batches and widens logits, and threads that spin
            in between would take cores from the API workers.
    """
    torch.set_num_threads(threads or (1 if on_gpu else usable_cores()))
    keep_freed_memory()


def keep_freed_memory() -> bool:
    """Have glibc reuse large freed blocks; False with another C library.

    By default each tensor over 128 KiB to 32 MiB is fresh memory from the kernel, which clears it page by page: on CPUs
    that can cost more than the arithmetic on it.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK_BYTES)) and bool(mallopt(M_TRIM_THRESHOLD, KEPT_BLOCK_BYTES))


def free_bytes() -> int | None:
    """Read the free memory of the current CUDA device; None without one, or if it does not answer."""
    try:
        return torch.cuda.mem_get_info()[0] if torch.cuda.is_available() else None
    except RuntimeError:
        return None


def _processor_name() -> str:
    try:
        lines = CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())

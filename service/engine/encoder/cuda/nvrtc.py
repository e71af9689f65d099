"""NVIDIA's compiler at run time, which torch brings along: kernels' source → code for one architecture.

It needs neither a GPU nor a header; a small kernel takes a tenth of a second.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path

import torch


class CompilerMissing(Exception):
    """NVRTC is not installed; the detail is one sentence."""


class DoesNotCompile(Exception):
    """NVRTC refuses the source, or does not know the architecture; the detail is what it says."""


def is_there() -> bool:
    """True if NVRTC is installed."""
    try:
        _library()
    except (CompilerMissing, OSError):
        return False
    return True


def compile_kernels(source: str, architecture: str, options: Sequence[str] = ()) -> bytes:
    """Code (a cubin) for an architecture such as `sm_89`.

    Args:
        options: such as `-DNAME=value`.

    Raises:
        CompilerMissing: there is no NVRTC.
        DoesNotCompile: it refuses.
    """
    nvrtc = _library()
    program = ctypes.c_void_p()
    _require(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None))
    try:
        chosen = [f"--gpu-architecture={architecture}", "--std=c++17", *options]
        texts = (ctypes.c_char_p * len(chosen))(*(each.encode() for each in chosen))
        if nvrtc.nvrtcCompileProgram(program, len(chosen), texts) != 0:
            said = _text(nvrtc, program, "ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
            raise DoesNotCompile(f"for {architecture}: {said}")
        return _text(nvrtc, program, "CUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    """The program's log, or its code."""
    size = ctypes.c_size_t()
    _require(nvrtc, nvrtc[f"nvrtcGet{what}Size"](program, ctypes.byref(size)))
    found = ctypes.create_string_buffer(max(size.value, 1))
    _require(nvrtc, nvrtc[f"nvrtcGet{what}"](program, found))
    return found.raw


def _require(nvrtc: ctypes.CDLL, result: int) -> None:
    if result != 0:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise DoesNotCompile(nvrtc.nvrtcGetErrorString(result).decode())


def _library() -> ctypes.CDLL:
    """NVRTC of torch's version of CUDA, from the wheels beside torch, or where the system looks."""
    name = f"libnvrtc.so.{(torch.version.cuda or '13').partition('.')[0]}"
    beside_torch = sorted(Path(torch.__file__).parents[1].glob("nvidia/*/lib"))
    for folder in beside_torch:
        if (folder / name).exists():
            for builtins in folder.glob("libnvrtc-builtins.so.*"):
                ctypes.CDLL(str(builtins))  # By itself NVRTC finds this part of it only where the system looks.
            return ctypes.CDLL(str(folder / name))
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise CompilerMissing(f"{name} is not here: {error}") from error

"""Kernels that were compiled here, loaded and launched by the CUDA driver itself.

`torch.cuda._compile_kernel` makes ctypes objects of all arguments at each launch. Here they and the launch's shape are
packed into buffers that the driver reads, so a launch costs little more than one call with four addresses. It goes into
a capture as any launch does.
"""

from __future__ import annotations

import ctypes
import struct

LANES_OF_BLOCK = 128
"""Threads: `LANES * WARPS` of row_kernels.cu."""
_SHAPE = struct.Struct("@7IPPI0P")
"""`CUlaunchConfig`: blocks in three dimensions, threads in three, bytes of shared memory, stream, no attributes."""


class KernelModule:
    """Code on the current device, whose context must be current in the calling thread; it stays loaded.

    Raises:
        OSError: there is no driver.
        RuntimeError: the driver refuses the code, or the device is broken.
    """

    def __init__(self, code: bytes) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._module = ctypes.c_void_p()
        _require(self._driver, self._driver.cuModuleLoadData(ctypes.byref(self._module), code))

    def kernel(self, name: str, arguments: str) -> Kernel:
        """A kernel by name; `arguments`: their types in order, as `struct` writes them (`P` is a pointer)."""
        function = ctypes.c_void_p()
        _require(self._driver, self._driver.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode()))
        return Kernel(self._driver, function, arguments)


class Kernel:
    """One kernel with buffers for its launches, so for one thread at a time."""

    def __init__(self, driver: ctypes.CDLL, function: ctypes.c_void_p, arguments: str) -> None:
        self._driver = driver
        self._layout = struct.Struct(f"@{arguments}")
        self._buffer = ctypes.create_string_buffer(self._layout.size)
        start = ctypes.addressof(self._buffer)
        self._addresses = (ctypes.c_void_p * len(arguments))(*(start + each for each in _offsets(arguments)))
        self._shape = ctypes.create_string_buffer(_SHAPE.size)
        self._read = ctypes.addressof(self._shape), function.value, ctypes.addressof(self._addresses), None
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)
        self._launch = prototype(("cuLaunchKernelEx", driver))

    def launch(self, blocks: int, stream: int, *arguments: float) -> None:
        """Queue the kernel. Raises RuntimeError, in the words of torch's own errors (device_errors.py)."""
        self._layout.pack_into(self._buffer, 0, *arguments)
        _SHAPE.pack_into(self._shape, 0, blocks, 1, 1, LANES_OF_BLOCK, 1, 1, 0, stream, 0, 0)
        result = self._launch(*self._read)
        if result != 0:
            _require(self._driver, result)


def _offsets(arguments: str) -> list[int]:
    """Where C puts each member of a structure of these types."""
    ends = (struct.calcsize(f"@{arguments[:count]}") for count in range(1, len(arguments) + 1))
    return [end - struct.calcsize(f"@{kind}") for end, kind in zip(ends, arguments, strict=True)]


def _require(driver: ctypes.CDLL, result: int) -> None:
    if result == 0:
        return
    text = ctypes.c_char_p()
    driver.cuGetErrorString(result, ctypes.byref(text))
    raise RuntimeError(f"CUDA driver error: {text.value.decode() if text.value else f'number {result}'}")

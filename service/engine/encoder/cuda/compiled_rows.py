"""Row operators as kernels that are compiled at load (row_kernels.cu), and their trial against torch's operators.

They are used where they are right and faster on the device that serves. Whatever is missing or refuses (the compiler,
the driver, an architecture, a size) is one line in the log, and torch's operators run.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812

from service.engine.encoder.cuda.kernel_module import KernelModule
from service.engine.encoder.cuda.nvrtc import CompilerMissing, DoesNotCompile, compile_kernels
from service.engine.encoder.cuda.row_operators import FLOAT8, TORCH_ROWS, RowOperators

SOURCE = Path(__file__).with_name("row_kernels.cu")
ROWS_OF_BLOCK = 4
VECTOR_BYTES = 16
MOST_COLUMNS = 2_048
"""A lane keeps its part of a row in registers: 64 numbers."""

EXAMPLE_ROWS, TRIAL_ROWS = 257, 8_192
"""To compare, so that the last block is not full; and to time."""
CALLS, RUNS = 8, 5
LEAST_GAIN = 0.05
TOLERANCE = {torch.float32: 1e-5, torch.float16: 0.001, torch.bfloat16: 0.005}
"""Largest error of a normalised number x, as a share of 1 + |x|: the rounding of the result, and little more."""
MOST_STEPS = 0.55
"""Largest error of a number in 8 bits, in steps between two such numbers: half of one, and little more."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RowTrial:
    """Compiled operators on the device: errors as in TOLERANCE and MOST_STEPS, share of torch's time that they save."""

    error: float
    steps: float
    gain: float

    def is_good(self, dtype: torch.dtype) -> bool:
        is_right = self.error <= TOLERANCE[dtype] and self.steps <= MOST_STEPS
        return is_right and self.gain >= LEAST_GAIN  # False for NaN.


class CompiledRows:
    """By compiled kernels, on one device that multiplies 8 bits; for one thread at a time.

    Args:
        dtype: of all rows and weights.
        columns: of normalised rows.

    Raises:
        CompilerMissing, DoesNotCompile, OSError, RuntimeError: there is no compiler or no driver, or one refuses.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype, columns: int) -> None:
        capability = torch.cuda.get_device_capability(device)
        module = _module(device.index or 0, f"sm_{capability[0]}{capability[1]}", dtype, columns)
        self._device_index = device.index or 0
        self._add_norm = module.kernel("add_norm", "PPPPif")
        self._quantize = module.kernel("quantize", "PPPiii")

    def add_norm(
        self, rows: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, epsilon: float
    ) -> torch.Tensor:
        count = rows.shape[0]
        where = rows.data_ptr(), residual.data_ptr(), weight.data_ptr(), bias.data_ptr()
        self._add_norm.launch(_blocks(count), self._stream(), *where, count, epsilon)
        return rows

    def quantize(self, rows: torch.Tensor, *, gelu: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        count, columns = rows.shape
        found, scales = torch.empty_like(rows, dtype=FLOAT8), rows.new_empty(count, 1, dtype=torch.float32)
        where = rows.data_ptr(), found.data_ptr(), scales.data_ptr()
        self._quantize.launch(_blocks(count), self._stream(), *where, count, columns, gelu)
        return found, scales

    def _stream(self) -> int:
        """The current stream's handle, without an object for it."""
        return torch._C._cuda_getCurrentRawStream(self._device_index)


def row_operators(device: torch.device, dtype: torch.dtype, columns: int) -> RowOperators:
    """Row operators for one model on a CUDA device: compiled ones if they are right and faster, else torch's."""
    return CompiledRows(device, dtype, columns) if _are_better(device, dtype, columns) else TORCH_ROWS


@cache
def _are_better(device: torch.device, dtype: torch.dtype, columns: int) -> bool:
    """Tried once in a process: later models are loaded while batches run, which would disturb the times."""
    if columns > MOST_COLUMNS or columns * dtype.itemsize % VECTOR_BYTES:
        log.info("kernels are not compiled", extra={"reason": f"rows of {columns} numbers"})
        return False
    try:
        compiled = CompiledRows(device, dtype, columns)
        trial = RowTrial(
            _error(compiled, device, dtype, columns),
            _steps(compiled, device, dtype, columns),
            _gain(compiled, device, dtype, columns),
        )
    except (CompilerMissing, DoesNotCompile, OSError, RuntimeError) as problem:
        log.warning("kernels cannot be compiled; torch's run", extra={"reason": f"{type(problem).__name__}: {problem}"})
        return False
    kept = trial.is_good(dtype)
    log.info("kernels were compiled", extra={**asdict(trial), "kept": kept})
    return kept


@torch.inference_mode()
def _error(compiled: RowOperators, device: torch.device, dtype: torch.dtype, columns: int) -> float:
    """The largest error of what is normalised, as in TOLERANCE, against torch in float64 on the same input."""
    random = torch.Generator().manual_seed(0)
    shapes = ((EXAMPLE_ROWS, columns), (EXAMPLE_ROWS, columns), (columns,), (columns,))
    tensors = [torch.randn(shape, generator=random).to(device=device, dtype=dtype) for shape in shapes]
    rows, residual, weight, bias = (each.double() for each in tensors)
    wanted = TORCH_ROWS.add_norm(rows, residual, weight, bias, 1e-12)
    found = compiled.add_norm(tensors[0], tensors[1], tensors[2], tensors[3], 1e-12)
    return float(((found.double() - wanted).abs() / (1 + wanted.abs())).max())


@torch.inference_mode()
def _steps(compiled: RowOperators, device: torch.device, dtype: torch.dtype, columns: int) -> float:
    """The largest error of what is quantized, as in MOST_STEPS, with GELU and without."""
    random = torch.Generator().manual_seed(0)
    rows = torch.randn(EXAMPLE_ROWS, columns, generator=random).to(device=device, dtype=dtype)
    return max(
        _steps_off(rows.double(), *compiled.quantize(rows)),
        _steps_off(F.gelu(rows.double()), *compiled.quantize(rows, gelu=True)),
    )


def _steps_off(wanted: torch.Tensor, found: torch.Tensor, scales: torch.Tensor) -> float:
    step = torch.maximum(wanted.abs() / 8, scales.double() * 2**-9)  # Three bits of a fraction; below 2^-6, 2^-9 apart.
    return float(((found.double() * scales - wanted).abs() / step).max())


@torch.inference_mode()
def _gain(compiled: RowOperators, device: torch.device, dtype: torch.dtype, columns: int) -> float:
    """The share of torch's time that is saved of what a layer does with a batch of rows."""
    rows = torch.zeros(TRIAL_ROWS, columns, device=device, dtype=dtype)
    residual = torch.zeros_like(rows)
    times = [(_seconds(TORCH_ROWS, rows, residual), _seconds(compiled, rows, residual)) for _ in range(RUNS)]
    plain, ours = (min(some) for some in zip(*times, strict=True))
    return float(1 - ours / plain)


def _seconds(operators: RowOperators, rows: torch.Tensor, residual: torch.Tensor) -> float:
    """Of the device, for some layers' calls one after the other."""
    begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    begun.record()
    for _ in range(CALLS):
        for gelu in (False, True):
            operators.add_norm(rows, residual, residual[0], residual[1], 1e-12)
            operators.quantize(rows)
            operators.quantize(rows, gelu=gelu)
    ended.record()
    ended.synchronize()
    return float(begun.elapsed_time(ended)) / 1_000


@cache
def _module(device_index: int, architecture: str, dtype: torch.dtype, columns: int) -> KernelModule:
    """Compiled and loaded once in a process."""
    number = str(dtype).removeprefix("torch.")
    code = compile_kernels(SOURCE.read_text(), architecture, [f"-DNUMBER={number}", f"-DCOLUMNS={columns}"])
    return KernelModule(code)


def _blocks(count: int) -> int:
    return -(-count // ROWS_OF_BLOCK)

"""When compiled kernels are used, and how their arguments are laid out; the kernels themselves: test_row_kernels.py."""

from __future__ import annotations

import ctypes
import logging
import struct

import pytest
import torch

from service.engine.encoder.cuda.compiled_rows import (
    MOST_COLUMNS,
    MOST_STEPS,
    TOLERANCE,
    RowTrial,
    _error,
    _steps,
    row_operators,
)
from service.engine.encoder.cuda.kernel_module import _offsets
from service.engine.encoder.cuda.row_operators import TORCH_ROWS, TorchRows

NAN = float("nan")


@pytest.mark.parametrize(
    ("error", "steps", "gain", "good"),
    [
        (0.0, 0.5, 0.3, True),
        (0.004, 0.5, 0.05, True),
        (0.1, 0.5, 0.3, False),
        (0.0, 0.6, 0.3, False),
        (0.0, 0.5, 0.01, False),
        (NAN, 0.5, 0.3, False),
        (0.0, NAN, 0.3, False),
        (0.0, 0.5, NAN, False),
    ],
)
def test_kernels_are_kept_if_they_are_right_and_faster(error: float, steps: float, gain: float, good: bool) -> None:
    assert RowTrial(error, steps, gain).is_good(torch.bfloat16) == good


@pytest.mark.parametrize(("dtype", "columns"), [(torch.bfloat16, 60), (torch.float32, 6), (torch.float16, 4_096)])
def test_rows_that_the_kernels_cannot_read_are_torch_s(
    dtype: torch.dtype, columns: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        assert row_operators(torch.device("cuda"), dtype, columns) is TORCH_ROWS
    assert [record.getMessage() for record in caplog.records] == ["kernels are not compiled"]
    assert MOST_COLUMNS < 4_096


class _Forgetful(TorchRows):
    """Leaves the residual out, and GELU."""

    def add_norm(
        self, rows: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, epsilon: float
    ) -> torch.Tensor:
        return super().add_norm(rows, torch.zeros_like(residual), weight, bias, epsilon)

    def quantize(self, rows: torch.Tensor, *, gelu: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        return super().quantize(rows)


def test_the_trial_s_error_is_rounding_for_what_is_right_and_large_for_what_is_wrong() -> None:
    assert _error(TORCH_ROWS, torch.device("cpu"), torch.float32, 64) <= TOLERANCE[torch.float32]
    for dtype, tolerance in TOLERANCE.items():
        assert _error(_Forgetful(), torch.device("cpu"), dtype, 64) > 100 * tolerance
        assert 0.4 < _steps(TORCH_ROWS, torch.device("cpu"), dtype, 64) <= MOST_STEPS
        assert _steps(_Forgetful(), torch.device("cpu"), dtype, 64) > 2 * MOST_STEPS


class _Arguments(ctypes.Structure):
    _fields_ = [
        ("first", ctypes.c_void_p),
        ("count", ctypes.c_int),
        ("second", ctypes.c_void_p),
        ("epsilon", ctypes.c_float),
        ("last", ctypes.c_int),
    ]


def test_arguments_lie_where_c_puts_them() -> None:
    names = [each[0] for each in _Arguments._fields_]
    offsets = [getattr(_Arguments, name).offset for name in names]
    assert _offsets("PiPfi") == offsets
    packed = struct.pack("@PiPfi", 5, -1, 7, 0.5, 9)
    found = _Arguments.from_buffer_copy(packed.ljust(ctypes.sizeof(_Arguments), b"\0"))
    assert [getattr(found, name) for name in names] == [5, -1, 7, 0.5, 9]

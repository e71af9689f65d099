"""The arithmetic of the compiled kernels: their text, compiled by the host's compiler, against torch in float64."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from service.engine.encoder.cuda.compiled_rows import SOURCE, TOLERANCE
from service.engine.encoder.cuda.nvrtc import DoesNotCompile, compile_kernels
from service.engine.encoder.cuda.row_operators import FLOAT8, TORCH_ROWS

HERE = Path(__file__).parent
DTYPES = [torch.float32, torch.float16, torch.bfloat16]
ROWS = 5
"""So that the last block has warps without a row."""
ARCHITECTURES = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"]

on_host = pytest.mark.needs("c++-compiler")
Kernels = Callable[[torch.dtype, int], ctypes.CDLL]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Kernels:
    """The kernels for a format and a size of rows."""

    @cache
    def compiled(dtype: torch.dtype, columns: int) -> ctypes.CDLL:
        number = str(dtype).removeprefix("torch.")
        library = tmp_path_factory.mktemp("kernels") / "kernels.so"
        defined = [f"-DNUMBER={number}", f"-DCOLUMNS={columns}", "-Wno-unknown-pragmas"]
        command = ["g++", "-std=c++17", "-O1", "-shared", "-fPIC", *defined, f"-I{SOURCE.parent}"]
        subprocess.run([*command, str(HERE / "host_kernels.cpp"), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))

    return compiled


def _add_norm(library: ctypes.CDLL, tensors: list[torch.Tensor], epsilon: float) -> None:
    pointers = [ctypes.c_void_p(each.data_ptr()) for each in tensors]
    library.run_add_norm(*pointers, tensors[0].shape[0], ctypes.c_float(epsilon))


def _quantize(library: ctypes.CDLL, rows: torch.Tensor, *, gelu: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    count, columns = rows.shape
    found, scales = torch.empty_like(rows, dtype=FLOAT8), torch.empty(count, 1)
    pointers = [ctypes.c_void_p(each.data_ptr()) for each in (rows, found, scales)]
    library.run_quantize(*pointers, count, columns, int(gelu))
    return found, scales


def _random(dtype: torch.dtype, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=random).to(dtype) for shape in shapes]


@on_host
@pytest.mark.parametrize("columns", [256, 384, 768, 1024])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_are_normalised_as_in_float64_but_for_the_rounding(
    dtype: torch.dtype, columns: int, kernels: Kernels
) -> None:
    size = (ROWS, columns)
    tensors = _random(dtype, size, size, (columns,), (columns,))
    rows = tensors[0]
    rows[1] += 30  # A mean that is far from 0.
    exact = [each.double() for each in tensors]
    wanted = F.layer_norm(exact[0] + exact[1], (columns,), exact[2], exact[3], 1e-12)
    _add_norm(kernels(dtype, columns), tensors, 1e-12)
    assert float(((rows.double() - wanted).abs() / (1 + wanted.abs())).max()) <= TOLERANCE[dtype]


@on_host
def test_epsilon_counts_where_a_row_is_constant(kernels: Kernels) -> None:
    columns = 384
    rows, residual = torch.full((ROWS, columns), 2.0), torch.zeros(ROWS, columns)
    _add_norm(kernels(torch.float32, columns), [rows, residual, torch.ones(columns), torch.full((columns,), 7.0)], 1e-5)
    assert torch.equal(rows, torch.full((ROWS, columns), 7.0))


@on_host
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_that_is_not_a_number_stays_so_and_harms_no_other(dtype: torch.dtype, kernels: Kernels) -> None:
    columns = 256
    tensors = _random(dtype, (ROWS, columns), (ROWS, columns), (columns,), (columns,))
    tensors[0][2, 9] = float("nan")
    _add_norm(kernels(dtype, columns), tensors, 1e-12)
    assert tensors[0][2].isnan().all()
    assert tensors[0][[0, 1, 3, 4]].isfinite().all()


@on_host
def test_bfloat16_is_rounded_as_torch_rounds(kernels: Kernels) -> None:
    """Weight 0 leaves the bias, which is written as it was read: every finite bit pattern and every kind of NaN."""
    columns = 256
    patterns = torch.arange(65_536, dtype=torch.int32).to(torch.int16).view(torch.bfloat16).view(-1, columns)
    for bias in patterns[::37].contiguous():
        rows = torch.zeros(1, columns, dtype=torch.bfloat16)
        _add_norm(kernels(torch.bfloat16, columns), [rows, rows.clone(), rows[0].clone(), bias], 1.0)
        assert torch.equal(rows[0].nan_to_num(5.0), (bias + 0).nan_to_num(5.0))


@on_host
@pytest.mark.parametrize("gelu", [False, True])
@pytest.mark.parametrize("columns", [256, 1536])
def test_rows_are_quantized_as_by_torch(gelu: bool, columns: int, kernels: Kernels) -> None:
    (rows,) = _random(torch.bfloat16, (ROWS, columns))
    rows[1] *= 1e-4
    rows[2] = 0
    found, scales = _quantize(kernels(torch.bfloat16, 256), rows, gelu=gelu)
    wanted, wanted_scales = TORCH_ROWS.quantize(rows, gelu=gelu)
    torch.testing.assert_close(scales, wanted_scales, rtol=1e-5, atol=0)
    steps = (found.view(torch.uint8).int() - wanted.view(torch.uint8).int()).abs()
    assert (steps == 0).float().mean() >= 0.995, "erf of two libraries may part a tie"
    assert steps.max() <= 1


@on_host
def test_quantizing_keeps_what_is_not_a_number(kernels: Kernels) -> None:
    rows = torch.ones(2, 256, dtype=torch.bfloat16)
    rows[0, 3], rows[1, 4] = float("nan"), float("inf")
    found, scales = _quantize(kernels(torch.bfloat16, 256), rows)
    values = found.float() * scales
    assert values[0, 3].isnan()
    assert values[1].isnan().any()


@pytest.mark.needs("nvrtc")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_kernels_are_cuda_for_every_architecture(architecture: str, dtype: torch.dtype) -> None:
    number = str(dtype).removeprefix("torch.")
    code = compile_kernels(SOURCE.read_text(), architecture, [f"-DNUMBER={number}", "-DCOLUMNS=384"])
    assert code.startswith(b"\x7fELF")
    assert b"add_norm" in code
    assert (b"quantize" in code) == (architecture not in ("sm_75", "sm_80", "sm_86"))


@pytest.mark.needs("nvrtc")
def test_a_source_that_is_no_cuda_is_refused_with_the_compiler_s_words() -> None:
    with pytest.raises(DoesNotCompile, match="nonsense"):
        compile_kernels("nonsense;", "sm_80")
    with pytest.raises(DoesNotCompile, match=r"for sm_12: nvrtc: error: [^\0]*$"):
        compile_kernels(SOURCE.read_text(), "sm_12")

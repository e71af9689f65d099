"""Products and kernels that the service may come to use, as torch reaches them on a modelled device."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from tests.rehearsal.devices import A10G, H100, L4, T4, Device
from tests.rehearsal.scene import Gpu, play

SOURCE = 'extern "C" __global__ void add_norm(const float* rows, float* out, int count) { out[0] = rows[0]; }'


def _with_gelu(gpu: Gpu) -> Counter[str]:
    rows = torch.zeros(256, 64, device="cuda", dtype=torch.float16)
    weight, bias = torch.zeros(128, 64, device="cuda", dtype=torch.float16), rows[0, :1].repeat(128)
    with gpu.kernels() as kernels:
        torch._addmm_activation(bias, rows, weight.t(), use_gelu=True)
    return kernels


@pytest.mark.parametrize("device", [T4, A10G], ids=lambda device: device.name)
def test_gelu_is_computed_within_the_product(device: Device, tmp_path: Path) -> None:
    assert play(_with_gelu, device, tmp_path) == {"cublasLtMatmul epilogue 36": 1}


def _scaled(gpu: Gpu, by_row: bool) -> tuple[list[int], Counter[str]]:
    left = torch.zeros(256, 64, device="cuda").to(torch.float8_e4m3fn)
    right = torch.zeros(128, 64, device="cuda").to(torch.float8_e4m3fn).t()
    scales = (torch.ones(256, 1, device="cuda"), torch.ones(1, 128, device="cuda"))
    one = torch.ones((), device="cuda")
    with gpu.kernels() as kernels:
        product = torch._scaled_mm(left, right, *(scales if by_row else (one, one)), out_dtype=torch.bfloat16)
    return list(product.shape), kernels


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("device", [L4, H100], ids=lambda device: device.name)
def test_products_of_8_bits_are_one_kernel(device: Device, by_row: bool, tmp_path: Path) -> None:
    shape, kernels = play(_scaled, device, tmp_path, by_row)
    assert shape == [256, 128]
    assert kernels.total() == 1, kernels


def _own_kernel(gpu: Gpu) -> tuple[Counter[str], str, int]:
    kernel = torch.cuda._compile_kernel(SOURCE, "add_norm")
    rows, out = torch.zeros(1024, device="cuda"), torch.empty(1024, device="cuda")
    with gpu.kernels() as kernels:
        kernel((8, 1, 1), (128, 1, 1), (rows, out, 1024))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel((8, 1, 1), (128, 1, 1), (rows, out, 1024))
    graph.replay()
    try:
        torch.cuda._compile_kernel(SOURCE, "another")
    except RuntimeError as error:
        missing = str(error)
    return kernels, missing, gpu.report()["captured_kernels"]["add_norm"]


def test_an_own_kernel_is_compiled_launched_and_captured(tmp_path: Path) -> None:
    kernels, missing, captured = play(_own_kernel, A10G, tmp_path)
    assert kernels == {"add_norm": 1}
    assert captured == 1
    assert "named symbol not found" in missing

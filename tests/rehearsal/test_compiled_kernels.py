"""Kernels that are compiled at load: that they run is said, they are captured, and what is missing costs no start."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.rehearsal.devices import H200, L4
from tests.rehearsal.engine_parts import SmallEngine
from tests.rehearsal.scene import Gpu, play

LOGGED = "kernels cannot be compiled; torch's run"


def _serves(gpu: Gpu) -> tuple[str, int, list[str]]:
    engine = SmallEngine(gpu, kernels=True, dtype="fp8", hidden=256)
    with gpu.kernels() as kernels:
        first = engine.answers([engine.launch(7, 30)])
        engine.compute.submit(engine.model.weights.offload).result()
        engine.compute.submit(engine.model.weights.load).result()
        again = engine.answers([engine.launch(7, 30)])
    assert [row.shape for row in first] == [row.shape for row in again]
    return engine.model.status.kernels, kernels["add_norm"], engine.log.messages


def test_the_status_says_that_compiled_kernels_run(tmp_path: Path) -> None:
    kernels, launched, logged = play(_serves, L4, tmp_path)
    assert kernels == "nvrtc"
    assert launched == 2 * 2 * 2, "batches, layers, and sums of each layer"
    assert "kernels were compiled" in logged


def _without_compiler(gpu: Gpu) -> tuple[str, int, list[str]]:
    torch.version.cuda = "99.0"
    return _serves(gpu)


def test_without_the_compiler_torch_s_kernels_run_and_one_line_says_so(tmp_path: Path) -> None:
    kernels, launched, logged = play(_without_compiler, L4, tmp_path)
    assert (kernels, launched) == ("cuda", 0)
    assert logged.count(LOGGED) == 1


def _refused_by_the_driver(gpu: Gpu) -> tuple[str, int, list[str]]:
    from service.engine.encoder.cuda import compiled_rows

    compiled_rows.SOURCE = gpu.folder / "empty.cu"
    compiled_rows.SOURCE.write_text("// no kernel")
    return _serves(gpu)


def test_a_kernel_that_the_driver_does_not_find_is_left_out(tmp_path: Path) -> None:
    kernels, launched, logged = play(_refused_by_the_driver, H200, tmp_path)
    assert (kernels, launched) == ("cuda", 0)
    assert logged.count(LOGGED) == 1


def _captured(gpu: Gpu) -> tuple[int, bool]:
    from service.engine.cuda_graphs.buckets import buckets
    from service.engine.cuda_graphs.capture import CudaGraphCapture
    from service.engine.cuda_graphs.graphed_encoder import GraphedEncoder
    from service.engine.device.selection import choose_device
    from service.engine.encoder.cuda.options import FusedOptions
    from service.engine.encoder.encoder import load_encoder
    from service.metrics.gpu import GraphMetrics
    from tests.support.tiny_models import make_model

    device, options = choose_device("cuda"), FusedOptions(compiled_kernels=True, float8=True)
    folder = make_model(gpu.folder / "m", hidden=256)
    encoder = load_encoder(folder, device, torch.bfloat16, options=options)
    graphed = GraphedEncoder(encoder, CudaGraphCapture(device), lambda _: None, GraphMetrics(), "m")
    _, check = graphed.try_capture(buckets(encoder.max_tokens)[0])
    return gpu.report()["captured_kernels"]["add_norm"], check.is_accurate("bfloat16")


def test_compiled_kernels_are_captured_on_the_capture_s_stream(tmp_path: Path) -> None:
    assert play(_captured, L4, tmp_path) == (4, True)

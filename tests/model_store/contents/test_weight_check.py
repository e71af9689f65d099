"""The check of weights: NaN and infinities of each format, wherever they are; and what holds none is taken."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model_store.contents.scan import require_finite, scan_folder
from model_store.contents.weight_check import weight_problem
from model_store.errors import RefusedFolder
from tests.support.tiny_models import make_model

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2]


@pytest.mark.parametrize("number_format", FLOATS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_is_found_in_each_format(
    tmp_path: Path, number_format: torch.dtype, bad: float
) -> None:
    tensor = torch.zeros(100_001)
    tensor[-1] = bad
    tensors = {"good": torch.ones(3), "bad": tensor.to(number_format), "ids": torch.full((4,), -1)}
    save_file(tensors, tmp_path / "model.safetensors")
    problem = weight_problem(tmp_path / "model.safetensors")
    assert problem is not None
    assert (problem.code, "'bad'" in problem.sentence) == ("not_finite", True)


@pytest.mark.parametrize("number_format", FLOATS)
def test_the_largest_and_smallest_numbers_are_finite(tmp_path: Path, number_format: torch.dtype) -> None:
    limits = torch.finfo(number_format)
    tensor = torch.tensor([limits.max, limits.min, limits.tiny, -0.0], dtype=torch.float64).to(number_format)
    save_file({"a": tensor, "empty": torch.zeros(0), "scalar": torch.tensor(1.0)}, tmp_path / "a.safetensors")
    assert weight_problem(tmp_path / "a.safetensors") is None


def test_a_folder_with_nan_is_refused_with_the_tensor(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "tiny")
    require_finite(scan_folder(folder))
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(RefusedFolder, match=r"classifier\.bias"):
        require_finite(scan_folder(folder))

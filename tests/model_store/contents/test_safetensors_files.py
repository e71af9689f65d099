"""Complete and incomplete safetensors files by their headers; NaN and infinities of each format, wherever they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save
from safetensors.torch import load_file, save_file

from model_store.contents.safetensors_files import (
    header_length,
    header_problem,
    index_problems,
    shards_of,
    weight_problem,
)
from model_store.contents.scan import require_finite, scan_folder
from model_store.errors import RefusedFolder
from tests.support.tiny_models import make_model


def problem_of(data: bytes) -> str | None:
    """The code of the problem."""
    length = header_length(data[:8], len(data))
    if length is None:
        return "no header"
    problem = header_problem("model.safetensors", data[8 : 8 + length], len(data))
    return problem.code if problem else None


REAL = save({"a": np.zeros((3, 5), np.float32), "b": np.zeros((7,), np.int64)}, metadata={"format": "pt"})


def test_a_file_of_the_library_is_complete() -> None:
    assert problem_of(REAL) is None
    assert problem_of(save({})) is None


@given(st.integers(0, len(REAL) - 1))
def test_a_file_that_is_cut_off_anywhere_is_incomplete(length: int) -> None:
    assert problem_of(REAL[:length]) is not None


def test_a_file_with_more_bytes_than_its_header_says_is_invalid() -> None:
    assert problem_of(REAL + b"\0") == "truncated"


@given(st.binary(max_size=64))
def test_the_check_does_not_raise_for_arbitrary_bytes(data: bytes) -> None:
    problem_of(data)
    problem_of(len(data).to_bytes(8, "little") + data)


@pytest.mark.parametrize("header", [b"[]", b"{", b'{"a":1}', b'{"a":{"data_offsets":[0]}}', b'{"a":{}}', b"[[[["])
def test_an_invalid_header_is_a_problem(header: bytes) -> None:
    problem = header_problem("x.safetensors", header, 100)
    assert problem is not None
    assert problem.code == "header"


def test_the_shards_of_an_index_are_its_values() -> None:
    shards = shards_of({"weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"}})
    assert shards == frozenset({"1.safetensors", "2.safetensors"})


@pytest.mark.parametrize("index", [{}, {"weight_map": []}, {"weight_map": {}}, {"weight_map": {"a": 1}}])
def test_an_index_without_a_map_of_names_is_a_problem(index: dict[str, object]) -> None:
    assert shards_of(json.loads(json.dumps(index))) is None
    assert [problem.code for problem in index_problems(shards_of(index), [])] == ["index"]


@pytest.mark.parametrize(
    ("shard", "code"),
    [
        ("../../etc/passwd", "shard_name"),
        ("folder/1.safetensors", "shard_name"),
        ("pytorch_model.bin", "shard_format"),
        ("2.safetensors", "no_shard"),
    ],
)
def test_an_index_names_only_existing_safetensors(shard: str, code: str) -> None:
    problems = index_problems(frozenset({shard, "1.safetensors"}), ["1.safetensors"])
    assert [problem.code for problem in problems] == [code]


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

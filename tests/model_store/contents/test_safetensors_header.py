"""Whether safetensors files are whole, by their headers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save

from model_store.contents.safetensors_header import header_length, header_problem, index_problems, shards_of


def problem_of(data: bytes) -> str | None:
    length = header_length(data[:8], len(data))
    return "no header" if length is None else header_problem("model.safetensors", data[8 : 8 + length], len(data))


REAL = save({"a": np.zeros((3, 5), np.float32), "b": np.zeros((7,), np.int64)}, metadata={"format": "pt"})


def test_what_the_library_writes_is_whole() -> None:
    assert problem_of(REAL) is None
    assert problem_of(save({})) is None


@given(st.integers(0, len(REAL) - 1))
def test_a_file_that_is_cut_off_anywhere_is_noticed(length: int) -> None:
    assert problem_of(REAL[:length]) is not None


def test_a_file_with_more_than_its_header_says_is_noticed() -> None:
    assert "was not written or copied to its end" in str(problem_of(REAL + b"\0"))


@given(st.binary(max_size=64))
def test_no_bytes_make_the_check_itself_fail(data: bytes) -> None:
    problem_of(data)
    problem_of(len(data).to_bytes(8, "little") + data)


@pytest.mark.parametrize("header", [b"[]", b"{", b'{"a":1}', b'{"a":{"data_offsets":[0]}}', b'{"a":{}}', b"[[[["])
def test_a_header_that_is_none_is_said_to_be_unreadable(header: bytes) -> None:
    assert "cannot be read" in str(header_problem("x.safetensors", header, 100))


def test_the_shards_of_an_index_are_its_values() -> None:
    shards = shards_of({"weight_map": {"a": "1.safetensors", "b": "2.safetensors", "c": "1.safetensors"}})
    assert shards == frozenset({"1.safetensors", "2.safetensors"})


@pytest.mark.parametrize("index", [{}, {"weight_map": []}, {"weight_map": {}}, {"weight_map": {"a": 1}}])
def test_an_index_without_a_map_of_names_is_none(index: dict[str, object]) -> None:
    assert shards_of(json.loads(json.dumps(index))) is None
    assert "is no index" in index_problems(shards_of(index), [])[0]


@pytest.mark.parametrize(
    ("shard", "sentence"),
    [
        ("../../etc/passwd", "not a plain file name"),
        ("folder/1.safetensors", "not a plain file name"),
        ("pytorch_model.bin", "no safetensors file"),
        ("2.safetensors", "which is not there"),
    ],
)
def test_an_index_may_name_only_shards_that_are_there(shard: str, sentence: str) -> None:
    assert sentence in index_problems(frozenset({shard}), ["1.safetensors"])[0]

"""Models leave the device and come back as they were; while they are away they say so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from service.core.arrays import Logits, TokenIds
from service.core.errors import InternalError, ModelError
from service.engine.encoder.encoder import TransformersEncoder, load_encoder
from service.engine.execution.offloading import HostOffloaded, Offloadable, ReloadedFromDisk
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
IDS: list[TokenIds] = [np.arange(5, 25, dtype=np.int32), np.arange(9, dtype=np.int32)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("model"), "bert")


def load(folder: Path) -> TransformersEncoder:
    return load_encoder(folder, CPU, torch.float32)


def remade(folder: Path) -> Offloadable:
    return ReloadedFromDisk(load(folder), lambda: load(folder))


def pinned(folder: Path) -> Offloadable:
    encoder = load(folder)
    return HostOffloaded(encoder, encoder.module)


def same(left: list[Logits], right: list[Logits]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("park", [remade, pinned])
def test_a_model_that_was_away_judges_as_before(folder: Path, park: Callable[[Path], Offloadable]) -> None:
    model = park(folder)
    before = model.forward(IDS)
    for _ in range(2):
        model.leave()
        with pytest.raises(InternalError, match="not on the device"):
            model.forward(IDS)
        model.come()
        model.come()
        assert same(model.forward(IDS), before)


def test_weights_that_left_have_given_the_device_s_memory_back(folder: Path) -> None:
    encoder = load(folder)
    model = HostOffloaded(encoder, encoder.module)
    there = {tensor.data_ptr() for tensor in encoder.module.parameters()}
    model.leave()
    assert there.isdisjoint(tensor.data_ptr() for tensor in encoder.module.parameters())


def test_what_holds_addresses_of_weights_is_dropped_while_they_are_still_there(folder: Path) -> None:
    encoder = load(folder)
    there = {tensor.data_ptr() for tensor in encoder.module.parameters()}
    seen: list[bool] = []

    def forget() -> None:
        seen.append(there == {tensor.data_ptr() for tensor in encoder.module.parameters()})

    model = HostOffloaded(encoder, encoder.module, forget)
    model.come()
    assert seen == []
    model.leave()
    assert seen == [True]


def test_a_model_that_cannot_be_made_again_stays_away_and_says_why(folder: Path, tmp_path: Path) -> None:
    model = ReloadedFromDisk(load(folder), lambda: load(tmp_path))
    model.leave()
    with pytest.raises(ModelError, match="safetensors"):
        model.come()
    with pytest.raises(InternalError, match="not on the device"):
        model.forward(IDS)

"""Offloaded models come back as they were, and refuse batches until then."""

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


def reloaded(folder: Path) -> Offloadable:
    return ReloadedFromDisk(load(folder), lambda: load(folder))


def host_offloaded(folder: Path) -> Offloadable:
    encoder = load(folder)
    return HostOffloaded(encoder, encoder.module)


def same(left: list[Logits], right: list[Logits]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("make", [reloaded, host_offloaded])
def test_a_model_that_was_offloaded_computes_as_before(folder: Path, make: Callable[[Path], Offloadable]) -> None:
    model = make(folder)
    before = model.forward(IDS)
    for _ in range(2):
        model.offload()
        with pytest.raises(InternalError, match="not on the device"):
            model.forward(IDS)
        model.load()
        model.load()
        assert same(model.forward(IDS), before)


def test_offloading_frees_the_device_memory_of_the_weights(folder: Path) -> None:
    encoder = load(folder)
    model = HostOffloaded(encoder, encoder.module)
    addresses = {tensor.data_ptr() for tensor in encoder.module.parameters()}
    model.offload()
    assert addresses.isdisjoint(tensor.data_ptr() for tensor in encoder.module.parameters())


def test_addresses_are_dropped_before_the_weights_are_offloaded(folder: Path) -> None:
    encoder = load(folder)
    addresses = {tensor.data_ptr() for tensor in encoder.module.parameters()}
    seen: list[bool] = []

    def drop() -> None:
        seen.append(addresses == {tensor.data_ptr() for tensor in encoder.module.parameters()})

    model = HostOffloaded(encoder, encoder.module, drop)
    model.load()
    assert seen == []
    model.offload()
    assert seen == [True]


def test_a_model_whose_reload_fails_stays_offloaded(folder: Path, tmp_path: Path) -> None:
    model = ReloadedFromDisk(load(folder), lambda: load(tmp_path))
    model.offload()
    with pytest.raises(ModelError, match="safetensors"):
        model.load()
    with pytest.raises(InternalError, match="not on the device"):
        model.forward(IDS)

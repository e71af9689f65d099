"""The check for capturable passes: which operators it refuses, and that packed models pass it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch

from service.engine.cuda_graphs.capturable import ForbidDeviceSync, NotCapturable, require_capturable
from service.engine.encoder.encoder import load_encoder
from service.engine.execution.packed_batch import pack
from tests.support.tiny_models import PACKABLE, make_model

CPU = torch.device("cpu")
ROWS = torch.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: ROWS.sum().item(), "_local_scalar_dense waits"),
        (lambda: bool(ROWS.any()), "waits"),
        (lambda: ROWS[ROWS > 2], "waits"),
        (lambda: ROWS[(ROWS > 2)[:, 0], torch.arange(1)], "waits"),
        (lambda: ROWS.nonzero(), "nonzero waits"),
        (lambda: torch.where(ROWS > 2), "nonzero waits"),
        (lambda: torch.equal(ROWS, ROWS), "equal waits"),
        (lambda: ROWS.to("meta"), "copies between"),
        (lambda: torch.empty(2, 3, device="meta").copy_(ROWS), "copies between"),
    ],
)
@pytest.mark.parametrize("inference", [True, False])
def test_reading_values_or_leaving_the_device_is_refused(
    work: Callable[[], object], words: str, inference: bool
) -> None:
    with torch.inference_mode(inference), pytest.raises(NotCapturable, match=words):
        require_capturable(work)


def test_a_pass_that_fails_is_refused_with_its_reason() -> None:
    with pytest.raises(NotCapturable, match="RuntimeError: The size of tensor"):
        require_capturable(lambda: ROWS + torch.ones(7))


@pytest.mark.parametrize("inference", [True, False])
def test_a_pass_that_is_only_queued_is_accepted(inference: bool) -> None:
    with torch.inference_mode(inference):
        require_capturable(lambda: torch.softmax(ROWS.bfloat16().clone() @ ROWS.bfloat16().T, dim=-1).float())


@pytest.mark.parametrize("inference", [True, False])
def test_indexing_with_integers_is_accepted(inference: bool) -> None:
    with torch.inference_mode(inference):
        require_capturable(lambda: ROWS[torch.arange(2), torch.tensor([2, 0])])


@pytest.mark.parametrize("kind", PACKABLE)
@torch.inference_mode()
def test_passes_of_packable_models_are_accepted(kind: str, tmp_path: Path) -> None:
    encoder = load_encoder(make_model(tmp_path / kind, kind), CPU, torch.float32)
    batch = pack([np.arange(5, 40, dtype=np.int32), np.arange(9, dtype=np.int32)], CPU, encoder.first_position)
    require_capturable(lambda: encoder.compute(batch))


def test_another_thread_may_wait_meanwhile() -> None:
    found: list[object] = []
    with ForbidDeviceSync():  # type: ignore[no-untyped-call]
        thread = Thread(target=lambda: found.append(ROWS.sum().item()))
        thread.start()
        thread.join()
    assert found == [15.0]

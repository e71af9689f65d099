"""One model with an engine's parts around it, as `service/engine` puts them together."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from model_store.local.catalog import Catalog
from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core.arrays import TokenIds
from service.engine.execution.executor import DeviceExecutor
from service.engine.execution.runner import BatchHandle
from service.engine.models.factory import ModelFactory
from service.engine.models.profiling import ModelProfiler
from service.settings import Settings
from tests.cuda_emulator.emulated_run import Gpu
from tests.support.tiny_models import make_model

LIMIT_SECONDS = 60.0


def sequences(*lengths: int) -> list[TokenIds]:
    """Sequences of these lengths."""
    return [np.full(length, 7, dtype=np.int32) for length in lengths]


class SmallEngine:
    """A model on the device of this process, warm, with two batches in flight as the engine has them."""

    def __init__(
        self,
        gpu: Gpu,
        kind: str = "bert",
        *,
        dtype: str = "auto",
        hidden: int = 64,
        layers: int = 2,
    ) -> None:
        store = gpu.folder / "store"
        publish(make_model(gpu.folder / "m", kind, hidden=hidden, layers=layers), "tiny", Store(store))
        settings = Settings(
            model_store=store,
            device="cuda",
            dtype=dtype,
            threads=1,
            runtime_dir=gpu.folder,
        )
        self.gpu = gpu
        self.woken = 0
        self.log = _Messages()
        self.compute = DeviceExecutor()
        self.factory = ModelFactory(settings, self.compute, self._wake)
        self.profiler = ModelProfiler(settings, self.factory.device, self.compute)
        self.model = self.factory.make(Catalog(store).resolve("tiny"))
        self.profiler.warm(self.model)

    def launch(self, *lengths: int) -> BatchHandle:
        """Start a batch of these lengths."""
        return self.model.runner.launch(sequences(*lengths))

    def answers(self, handles: Sequence[BatchHandle]) -> list[Any]:
        """Outcomes of batches: rows, or an error's code; `broken` for each that the device's loss took."""
        return [each for handle in handles for each in _outcomes(handle)]

    def _wake(self) -> None:
        self.woken += 1


def _outcomes(handle: BatchHandle) -> list[Any]:
    try:
        outcomes = handle._outcomes.result(LIMIT_SECONDS)
    except TimeoutError:
        return ["never ended"]
    except Exception:
        return ["broken"]
    return [each if isinstance(each, np.ndarray) else each.code for each in outcomes]


class _Messages(logging.Handler):
    """What the engine logs, by its words."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        logging.getLogger("service").addHandler(self)
        logging.getLogger("service").setLevel("INFO")

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())

"""From a verified folder to a model that runs, on the device and in the precision that this engine has.

Owns what all models of one engine share: device, precision, compute threads. The first import of torch happens here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from model_store.contents.scan import license_of
from model_store.families.registry import FAMILIES, family_name
from model_store.local.store import Revision
from service.core.arrays import ids_in
from service.engine.execution.encoder_wrappers import DividedEncoder, Encoder, PipelinedEncoder, ThrottledEncoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.loaded_model import LoadedModel
from service.environment import throttled_tokens_per_second
from service.families.processor import Processor
from service.families.registry import open_processor
from service.settings import Settings
from service.wire import ModelStatus

if TYPE_CHECKING:
    import torch

    from service.engine.encoder.encoder import TransformersEncoder
    from service.engine.encoder.forward_path import ChosenPath
    from service.engine.execution.offloading import Offloadable
    from service.families.engine.checkpoint import Checkpoint

GPU_SHARE = 0.75
"""Share of a GPU's free memory that weights may take; the rest is for batches."""


class ModelFactory:
    """Makes the models of one engine.

    Args:
        compute: runs them all.
        wake: called on its thread after each batch.
    """

    def __init__(self, settings: Settings, compute: DeviceExecutor, wake: Callable[[], None]) -> None:
        from service.engine.device.selection import INT8, choose_device, choose_dtype, use_threads

        self._settings = settings
        self._compute = compute
        self._wake = wake
        self._queuing = Lock()
        self.device: torch.device = choose_device(settings.device)
        self._paths: dict[str, ChosenPath] = {}
        use_threads(settings.threads, on_gpu=self.device.type == "cuda")
        self._dtype = choose_dtype(settings.dtype, self.device)
        self._int8 = settings.dtype == INT8
        compute.takes_turns = self.device.type == "cpu"

    @property
    def dtype_name(self) -> str:
        from service.engine.device.selection import name_of

        return self._settings.dtype if self._int8 else name_of(self._dtype)

    def device_name(self) -> str:
        """What the device is called, with its memory."""
        from service.engine.device.selection import describe

        return describe(self.device)

    def weights_budget_bytes(self) -> int | None:
        """What weights may take of the device; None sets no limit."""
        import torch

        if self._settings.model_memory_bytes:
            return self._settings.model_memory_bytes
        if self.device.type != "cuda":
            return None
        free_bytes, _ = torch.cuda.mem_get_info(self.device)
        return int(free_bytes * GPU_SHARE)

    def read(self, revision: Revision) -> Checkpoint:
        """A revision's model, whole in host memory.

        Raises:
            ModelError: the folder is no whole model of its family.
        """
        from service.engine.encoder.encoder import read_checkpoint, reading_dtype

        return read_checkpoint(revision.folder, reading_dtype(self.device, self._dtype))

    def build(
        self, revision: Revision, checkpoint: Checkpoint, processor: Processor[Any], *, as_on_gpu: bool = False
    ) -> LoadedModel:
        """Move a checkpoint's model to the device, where there must be room for it, and make it run.

        Args:
            as_on_gpu: as for `build_encoder`.
        """
        from service.engine.encoder.encoder import build_encoder
        from service.engine.execution.runner import Runner
        from service.families.engine.page_input import example

        sizes = sizes_of(revision.folder, len(revision.manifest.labels))
        encoder = build_encoder(
            checkpoint,
            self.device,
            self._dtype,
            int8=self._int8,
            known=self._paths.get(sizes),
            as_on_gpu=as_on_gpu,
            longest_tokens=self._settings.window_tokens,
        )
        if encoder.path.packed:  # What padding does to a row may depend on the weights.
            self._paths[sizes] = encoder.path
        weights = self._offloadable(revision, encoder, divided=not as_on_gpu)
        blank, page = processor.blank(), checkpoint.page
        runner = Runner(
            self._throttled(weights),
            self._compute,
            self._wake,
            blank=lambda length: example(ids_in(blank(length)), page, length),
        )
        status = processor.described(_status(revision, encoder, checkpoint))
        return LoadedModel(status, sizes, runner, weights, processor.reducer())

    def make(self, revision: Revision, *, as_on_gpu: bool = False) -> LoadedModel:
        """Read and build a revision's model on a device that has room for it; `as_on_gpu` as for `build`."""
        processor = open_processor(revision.folder)
        return self.build(revision, self.read(revision), processor, as_on_gpu=as_on_gpu)

    def _throttled(self, encoder: Encoder) -> Encoder:
        tokens_per_second = throttled_tokens_per_second()
        return ThrottledEncoder(encoder, tokens_per_second) if tokens_per_second else encoder

    def _offloadable(self, revision: Revision, model: TransformersEncoder, *, divided: bool) -> Offloadable:
        """Let a model's weights leave the device; `divided`: its batches take turns on a CPU."""
        from service.engine.device.selection import DTYPES, INT8
        from service.engine.encoder.encoder import load_encoder
        from service.engine.execution.offloading import HostOffloaded, ReloadedFromDisk

        if self.device.type == "cuda":
            return HostOffloaded(PipelinedEncoder(model, self._queuing), model.module)
        path, dtype, int8 = model.path, DTYPES.get(model.dtype_name, self._dtype), model.dtype_name == INT8

        def in_turns(encoder: TransformersEncoder) -> Encoder:
            return DividedEncoder(encoder, self._compute.turns) if divided else encoder

        def reload() -> Encoder:
            return in_turns(load_encoder(revision.folder, self.device, dtype, int8=int8, known=path))

        return ReloadedFromDisk(in_turns(model), reload)


def sizes_of(folder: Path, labels: int) -> str:
    """A model's configuration, its trunk's included, without label names: equal for models that compute alike."""
    family = FAMILIES[family_name(folder)]
    files = [folder / name for name in (family.config, *family.more_configs)]
    configs = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    unlike = ("id2label", "label2id", "_name_or_path")
    kept = [{key: value for key, value in config.items() if key not in unlike} for config in configs]
    return json.dumps([kept, labels], sort_keys=True)


def _status(revision: Revision, encoder: TransformersEncoder, checkpoint: Checkpoint) -> ModelStatus:
    from service.families.engine.checkpoint import parameter_bytes

    return ModelStatus(
        name=revision.name,
        tag=revision.tag or "",
        revision=revision.revision,
        folder=str(revision.folder),
        labels=encoder.labels,
        label_tokens=checkpoint.label_tokens,
        license=license_of(revision.folder),
        max_tokens=encoder.max_tokens,
        packed=encoder.path.packed,
        parameter_bytes=parameter_bytes(encoder.module),
        path=encoder.path.path.value,
        reason=encoder.path.reason.value,
        attention=encoder.attention,
        kernels=encoder.kernels.value,
        dtype=encoder.dtype_name,
        dtype_reason=encoder.dtype_reason,
    )

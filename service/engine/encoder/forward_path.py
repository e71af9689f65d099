"""Forward path of a model: names the code that runs its batches, and the reason why no faster one does."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ForwardPath(StrEnum):
    """Code that runs a model's batches, the fastest first."""

    CONVERTED = "converted"
    """Padded groups through OpenVINO, on a CPU (converted_model.py)."""
    FUSED = "fused"
    """Packed rows through fused layers (fused_layer.py)."""
    PACKED = "packed"
    """Packed rows through transformers' code, with other attention."""
    PADDED = "padded"
    """Rows padded to groups of one length."""
    EQUAL = "equal"
    """Rows of equal length, without padding."""
    SINGLE = "single"
    """One row at a time."""


class Kernels(StrEnum):
    """The library that computes a model, as logs and /models name it."""

    OPENVINO = "openvino"
    TORCH = "torch"
    """torch, on a CPU."""
    CUDA = "cuda"
    """torch's own and cuBLAS's, on a GPU."""


class PathReason(StrEnum):
    """Reason why a model is not on a faster path; a label of a metric."""

    NONE = "none"
    """It is on the fastest path of its device."""
    ARCHITECTURE = "architecture"
    """Its code is of a kind that the faster path does not know."""
    ACCURACY = "accuracy"
    """The faster path computes other logits on this device than the model's own code."""
    FAILED = "failed"
    """The faster path raises an error on this device; the log has it."""
    MISSING = "missing"
    """The package that computes the faster path is not installed."""
    PADDING = "padding"
    """Its logits change with the padding of a row."""
    BATCH = "batch"
    """Its logits change with the other rows of a batch."""


class ChosenPath(NamedTuple):
    """A model's path, and the reason why it is no faster one."""

    path: ForwardPath
    reason: PathReason = PathReason.NONE

    @property
    def packed(self) -> bool:
        return self.path in (ForwardPath.FUSED, ForwardPath.PACKED)

    @property
    def fused(self) -> bool:
        return self.path is ForwardPath.FUSED


CONVERTED = ChosenPath(ForwardPath.CONVERTED)
FUSED = ChosenPath(ForwardPath.FUSED)

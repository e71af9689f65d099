"""Capacity plan of a device: arithmetic over the measured memory function that admits batches. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.core.errors import InsufficientMemory
from service.core.memory.budget import ModelMemory
from service.core.types import Shape

GIBIBYTE = 1 << 30
CONTEXT_BYTES = GIBIBYTE // 2
"""Bytes that CUDA itself takes of a GPU, roughly; used only for a GPU that is not at hand."""

THOUSAND = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMeasurements:
    """Measurements of a model on the device at hand.

    Attributes:
        available_bytes: bytes for batches, with the weights on the device.
        weights_share: largest share of a GPU's free memory for weights.
        gpu_batch_tokens: most tokens of a batch on a GPU, where memory would allow more.
    """

    model: str
    device: str
    dtype: str
    weights_bytes: int
    memory: ModelMemory
    available_bytes: int
    fraction: float
    weights_share: float
    gpu_batch_tokens: int
    tokens_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """The printed figures; bytes and tokens.

    Attributes:
        workspace_bytes: bytes of the smallest batch.
        activation_bytes_per_1000_tokens: bytes of a thousand tokens more.
        room_bytes: bytes for one batch.
        batch_tokens: largest batch that the engine would launch.
        memory_batch_tokens: largest batch that the room would hold, if latency did not limit it.
        models: number of models of this size that fit at once.
    """

    model: str
    device: str
    measured_on: str
    dtype: str
    weights_bytes: int
    workspace_bytes: int
    activation_bytes_per_1000_tokens: int
    fit_error_ratio: float
    room_bytes: int
    longest_sequence_tokens: int
    batch_tokens: int
    memory_batch_tokens: int
    models: int
    tokens_per_second: float


def plan(measured: ModelMeasurements, gpu_memory_gib: float | None = None) -> CapacityPlan:
    """Plan for the device at hand, or for a GPU of `gpu_memory_gib` on which batches take the same bytes.

    Raises:
        InsufficientMemory: not even one token fits.
    """
    memory = measured.memory
    if gpu_memory_gib is None:
        room, device = measured.available_bytes, measured.device
        free = int(room / measured.fraction) + measured.weights_bytes
    else:
        free = max(0, int(gpu_memory_gib * GIBIBYTE) - CONTEXT_BYTES)
        room = max(0, int((free - measured.weights_bytes) * measured.fraction))
        device = f"a GPU of {gpu_memory_gib:g} GiB"
        memory = replace(memory, most_tokens=measured.gpu_batch_tokens)
    function = memory.function
    longest = memory.longest_tokens
    least = measured.weights_bytes + int(function.bytes(Shape(1, 1, 1)) / measured.fraction)
    if room <= 0 or function.longest_alone(room, longest) < 1:
        context = 0 if gpu_memory_gib is None else CONTEXT_BYTES
        raise InsufficientMemory(
            f"{measured.model} does not fit {device}: weights, workspace and what the device itself takes are "
            f"{(least + context) / GIBIBYTE:.2f} GiB, without a token of a document"
        )
    thousands = [function.bytes(Shape(n * THOUSAND, longest, -(-n * THOUSAND // longest))) for n in (1, 2)]
    return CapacityPlan(
        model=measured.model,
        device=device,
        measured_on=measured.device,
        dtype=measured.dtype,
        weights_bytes=measured.weights_bytes,
        workspace_bytes=function.bytes(Shape(1, 1, 1)),
        activation_bytes_per_1000_tokens=thousands[1] - thousands[0],
        fit_error_ratio=function.error_ratio,
        room_bytes=room,
        longest_sequence_tokens=function.longest_alone(room, longest),
        batch_tokens=memory.budget_tokens(room),
        memory_batch_tokens=function.largest_tokens(room, longest, max(room, 1)),
        models=int(free * measured.weights_share) // max(measured.weights_bytes, 1),
        tokens_per_second=measured.tokens_per_second,
    )

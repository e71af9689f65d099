"""Converted model: a transformers model compiled by OpenVINO, which computes it on a CPU faster than torch.

The model is converted at each load, in memory: tracing and compiling take a second or two, and no stored conversion
has to be trusted. Its scores are compared with torch's, with and without neighbours and padding. A model that does not
convert, or whose scores differ, stays with torch; else torch's weights are freed.

OpenVINO reports to its makers that it was imported, and each use of its `convert_model`, by the package
`openvino_telemetry`. This module hides that package before OpenVINO's first import, so nothing is reported.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from service.core.arrays import TokenIds
from service.engine.device.selection import INT8, name_of
from service.engine.encoder.forward_path import PathReason
from service.engine.encoder.fused_check import LIMITS
from service.engine.encoder.model_state import state_kept
from service.engine.encoder.packing_check import LENGTHS, example_sequences
from service.engine.encoder.padded_rows import padded_inputs, read_segments
from service.engine.execution.encoder_wrappers import LENGTH_STEP
from service.families.engine.checkpoint import Checkpoint

if TYPE_CHECKING:
    from openvino import CompiledModel, Core, Model

TRACED_TOKENS = 24
"""Least tokens of the rows that a model is traced with; more for sliding windows, which a shorter trace would lose."""
TOLERANCE = 1e-3
"""Most error of a score in float32, as a share of the largest one."""
PRECISIONS = {torch.float32: "f32", torch.bfloat16: "bf16"}
INT8_LIMIT = 0.1
"""Most mean error of the logits in 8-bit integers, as a share of their mean size."""
INT8_GROUP = 128
"""Features of a row that share a scale when OpenVINO turns them into 8-bit integers, before each product."""
SMALLEST_OUTPUT = 64
"""Least output features of a product that is computed in 8-bit integers: a classification head stays as it is."""
LARGEST = 127
"""Largest 8-bit integer of a weight."""
TINY = 1e-12
"""Least scale, for a channel of zeros."""

Inputs = Callable[..., dict[str, torch.Tensor]]
"""`padded_inputs` with those arguments that are the same for all groups of a model."""

log = logging.getLogger(__name__)

sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]


class NotConverted(Exception):
    """A model cannot be converted and stays with torch; `reason` says why."""

    def __init__(self, reason: PathReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class ConvertedModel:
    """Computes padded groups of sequences.

    Args:
        inputs: makes a group's inputs, padded to a multiple of `step` tokens.

    Attributes:
        dtype_name: precision that it computes in.
    """

    def __init__(self, compiled: CompiledModel, dtype_name: str, inputs: Inputs) -> None:
        self._compiled, self.dtype_name, self._inputs = compiled, dtype_name, inputs

    def __call__(self, sequences: Sequence[TokenIds]) -> torch.Tensor:
        """Compute a group: logits [tokens, labels] end to end, or a trunk's states [tokens, width].

        Memory for activations is kept for the next group: `release_memory` breaks some models (ModernBERT, 2026.4.1).
        """
        rows = {name: each.numpy() for name, each in self._inputs(sequences, step=LENGTH_STEP).items()}
        scores = self._compiled.create_infer_request().infer(rows, share_inputs=True)[0]
        if len(scores) != len(sequences):  # On one thread it raises nothing.
            raise MemoryError("OpenVINO found no memory for the scores")
        return torch.from_numpy(np.concatenate([scores[row, : len(each)] for row, each in enumerate(sequences)]))


def convert(
    checkpoint: Checkpoint, dtype: torch.dtype, longest: int, *, int8: bool = False, known: bool = False
) -> tuple[ConvertedModel, str]:
    """Convert a checkpoint's model and free its weights; returns it, and why it is in float32 or an empty string.

    Args:
        checkpoint: its model is in float32.
        dtype: float32 or bfloat16.
        longest: tokens of the longest sequence to try.
        int8: let products compute in 8-bit integers, and only the rest in `dtype`.
        known: the same model was converted before, and its scores were right in this precision.

    Raises:
        NotConverted: it stays with torch, as it was.
    """
    if find_spec("openvino") is None:
        raise NotConverted(PathReason.MISSING, "the package openvino is not installed")
    model, padding_id, segments = checkpoint.model, checkpoint.model.config.pad_token_id or 0, read_segments(checkpoint)
    inputs = partial(padded_inputs, padding_id=padding_id, segments=segments, page=checkpoint.page)
    for traced_tokens in (min(max(TRACED_TOKENS, _widest_window(model) + LENGTH_STEP), longest), longest):
        try:
            with state_kept(model):
                graph = _traced(checkpoint, inputs, traced_tokens)
            if known:
                converted = _compiled(graph, inputs, dtype, int8=int8), ""
            else:
                converted = _proven(checkpoint, graph, inputs, dtype, longest, int8=int8)
        except NotConverted as error:
            failure = error
        except Exception as error:  # Tracing runs the model's own code, which may raise whatever it likes.
            failure = NotConverted(PathReason.FAILED, _last_line(error))
        else:
            model.to("meta")
            return converted
    raise failure


def _proven(
    checkpoint: Checkpoint, graph: Model, inputs: Inputs, dtype: torch.dtype, longest: int, *, int8: bool
) -> tuple[ConvertedModel, str]:
    """Compile a graph and check its scores: in float32, which hides no fault of conversion, then as it is served."""
    short, medium = (min(length, longest) for length in LENGTHS)
    batches = [example_sequences(checkpoint, lengths) for lengths in ([longest, short], [medium])]
    own = torch.cat([_own_scores(checkpoint.model, inputs([tokens])) for batch in batches for tokens in batch])

    def errors(model: ConvertedModel) -> torch.Tensor:
        return (torch.cat([model(batch) for batch in batches]) - own).abs()

    exact = _compiled(graph, inputs, torch.float32)
    error = float(errors(exact).max()) / max(1.0, float(own.abs().max()))
    if not error <= TOLERANCE:  # NaN as well.
        raise NotConverted(PathReason.ACCURACY, f"its scores differ by {error:.1e} of the largest")
    if dtype is torch.float32 and not int8:
        return exact, ""
    name, limit = (INT8, INT8_LIMIT) if int8 else (name_of(dtype), LIMITS[dtype])
    try:
        fast = _compiled(graph, inputs, dtype, int8=int8)
        if float(errors(fast).mean()) <= limit * float(own.abs().mean()):
            return fast, ""
        cause = f"in {name} its scores differ too much"
    except RuntimeError as problem:  # OpenVINO has no such products for this processor.
        cause = f"its code fails in {name}: {_last_line(problem)}"
    log.warning("a model runs in float32", extra={"folder": checkpoint.name, "reason": cause})
    return exact, cause


def _quantize(graph: Model) -> None:
    """Give the products of a graph weights in 8-bit integers with one scale for each output channel."""
    from openvino import opset13

    for product in graph.get_ordered_ops():
        if product.get_type_name() != "MatMul" or product.input_value(1).get_node().get_type_name() != "Constant":
            continue
        weight = product.input_value(1).get_node().data
        inputs = 1 if product.get_attributes()["transpose_b"] else 0
        if weight.ndim != 2 or weight.shape[1 - inputs] < SMALLEST_OUTPUT:
            continue
        scales = np.maximum(np.abs(weight).max(axis=inputs, keepdims=True), TINY) / LARGEST
        integers = opset13.constant(np.round(weight / scales).astype(np.int8))
        floats = opset13.multiply(opset13.convert(integers, "f32"), opset13.constant(scales.astype(np.float32)))
        product.input(1).replace_source_output(floats.output(0))


def _traced(checkpoint: Checkpoint, inputs: Inputs, tokens: int) -> Model:
    """Trace a model with two rows, one of them padded; the graph takes any number of rows of any length.

    If the code turns a length into a constant, as DeBERTa's does with distances up to a limit, the scores show it.
    """
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    example = inputs(example_sequences(checkpoint, [tokens, max(tokens // 2, 1)]))
    with torch.inference_mode(), warnings.catch_warnings(action="ignore"):
        traced = _ForwardPass(checkpoint.model)
        decoder = TorchScriptPythonDecoder(traced, example_input=example, trace_kwargs={"check_trace": False})
        frontend = FrontEndManager().load_by_framework("pytorch")
        graph = frontend.convert(frontend.load(decoder))
    if any(each.get_type_name() == "NonZero" for each in graph.get_ops()):
        raise NotConverted(PathReason.ARCHITECTURE, "what it computes depends on its tokens, as with experts")
    _unmask_hidden(graph)
    return graph


def _unmask_hidden(graph: Model) -> None:
    """Let a token see all tokens if its mask hides all, as it does for padding beyond a sliding window.

    torch's attention returns 0 for such a token; OpenVINO's returns NaN, which spreads to other tokens.
    """
    from openvino import Type, opset13

    made: dict[Any, Any] = {}
    for each in graph.get_ordered_ops():
        if each.get_type_name() != "ScaledDotProductAttention" or len(each.inputs()) < 4:
            continue
        mask = each.input_value(3)
        if mask.get_element_type() != Type.boolean:
            continue
        key = mask.get_node().get_friendly_name(), mask.get_index()
        if key not in made:
            seen = opset13.reduce_logical_or(mask, np.array([-1]), keep_dims=True)
            made[key] = opset13.logical_or(mask, opset13.logical_not(seen))
        each.input(3).replace_source_output(made[key].output(0))


class _ForwardPass(nn.Module):
    """A model's forward pass that leaves out absent inputs and returns the first output alone."""

    def __init__(self, model: PreTrainedModel) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        token_type_ids: torch.Tensor | None = None,
        bbox: torch.Tensor | None = None,
        pixel_values: torch.Tensor | None = None,
    ) -> torch.Tensor:
        given = {"token_type_ids": token_type_ids, "bbox": bbox, "pixel_values": pixel_values}
        more = {name: each for name, each in given.items() if each is not None}
        scores: torch.Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask, **more)[0]
        return scores


def _widest_window(model: PreTrainedModel) -> int:
    """Compute the most tokens, on both sides together, that a sliding window shows to a token; 0 without windows."""
    windows = (getattr(part, "sliding_window", None) for part in model.modules())
    return 2 * max((each for each in windows if isinstance(each, int)), default=0)


def _compiled(graph: Model, inputs: Inputs, dtype: torch.dtype, *, int8: bool = False) -> ConvertedModel:
    """Compile a graph for one computation at a time, by all of this process's compute threads.

    Threads are not pinned: two engines on a host, or two models of one, would share the same cores.
    """
    options: dict[str, Any] = {
        "INFERENCE_PRECISION_HINT": PRECISIONS[dtype],
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "ENABLE_HYPER_THREADING": True,
        "ENABLE_CPU_PINNING": False,
    }
    if int8:
        _quantize(graph)
        options["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = INT8_GROUP
    return ConvertedModel(_new_core().compile_model(graph, "CPU", options), INT8 if int8 else name_of(dtype), inputs)


def _new_core() -> Core:
    """Make OpenVINO's core, and its CPU plugin, in a thread that ends at once.

    The plugin gives the thread that makes it a stack for signals (AMX needs a large one), and frees that stack with the
    last model. If the thread still ran, its next signal would end the process.
    """
    from openvino import Core

    def load() -> Core:
        core = Core()
        core.get_versions("CPU")  # Makes the plugin.
        return core

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(load).result()


@torch.inference_mode()
def _own_scores(model: PreTrainedModel, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    with state_kept(model):
        scores: torch.Tensor = model(**inputs).logits[0].float()
    return scores


def _last_line(error: Exception) -> str:
    """Shorten an error to the last line of its text: OpenVINO's first ones name its source files."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"

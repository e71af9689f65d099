"""The table of attention back-ends: which one runs a call, what it is given, and what transformers gets."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AttentionInterface, AutoModelForTokenClassification

from service.engine.encoder import attention
from service.engine.encoder.attention import AttentionCall, PackedAttention
from tests.support.tiny_models import SLIDING_WINDOW, make_model

HEADS, HEAD_SIZE = 4, 8


class Recorder:
    """A back-end that keeps its calls, and supports those of a sequence no longer than `longest`."""

    name = "recorder"
    fills = False

    def __init__(self, longest: int) -> None:
        self.longest = longest
        self.calls: list[AttentionCall] = []

    def supports(self, call: AttentionCall) -> bool:
        return call.max_length <= self.longest

    def run(self, call: AttentionCall) -> torch.Tensor:
        self.calls.append(call)
        return torch.zeros_like(call.query).contiguous()


def _run(backends: list[Recorder], lengths: list[int], **options: object) -> tuple[torch.Tensor, None]:
    row = torch.randn(1, HEADS, sum(lengths), HEAD_SIZE)
    borders = tuple(sum(lengths[:index]) for index in range(len(lengths) + 1))
    return PackedAttention(backends)(
        torch.nn.Identity(),
        row,
        row,
        row,
        None,
        cu_seqlens=torch.tensor(borders, dtype=torch.int32),
        borders=borders,
        max_length=max(lengths),
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("longest", "chosen"), [(3, 0), (8, 1), (9, 2)])
def test_the_first_backend_that_supports_a_call_runs_it(longest: int, chosen: int) -> None:
    backends = [Recorder(limit) for limit in (4, 8, 1_000)]
    _run(backends, [1, longest])
    assert [len(each.calls) for each in backends] == [int(index == chosen) for index in range(3)]


def test_a_backend_gets_tokens_first_and_the_default_scaling() -> None:
    backend = Recorder(10)
    _run([backend], [2, 4])
    (call,) = backend.calls
    assert call.query.shape == (6, HEADS, HEAD_SIZE)
    assert (call.borders, call.max_length, call.scaling) == ((0, 2, 6), 4, HEAD_SIZE**-0.5)


@pytest.mark.parametrize(("sliding_window", "window"), [(None, None), (3, 3), (4, None), (5, None)])
def test_a_window_that_hides_no_token_is_none(sliding_window: int | None, window: int | None) -> None:
    backend = Recorder(10)
    _run([backend], [2, 4], sliding_window=sliding_window)
    assert (backend.calls[0].sliding_window, backend.calls[0].window) == (sliding_window, window)


def test_the_result_is_laid_out_as_transformers_expects() -> None:
    mixed, weights = _run([Recorder(10)], [2, 4])
    assert weights is None
    assert mixed.shape == (1, 6, HEADS, HEAD_SIZE)
    assert mixed.is_contiguous()


def test_a_model_calls_the_table_registered_under_its_name(tmp_path_factory: pytest.TempPathFactory) -> None:
    model = AutoModelForTokenClassification.from_pretrained(make_model(tmp_path_factory.mktemp("m"))).eval()
    backend = Recorder(10)
    AttentionInterface.register("recorded", PackedAttention([backend]))
    attention.set_attention(model, "recorded")
    lengths = {"cu_seqlens": torch.tensor([0, 2, 6], dtype=torch.int32), "borders": (0, 2, 6), "max_length": 4}
    model(input_ids=torch.arange(6)[None], position_ids=torch.arange(6)[None], **lengths)
    assert len(backend.calls) == model.config.num_hidden_layers


class Windows(Recorder):
    """A back-end that supports only calls whose window hides something."""

    name = "windows"

    def supports(self, call: AttentionCall) -> bool:
        return call.window is not None


@pytest.mark.parametrize(
    ("kind", "max_tokens", "names"),
    [
        ("bert", 100, "recorder"),
        ("modernbert", SLIDING_WINDOW, "recorder+windows"),
        ("modernbert", SLIDING_WINDOW // 2, "recorder"),
    ],
)
def test_what_computes_a_model_s_attention_is_named_layer_by_layer(
    kind: str, max_tokens: int, names: str, tmp_path: Path
) -> None:
    """Two kinds of layer have two back-ends, unless no sequence is as long as the window."""
    model = AutoModelForTokenClassification.from_pretrained(make_model(tmp_path / "m", kind)).eval()
    assert attention.names_of(model, torch.float32, max_tokens) == "own"
    AttentionInterface.register("recorded", PackedAttention([Windows(0), Recorder(1_000)]))
    attention.set_attention(model, "recorded")
    assert attention.names_of(model, torch.float32, max_tokens) == names

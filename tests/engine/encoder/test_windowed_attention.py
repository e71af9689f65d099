"""Sliding windows by blocks, against one sequence after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from service.engine.encoder.attention import AttentionCall
from service.engine.encoder.attention_backends import BlockwiseAttention
from service.engine.encoder.windowed_attention import WindowedAttention

HEADS, HEAD_SIZE = 4, 8
BORDERS = [(0, 40), (0, 1, 3, 70), (0, 64, 128, 129, 400)]


def _call(borders: tuple[int, ...], window: int, dtype: torch.dtype = torch.float32) -> AttentionCall:
    draw = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, borders[-1], HEADS, HEAD_SIZE, generator=draw).to(dtype)
    longest = max(stop - start for start, stop in pairwise(borders))
    return AttentionCall(query, key, value, torch.tensor(borders, dtype=torch.int32), borders, longest, 0.3, window)


def _by_sequence(call: AttentionCall) -> torch.Tensor:
    filled = tuple(sorted(set(call.borders)))
    exact = call._replace(query=call.query.float(), key=call.key.float(), value=call.value.float(), borders=filled)
    return BlockwiseAttention().run(exact)


@pytest.mark.parametrize("borders", BORDERS)
@pytest.mark.parametrize("window", [1, 2, 9, 65, 128])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.02)])
def test_a_token_sees_what_its_window_shows(
    borders: tuple[int, ...], window: int, dtype: torch.dtype, tolerance: float
) -> None:
    call = _call(borders, window, dtype)
    if call.window is None:
        call = call._replace(max_length=window + 1)
    mixed = WindowedAttention().run(call)
    assert mixed.is_contiguous()
    torch.testing.assert_close(mixed.float(), _by_sequence(call), atol=tolerance, rtol=0)


def test_heads_of_keys_serve_neighbouring_heads_of_queries() -> None:
    call = _call((0, 40, 150), 9)
    few = call._replace(key=call.key[:, ::2], value=call.value[:, ::2])
    assert torch.equal(WindowedAttention().run(few), WindowedAttention().run(few.with_all_heads()))


def test_not_even_nan_reaches_a_neighbour() -> None:
    call, borders = _call((0, 21, 40, 60), 9), (0, 21, 40, 60)
    expected = WindowedAttention().run(call)
    for each in (call.query, call.key, call.value):
        each[21:40] = torch.nan
    found = WindowedAttention().run(call)
    assert torch.equal(found[:21], expected[:21])
    assert torch.equal(found[40:], expected[40:])
    assert found[21:40].isnan().all()
    assert borders == call.borders


class _Count(TorchDispatchMode):
    """Counts the operators that compute something."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.launched = 0

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = operator(*args, **(kwargs or {}))
        self.launched += not operator.is_view
        return result


def test_a_layer_launches_no_more_kernels_for_many_sequences() -> None:
    launched = []
    for borders in ((0, 100), tuple(range(0, 2_100, 21))):
        attention, call = WindowedAttention(), _call(borders, 9)
        attention.run(call)
        with _Count() as count:
            attention.run(call)
        launched.append(count.launched)
    assert launched[0] == launched[1] <= 12  # Attention itself is several operators on a CPU.

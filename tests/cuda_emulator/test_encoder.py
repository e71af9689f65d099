"""Which models run packed on which device, in which precision and by which kernels, and what the status says of it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from service.core.scheduling.batch_size_sweep import LONGEST_SECONDS
from tests.cuda_emulator.devices import A10G, H200, L4, T4, Device
from tests.cuda_emulator.emulated_run import EmulatedRunFailed, Gpu, emulate
from tests.cuda_emulator.engine_parts import SmallEngine, sequences
from tests.support.tiny_models import KINDS, PACKABLE, make_model

LENGTHS = (2, 17, 40, 120)
CASES = (
    (T4, "auto"),
    (T4, "float32"),
    (A10G, "auto"),
    (A10G, "float16"),
    (A10G, "float32"),
    (L4, "auto"),
    (H200, "auto"),
)
RAN_AS = {"auto": {75: "float16", 86: "bfloat16", 89: "bfloat16", 90: "bfloat16"}}
ATTENTION = {
    ("float16", 75): "fmha_cutlassF_f16_aligned_64x64_rf_sm75",
    ("float32", 75): "fmha_cutlassF_f32_aligned_64x64_rf_sm75",
    ("bfloat16", 86): "flash_fwd",
    ("float16", 86): "flash_fwd",
    ("float32", 86): "fmha_cutlassF_f32_aligned_64x64_rf_sm80",
    ("bfloat16", 89): "flash_fwd",
    ("bfloat16", 90): "flash_fwd",
}
"""Part of the name of the kernel in which all attention of a packed BERT is computed."""
Facts = dict[str, Any]


def _name(each: Device | str) -> str:
    return each if isinstance(each, str) else each.name


def _load(gpu: Gpu, kind: str, precision: str = "auto", layers: int = 2) -> Any:
    from service.engine.device.selection import choose_device, choose_dtype
    from service.engine.encoder.encoder import load_encoder

    device = choose_device("cuda")
    folder = make_model(gpu.folder / f"{kind}-{layers}", kind, hidden=64, layers=layers)
    return load_encoder(folder, device, choose_dtype(precision, device))


def _all_kinds(gpu: Gpu, precision: str) -> dict[str, Facts]:
    return {kind: _facts(gpu, kind, precision) for kind in KINDS}


def _facts(gpu: Gpu, kind: str, precision: str) -> Facts:
    encoder = _load(gpu, kind, precision)
    encoder.forward(sequences(*LENGTHS))
    with gpu.kernels() as kernels:
        rows = encoder.forward(sequences(*LENGTHS))
    return {
        "packed": encoder.path.packed,
        "dtype": encoder.dtype_name,
        "rows": [row.shape[0] for row in rows],
        "kernels": kernels,
        "refused": gpu.report()["refused"],
    }


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The facts of all kinds on a device in a precision."""
    return cache(lambda device, precision: emulate(_all_kinds, device, tmp_path_factory.mktemp("kinds"), precision))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("device", "precision"), CASES, ids=_name)
def test_a_model_runs_packed_where_its_kind_can(kinds: Any, device: Device, precision: str, kind: str) -> None:
    facts = kinds(device, precision)[kind]
    assert facts["dtype"] == RAN_AS.get(precision, {}).get(device.sm, precision)
    assert facts["rows"] == list(LENGTHS)
    assert facts["packed"] == (kind in PACKABLE)


@pytest.mark.parametrize(("device", "precision"), CASES, ids=_name)
def test_packed_attention_is_one_kernel_a_layer(kinds: Any, device: Device, precision: str) -> None:
    facts = kinds(device, precision)["bert"]
    wanted = ATTENTION[facts["dtype"], device.sm]
    assert _named(facts["kernels"], wanted) == 2, sorted(facts["kernels"])
    assert _named(facts["kernels"], "softmax") == 0


@pytest.mark.parametrize(("device", "precision"), [(T4, "auto"), (A10G, "auto")], ids=_name)
def test_nothing_is_filled_for_attention(kinds: Any, device: Device, precision: str) -> None:
    """`varlen_attn` zeroes a state of random numbers, which nothing uses, in each layer."""
    assert _named(kinds(device, precision)["bert"]["kernels"], "FillFunctorIm") == 0


def test_nothing_needs_cudnn_on_hopper(kinds: Any) -> None:
    refused = kinds(H200, "auto")["bert"]["refused"]
    assert not [name for name in refused if name.startswith("cudnn")]


EQUAL, MIXED = (175, 175), (20, 500)
"""Shortest and longest sequence of a batch."""


def _launches_a_layer(gpu: Gpu, kind: str) -> list[list[float]]:
    """Kernels of a layer, for batches of 10 and 40 sequences of equal and of mixed lengths."""
    batches = [
        [sequences(*(shortest + (longest - shortest) * i // count for i in range(count))) for count in (10, 40)]
        for shortest, longest in (EQUAL, MIXED)
    ]

    def totals(layers: int) -> list[int]:
        encoder, found = _load(gpu, kind, layers=layers), []
        for batch in (each for pair in batches for each in pair):
            encoder.forward(batch)
            with gpu.kernels() as kernels:
                encoder.forward(batch)
            found.append(kernels.total())
        return found

    each = [(more - less) / 2 for less, more in zip(totals(2), totals(4), strict=True)]
    return [each[:2], each[2:]]


@pytest.mark.parametrize(
    ("device", "kind", "equal", "mixed"),
    [(A10G, "bert", 7, 7), (A10G, "modernbert", 27, 27), (T4, "modernbert", 29, 29), (A10G, "deberta-v2", 26, 117)],
    ids=str,
)
def test_more_sequences_take_hardly_more_kernels(
    device: Device, kind: str, equal: int, mixed: int, tmp_path: Path
) -> None:
    """Disentangled attention is computed in blocks of about equal lengths, so mixed ones take more kernels."""
    of_equal, of_mixed = emulate(_launches_a_layer, device, tmp_path, kind)
    assert max(of_equal) <= equal
    assert max(of_mixed) <= mixed
    assert of_equal[1] <= 1.5 * of_equal[0]
    assert of_mixed[1] <= 1.5 * of_mixed[0]


def test_bfloat16_is_refused_where_the_device_only_emulates_it(tmp_path: Path) -> None:
    with pytest.raises(EmulatedRunFailed, match="ModelError"):
        emulate(_facts, T4, tmp_path, "bert", "bfloat16")


def _named(kernels: Counter[str], part: str) -> int:
    return sum(count for name, count in kernels.items() if part in name)


LONG = 120
"""Tokens, more than ModernBERT's window has."""
KERNELS = {"flash": "flash_fwd", "memory_efficient": "fmha_cutlassF"}
"""Label → part of the name of a kernel that is launched if it is said, and only then."""
Labels = tuple[str, ...]


def _said_and_launched(gpu: Gpu, kind: str, dtype: str) -> tuple[Labels, set[str]]:
    """The labels of the metric, and which of `KERNELS` a batch launches."""
    engine = SmallEngine(gpu, kind, dtype=dtype, hidden=256)
    status = engine.model.status
    with gpu.kernels() as launched:
        engine.answers([engine.launch(LONG, 7)])
    seen = {label for label, part in KERNELS.items() if any(part in name for name in launched)}
    return (status.path, status.attention, status.kernels, status.dtype, status.reason), seen


@pytest.mark.parametrize(
    ("device", "kind", "dtype", "said"),
    [
        (A10G, "bert", "auto", ("fused", "flash", "cuda", "bfloat16", "none")),
        (A10G, "bert", "float32", ("fused", "memory_efficient", "cuda", "float32", "none")),
        (T4, "bert", "auto", ("fused", "memory_efficient", "cuda", "float16", "none")),
        (H200, "modernbert", "auto", ("packed", "flash", "cuda", "bfloat16", "architecture")),
        (T4, "modernbert", "auto", ("packed", "memory_efficient+windowed", "cuda", "float16", "architecture")),
        (T4, "deberta-v2", "auto", ("packed", "disentangled", "cuda", "float16", "architecture")),
        (A10G, "eurobert", "auto", ("packed", "flash", "cuda", "bfloat16", "architecture")),
        (T4, "mpnet", "auto", ("padded", "own", "cuda", "float16", "architecture")),
    ],
)
def test_what_is_said_to_run_is_what_is_launched(
    device: Device, kind: str, dtype: str, said: Labels, tmp_path: Path
) -> None:
    found, launched = emulate(_said_and_launched, device, tmp_path, kind, dtype)
    assert found == said
    assert launched == {label for label in KERNELS if label in {*said, *said[1].split("+")}}


WIDE, DEEP = 1_024, 6


def _started(gpu: Gpu) -> tuple[int, float, int, list[str]]:
    engine = SmallEngine(gpu, hidden=WIDE, layers=DEEP)
    timed = engine.profiler.time(engine.model)
    assert timed is not None
    assert engine.profiler.time(engine.model) == timed
    return timed.tokens, timed.seconds, engine.profiler.measure(engine.model).most_tokens, engine.log.messages


@pytest.mark.parametrize("device", [T4, A10G], ids=lambda each: each.name)
def test_a_budget_is_chosen_by_times(device: Device, tmp_path: Path) -> None:
    tokens, seconds, budget, messages = emulate(_started, device, tmp_path)
    assert tokens == budget
    assert 2_048 <= budget < 65_536
    assert seconds <= LONGEST_SECONDS
    assert messages.count("batches timed") == 1

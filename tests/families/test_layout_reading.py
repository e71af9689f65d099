"""Models that see pages, in the engine: scores as transformers computes them, whatever boxes stand beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import AutoModelForTokenClassification

from model_store.families.layout import PREPROCESSOR, PROCESSOR
from service.core.arrays import TokenIds, ids_in
from service.core.errors import InternalError, ModelError
from service.core.sequences import picture_of, with_picture
from service.engine.encoder.encoder import TransformersEncoder, build_encoder, load_encoder
from service.engine.encoder.forward_path import CONVERTED, FUSED, ChosenPath, ForwardPath
from service.engine.encoder.fused_check import fuse_on_device, is_exact_in_float32
from service.engine.encoder.packed_batch import pack
from service.engine.encoder.path_selection import path_on_host
from service.families.engine.page_input import PageInput, PictureInput, example
from service.families.layout.engine.reading import read
from tests.support.tiny_models import BOXED, MAX_TOKENS, make_model

CPU = torch.device("cpu")
PACKED = ChosenPath(ForwardPath.PACKED)
LENGTHS = (30, 7, 120, MAX_TOKENS, 1, 31)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: make_model(tmp_path_factory.mktemp("layout") / kind, kind, layers=1) for kind in BOXED}


@pytest.fixture(scope="module")
def encoders(folders: dict[str, Path]) -> dict[str, TransformersEncoder]:
    return {kind: build_encoder(read(folder, torch.float32), CPU, torch.float32) for kind, folder in folders.items()}


def _pages(page: PageInput | None, lengths: tuple[int, ...] = LENGTHS, seed: int = 0) -> list[TokenIds]:
    """Sequences of random tokens, a few of them padding, with random boxes."""
    random = np.random.default_rng(seed)
    every = [random.integers(0, 100, length).astype(np.int32) for length in lengths]
    return [example(tokens, page, seed + at) for at, tokens in enumerate(every)]


def _untouched(folder: Path, page: PageInput | None, sequences: list[TokenIds]) -> list[np.ndarray]:
    """What transformers computes for each page alone."""
    assert page is not None
    model = AutoModelForTokenClassification.from_pretrained(folder)
    found = []
    for each in sequences:
        inputs = {"input_ids": ids_in(each).astype(np.int64), "bbox": page.boxes(each)}
        if (picture := picture_of(each)) is not None:
            inputs["pixel_values"] = ((picture / 255 - 0.5) / 0.5).astype(np.float32)
        with torch.no_grad():
            found.append(model(**{name: torch.from_numpy(array)[None] for name, array in inputs.items()}).logits[0])
    return [np.asarray(each) for each in found]


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("kind", BOXED)
def test_scores_of_pages_are_those_of_transformers(
    kind: str, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    encoder = encoders[kind]
    pages = _pages(encoder.page)
    wanted = _untouched(folders[kind], encoder.page, pages)
    together, alone = encoder.forward(pages), [encoder.forward([page])[0] for page in pages]
    for found in (together, alone):
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-5, rtol=0)


@pytest.mark.parametrize("int8", [False, pytest.param(True, marks=pytest.mark.needs("int8"))])
@pytest.mark.parametrize("kind", BOXED)
def test_scores_stay_near_in_less_precision(
    kind: str, int8: bool, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    checkpoint = read(folders[kind], torch.float32)
    half = build_encoder(checkpoint, CPU, torch.bfloat16, int8=int8, longest_tokens=90)
    pages = _pages(encoders[kind].page, (40, 90))
    assert half.dtype_name == ("int8" if int8 else "bfloat16")
    for ours, exact in zip(half.forward(pages), encoders[kind].forward(pages), strict=True):
        assert np.abs(softmax(ours) - softmax(exact)).mean() < 0.03


@pytest.mark.parametrize("kind", BOXED)
def test_a_cpu_converts_them_and_a_gpu_packs_rows_without_pictures(
    kind: str, folders: dict[str, Path], encoders: dict[str, TransformersEncoder]
) -> None:
    assert encoders[kind].path == CONVERTED
    path = path_on_host(read(folders[kind], torch.float32), MAX_TOKENS)
    assert path.packed == (kind != "layoutlmv3")
    if path.packed:
        pages = _pages(encoders[kind].page)
        packed = build_encoder(read(folders[kind], torch.float32), CPU, torch.float32, known=PACKED)
        assert packed.attention == "blockwise"
        for ours, theirs in zip(packed.forward(pages), encoders[kind].forward(pages), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=2e-5, rtol=0)


@pytest.mark.parametrize("kind", BOXED)
@settings(max_examples=15, deadline=None)
@given(seeds=st.lists(st.integers(1, 1_000), max_size=4), lengths=st.lists(st.integers(1, 60), min_size=4, max_size=4))
def test_boxes_of_a_neighbour_change_no_score(
    kind: str, encoders: dict[str, TransformersEncoder], seeds: list[int], lengths: list[int]
) -> None:
    encoder = encoders[kind]
    (page,) = _pages(encoder.page, (33,))
    beside = [_pages(encoder.page, (length,), seed)[0] for seed, length in zip(seeds, lengths, strict=False)]
    (alone,) = encoder.forward([page])
    *_, found = encoder.forward([*beside, page])
    np.testing.assert_allclose(found, alone, atol=2e-5, rtol=0)


@pytest.mark.parametrize("kind", BOXED)
def test_other_boxes_give_other_scores(kind: str, encoders: dict[str, TransformersEncoder]) -> None:
    encoder = encoders[kind]
    ids = np.arange(20, dtype=np.int32)
    one, other = encoder.forward([example(ids, encoder.page, seed) for seed in (0, 1)])
    assert np.abs(one - other).max() > 0.01


@pytest.mark.parametrize("kind", BOXED)
@pytest.mark.parametrize("damage", ["far", "negative", "reversed", "no number", "missing", "too many"])
def test_boxes_that_a_model_cannot_take_are_refused(
    kind: str, damage: str, encoders: dict[str, TransformersEncoder]
) -> None:
    encoder = encoders[kind]
    (page,) = _pages(encoder.page, (9,))
    in_shares = kind == "bros"
    match damage:
        case "far":
            page[4, 3] = np.float32(1e30).view(np.int32) if in_shares else 1_001
        case "negative":
            page[4, 1] = np.float32(-1e30).view(np.int32) if in_shares else -1
        case "reversed":
            page[4, 1:] = np.float32(np.inf).view(np.int32) if in_shares else (5, 5, 4, 6)
        case "no number":
            page[:, 1:] = np.float32(np.nan).view(np.int32) if in_shares else 1 << 30
        case "missing":
            page = ids_in(page).copy()
        case _:
            page = np.hstack([page, page])
    with pytest.raises(InternalError):
        encoder.forward([page])


def test_a_model_without_boxes_refuses_some(tmp_path: Path) -> None:
    encoder = load_encoder(make_model(tmp_path), CPU, torch.float32)
    with pytest.raises(InternalError):
        encoder.forward([np.ones((3, 5), dtype=np.int32)])


@pytest.mark.parametrize("kind", BOXED)
def test_limits_count_positions_from_where_the_text_s_begin(kind: str, folders: dict[str, Path]) -> None:
    checkpoint = read(folders[kind], torch.float32, hollow=True)
    assert (checkpoint.first_position, checkpoint.max_tokens) == (
        2 if kind in ("lilt", "layoutlmv3") else 0,
        MAX_TOKENS,
    )


def test_fused_layers_of_layoutlm_compute_the_same(folders: dict[str, Path]) -> None:
    checkpoint = read(folders["layoutlm"], torch.float32)
    assert path_on_host(checkpoint, MAX_TOKENS) == FUSED
    encoder = build_encoder(checkpoint, CPU, torch.float32, known=PACKED)
    pages = _pages(encoder.page)
    own = encoder.forward(pages)
    assert is_exact_in_float32(checkpoint)
    path, fused = fuse_on_device(checkpoint)
    assert path == FUSED
    assert fused is not None
    with torch.inference_mode():
        rows = fused(pack(pages, CPU, 0, encoder.page))
    np.testing.assert_allclose(rows, np.concatenate(own), atol=1e-4, rtol=0)


@pytest.mark.parametrize(("kind", "unseen"), [*((kind, "boxes") for kind in BOXED), ("layoutlmv3", "pictures")])
def test_a_model_that_does_not_see_its_page_is_refused(kind: str, unseen: str, tmp_path: Path) -> None:
    weights = load_file(make_model(tmp_path, kind) / "model.safetensors")
    of_boxes = ("x_position", "y_position", "h_position", "w_position", "bbox_projection", "rel_pos_x", "rel_pos_y")
    for name, weight in weights.items():
        if any(part in name for part in (of_boxes if unseen == "boxes" else ("patch_embed.proj.weight",))):
            weight.zero_()
    save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=f"does not see {unseen}"):
        build_encoder(read(tmp_path, torch.float32), CPU, torch.float32)


def test_each_page_is_scored_by_its_own_picture(encoders: dict[str, TransformersEncoder]) -> None:
    encoder = encoders["layoutlmv3"]
    one, other = _pages(encoder.page, (20, 20))
    swapped = with_picture(one.copy(), np.asarray(picture_of(other)))
    alone = [encoder.forward([each])[0] for each in (one, swapped)]
    assert np.abs(alone[0] - alone[1]).max() > 0.01
    for found, wanted in zip(encoder.forward([one, other, swapped])[::2], alone, strict=True):
        np.testing.assert_allclose(found, wanted, atol=2e-5, rtol=0)


@pytest.mark.parametrize("picture", [None, np.zeros((3, 30, 32), np.uint8), np.zeros((3, 32, 32), np.float32)])
def test_a_page_without_a_picture_of_the_model_s_size_is_refused(
    picture: Any, encoders: dict[str, TransformersEncoder]
) -> None:
    (page,) = _pages(encoders["layoutlmv3"].page, (9,))
    with pytest.raises(InternalError, match="picture of 32 pixels"):
        encoders["layoutlmv3"].forward([with_picture(page, picture)])


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, PictureInput(32)),
        ({"size": {"height": 32, "width": 32}, "rescale_factor": 0.5, "image_mean": 0.25}, (0.5, 0.25, 0.5)),
        ({"size": 32, "image_std": [1, 2, 3], "do_rescale": False}, PictureInput(32, 1, deviation=(1, 2, 3))),
        ({"do_normalize": False, "image_mean": "unread"}, (1 / 255, 0, 1)),
        ({"image_processor": {"size": 32, "image_mean": 0.1}}, (1 / 255, 0.1, 0.5)),
        ({"size": {"height": 64, "width": 32}}, "pictures of the size"),
        ({"size": 64}, "pictures of the size"),
        ({"size": "large"}, "pictures of the size"),
        ({"image_mean": [0.5, 0.5]}, "no number for each colour"),
        ({"image_std": "much"}, "no number for each colour"),
        ({"image_std": 0}, "deviations"),
        ({"rescale_factor": "half"}, "a factor 'half'"),
    ],
)
def test_pictures_become_numbers_as_the_folder_says(options: dict[str, Any], wanted: Any, tmp_path: Path) -> None:
    name = PROCESSOR if "image_processor" in options else PREPROCESSOR
    (make_model(tmp_path, "layoutlmv3") / name).write_text(json.dumps(options))
    if isinstance(wanted, str):
        with pytest.raises(ModelError, match=wanted):
            read(tmp_path, torch.float32, hollow=True)
        return
    if isinstance(wanted, tuple):
        factor, mean, deviation = wanted
        wanted = PictureInput(32, factor, (mean,) * 3, (deviation,) * 3)
    page = read(tmp_path, torch.float32, hollow=True).page
    assert page is not None
    assert page.picture == wanted


def test_a_model_that_sees_no_pictures_needs_none(tmp_path: Path) -> None:
    config = make_model(tmp_path, "layoutlmv3") / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"visual_embed": False}))
    weights = load_file(tmp_path / "model.safetensors")
    seeing = ("patch_embed", "cls_token", "pos_embed", "layoutlmv3.norm.", "layoutlmv3.LayerNorm.")
    kept = {name: weight for name, weight in weights.items() if not any(part in name for part in seeing)}
    save_file(kept, tmp_path / "model.safetensors", metadata={"format": "pt"})
    encoder = build_encoder(read(tmp_path, torch.float32), CPU, torch.float32, longest_tokens=64)
    pages = _pages(encoder.page, (30, 7))
    assert [picture_of(page) for page in pages] == [None, None]
    for ours, theirs in zip(encoder.forward(pages), _untouched(tmp_path, encoder.page, pages), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-5, rtol=0)


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("layoutlm", {"model_type": "layoutlmv2"}, "not served with boxes, 'layoutlmv2'"),
        ("layoutlm", {"model_type": "markuplm"}, "not served with boxes, 'markuplm'"),
        ("layoutlm", {"max_2d_position_embeddings": 512}, "embeddings for 512 coordinates"),
        ("bros", {"architectures": ["BrosSpadeEEForTokenClassification"]}, "scores relations"),
    ],
)
@pytest.mark.parametrize("hollow", [False, True])
def test_a_folder_that_sees_something_else_is_refused(
    kind: str, changes: dict[str, Any], said: str, hollow: bool, tmp_path: Path
) -> None:
    config = make_model(tmp_path, kind) / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | changes))
    with pytest.raises(ModelError, match=said):
        read(tmp_path, torch.float32, hollow=hollow)


@pytest.mark.parametrize("box", [[0, 0, 1_001, 0], [5, 0, 4, 0], [0, 0, 0], "none", [0, 0, 0, 0.5]])
def test_a_padding_box_that_is_none_is_refused(box: object, tmp_path: Path) -> None:
    options = make_model(tmp_path, "layoutlm") / "tokenizer_config.json"
    options.write_text(json.dumps(json.loads(options.read_text()) | {"pad_token_box": box}))
    with pytest.raises(ModelError, match="pad_token_box"):
        read(tmp_path, torch.float32)

"""The pretrained base: its file, the pieces that stay, their tokenizer, and the model that training begins with."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from model_store.builtin.training.pretrained_base import Base, read_base, starting_model
from model_store.builtin.training.tokenizer import SPECIAL_TOKENS, build_tokenizer, save_tokenizer
from model_store.builtin.training.vocabulary import kept_pieces, scored
from service.text.tokenizer import TextTokenizer

WIDTH, LAYERS, HEADS, INNER, POSITIONS, TYPES = 32, 2, 4, 64, 16, 2
WORDS = (
    *("▁", "▁invoice", "▁total", "▁Acme", "▁GmbH", "GmbH", "▁---", "---", "...", "▁20", "20", "26", "▁2026", "▁123456"),
    *("株式会社", "▁и", "мя", "ab1", "x)", *".,:;-=_/€()'@&", *"▁-,▁:,▁€,▁&,▁(".split(",")),
    *dict.fromkeys("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
)
PIECES = (*SPECIAL_TOKENS, *dict.fromkeys(WORDS))


def packed(values: np.ndarray) -> bytes:
    """A matrix in blocks of 32 weights of 4 bits, whose values are whole numbers from -8 to 7 times a half."""
    found = b""
    for block in values.reshape(-1, 32):
        nibbles = (block * 2 + 8).astype(np.uint8)
        found += np.float16(0.5).tobytes() + (nibbles[:16] | nibbles[16:] << 4).tobytes()
    return found


def tensors() -> dict[str, np.ndarray]:
    """Every tensor of a base, matrices with two dimensions."""
    random = np.random.default_rng(1)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return random.integers(-8, 8, (rows, columns)) / 2

    found = {"emb.word": matrix(len(PIECES), WIDTH), "emb.ln.w": np.ones(WIDTH), "emb.ln.b": np.zeros(WIDTH)}
    found |= {"emb.pos": random.normal(size=POSITIONS * WIDTH), "emb.type": random.normal(size=TYPES * WIDTH)}
    for layer in range(LAYERS):
        sizes = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "ao": (WIDTH, WIDTH)}
        for name, (rows, columns) in {**sizes, "fi": (INNER, WIDTH), "fo": (WIDTH, INNER)}.items():
            found[f"l{layer}.{name}.w"] = matrix(rows, columns)
            found[f"l{layer}.{name}.b"] = random.normal(size=rows)
        for name in ("aln", "oln"):
            found[f"l{layer}.{name}.w"], found[f"l{layer}.{name}.b"] = np.ones(WIDTH), np.zeros(WIDTH)
    return found


def file_of(arrays: dict[str, np.ndarray]) -> bytes:
    """A base's file in the format that the package has."""
    text = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, text)]).astype("<u4")
    scores = np.full(len(PIECES), -1.0, dtype="<f4")
    head = (
        b"E5S1" + struct.pack("<i", 1) + struct.pack("<7i", WIDTH, LAYERS, HEADS, INNER, len(PIECES), POSITIONS, TYPES)
    )
    head += struct.pack("<fi", 1e-12, 32) + struct.pack("<5i", len(PIECES), 0, 2, 1, 3)
    head += struct.pack("<Q", sum(map(len, text))) + ends.tobytes() + scores.tobytes() + b"".join(text)
    head += struct.pack("<iI", 0, 3) + b"map" + struct.pack("<i", len(arrays))
    bodies = {n: packed(a) if a.ndim == 2 else a.astype("<f4").tobytes() for n, a in arrays.items()}
    start = len(head) + sum(2 + len(name) + 21 for name in bodies)
    for name, body in bodies.items():
        kind = 1 if arrays[name].ndim == 2 else 0
        head += (
            struct.pack("<H", len(name))
            + name.encode()
            + struct.pack("<BIQQ", kind, arrays[name].size, start, len(body))
        )
        start += len(body)
    return head + b"".join(bodies.values())


@pytest.fixture(scope="module")
def base() -> Base:
    content = file_of(tensors())
    return read_base(content, sha256=hashlib.sha256(content).hexdigest())


def test_sizes_pieces_and_tensors_are_read_as_written(base: Base) -> None:
    assert (base.sizes.width, base.sizes.layers, base.sizes.heads) == (WIDTH, LAYERS, HEADS)
    assert base.pieces == PIECES
    written = tensors()
    assert np.array_equal(base.matrix("l1.fo.w", INNER), written["l1.fo.w"])
    assert np.allclose(base.floats("emb.pos"), written["emb.pos"])


def test_pieces_stay_that_a_text_can_have(base: Base) -> None:
    kept = {base.pieces[number] for number in kept_pieces(base, ["total"])}
    assert kept >= {*SPECIAL_TOKENS, "▁", "▁invoice", "株式会社", "▁и", "...", "▁20", "▁2026", "€"}
    assert not kept & {"▁123456", "ab1", "x)"}, "numbers of many digits, and letters that touch digits or marks"


def test_the_model_has_the_base_s_weights_and_two_more_tokens(base: Base) -> None:
    kept = kept_pieces(base, [])
    model = starting_model(base, kept, layers=1)
    vectors = model.bert.embeddings.word_embeddings.weight
    assert model.config.num_hidden_layers == 1
    assert vectors.shape == (len(kept) + 2, WIDTH)
    assert np.array_equal(vectors[5].detach().numpy(), tensors()["emb.word"][kept[5]])
    query = model.bert.encoder.layer[0].attention.self.query.weight
    assert np.array_equal(query.detach().numpy(), tensors()["l0.q.w"])
    assert torch.isfinite(model(input_ids=torch.tensor([[0, len(kept), len(kept) + 1, 2]])).logits).all()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (
            "invoice\ttotal\n20",
            [("▁invoice", "invoice"), ("▁⇥", "\t"), ("▁total", "total"), ("▁⏎", "\n"), ("▁20", "20")],
        ),
        ("total   total", [("▁total", "total"), ("▁⇥", " "), ("▁total", "total")]),
        ("Acme-------Acme", [("▁Acme", "Acme"), ("---", "---"), ("A", "A"), ("c", "c"), ("m", "m"), ("e", "e")]),
        ("........... 20", [("...", "..."), ("▁20", "20")]),
        (". . . . . . 20", [(".", "."), (".", "."), (".", "."), ("▁20", "20")]),
        ("GmbH26", [("▁GmbH", "GmbH"), ("26", "26")]),
        ("(GmbH)", [("▁(", "("), ("GmbH", "GmbH"), (")", ")")]),
        ("株式会社 ２０", [("株式会社", "株式会社"), ("▁20", "２０")]),
        ("to\u00adtal", [("▁total", "to\u00adtal")]),
    ],
)
def test_lines_gaps_runs_and_borders_are_seen_and_offsets_are_the_text_s(
    base: Base, text: str, tokens: list[tuple[str, str]]
) -> None:
    encoding = build_tokenizer(scored(base, range(len(PIECES)))).encode(text, add_special_tokens=False)
    assert [
        (token, text[start:end]) for token, (start, end) in zip(encoding.tokens, encoding.offsets, strict=True)
    ] == tokens


def test_serving_cuts_a_long_text_without_changing_its_tokens(base: Base, tmp_path: Path) -> None:
    save_tokenizer(build_tokenizer(scored(base, range(len(PIECES)))), tmp_path)
    tokenizer = TextTokenizer(tmp_path)
    assert tokenizer.vocabulary.split_points, "a place where texts may be cut"
    assert (tokenizer.prefix.tolist(), tokenizer.suffix.tolist()) == ([0], [2])
    text = "invoice total (GmbH) 20.26\n------\tand Acme & мя株式会社\n" * 900
    assert len(list(tokenizer.chunks(text))) > 1
    whole = build_tokenizer(scored(base, range(len(PIECES)))).encode(text, add_special_tokens=False)
    cut = tokenizer.encode(text)
    assert cut.ids.tolist() == whole.ids
    assert [tuple(each) for each in cut.offsets.tolist()] == whole.offsets

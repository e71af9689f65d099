"""Revisions of one model whose answers differ, and what each must find: computed here, apart from any service."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
import torch

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.core.decoding.tag_scheme import scheme_of
from service.engine.encoder.encoder import load_encoder
from service.engine.encoder.forward_path import ChosenPath, ForwardPath
from service.text.pipeline import decode_entities, prepare
from service.text.tokenizer import TextTokenizer
from tests.support.tiny_models import WORDS, make_model

KINDS = ("bert", "roberta", "distilbert", "modernbert")
"""Their tokenizers differ: what was tokenized for one is nonsense to the next."""

Found = list[tuple[str, int, int]]


def texts(count: int) -> list[str]:
    """Short texts of the tiny models' words."""
    draw = random.Random(7)
    return [" ".join(draw.choices(WORDS.split(), k=draw.randint(5, 40))) for _ in range(count)]


TEXTS = texts(12)


@dataclass(frozen=True, slots=True)
class Made:
    """A model folder, and what it finds in each of `TEXTS`."""

    folder: Path
    found: dict[str, Found]


def make_revision(folder: Path, number: int) -> Made:
    """The `number`-th revision; neighbours differ in weights, in kind and in tokenizer."""
    make_model(folder, KINDS[number % len(KINDS)], seed=100 + number)
    (folder / "decoding.json").write_text('{"inside_begins": false}')  # Random weights show no scheme.
    encoder, tokenizer = (
        load_encoder(folder, torch.device("cpu"), torch.float32, known=ChosenPath(ForwardPath.PADDED)),
        TextTokenizer(folder),
    )
    found = {}
    for text in TEXTS:
        prepared = prepare(tokenizer, text, longest=512, overlap=128)
        rows = encoder.forward([np.asarray(ids, dtype=np.int32) for ids in prepared.sequences])
        entities = decode_entities(tokenizer, prepared, rows, scheme_of(encoder.labels))
        found[text] = [(entity.label, entity.start, entity.end) for entity in entities]
    return Made(folder, found)


def golden(made: Made, path: Path, *, wrong: bool = False) -> Path:
    """A file of golden examples; `wrong` ones want an entity that the model does not find."""
    lines = []
    for text in TEXTS[:3]:
        found = made.found[text]
        entities = [{"label": label, "start": start, "end": end} for label, start, end in found]
        wanted = entities[1:] if wrong else entities
        lines.append(json.dumps({"text": text, "entities": wanted}))
    path.write_text("\n".join(lines))
    return path


def publish_revision(made: Made, store: Path, golden_file: Path | None = None, *, tag: str = "stable") -> str:
    """Publish as `live`; returns the revision."""
    from model_store.contents.scan import read_golden

    examples = read_golden(golden_file) if golden_file else ()
    return publish(made.folder, "live", Store(store), tag=tag, golden=examples).revision.revision


def ask(client: httpx.Client, text: str, wanted: str = "live") -> tuple[str, Found]:
    """One text to one model: the revision that answered, and what it found."""
    return read_answer(client.post("/extract", json={"text": text, "model": wanted}))


def read_answer(answer: httpx.Response) -> tuple[str, Found]:
    """The revision that answered, and what it found."""
    assert answer.status_code == 200, answer.text
    body = answer.json()
    entities = body["documents"][0]["entities"]
    return body["model"]["revision"], [(entity["label"], entity["start"], entity["end"]) for entity in entities]

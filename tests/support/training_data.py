"""Labelled documents for trainings on tiny models: names after `from`, numbers after `number`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from service.training.options import TrainingOptions

NAMES = ("anna", "maria", "smith", "berlin")


def record(number: int, *, labels: Iterable[str] = ("SENDER", "INVOICE_ID")) -> dict[str, Any]:
    """An invoice's line with a sender and a number; four records are a group."""
    random = Random(number)
    sender, code = random.choice(NAMES), str(random.randint(10, 999))
    text = f"the invoice number {code} is from {sender} for the bill"
    places = {"INVOICE_ID": text.index(code), "SENDER": text.index("from ") + 5}
    lengths = {"INVOICE_ID": len(code), "SENDER": len(sender)}
    entities = [{"start": places[label], "end": places[label] + lengths[label], "label": label} for label in labels]
    return {"id": str(number), "text": text, "group": f"g{number // 4}", "lang": "en", "entities": entities}


def write_set(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    """Records as a file of JSON lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    return path


def training_options(base: Path, out: Path, *data: Path, **changes: object) -> TrainingOptions:
    """Options of a quick training."""
    fixed = TrainingOptions(
        data=tuple(map(str, data)), base=str(base), out=str(out), epochs=12, rate=3e-3, batch_tokens=160, threads=1,
        device="cpu",
    )  # fmt: skip
    return msgspec.structs.replace(fixed, **changes)

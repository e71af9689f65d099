"""Reads what a model's folder asks for in decoding: `decoding.json` and `transitions.safetensors`, both optional.

`decoding.json`: `{"compounds": true, "first_piece_share": 0.5, "cells": true, "marks": true, "unknown": true,
"inside_begins": true, "layout_boxes": "line", "layout_tokens": "text", "text_without_boxes": true, "calibration":
{"scores": [0.2, 0.9], "shares": [0.1, 0.8]}}`, each part optional (`core/decoding/model_decoding`).
`transitions.safetensors`: one float tensor `transitions`, `[tags, tags]`, in the order of the configuration's labels.

The rule: a file that is there is read whole and checked, or the revision is not served.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load

from service.core.decoding.model_decoding import PLAIN, Calibration, Decoding
from service.core.decoding.tag_scheme import read_scheme
from service.core.decoding.transitions import Transitions
from service.core.errors import ModelError

RULES, TRANSITIONS = "decoding.json", "transitions.safetensors"
MOST_BYTES = 16 << 20
"""Most bytes of either file: 2,000 tags."""

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class CalibrationFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Points of the map from scores to shares of right entities, neither falling."""

    scores: Annotated[tuple[Share, ...], msgspec.Meta(min_length=1, max_length=1_000)]
    shares: Annotated[tuple[Share, ...], msgspec.Meta(min_length=1, max_length=1_000)]

    def __post_init__(self) -> None:
        if len(self.scores) != len(self.shares):
            raise ValueError("as many scores as shares")
        if any(left > right for points in (self.scores, self.shares) for left, right in pairwise(points)):
            raise ValueError("scores and shares must not fall")


class DecodingFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `decoding.json`."""

    compounds: bool = False
    first_piece_share: Share = 1.0
    cells: bool = False
    marks: bool = False
    unknown: bool = False
    inside_begins: bool | None = None
    layout_boxes: Literal["word", "line"] = "word"
    layout_tokens: Literal["word", "text"] = "word"
    text_without_boxes: bool = False
    calibration: CalibrationFile | None = None


def read_decoding(folder: Path) -> Decoding:
    """What the folder asks for; `PLAIN` if it has neither file.

    Raises:
        ModelError: a file is not what it should be.
    """
    rules, steps = _read(folder / RULES), _read(folder / TRANSITIONS)
    if rules is None and steps is None:
        return PLAIN
    asked = DecodingFile() if rules is None else _rules(rules)
    points = asked.calibration
    return Decoding(
        compounds=asked.compounds,
        first_piece_share=asked.first_piece_share,
        cells=asked.cells,
        marks=asked.marks,
        unknown=asked.unknown,
        inside_begins=asked.inside_begins,
        line_boxes=asked.layout_boxes == "line",
        text_tokens=asked.layout_tokens == "text",
        text_without_boxes=asked.text_without_boxes,
        transitions=None if steps is None else _transitions(steps, folder, inside_begins=bool(asked.inside_begins)),
        calibration=None if points is None else Calibration(points.scores, points.shares),
    )


def _read(path: Path) -> bytes | None:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ModelError(f"{path.name} cannot be read: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        raise ModelError(f"{path.name} has more than {MOST_BYTES:,} bytes")
    return content


def _rules(content: bytes) -> DecodingFile:
    try:
        return msgspec.json.decode(content, type=DecodingFile)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ModelError(f"{RULES} cannot be used: {error}") from error


def _transitions(content: bytes, folder: Path, *, inside_begins: bool) -> Transitions:
    scheme = read_scheme(_labels(folder), inside_begins=inside_begins)
    tags = len(scheme.labels)
    try:
        steps: NDArray[np.floating] = load(content)["transitions"]
    except (SafetensorError, LookupError, ValueError, TypeError) as error:
        raise ModelError(f"{TRANSITIONS} cannot be read: {error}") from error
    if steps.shape != (tags, tags) or steps.dtype.kind != "f" or not np.isfinite(steps).all():
        raise ModelError(f"{TRANSITIONS} must hold {tags} × {tags} finite numbers, one row for each tag")
    return Transitions.of(steps, scheme)


def _labels(folder: Path) -> dict[int, str]:
    try:
        labels = json.loads((folder / "config.json").read_bytes())["id2label"]
        return {int(number): str(label) for number, label in labels.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelError(f"{TRANSITIONS} needs the labels in config.json: {error!r}") from error

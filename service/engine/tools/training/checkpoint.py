"""The state of an unfinished training, in one file in its output folder: whatever is needed to go on.

Written whole: to a temporary name, then renamed. Read without unpickling anything but tensors and plain values.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import msgspec
import torch

from service.engine.tools.training.errors import OtherTraining
from service.engine.tools.training.options import TrainingOptions

FILE = "unfinished-training.pt"
MAY_CHANGE = {"out": "", "threads": 0, "device": "auto", "minutes": None}
"""Options that may be others when a training goes on."""


class SavedState:
    """The file of one training; `options` and the data's bytes say whether it is this training's."""

    def __init__(self, options: TrainingOptions) -> None:
        self._path = Path(options.out) / FILE
        self._training = _identity(options)

    def save(self, state: dict[str, Any]) -> None:
        """Replace what was saved before."""
        unfinished = self._path.with_suffix(".tmp")
        torch.save({"training": self._training, **state}, unfinished)
        os.replace(unfinished, self._path)

    def load(self) -> dict[str, Any] | None:
        """What was saved last; None if nothing was.

        Raises:
            OtherTraining: it was saved by a training of other data or options.
        """
        if not self._path.exists():
            return None
        state: dict[str, Any] = torch.load(self._path, map_location="cpu", weights_only=True)
        if state["training"] != self._training:
            raise OtherTraining(
                f"{self._path.parent} holds an unfinished training of other data or options. "
                f"Remove {self._path} or choose another folder."
            )
        return state

    def remove(self) -> None:
        """The training is finished."""
        self._path.unlink(missing_ok=True)


def _identity(options: TrainingOptions) -> str:
    digest = hashlib.sha256(msgspec.json.encode(msgspec.structs.replace(options, **MAY_CHANGE)))
    for path in options.data:
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()

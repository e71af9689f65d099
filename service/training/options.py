"""Options of a training, and the errors that stop it.

TrainingError
├── BadData          entities that a model cannot learn, all at once
├── TooLittleData    no entity to learn, or no group to leave out
├── UnusableBase     the folder to start from is no token classifier, or has no linear head
└── OtherTraining    the output folder holds another model or an unfinished training of other data or options
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from service.core.decoding.value import ValueKind

MOST_PROBLEMS_SHOWN = 10
"""Most problems that an error names; it counts the others."""


class TrainingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one training. Crosses from the command to its process as JSON.

    Attributes:
        data: JSON lines files, or folders of them; each file is one set.
        base: folder of the model to start from.
        layout: True to make a LayoutLM of the base, a text encoder.
        out: folder for the new model.
        closed: True if every set marks all labels; else a label that a set never marks is open there.
        epochs: most passes over the data.
        patience: passes without a better score on the groups left out after which it ends.
        minutes: most time, at whose end the learning rate is lowest; None for no limit.
        left_out_percent: percent of the text, in whole groups, to score on; 0 for none and no early end.
        rate: highest learning rate of the pretrained layers.
        new_head_factor: factor on the rate of a new head.
        batch_tokens: most tokens of a batch, padding included.
        kinds: label → kind of its values, where its name does not say it.
        threads: CPU threads; 0 for one a core.
        device: `auto`, `cpu` or `cuda`.
    """

    data: tuple[str, ...]
    base: str
    out: str
    layout: bool = False
    closed: bool = False
    epochs: int = 20
    patience: int = 4
    minutes: float | None = None
    left_out_percent: int = 15
    rate: float = 1e-4
    new_head_factor: float = 10.0
    batch_tokens: int = 1536
    kinds: dict[str, ValueKind] = {}
    seed: int = 1
    threads: int = 0
    device: str = "auto"


class TrainingError(Exception):
    """A training cannot begin or resume; the caller can mend it, and the message says how."""


def taken_folder(folder: Path) -> str | None:
    """Describe why a folder cannot take a new model; None if it can."""
    if not (folder / "config.json").exists():
        return None
    return f"{folder} already holds a model. To go on from it: --from {folder} --out {folder}-2"


class BadData(TrainingError):
    """Entities that a model cannot learn; `problems` names document and reason of each."""

    def __init__(self, problems: list[str]) -> None:
        shown, more = problems[:MOST_PROBLEMS_SHOWN], len(problems) - MOST_PROBLEMS_SHOWN
        super().__init__("\n".join(["The data cannot be used:", *shown, *([f"… and {more} more"] if more > 0 else [])]))
        self.problems = problems


class TooLittleData(TrainingError):
    """No entity to learn, or no group to leave out."""


class UnusableBase(TrainingError):
    """The folder to start from is no token classifier, or has no linear head."""


class OtherTraining(TrainingError):
    """The output folder holds another model, or an unfinished training of other data or options."""

"""What a training is asked to do. Crosses from the command to its process as JSON."""

from __future__ import annotations

import msgspec


class TrainingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one training.

    Attributes:
        data: JSON lines files; each is a set of its own.
        base: folder of the model to start from.
        out: folder for the new model.
        closed: every set has all labels marked; else a label that a set never marks is open there.
        epochs: most passes over the data.
        patience: passes without a better score on the groups left out, after which it ends.
        minutes: it ends after this time at the latest; None for no limit.
        left_out_percent: of the text, whole groups, to score on; 0 for none and no early end.
        rate: highest learning rate of the pretrained layers; a new head learns ten times as fast.
        batch_tokens: most tokens of a batch, padding included.
        threads: of the CPU; 0 for one a core.
        device: `auto`, `cpu` or `cuda`.
    """

    data: tuple[str, ...]
    base: str
    out: str
    closed: bool = False
    epochs: int = 20
    patience: int = 4
    minutes: float | None = None
    left_out_percent: int = 15
    rate: float = 1e-4
    batch_tokens: int = 1536
    seed: int = 1
    threads: int = 0
    device: str = "auto"

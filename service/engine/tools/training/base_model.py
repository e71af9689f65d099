"""The model to start from, and its head: kept when the labels are the same, else a new one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch
from torch import nn
from transformers import PreTrainedModel

from service.core.errors import ModelError
from service.engine.encoder.checkpoint import Checkpoint, read_checkpoint
from service.engine.tools.training.errors import UnusableBase
from service.engine.tools.training.labels import tags_of

NEW_ROW_DEVIATION = 0.02


def open_base(folder: Path, labels: Iterable[str]) -> tuple[Checkpoint, bool]:
    """The folder's model in float32 with a head for `labels`, and whether that head has rows that know nothing yet.

    Rows of labels that the old head has too are kept.

    Raises:
        UnusableBase: the folder is no token classifier, or its head is no linear layer.
    """
    try:
        checkpoint = read_checkpoint(folder, torch.float32)
    except ModelError as error:
        raise UnusableBase(str(error)) from error
    model = checkpoint.model
    model.requires_grad_(True)
    before, after = _tags(model), tags_of(labels)
    if set(before) == set(after):
        return checkpoint, False
    model.classifier = _new_head(model, before, after)
    model.num_labels = len(after)
    model.config.id2label = dict(enumerate(after))
    model.config.label2id = {tag: number for number, tag in enumerate(after)}
    return checkpoint, True


def freeze_embeddings(model: PreTrainedModel) -> None:
    """Leave word embeddings as they are: most of their rows occur in no training text, and the others would drift."""
    for parameter in model.get_input_embeddings().parameters():
        parameter.requires_grad_(False)


def parameter_groups(model: PreTrainedModel, *, rate: float, head_rate: float) -> list[dict[str, object]]:
    """Groups for an optimizer, each with its `peak` rate; only matrices decay."""
    head = {id(each) for each in model.classifier.parameters()}
    trained = [each for each in model.parameters() if each.requires_grad]
    return [
        {
            "params": [each for each in trained if (id(each) in head) is in_head and (each.ndim > 1) is matrix],
            "weight_decay": 0.01 if matrix else 0.0,
            "peak": head_rate if in_head else rate,
        }
        for in_head in (False, True)
        for matrix in (False, True)
    ]


def _tags(model: PreTrainedModel) -> tuple[str, ...]:
    return tuple(model.config.id2label[number] for number in range(model.config.num_labels))


def _new_head(model: PreTrainedModel, before: tuple[str, ...], after: tuple[str, ...]) -> nn.Linear:
    old = getattr(model, "classifier", None)
    if not isinstance(old, nn.Linear):
        raise UnusableBase(f"{type(model).__name__} has no linear head that could be replaced.")
    head = nn.Linear(old.in_features, len(after))
    nn.init.normal_(head.weight, std=NEW_ROW_DEVIATION)
    nn.init.zeros_(head.bias)
    rows = {tag: row for row, tag in enumerate(before)}
    with torch.no_grad():
        for row, tag in enumerate(after):
            if tag in rows:
                head.weight[row], head.bias[row] = old.weight[rows[tag]], old.bias[rows[tag]]
    return head

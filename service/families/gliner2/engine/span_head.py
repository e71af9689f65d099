"""GLiNER2's head of the architecture `span`: hidden states of a prompt, of words and labels to a score of each span.

Written from the weights' names and the published formulas of the `gliner2` library (2.1), in float32. It was made for
records with fields; entities are the fields of one record:

- A label's query is its state as a field of the first record: one step of a recurrent layer, and then a perceptron
  (`count_lstm`), four experts (`count_lstm_moe`) or a transformer over the sequence's labels (`count_lstm_v2`).
- A span's score is the product of its vector, as GLiNER's `markerV0` makes it, with the query.
- The state of the prompt says how many records there are. If it says none, nothing is found, whatever the scores. It
  is the prompt of one sequence, so each window and each group of labels counts for itself, as texts that the library
  is given one by one: a page without entities says nothing of the others.

No shape depends on a value, so a GPU need not be waited for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from service.core.arrays import TokenIds
from service.families.engine.checkpoint import to_device
from service.families.free_labels.engine.head_parts import NO_SCORE, parted, pick_rows, rows_of
from service.families.free_labels.engine.span_layer import SpanLayer
from service.families.gliner2.config import SpanConfig

MOST_RECORDS = 20
EXPERTS = 4
TRANSFORMER_SIZE = 128


class SpanHead(nn.Module):
    """The head of one model; its modules have the names of the weights in the folder.

    Args:
        size: of a hidden state.
        class_id, prompt_id: of the tokens at which a label, and the prompt, are read.
    """

    def __init__(self, config: SpanConfig, size: int, class_id: int, prompt_id: int) -> None:
        super().__init__()
        self._class_id, self._prompt_id = class_id, prompt_id
        self.span_rep = nn.ModuleDict({"span_rep_layer": SpanLayer(size, config.max_width, "markerV0")})
        self.count_pred = _layers(size, 2 * size, MOST_RECORDS)
        self.count_embed = COUNTING_LAYERS[config.counting_layer](size)

    def forward(self, rows: torch.Tensor, marked: Sequence[TokenIds]) -> list[torch.Tensor]:
        """The scores of each sequence's words, `[words, width * labels]`, from the hidden states of all tokens."""
        picked = pick_rows(rows, marked, self._class_id)
        queries = picked.labels
        if len(queries):
            queries = self.count_embed(queries, picked.label_counts)
        layer = cast(SpanLayer, self.span_rep["span_rep_layer"])
        scores = layer.scores(picked.words, queries, picked.word_counts, picked.label_counts)
        prompts, prompt_counts = rows_of(rows, marked, self._prompt_id)
        says_none = parted(self.count_pred(prompts).argmax(-1) == 0, prompt_counts)
        return [each.masked_fill_(none.any(), NO_SCORE) for each, none in zip(scores, says_none, strict=True)]


class _Counting(nn.Module):
    """What all counting layers have: a recurrent layer whose states are labels, and which reads numbers of records."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.pos_embedding = nn.Embedding(MOST_RECORDS, size)
        self.gru = nn.GRU(size, size)

    def _first(self, labels: torch.Tensor) -> torch.Tensor:
        """The labels as fields of the first record."""
        number = self.pos_embedding.weight[:1].expand(len(labels), -1)
        return torch.gru_cell(number, labels, *self.gru.parameters())


class CountLstm(_Counting):
    """A perceptron over the label before and after the step."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.projector = _layers(2 * size, 4 * size, size)

    def forward(self, labels: torch.Tensor, _: Sequence[int]) -> torch.Tensor:
        """The queries of all labels, end to end."""
        projected: torch.Tensor = self.projector(torch.cat([self._first(labels), labels], -1))
        return projected


class CountLstmMoe(_Counting):
    """Experts, all of which are asked, mixed by a router."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.router = nn.Sequential(nn.Linear(size, size), nn.GELU(), nn.Linear(size, EXPERTS), nn.Softmax(-1))
        self.w1, self.b1 = _weight(EXPERTS, size, 2 * size), _weight(EXPERTS, 2 * size)
        self.w2, self.b2 = _weight(EXPERTS, 2 * size, size), _weight(EXPERTS, size)

    def forward(self, labels: torch.Tensor, _: Sequence[int]) -> torch.Tensor:
        """The queries of all labels, end to end."""
        states = self._first(labels)
        queries = torch.zeros_like(states)
        for share, *expert in zip(self.router(states).T, self.w1, self.b1, self.w2, self.b2, strict=True):
            w1, b1, w2, b2 = expert
            queries += share[:, None] * (F.gelu(states @ w1 + b1) @ w2 + b2)
        return queries


class CountLstmV2(_Counting):
    """A small transformer over the labels of a sequence."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        layer = nn.TransformerEncoderLayer(TRANSFORMER_SIZE, 4, 2 * TRANSFORMER_SIZE, batch_first=True)
        self.transformer = nn.ModuleDict(
            {
                "in_projector": nn.Linear(size, TRANSFORMER_SIZE),
                "transformer": nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
                "out_projector": _layers(TRANSFORMER_SIZE + size, size, size, size),
            }
        )

    def forward(self, labels: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
        """The queries of all labels, end to end; `counts` are those of each sequence."""
        states = self._first(labels) + labels
        filled = [count for count in counts if count]
        padded = pad_sequence(parted(self.transformer["in_projector"](states), filled), batch_first=True)
        lengths = to_device(np.array(filled), labels.device)
        padding = torch.arange(padded.shape[1], device=labels.device) >= lengths[:, None]
        among = self.transformer["transformer"](padded, src_key_padding_mask=padding)
        small = torch.cat([each[:count] for each, count in zip(among, filled, strict=True)])
        queries: torch.Tensor = self.transformer["out_projector"](torch.cat([small, states], -1))
        return queries


COUNTING_LAYERS = {"count_lstm": CountLstm, "count_lstm_moe": CountLstmMoe, "count_lstm_v2": CountLstmV2}


def _layers(*sizes: int) -> nn.Sequential:
    """Linear layers with a ReLU between two."""
    made = [part for pair in pairwise(sizes) for part in (nn.Linear(*pair), nn.ReLU())]
    return nn.Sequential(*made[:-1])


def _weight(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.empty(shape))

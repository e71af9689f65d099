"""GLiNER's heads: hidden states of words and labels to a score for each span, or for each start, end and inside.

Written from the weights' names and the published formulas of the `gliner` library (0.2). In float32 whatever the trunk
computes in: scores near the limit decide, and the heads are small.

- `markerV0`, `marker`: a vector for each span (`span_layer`), and its score is the product with the label's.
- `token_level`: a perceptron over [word; label; product of both] for each word and label.

The work on spans goes in blocks of words, so that it takes no more memory for a large batch than for a small one.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from service.core.arrays import TokenIds
from service.core.labels.marking import labels_beside
from service.families.engine.checkpoint import Trunk
from service.families.free_labels.engine.head_parts import BLOCK_NUMBERS, Perceptron, parted, pick_rows
from service.families.free_labels.engine.span_layer import SpanLayer
from service.families.gliner.config import GlinerConfig
from service.families.gliner.engine.label_vectors import LabelVectors


class GlinerHead(nn.Module):
    """The part of a model behind its trunk; its modules have the names of the weights in the folder.

    Args:
        trunk_size: of a hidden state.
        class_id: of the token at which a label is read; None where labels stand beside the text.
        label_size: of a hidden state of the trunk that reads those.
    """

    def __init__(
        self, config: GlinerConfig, trunk_size: int, class_id: int | None, label_size: int | None = None
    ) -> None:
        super().__init__()
        size = config.hidden_size
        self._class_id, self._behind = class_id, 0 if config.embed_ent_token else 1
        self.token_rep_layer = nn.ModuleDict({} if size == trunk_size else {"projection": nn.Linear(trunk_size, size)})
        if label_size not in (None, size):
            self.token_rep_layer["labels_projection"] = nn.Linear(label_size, size)
        self.label_vectors: LabelVectors | None = None
        layers = 0 if config.reads_labels_apart else config.num_rnn_layers
        self.rnn = nn.ModuleDict()
        if layers:
            self.rnn["lstm"] = nn.LSTM(size, size // 2, layers, bidirectional=True, batch_first=True)
        if config.scores_spans:
            layer = SpanLayer(size, config.max_width, config.span_mode)
            self.span_rep_layer = nn.ModuleDict({"span_rep_layer": layer})
            self.prompt_rep_layer = Perceptron(size, 4 * size, size)
        self.scorer = None if config.scores_spans else TokenScorer(size)

    def forward(self, rows: torch.Tensor, marked: Sequence[TokenIds]) -> list[torch.Tensor]:
        """The scores of each sequence's words, `[words, columns]`, from the hidden states of all tokens end to end."""
        picked = pick_rows(rows, marked, self._class_id, behind=self._behind)
        words = self._words(self._projected(picked.words), picked.word_counts)
        labels, counts = self._projected(picked.labels), (picked.word_counts, picked.label_counts)
        if self.label_vectors is not None:
            beside = [labels_beside(each) for each in marked]
            labels = self.label_vectors.of([ids for each in beside for ids in each], words)
            counts = picked.word_counts, [*map(len, beside)]
        if self.scorer is not None:
            return self.scorer.scores(parted(words, counts[0]), parted(labels, counts[1]))
        layer = self.span_rep_layer["span_rep_layer"]
        assert isinstance(layer, SpanLayer), "made so"
        return layer.scores(words, self.prompt_rep_layer(labels), *counts)

    def read_labels_by(self, trunk: Trunk) -> None:
        """Read labels that stand beside the text by this model from now on."""
        self.label_trunk = trunk.module
        self.label_vectors = LabelVectors(trunk, getattr(self.token_rep_layer, "labels_projection", nn.Identity()))

    def _projected(self, picked: torch.Tensor) -> torch.Tensor:
        return self.token_rep_layer["projection"](picked) if "projection" in self.token_rep_layer else picked

    def _words(self, words: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
        """The states of all words after the recurrent layer, in which each sequence is by itself."""
        if "lstm" not in self.rnn or not len(words):
            return words
        filled = [part for part in parted(words, counts) if len(part)]
        packed = nn.utils.rnn.pack_sequence(filled, enforce_sorted=False)
        return torch.cat(nn.utils.rnn.unpack_sequence(self.rnn["lstm"](packed)[0]))


class TokenScorer(nn.Module):
    """Scores start, end and inside of each word and label: `[words, labels * 3]`."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self.proj_token, self.proj_label = nn.Linear(size, 2 * size), nn.Linear(size, 2 * size)
        self.out_mlp = Perceptron(3 * size, 4 * size, 3)

    def scores(self, words: Sequence[torch.Tensor], labels: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Scores of each sequence, from its words and its labels."""
        return [
            self._scored(self.proj_token(word), self.proj_label(label))
            for word, label in zip(words, labels, strict=True)
        ]

    def _scored(self, words: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        size, (first, last) = self._size, (self.out_mlp.first, self.out_mlp.last)
        of_word = F.linear(words[:, :size], first.weight[:, :size], first.bias)
        of_label = F.linear(labels[:, :size], first.weight[:, size : 2 * size])
        scores = words.new_empty(len(words), len(labels), 3)
        step = max(1, BLOCK_NUMBERS // (max(len(labels), 1) * 4 * size))
        for begin in range(0, len(words), step):
            block = slice(begin, begin + step)
            both = words[block, None, size:] * labels[:, size:]
            hidden = F.linear(both, first.weight[:, 2 * size :]).add_(of_word[block, None]).add_(of_label).relu_()
            scores[block] = last(hidden)
        return scores.flatten(1)

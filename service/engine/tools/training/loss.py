"""The loss over sets of which each marks some of the labels.

Where a set never marks label L, a token tagged O may be an L: its loss is -log(p(O) + Σ p(tags that are open there)).
A small share of the usual loss stays, because otherwise nothing keeps the model from finding L everywhere in that set.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from service.engine.tools.training.labels import IGNORED

CLOSED_SHARE = 0.1
"""Of the usual loss, for tokens tagged O."""


def masked_loss(logits: Tensor, tags: Tensor, open_tags: Tensor) -> Tensor:
    """Mean over the tokens that count: logits `[rows, length, tags]`, tags `[rows, length]`, open_tags `[rows, tags]`.

    The tag O is number 0.
    """
    log_probabilities = functional.log_softmax(logits.float(), dim=-1)
    plain = log_probabilities.gather(-1, tags.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    allowed = open_tags.clone()
    allowed[:, 0] = True
    lenient = log_probabilities.masked_fill(~allowed.unsqueeze(1), -torch.inf).logsumexp(dim=-1)
    chosen = torch.where(tags == 0, CLOSED_SHARE * plain + (1 - CLOSED_SHARE) * lenient, plain)
    counted = tags != IGNORED
    return -chosen.masked_fill(~counted, 0.0).sum() / counted.sum().clamp(min=1)

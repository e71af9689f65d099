"""The loss for partly labelled sets.

In a set that does not annotate label L, a token marked O may be an L. So the loss of O tokens is
-log(p(O) + Σ p(tags that the set leaves open)), and that of marked tokens the usual -log p(tag). A small share of the
usual loss of O tokens stays, because otherwise nothing prevents the model from predicting L for every word of the set.
"""

from typing import Final

import torch
from torch import Tensor
from torch.nn import functional

from model_store.builtin.training.encoding import IGNORED

O_TAG: Final = 0


def partial_label_loss(logits: Tensor, tags: Tensor, open_tags: Tensor, *, closed_share: float = 0.1) -> Tensor:
    """Mean loss over the tokens that count.

    logits [batch, length, tags], tags [batch, length] int64 (IGNORED: does not count), open_tags [batch, tags] bool.
    `closed_share` is the weight of the plain loss for O tokens.
    """
    log_probabilities = functional.log_softmax(logits.float(), dim=-1)
    counted = tags != IGNORED
    plain = log_probabilities.gather(-1, tags.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    allowed = open_tags.clone()
    allowed[:, O_TAG] = True
    lenient = log_probabilities.masked_fill(~allowed.unsqueeze(1), -torch.inf).logsumexp(dim=-1)
    outside = closed_share * plain + (1 - closed_share) * lenient
    chosen = torch.where(tags == O_TAG, outside, plain)
    return -(chosen * counted).sum() / counted.sum().clamp(min=1)

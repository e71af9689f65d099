"""The training loop: AdamW, bfloat16 autocast, a cosine schedule over elapsed time rather than over steps.

The time is given, not the number of steps: on a shared machine steps per minute are not known beforehand.
"""

import logging
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import BertConfig, BertForTokenClassification

from model_store.builtin.training.batches import Batch
from model_store.builtin.training.labels import TAGS
from model_store.builtin.training.loss import partial_label_loss

WARMUP_STEPS: Final = 200
PEAK_RATE: Final = 1.0e-3
FLOOR_SHARE: Final = 0.02
PROGRESS_STEPS: Final = 50
AVERAGE_DECAY: Final = 0.98
AVERAGE_FROM_SHARE: Final = 0.5
logger = logging.getLogger(__name__)


def new_model(*, vocabulary_size: int, layers: int, width: int) -> BertForTokenClassification:
    """A model with random weights over the 71 tags."""
    config = BertConfig(
        vocab_size=vocabulary_size,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        max_position_embeddings=512,
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.1,
        id2label=dict(enumerate(TAGS)),
        label2id={tag: number for number, tag in enumerate(TAGS)},
    )
    model = BertForTokenClassification(config)
    _share_dropout(model)
    return model


class SharedDropout(nn.Module):
    """Dropout with one mask for all tokens of a row: [rows, length, width] → the same.

    Drawing a mask for each token took a third of the forward pass on a CPU, and one mask a row regularizes a tagger
    at least as well (Gal & Ghahramani 2016, arXiv:1512.05287).
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self._share = share

    def forward(self, hidden: Tensor) -> Tensor:
        """Zero the same features of every token of a row and scale the others up."""
        if not self.training:
            return hidden
        mask = torch.empty(hidden.shape[0], 1, hidden.shape[2], dtype=hidden.dtype).bernoulli_(1 - self._share)
        return hidden * mask.div_(1 - self._share)


def _share_dropout(module: nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.Dropout) and child.p > 0:
            setattr(module, name, SharedDropout(child.p))
        else:
            _share_dropout(child)


def learning_rate(*, step: int, elapsed_share: float, peak: float = PEAK_RATE) -> float:
    """Linear warm-up over steps, then a cosine from `peak` down to FLOOR_SHARE of it at elapsed_share 1."""
    warm = min(1.0, (step + 1) / WARMUP_STEPS)
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, elapsed_share)))
    return peak * warm * (FLOOR_SHARE + (1 - FLOOR_SHARE) * cosine)


def train(
    model: BertForTokenClassification,
    batches: Iterator[Batch],
    *,
    minutes: float,
    checkpoint: Path,
    peak_rate: float = PEAK_RATE,
) -> None:
    """Train in place for `minutes`; the model then has the running average of its weights.

    A checkpoint is written every five minutes, so that a killed run can be resumed.
    """
    optimizer = AdamW(_parameter_groups(model), lr=PEAK_RATE, betas=(0.9, 0.98), fused=True)
    average = AveragedModel(
        model,
        multi_avg_fn=get_ema_multi_avg_fn(AVERAGE_DECAY),  # type: ignore[no-untyped-call]
    )
    began = saved = time.monotonic()
    total_loss = tokens = 0.0
    model.train()
    for step, batch in enumerate(batches):
        elapsed_seconds = time.monotonic() - began
        if elapsed_seconds > minutes * 60:
            break
        rate = learning_rate(step=step, elapsed_share=elapsed_seconds / (minutes * 60), peak=peak_rate)
        total_loss += _step(model, optimizer, batch, rate)
        tokens += float(batch.mask.sum())
        if step % 5 == 0 and elapsed_seconds > AVERAGE_FROM_SHARE * minutes * 60:
            average.update_parameters(model)
        if step % PROGRESS_STEPS == PROGRESS_STEPS - 1:
            speed = tokens / (time.monotonic() - began)
            mean = total_loss / PROGRESS_STEPS
            logger.info("step %d  %4.1f min  loss %.4f  rate %.1e  %.0f tokens/s  %.1f M tokens",
                        step + 1, elapsed_seconds / 60, mean, rate, speed, tokens / 1e6)  # fmt: skip
            total_loss = 0.0
        if time.monotonic() - saved > 300:
            saved = time.monotonic()
            torch.save(model.state_dict(), checkpoint)
    model.load_state_dict(average.module.state_dict())


def _parameter_groups(model: BertForTokenClassification) -> list[dict[str, object]]:
    """Weight decay for matrices only, and not for the embeddings, where most rows are seldom touched."""
    decayed = [p for n, p in model.named_parameters() if p.ndim >= 2 and "embeddings" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim < 2 or "embeddings" in n]
    return [{"params": decayed, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}]


def _step(model: BertForTokenClassification, optimizer: AdamW, batch: Batch, rate: float) -> float:
    for group in optimizer.param_groups:
        group["lr"] = rate
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mask = None if bool(batch.mask.all()) else batch.mask
        logits = model(input_ids=batch.ids, attention_mask=mask, position_ids=batch.positions).logits
    loss = partial_label_loss(logits, batch.tags, batch.open_tags)
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return float(loss.detach())

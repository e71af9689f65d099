"""The training loop: AdamW, bfloat16 autocast, a cosine schedule over the time trained rather than over steps.

The time is given, not the number of steps: on a shared machine steps per minute are not known beforehand. A training
that was cut off, or that is to go on for longer, resumes from its checkpoint with all of its state.
"""

import logging
import math
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import torch
from torch import Tensor, nn
from torch.optim import AdamW
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from transformers import BertForTokenClassification

from model_store.builtin.training.batches import Batch
from model_store.builtin.training.loss import partial_label_loss
from model_store.builtin.training.peers import Peers

WARMUP_STEPS: Final = 100
BASE_RATE: Final = 2.0e-4
HEAD_RATE: Final = 1.0e-3
FLOOR_SHARE: Final = 0.01
PROGRESS_STEPS: Final = 20
CHECKPOINT_SECONDS: Final = 300
AVERAGE_DECAY: Final = 0.95
AVERAGE_STEPS: Final = 5
AVERAGE_FROM_SHARE: Final = 0.5
SHARED_DROPOUT: Final = 0.05
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Progress:
    """How far a training has come, all its runs together."""

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0


class Training:
    """A model in training: its optimizer, the running average of its weights, and how far it has come."""

    def __init__(self, model: BertForTokenClassification, peers: Peers, *, rate: float = 1.0) -> None:
        self.model = model
        self._peers = peers
        self.progress = Progress()
        share_dropout(model)
        model.bert.embeddings.word_embeddings.weight.requires_grad_(False)
        self._optimizer = AdamW(_parameter_groups(model, rate), betas=(0.9, 0.98), fused=True)
        self._average = AveragedModel(
            model,
            multi_avg_fn=get_ema_multi_avg_fn(AVERAGE_DECAY),  # type: ignore[no-untyped-call]
        )

    def run(self, batches: Iterator[Batch], *, minutes: float, checkpoint: Path) -> None:
        """Train until `minutes` have been trained for in all; the model then has the average of its weights."""
        began = saved = time.monotonic() - self.progress.seconds
        first_seconds, first_tokens = self.progress.seconds, self.progress.tokens
        total_loss = 0.0
        self.model.train()
        for batch in batches:
            self.progress.seconds = self._peers.agreed(time.monotonic() - began)
            elapsed_share = self.progress.seconds / (minutes * 60)
            if elapsed_share > 1:
                break
            total_loss += self._step(batch, rate_share(step=self.progress.steps, elapsed_share=elapsed_share))
            self.progress.steps += 1
            self.progress.tokens += int(batch.mask.sum()) * self._peers.count
            if self.progress.steps % AVERAGE_STEPS == 0 and elapsed_share > AVERAGE_FROM_SHARE:
                self._average.update_parameters(self.model)
            if self.progress.steps % PROGRESS_STEPS == 0:
                speed = (self.progress.tokens - first_tokens) / (time.monotonic() - began - first_seconds)
                logger.info("step %d  %4.1f min  loss %.4f  %.0f tokens/s  %.2f M tokens",
                            self.progress.steps, self.progress.seconds / 60, total_loss / PROGRESS_STEPS, speed,
                            self.progress.tokens / 1e6)  # fmt: skip
                total_loss = 0.0
            if time.monotonic() - saved > CHECKPOINT_SECONDS:
                saved = time.monotonic()
                self.save(checkpoint)
        self.save(checkpoint)
        if int(self._average.n_averaged):
            self.model.load_state_dict(self._average.module.state_dict())

    def save(self, path: Path) -> None:
        """Write everything that `load` needs, in one step; the first process does."""
        if self._peers.rank:
            return
        state = {
            "model": self.model.state_dict(),
            "average": self._average.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "progress": asdict(self.progress),
        }
        unfinished = path.with_suffix(".unfinished")
        torch.save(state, unfinished)
        os.replace(unfinished, path)

    def load(self, path: Path) -> None:
        """Go on from a checkpoint."""
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self._average.load_state_dict(state["average"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])

    def _step(self, batch: Batch, share: float) -> float:
        for group in self._optimizer.param_groups:
            group["lr"] = share * group["peak"]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            mask = None if bool(batch.mask.all()) else batch.mask
            logits = self.model(input_ids=batch.ids, attention_mask=mask, position_ids=batch.positions).logits
        loss = partial_label_loss(logits, batch.tags, batch.open_tags)
        loss.backward()  # type: ignore[no-untyped-call]
        self._peers.average_gradients(self.model.parameters())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())


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


def share_dropout(module: nn.Module) -> None:
    """Put `SharedDropout` in the place of every dropout that drops anything."""
    for name, child in module.named_children():
        if isinstance(child, nn.Dropout) and child.p > 0:
            setattr(module, name, SharedDropout(SHARED_DROPOUT))
        else:
            share_dropout(child)


def rate_share(*, step: int, elapsed_share: float) -> float:
    """Share of the peak rate: a linear warm-up over steps, times a cosine from 1 to FLOOR_SHARE at elapsed_share 1."""
    warm = min(1.0, (step + 1) / WARMUP_STEPS)
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, elapsed_share)))
    return warm * (FLOOR_SHARE + (1 - FLOOR_SHARE) * cosine)


def _parameter_groups(model: BertForTokenClassification, rate: float) -> list[dict[str, object]]:
    """The pretrained part learns slowly, the new head fast, both times `rate`; only matrices decay.

    Word embeddings stay as they are: languages that no set has keep the place that pretraining gave them.
    """
    trained = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
    groups: list[dict[str, object]] = []
    for peak, in_head in ((BASE_RATE, False), (HEAD_RATE, True)):
        some = [(name, each) for name, each in trained if name.startswith("classifier") == in_head]
        decayed = [each for name, each in some if each.ndim >= 2 and "embeddings" not in name]
        others = [each for name, each in some if each.ndim < 2 or "embeddings" in name]
        groups.append({"params": decayed, "weight_decay": 0.02, "peak": peak * rate})
        groups.append({"params": others, "weight_decay": 0.0, "peak": peak * rate})
    return groups

"""The training loop: passes over the windows, a score on the groups left out after each, the best weights kept.

AdamW, linear warm-up then a cosine over all passes, reduced precision as the device has it. A training that is cut off
goes on from its last saved state and ends with the same weights, dropout's drawing aside.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim import AdamW
from transformers import PreTrainedModel

from service.engine.device.dtype import choose_dtype
from service.engine.tools.training.base_model import parameter_groups
from service.engine.tools.training.batches import TrainingBatch, orders, padded
from service.engine.tools.training.checkpoint import SavedState
from service.engine.tools.training.examples import Example
from service.engine.tools.training.loss import masked_loss
from service.engine.tools.training.options import TrainingOptions

WARMUP_SHARE = 0.06
FLOOR_SHARE = 0.02
NEW_HEAD_FACTOR = 10
LARGEST_GRADIENT = 1.0
SAVE_SECONDS = 300.0
Weights = dict[str, Tensor]
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Place:
    """How far a training has come. `best` is the score, from 0 to 1, of the weights that are kept."""

    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best: float = -1.0
    best_epoch: int = 0


class FineTuning:
    """One training, from a model to better weights in it."""

    def __init__(self, model: PreTrainedModel, options: TrainingOptions, saved: SavedState, *, new_head: bool) -> None:
        self._model = model
        self._options = options
        self._saved = saved
        head_rate = options.rate * (NEW_HEAD_FACTOR if new_head else 1)
        groups = parameter_groups(model, rate=options.rate, head_rate=head_rate)
        self._optimizer = AdamW(groups, betas=(0.9, 0.98))
        self._dtype = choose_dtype("auto", model.device)
        self._scaler = torch.amp.GradScaler(model.device.type, enabled=self._dtype is torch.float16)
        self._best: Weights = {}
        self.place = Place()

    def run(self, examples: list[Example], evaluate: Callable[[], float | None]) -> None:
        """Train; the model then has the weights with the best score, or the last ones if `evaluate` gives none.

        Interrupted, it saves what it needs to go on.
        """
        before = self._resume()
        try:
            self._train(examples, evaluate, time.monotonic() - before)
        except KeyboardInterrupt:
            self.save()
            raise
        if self._best:
            self._model.load_state_dict(self._best)

    def _train(self, examples: list[Example], evaluate: Callable[[], float | None], began: float) -> None:
        saved_at = time.monotonic()
        while self.place.epoch < self._options.epochs and not self._is_over():
            batches = self._batches(examples)
            self._model.train()
            total = torch.zeros(())
            first = self.place.batch
            for number in range(first, len(batches)):
                share = (self.place.epoch + number / len(batches)) / self._options.epochs
                rows = padded([examples[row] for row in batches[number]], padding_id=self._padding_id)
                total += self._step(rows.to(self._model.device), rate_share(share))
                self.place.batch, self.place.seconds = number + 1, time.monotonic() - began
                if self._is_over():
                    break
                if time.monotonic() - saved_at > SAVE_SECONDS:
                    self.save()
                    saved_at = time.monotonic()
            self._end_pass(float(total) / max(1, self.place.batch - first), evaluate())

    def save(self) -> None:
        """Save everything that `run` needs to go on."""
        place = {name: getattr(self.place, name) for name in Place.__slots__}
        states = {"model": self._model, "optimizer": self._optimizer, "scaler": self._scaler}
        self._saved.save({"place": place, "best": self._best, **{n: each.state_dict() for n, each in states.items()}})

    def _resume(self) -> float:
        """The seconds that were trained before."""
        state: dict[str, Any] | None = self._saved.load()
        if state is not None:
            self._model.load_state_dict(state["model"])
            self._optimizer.load_state_dict(state["optimizer"])
            self._scaler.load_state_dict(state["scaler"])
            self._best, self.place = state["best"], Place(**state["place"])
            log.info("going on in pass %d after %.0f s", self.place.epoch + 1, self.place.seconds)
        return self.place.seconds

    @property
    def _padding_id(self) -> int:
        return self._model.config.pad_token_id or 0

    def _batches(self, examples: list[Example]) -> list[list[int]]:
        options = self._options
        return orders(examples, batch_tokens=options.batch_tokens, seed=options.seed, epoch=self.place.epoch)

    def _is_over(self) -> bool:
        """True when the time is up, or no pass of the last few was better."""
        minutes = self._options.minutes
        late = minutes is not None and self.place.seconds > minutes * 60
        return late or (self.place.best >= 0 and self.place.epoch - self.place.best_epoch >= self._options.patience)

    def _step(self, rows: TrainingBatch, share: float) -> Tensor:
        for group in self._optimizer.param_groups:
            group["lr"] = group["peak"] * share
        reduced = self._dtype is not torch.float32
        with torch.autocast(self._model.device.type, dtype=self._dtype, enabled=reduced):
            logits = self._model(input_ids=rows.ids, attention_mask=rows.mask).logits
        loss = masked_loss(logits, rows.tags, rows.open_tags)
        self._scaler.scale(loss).backward()
        self._scaler.unscale_(self._optimizer)
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), LARGEST_GRADIENT)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        return loss.detach().cpu()

    def _end_pass(self, loss: float, score: float | None) -> None:
        self.place.epoch, self.place.batch = self.place.epoch + 1, 0
        told = "" if score is None else f", F1 on the groups left out {score:.3f}"
        log.info("pass %d of %d: %.0f s, loss %.4f%s", self.place.epoch, self._options.epochs, self.place.seconds,
                 loss, told)  # fmt: skip
        if score is not None and score > self.place.best:
            self.place.best, self.place.best_epoch = score, self.place.epoch
            self._best = {name: weight.detach().cpu().clone() for name, weight in self._model.state_dict().items()}
        self.save()


def rate_share(elapsed_share: float) -> float:
    """Share of the highest learning rate: linear up over WARMUP_SHARE, then a cosine down to FLOOR_SHARE at 1."""
    if elapsed_share < WARMUP_SHARE:
        return (elapsed_share + 0.002) / (WARMUP_SHARE + 0.002)
    falling = (elapsed_share - WARMUP_SHARE) / (1 - WARMUP_SHARE)
    return FLOOR_SHARE + (1 - FLOOR_SHARE) * 0.5 * (1 + math.cos(math.pi * min(1.0, falling)))

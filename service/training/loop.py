"""The training loop: passes over the windows, a score on the groups left out after each, the best weights kept.

AdamW, a linear warm-up then a cosine over all passes or the time allowed, reduced precision as the device has it. A
training that is cut off goes on from its last saved state and ends with the same weights, dropout's drawing aside.

The loss is for sets of which each marks some of the labels. Where a set never marks label L, a token tagged O may be an
L: its loss is -log(p(O) + Σ p(tags that are open there)). A small share of the usual loss stays, because otherwise
nothing keeps the model from finding L everywhere in that set.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.optim import AdamW
from transformers import PreTrainedModel

from service.engine.device.selection import choose_dtype
from service.families.engine.page_input import PageInput
from service.training.data import IGNORED, Example, TrainingBatch, orders, padded
from service.training.model import parameter_groups
from service.training.options import OtherTraining, TrainingOptions

STATE_FILE = "unfinished-training.pt"
WARMUP_SHARE = 0.06
"""Share of the training in which the learning rate rises."""
FLOOR_SHARE = 0.02
"""Share of the highest learning rate at the end."""
LARGEST_GRADIENT = 1.0
SAVE_SECONDS = 300.0
"""Seconds between two savings of an unfinished training."""
CLOSED_SHARE = 0.1
"""Share of the usual loss for tokens tagged O."""
Weights = dict[str, Tensor]
log = logging.getLogger(__name__)


def masked_loss(logits: Tensor, tags: Tensor, open_tags: Tensor) -> Tensor:
    """Mean loss over counted tokens: logits `[rows, length, tags]`, tags `[rows, length]`, open_tags `[rows, tags]`.

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


class SavedState:
    """State of an unfinished training, in one file in its output folder; `identity`: digest of its data and options.

    Written to a temporary name, then renamed. Read without unpickling anything but tensors and plain values.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self._path = folder / STATE_FILE
        self._identity = identity

    def save(self, state: dict[str, Any]) -> None:
        unfinished = self._path.with_suffix(".tmp")
        torch.save({"training": self._identity, **state}, unfinished)
        os.replace(unfinished, self._path)

    def load(self) -> dict[str, Any] | None:
        """Load the last saved state; None without one.

        Raises:
            OtherTraining: a training of other data or options saved it.
        """
        if not self._path.exists():
            return None
        state: dict[str, Any] = torch.load(self._path, map_location="cpu", weights_only=True)
        if state["training"] != self._identity:
            raise OtherTraining(
                f"{self._path.parent} holds an unfinished training of other data or options. "
                f"Remove {self._path} or choose another folder."
            )
        return state

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


@dataclass(slots=True)
class TrainingProgress:
    """Progress of a training. `best`: score, from 0 to 1, of the kept weights."""

    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    best: float = -1.0
    best_epoch: int = 0


class FineTuning:
    """One training, from a model to better weights in it.

    Args:
        new: parts of the names of parameters that have learned nothing yet.
        page: how boxes enter the model; None if it sees none.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        options: TrainingOptions,
        saved: SavedState,
        *,
        new: Collection[str] = (),
        page: PageInput | None = None,
    ) -> None:
        self._model = model
        self._options = options
        self._saved = saved
        self._page = page
        groups = parameter_groups(model, rate=options.rate, new_rate=options.rate * options.new_head_factor, new=new)
        self._optimizer = AdamW(groups, betas=(0.9, 0.98))
        self._dtype = choose_dtype("auto", model.device)
        self._scaler = torch.amp.GradScaler(model.device.type, enabled=self._dtype is torch.float16)
        self._best: Weights = {}
        self.progress = TrainingProgress()

    def run(self, examples: list[Example], evaluate: Callable[[], float | None]) -> None:
        """Train; afterwards the model has the weights with the best score, or the last ones if `evaluate` gives none.

        An interrupt saves the state, so that the training can be resumed.
        """
        before = self._resume()
        try:
            self._train(examples, evaluate, time.monotonic() - before)
        except KeyboardInterrupt:
            self.save()
            raise
        log.info("ended: %s", self._end_reason())
        if self._best:
            self._model.load_state_dict(self._best)

    def _train(self, examples: list[Example], evaluate: Callable[[], float | None], began: float) -> None:
        saved_at = time.monotonic()
        while self.progress.epoch < self._options.epochs and not self._is_over():
            batches = self._batches(examples)
            self._model.train()
            total = torch.zeros(())
            first = self.progress.batch
            for number in range(first, len(batches)):
                share = self.elapsed_share(number / len(batches))
                chosen = [examples[row] for row in batches[number]]
                rows = padded(chosen, padding_id=self._padding_id, page=self._page)
                total += self._step(rows.to(self._model.device), rate_share(share))
                self.progress.batch, self.progress.seconds = number + 1, time.monotonic() - began
                if self._is_over():
                    break
                if time.monotonic() - saved_at > SAVE_SECONDS:
                    self.save()
                    saved_at = time.monotonic()
                    log.info("pass %d of %d: batch %d of %d, %.0f s", self.progress.epoch + 1, self._options.epochs,
                             self.progress.batch, len(batches), self.progress.seconds)  # fmt: skip
            self._end_pass(float(total) / max(1, self.progress.batch - first), evaluate())

    def elapsed_share(self, of_pass: float) -> float:
        """Compute the finished share of the training, by passes or by time, whichever is more."""
        minutes = self._options.minutes
        by_time = self.progress.seconds / (minutes * 60) if minutes is not None else 0.0
        return max((self.progress.epoch + of_pass) / self._options.epochs, by_time)

    def save(self) -> None:
        """Save the state from which `run` resumes."""
        parts = {"model": self._model, "optimizer": self._optimizer, "scaler": self._scaler}
        states = {name: each.state_dict() for name, each in parts.items()}
        self._saved.save({"progress": asdict(self.progress), "best": self._best, **states})

    def _resume(self) -> float:
        """Resume from the saved state; returns the seconds trained before."""
        state: dict[str, Any] | None = self._saved.load()
        if state is not None:
            self._model.load_state_dict(state["model"])
            self._optimizer.load_state_dict(state["optimizer"])
            self._scaler.load_state_dict(state["scaler"])
            self._best, self.progress = state["best"], TrainingProgress(**state["progress"])
            log.info("going on in pass %d after %.0f s", self.progress.epoch + 1, self.progress.seconds)
        return self.progress.seconds

    @property
    def _padding_id(self) -> int:
        return self._model.config.pad_token_id or 0

    def _batches(self, examples: list[Example]) -> list[list[int]]:
        options = self._options
        return orders(examples, batch_tokens=options.batch_tokens, seed=options.seed, epoch=self.progress.epoch)

    def _is_over(self) -> bool:
        """True when the time is up, or the last `patience` passes were no better."""
        return self._is_out_of_time() or self._has_stopped_rising()

    def _is_out_of_time(self) -> bool:
        minutes = self._options.minutes
        return minutes is not None and self.progress.seconds > minutes * 60

    def _has_stopped_rising(self) -> bool:
        return self.progress.best >= 0 and self.progress.epoch - self.progress.best_epoch >= self._options.patience

    def _end_reason(self) -> str:
        """Say why the training ended, and whether a longer one may give more."""
        options, progress = self._options, self.progress
        if self._has_stopped_rising():
            return f"the score has not risen for {options.patience} passes"
        limit = f"the {options.epochs} passes (--epochs) are done"
        if self._is_out_of_time():
            limit = f"the time is over (--minutes {options.minutes:g})"
        if progress.best_epoch < progress.epoch or not 0 < progress.best < 1:
            return limit
        return f"{limit}, and the score still rose in the last pass: --from {options.out} --out {options.out}-2 goes on"

    def _step(self, rows: TrainingBatch, share: float) -> Tensor:
        for group in self._optimizer.param_groups:
            group["lr"] = group["peak"] * share
        reduced = self._dtype is not torch.float32
        with torch.autocast(self._model.device.type, dtype=self._dtype, enabled=reduced):
            logits = self._model(**rows.inputs).logits
        loss = masked_loss(logits, rows.tags, rows.open_tags)
        self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        self._scaler.unscale_(self._optimizer)
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), LARGEST_GRADIENT)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad(set_to_none=True)
        return loss.detach().cpu()

    def _end_pass(self, loss: float, score: float | None) -> None:
        self.progress.epoch, self.progress.batch = self.progress.epoch + 1, 0
        told = "" if score is None else f", F1 on the groups left out {score:.3f}"
        log.info("pass %d of %d: %.0f s, loss %.4f%s", self.progress.epoch, self._options.epochs, self.progress.seconds,
                 loss, told)  # fmt: skip
        if score is not None and score > self.progress.best:
            self.progress.best, self.progress.best_epoch = score, self.progress.epoch
            self._best = {name: weight.detach().cpu().clone() for name, weight in self._model.state_dict().items()}
        self.save()


def rate_share(elapsed_share: float) -> float:
    """Compute the share of the highest learning rate: linear up over WARMUP_SHARE, then a cosine to FLOOR_SHARE."""
    if elapsed_share < WARMUP_SHARE:
        return (elapsed_share + 0.002) / (WARMUP_SHARE + 0.002)
    falling = (elapsed_share - WARMUP_SHARE) / (1 - WARMUP_SHARE)
    return FLOOR_SHARE + (1 - FLOOR_SHARE) * 0.5 * (1 + math.cos(math.pi * min(1.0, falling)))

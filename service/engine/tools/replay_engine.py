"""`python -m service.engine.tools.replay_engine [MS]`: an engine whose device repeats its earlier answers.

It does so at once, or after MS milliseconds a batch, like a GPU whose kernels must be launched.

In all else it is the engine. The model computes each sequence once; from then on its scores are looked up. So the
remaining processor time of a document is the host's, with real entities in real texts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from threading import Lock

from service.core.arrays import Logits, TokenIds, ids_in
from service.engine.__main__ import main
from service.engine.execution.encoder_wrappers import Encoder
from service.engine.models.factory import ModelFactory
from service.process import exit_now


class RememberingEncoder:
    """Encoder that computes each sequence once. Blank ones are always computed: warm-up and profiling measure them."""

    def __init__(self, encoder: Encoder, batch_seconds: float) -> None:
        self._encoder = encoder
        self._batch_seconds = batch_seconds
        self._device = Lock()
        self._remembered: dict[bytes, Logits] = {}

    def forward(self, sequences: Sequence[TokenIds]) -> list[Logits]:
        """Compute or look up the encoder's logits."""
        keys = [tokens.tobytes() for tokens in sequences]
        missing = [index for index, key in enumerate(keys) if key not in self._remembered]
        if not missing:
            with self._device:
                time.sleep(self._batch_seconds)
            return [self._remembered[key] for key in keys]
        found = dict(zip(missing, self._encoder.forward([sequences[index] for index in missing]), strict=True))
        written = [index for index in missing if ids_in(sequences[index]).any()]
        self._remembered.update({keys[index]: found[index].copy() for index in written})
        return [found[index] if index in found else self._remembered[key] for index, key in enumerate(keys)]


class RememberingFactory(ModelFactory):
    """Makes models that compute each sequence once."""

    def _throttled(self, encoder: Encoder) -> Encoder:
        milliseconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
        return RememberingEncoder(super()._throttled(encoder), milliseconds / 1000)


if __name__ == "__main__":
    exit_now(main(RememberingFactory))

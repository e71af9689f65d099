"""Training in several processes that `torchrun` started: each takes batches of its own, gradients are averaged.

Threads of one process wait for each other at every operator, processes once a step: on cores that others use too, two
processes of one thread did more than one of two.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import distributed
from torch.nn import Parameter


@dataclass(frozen=True, slots=True)
class Peers:
    """This process's number, and how many there are; (0, 1) when it is alone."""

    rank: int = 0
    count: int = 1

    @classmethod
    def joined(cls) -> "Peers":
        """The others of the same start, once all are there."""
        if not distributed.is_torchelastic_launched():
            return cls()
        distributed.init_process_group("gloo")
        return cls(distributed.get_rank(), distributed.get_world_size())

    def agreed(self, value: float) -> float:
        """The first process's value."""
        if self.count == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64)
        distributed.broadcast(shared, src=0)
        return float(shared)

    def average_gradients(self, parameters: Iterable[Parameter]) -> None:
        """Replace each gradient by the mean of all processes'."""
        if self.count == 1:
            return
        gradients = [each.grad for each in parameters if each.grad is not None]
        together = torch.cat([each.reshape(-1) for each in gradients])
        distributed.all_reduce(together)
        together /= self.count
        for each, part in zip(gradients, together.split([each.numel() for each in gradients]), strict=True):
            each.copy_(part.view_as(each))

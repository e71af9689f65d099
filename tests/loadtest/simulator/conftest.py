"""Smaller tables of latencies than those of a simulation that somebody reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from loadtest.simulator import single_task


@pytest.fixture(autouse=True, scope="package")
def _fewer_documents_fill_a_table() -> Iterator[None]:
    """A table takes seconds else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_task, "SAMPLED", 300)
        patch.setattr(single_task, "OVERLOADED", 1_500)
        yield

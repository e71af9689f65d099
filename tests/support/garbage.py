"""Garbage in circles, left where it lies: what is freed all the same was held by nobody."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected until the context ends."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

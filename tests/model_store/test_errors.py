"""The error tree in the module docstring is the real one."""

from __future__ import annotations

import re

from model_store import errors
from model_store.errors import StoreError


def below(root: type[StoreError]) -> set[str]:
    return {root.__name__}.union(*(below(child) for child in root.__subclasses__()))


def test_every_error_is_in_the_drawing() -> None:
    assert errors.__doc__ is not None
    drawn = set(re.findall(r"(?:──|^    )\s?([A-Z]\w+)", errors.__doc__, re.MULTILINE))
    assert drawn == below(StoreError)

"""Tests that are scenes: coroutines and generators, which something runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

Scene = Callable[..., Any]
"""A test's coroutine or generator: its first argument is the world it plays in, the others are the test's own."""


def as_test(scene: Scene, run: Callable[..., object], *fixtures: str) -> Callable[..., None]:
    """A test that calls `run` with these fixtures and the scene's own arguments, all by name."""

    def test(**arguments: Any) -> None:
        run(**arguments)

    own = [each for each in list(inspect.signature(scene).parameters.values())[1:] if each.name not in fixtures]
    wanted = [*(Parameter(name, Parameter.KEYWORD_ONLY) for name in fixtures), *own]
    parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in wanted]
    test.__name__, test.__qualname__, test.__doc__ = scene.__name__, scene.__qualname__, scene.__doc__
    test.__module__ = scene.__module__
    test.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return test

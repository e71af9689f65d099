"""The models that the benchmarks serve, made and published once for each run."""

from __future__ import annotations

from pathlib import Path

from loadtest.bench.fixtures import publish, run_module


def published(home: Path, shape: str) -> Path:
    """The folder of a random model of this shape, which is also in the store `home`/store under that name."""
    folder = home / shape
    if not folder.exists():
        run_module("loadtest.bench.random_models", shape, str(folder))
        publish(folder, shape, home / "store")
    return folder

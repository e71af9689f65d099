"""The model that a platform puts into the container's file system, as SageMaker does before it runs `serve`."""

from __future__ import annotations

from pathlib import Path

from model_store.local.store import Store
from model_store.transfer.publish import publish
from service.settings import Settings

FOLDER = Path("/opt/ml/model")
"""Where SageMaker unpacks `model.tar.gz`."""
NAME = "model"


def take_in(folder: Path, settings: Settings) -> str | None:
    """The name under which a Hugging Face folder was published into the store.

    None where there is no such folder, or the settings say what is served. Raises StoreError for a folder that is bad.
    """
    if "models" in settings.model_fields_set or not (folder / "config.json").is_file():
        return None
    publish(folder, NAME, Store(settings.model_store))
    return NAME

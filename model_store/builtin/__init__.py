"""The model that ships with the service, and in `training` the code that made it.

Owns the path of the shipped folder; knows nothing of stores or serving.
"""

from pathlib import Path

NAME = "documents"


def model_folder() -> Path:
    """The folder of the shipped model, in Hugging Face layout."""
    return Path(__file__).parent / NAME

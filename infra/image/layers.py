"""Image layers: content and size of each, read from an engine's `history`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

CONTENTS = (
    (r"lists/torch/requirements", "torch and what it brings along"),
    (r"lists/libraries/requirements", "all other libraries"),
    (r"useradd", "the user, an empty environment"),
    (r"in /opt/gleaner\s*$|COPY /opt/gleaner /opt/gleaner", "our code and the built-in model"),
    (r"in /opt/models\s*$|COPY .* /opt/models", "baked models"),
    (r"lists", "lists of what is installed"),
)
FORMAT = "{{.Size}}\t{{.CreatedBy}}"
"""Format option of `docker history --no-trunc` and of podman's."""
UNITS = {"B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: what is in it, and its size on disk."""

    content: str
    size_bytes: int


def read_layers(history: str) -> tuple[Layer, ...]:
    """The layers with content, from the base up; steps that only set metadata are left out."""
    pairs = (line.split("\t", 1) for line in history.splitlines() if "\t" in line)
    layers = [Layer(_content(command), _bytes(size)) for size, command in pairs]
    return tuple(layer for layer in reversed(layers) if layer.size_bytes)


def table(layers: tuple[Layer, ...]) -> str:
    """The layers in Markdown, with the sum."""
    rows = [f"| {layer.content} | {layer.size_bytes / 1e6:,.1f} |" for layer in layers]
    total = sum(layer.size_bytes for layer in layers)
    return "\n".join(("| layer, from the base up | MB on disk |", "|---|---|", *rows, f"| sum | {total / 1e6:,.1f} |"))


def _content(command: str) -> str:
    return next((content for pattern, content in CONTENTS if re.search(pattern, command)), "the base image")


def _bytes(size: str) -> int:
    match = re.fullmatch(r"([\d.]+)\s*([kKMG]?B)", size.strip())
    assert match is not None, f"{size!r} is no size"
    return round(float(match[1]) * UNITS[match[2]])

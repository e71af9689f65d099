"""pip's requirements and constraints for the image's two layers of libraries: torch's, and all others.

Runs inside the build, with nothing but the standard library. Each layer's lists name only what is in it, so that a new
version of a small library does not rebuild torch's gigabytes.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

TORCH_NEEDS = (
    "filelock",
    "fsspec",
    "jinja2",
    "markupsafe",
    "mpmath",
    "networkx",
    "sympy",
    "torch",
    "typing-extensions",
)
"""torch and what it needs of constraints.txt."""
FOR_CPUS = ("openvino",)
"""Packages that compute models on CPUs alone, 180 MB: the image is for GPUs and leaves them out."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One pip call: its requirements, and the versions that it may choose."""

    requirements: tuple[str, ...]
    constraints: tuple[str, ...]


def normal(line: str) -> str:
    """The name in a requirement or a pin, as the package index spells it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s=<>!~;\[]", line.strip())[0]).lower()


def layers(dependencies: list[str], pins: list[str], torch_pins: list[str]) -> dict[str, Layer]:
    """The layers, in the order of installation, by name."""
    of_torch = (*(pin for pin in pins if normal(pin) in TORCH_NEEDS), *torch_pins)
    torch = tuple(each for each in dependencies if normal(each) == "torch")
    others = tuple(each for each in dependencies if normal(each) not in ("torch", *FOR_CPUS))
    return {"torch": Layer(torch, of_torch), "libraries": Layer(others, (*pins, *torch_pins))}


def read_pins(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def main(source: Path, target: Path, extras: Sequence[str] = ()) -> None:
    """Read the project's lists in one folder, write the layers' into another; `extras` are optional dependencies."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    dependencies = [*project["dependencies"], *chain(*(project["optional-dependencies"][each] for each in extras))]
    pins, torch_pins = (read_pins(source / f"{name}.txt") for name in ("constraints", "torch-constraints"))
    for name, layer in layers(dependencies, pins, torch_pins).items():
        (target / name).mkdir(parents=True)
        for what in ("requirements", "constraints"):
            (target / name / f"{what}.txt").write_text("\n".join(getattr(layer, what)) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])

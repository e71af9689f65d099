"""What the image's layers install: exact versions, torch's gigabytes apart from the rest."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from infra.image import lists
from infra.image.lists import TORCH_NEEDS, layers, normal, read_pins

ROOT = Path(__file__).parents[3]
PINS = read_pins(ROOT / "constraints.txt")
TORCH_PINS = read_pins(ROOT / "infra" / "image" / "torch-constraints.txt")


def dependencies() -> list[str]:
    found: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return found


def closure(names: set[str], without: frozenset[str] = frozenset()) -> set[str]:
    """Everything that these bring along, as installed here."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    while waiting:
        requirement = waiting.pop()
        name = normal(requirement.name)
        if name in found | without:
            continue
        found.add(name)
        for line in metadata.requires(name) or ():
            needed = Requirement(line)
            extras = requirement.extras or {""}
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return found


def test_one_layer_is_torch_and_the_other_all_the_rest() -> None:
    made = layers(["torch>=2", "rich"], ["rich==1", "torch==2.1", "sympy==3"], ["triton==4"])
    assert made["torch"].requirements == ("torch>=2",)
    assert made["torch"].constraints == ("torch==2.1", "sympy==3", "triton==4")
    assert made["libraries"].requirements == ("rich",)


def test_everything_that_torch_brings_along_is_pinned_for_its_layer() -> None:
    made = layers(dependencies(), PINS, TORCH_PINS)["torch"]
    assert closure({"torch"}) <= {normal(pin) for pin in made.constraints}
    assert set(TORCH_NEEDS) <= {normal(pin) for pin in made.constraints}


def test_everything_that_the_service_needs_is_pinned() -> None:
    made = layers(dependencies(), PINS, TORCH_PINS)["libraries"]
    needed = closure(set(dependencies()))
    assert {"torch", "httptools", "transformers"} <= needed
    assert needed <= {normal(pin) for pin in made.constraints}


def test_cudas_libraries_are_pinned() -> None:
    named = {normal(pin) for pin in TORCH_PINS}
    assert {"nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "triton", "setuptools"} <= named
    assert all("==" in pin for pin in TORCH_PINS)


def test_the_program_runs_with_nothing_but_the_standard_library(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "lists"
    source.mkdir()
    for path in (ROOT / "pyproject.toml", ROOT / "constraints.txt", ROOT / "infra" / "image" / "torch-constraints.txt"):
        (source / path.name).write_bytes(path.read_bytes())
    subprocess.run([sys.executable, "-I", "-S", str(lists.__file__), source, target], check=True)
    assert (target / "torch" / "requirements.txt").read_text().startswith("torch>=")
    assert "torch==2" in (target / "libraries" / "constraints.txt").read_text()
    assert "aiohttp>=" not in (target / "libraries" / "requirements.txt").read_text()
    lists.main(source, tmp_path / "more", ["loadtest"])
    assert "aiohttp>=" in (tmp_path / "more" / "libraries" / "requirements.txt").read_text()

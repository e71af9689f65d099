"""The wheel: the code that trained the built-in model is left out, and nothing that ships imports it."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).parents[3]
TOPS = ("service", "model_store", "infra", "loadtest")
TRAINING = "model_store.builtin.training"


def packages() -> set[str]:
    """Every package of the repository, dotted."""
    folders = (path.parent for top in TOPS for path in (ROOT / top).rglob("__init__.py"))
    return {".".join(folder.relative_to(ROOT).parts) for folder in folders}


def shipped() -> set[str]:
    """The packages of the wheel, by the rules of setuptools."""
    find = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]

    def matches(package: str, kind: str) -> bool:
        return any(fnmatchcase(package, pattern) for pattern in find[kind])

    return {package for package in packages() if matches(package, "include") and not matches(package, "exclude")}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_wheel_holds_the_product_without_the_training() -> None:
    left_out = packages() - shipped()
    assert TRAINING in left_out
    assert all(package.startswith((TRAINING, "infra", "loadtest")) for package in left_out)


def test_no_shipped_module_imports_the_training() -> None:
    for package in shipped():
        for path in (ROOT / package.replace(".", "/")).glob("*.py"):
            assert not any(module.startswith(TRAINING) for module in imported(path)), path

"""The packages' source as a tree: modules, their imports (also under TYPE_CHECKING), and circles between siblings."""

from __future__ import annotations

import ast
import fnmatch
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("service", "model_store", "infra", "loadtest")
CLIENT = ROOT / "service" / "client"
"""Has two names, `service.client` and `gleaner`, and so imports its own modules relatively."""

IMPORTING_CALLS = frozenset(("import_module", "__import__", "find_spec"))

Module = tuple[str, ...]
Graph = Mapping[str, Iterable[str]]


def sources(root: Path = ROOT) -> list[Path]:
    """Every Python file of the packages."""
    return sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))


def place(path: Path) -> str:
    """A file's path from the root of the repository."""
    return path.relative_to(ROOT).as_posix()


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Every module that a file names in an import; for `from a import b`, both `a` and `a.b`.

    Also by string: `import_module("a.b")`, and `a.*` for `import_module(f"a.{name}")`.
    """
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                assert (node.level, path.parent) == (1, CLIENT), f"{path}: relative imports hide the floor"
                module = f"service.client.{module}"
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and (name := _imported_by_call(node)):
            yield name


def _imported_by_call(call: ast.Call) -> str:
    """The module that a call imports by its name, with `*` for the part that is not constant; empty: none."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if called not in IMPORTING_CALLS or not call.args:
        return ""
    name = call.args[0]
    first = name.values[0] if isinstance(name, ast.JoinedStr) and name.values else name
    if not (isinstance(first, ast.Constant) and isinstance(first.value, str)):
        return ""
    return first.value if first is name else f"{first.value}*"


def module_of(path: Path, root: Path = ROOT) -> Module:
    """A file's dotted name as parts; that of a package for its __init__."""
    parts = path.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def import_edges(root: Path = ROOT) -> list[tuple[Module, Module]]:
    """(importer, imported) for every import between modules of the packages."""
    modules = {".".join(module_of(path, root)): path for path in sources(root)}
    edges = []
    for importer, path in modules.items():
        names = {each for name in imports(path) for each in (fnmatch.filter(modules, name) if "*" in name else (name,))}
        found = [name for name in names if name in modules and name != importer and modules[name].name != "__init__.py"]
        edges += [(tuple(importer.split(".")), tuple(name.split("."))) for name in found]
    return edges


def sibling_graphs(edges: Iterable[tuple[Module, Module]]) -> dict[Module, dict[str, set[str]]]:
    """For every folder: which of its files and folders imports which, by the edges between what is in them."""
    graphs: dict[Module, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for importer, imported in edges:
        common = 0
        while importer[common : common + 1] == imported[common : common + 1] != ():
            common += 1
        if common and len(importer) > common and len(imported) > common:
            graphs[importer[:common]][importer[common]].add(imported[common])
    return graphs


def circle(graph: Graph) -> list[str] | None:
    """One circle of a graph, as the names along it; None if there is none."""
    done: set[str] = set()
    for start in graph:
        found = _walk(graph, start, [], done)
        if found is not None:
            return found
    return None


def _walk(graph: Graph, name: str, way: list[str], done: set[str]) -> list[str] | None:
    if name in way:
        return [*way[way.index(name) :], name]
    if name in done:
        return None
    for after in sorted(graph.get(name, ())):
        found = _walk(graph, after, [*way, name], done)
        if found is not None:
            return found
    done.add(name)
    return None

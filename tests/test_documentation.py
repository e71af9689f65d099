"""What the documents say of the code is so."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from functools import cache
from mimetypes import guess_extension
from pathlib import Path

from service.api.options import ExtractOptions, Options, option_names
from service.api.problems import STATUS
from service.api.redaction.schemas import RedactOptions
from service.core.decoding.value import ValueKind
from service.core.errors import BY_CODE
from service.core.fields.contract import CONTRACT_ROLES
from service.core.fields.resume import PERSON_ROLES
from service.core.fields.roles import ROLES
from service.environment import PREFIX
from service.settings import Settings
from tests.documentation import ROOT, SETTINGS, settings_document
from tests.support.source_tree import PACKAGES, place, sources

CODE = re.compile(r"^```\w*\n(.*?)^```|(?<!`)`([^`\n]+)`(?!`)", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
API = (ROOT / "service" / "API.md").read_text()
CELL = re.compile(r"`(\w+)`")
FILE = re.compile(r"`([a-z_]+(?:/[a-z_]+)+(?:\.(?:py|md))?)`")
"""A back-quoted path, as of a file or folder of the tree."""
MAP_DEPTHS = {"service": 2, "model_store": 1, "infra": 1, "loadtest": 1}
"""Package → how many levels of folders below it have a row in the map; deeper ones belong to the row above them."""


def test_the_document_of_settings_is_that_of_the_code() -> None:
    assert SETTINGS.read_text() == settings_document(), "run `make docs`"


def documents() -> list[Path]:
    folders = [ROOT / folder for folder in (*PACKAGES, "tests")]
    found = [*ROOT.glob("*.md"), *(path for folder in folders for path in folder.rglob("*.md"))]
    return [path for path in found if "node_modules" not in path.parts]


def named(pattern: str, *left_out: str) -> dict[str, set[str]]:
    """What the pattern finds in the code of all documents but those, each with the documents that name it."""
    found: dict[str, set[str]] = {}
    for path in documents():
        if path.name not in left_out:
            code = "\n".join(filter(None, itertools.chain(*CODE.findall(path.read_text()))))
            for name in re.findall(pattern, code, re.MULTILINE):
                found.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return found


def test_relative_links_of_every_document_lead_to_files() -> None:
    links = [(path, target) for path in documents() for target in LINK.findall(path.read_text())]
    assert links, "links are not found any more"
    broken = [f"{path.relative_to(ROOT)} → {target}" for path, target in links if not (path.parent / target).exists()]
    assert not broken


def test_every_make_target_that_a_document_names_exists() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    wanted = named(r"(?:^|&& )make ([a-z]+(?:-[a-z]+)*)")
    assert wanted, "targets are not found any more"
    assert {name: where for name, where in wanted.items() if name not in targets} == {}


def test_every_setting_that_a_document_names_exists() -> None:
    settings = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    wanted = named(rf"{PREFIX}[A-Z_]*[A-Z]", "CHANGELOG.md")
    assert {name: where for name, where in wanted.items() if name not in settings} == {}


def test_the_map_has_each_folder_with_modules_once() -> None:
    folders = [path.relative_to(ROOT).parent.parts for path in sources()]
    rows = {"/".join(parts[: MAP_DEPTHS[parts[0]] + 1]) for parts in folders if parts[:1] and parts[0] in MAP_DEPTHS}
    text = ARCHITECTURE.read_text().partition("## Map")[2].partition("## Words")[0]
    mapped: Counter[str] = Counter()
    for package in text.split("### ")[1:]:
        name = package.split()[0]
        for row in re.findall(r"^\| `([^`]+)` \|", package, re.MULTILINE):
            mapped[name if row == "." else f"{name}/{row}"] += 1
    assert mapped == Counter(rows)


def test_each_file_that_the_architecture_or_the_guide_names_exists() -> None:
    text = ARCHITECTURE.read_text().partition("## Map")[0] + (ROOT / "CONTRIBUTING.md").read_text()
    names = [name for name in re.findall(r"`([a-z_/]+(?:\.\w+)?)`", text) if "/" in name.strip("/")]
    assert names, "names are not found any more"
    assert [name for name in names if not any((folder / name).exists() for folder in (ROOT, ROOT / "service"))] == []


def python_files() -> list[Path]:
    return [*sources(), *(ROOT / "tests").rglob("*.py")]


@cache
def docstrings(path: Path) -> list[str]:
    """The docstrings of a file, those of constants too."""
    nodes = (node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Expr))
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_no_docstring_begins_with_of() -> None:
    """A constant's begins with a noun and its unit, a method's with a verb."""
    texts = ((path, text) for path in python_files() for text in docstrings(path))
    assert [f"{place(path)}: {text[:50]}" for path, text in texts if text.startswith("Of ")] == []


def test_each_path_that_a_docstring_or_document_names_exists() -> None:
    """A path may leave out the first folders and `.py`; one whose first folder is none of ours is somebody else's."""
    tree = [path for folder in (*PACKAGES, "tests") for path in (ROOT / folder).rglob("*")]
    known = {place(path.with_suffix("") if path.suffix == ".py" else path) for path in tree}
    ends = {"/".join(parts[start:]) for parts in (name.split("/") for name in known) for start in range(len(parts))}
    folders = {path.name for path in tree if path.is_dir()} | {*PACKAGES, "tests"}
    texts = [(path, text) for path in python_files() for text in docstrings(path)]
    texts += [(path, path.read_text()) for path in documents()]
    named = {(place(path), name) for path, text in texts for name in FILE.findall(text)}
    ours = [(where, name) for where, name in named if name.split("/")[0] in folders and not guess_extension(name)]
    assert ours, "paths are not found any more"
    assert [(where, name) for where, name in ours if name.removesuffix(".py") not in ends] == []


def test_every_error_code_is_in_the_api_page_with_its_status() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d{3}) \| [^|]+ \|$", API, re.MULTILINE)
    assert {code: int(status) for code, status in rows} == {code: STATUS[code] for code in BY_CODE}
    assert len(rows) == len(BY_CODE)


def test_every_option_and_kind_of_value_is_in_the_api_page() -> None:
    def first_cells(start: str, end: str) -> list[str]:
        part = API.partition(start)[2].partition(end)[0]
        return [name for cell in re.findall(r"^\| (`[^|]+`) \|", part, re.MULTILINE) for name in CELL.findall(cell)]

    extraction, redaction = first_cells("| option |", "## Answer"), first_cells("## Redaction", "## Errors")
    assert Counter(extraction) == Counter(option_names(ExtractOptions))
    assert Counter(redaction) == Counter(set(option_names(RedactOptions)) - Options.model_fields.keys())
    assert Counter(first_cells("| `kind` | `value` |", "### Fields")) == Counter(kind.value for kind in ValueKind)


def test_every_role_is_in_the_api_page_with_its_kind() -> None:
    table = API.partition("| role | kind |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`[^|]+`) \| ([\w, ]+) \| [^|]+ \|$", table, re.MULTILINE)
    shown: dict[str, str] = {}
    for cell, kinds in rows:
        names, of_names = CELL.findall(cell), kinds.split(", ")
        shown |= dict(zip(names, of_names if len(of_names) > 1 else of_names * len(names), strict=True))
    assert {name: kind for name, kind in shown.items() if name not in (*PERSON_ROLES, *CONTRACT_ROLES)} == {
        role.label.lower(): role.kind.value for role in ROLES
    }
    assert shown.keys() >= {*PERSON_ROLES, *CONTRACT_ROLES}


def test_every_test_that_the_security_page_names_exists() -> None:
    rows = re.findall(r"^\| [^|]+ \| `([\w/]+\.py)::(\w+)`(.*) \|$", (ROOT / "SECURITY.md").read_text(), re.MULTILINE)
    assert rows, "tests are not found any more"
    wanted = [(file, name) for file, first, more in rows for name in (first, *re.findall(r"`::(\w+)`", more))]
    missing = [f"{file}::{name}" for file, name in wanted if f"def {name}(" not in (ROOT / "tests" / file).read_text()]
    assert not missing

"""Console: who may see it, and what its page may load."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import pypdfium2
import pypdfium2.raw as raw
import pytest

from service.api.console.console import (
    CONTENT_SECURITY_POLICY,
    MEDIA_TYPES,
    PAGE,
    ConsoleAccessPolicy,
    PageFiles,
)
from service.core.errors import Unauthenticated, UnknownRoute
from tests.support.console_documents import SAMPLES
from tests.support.document_files import drawn


def test_on_a_loopback_address_without_keys_the_console_is_open() -> None:
    ConsoleAccessPolicy("auto", keyed=False, address="127.0.0.1").check()


@pytest.mark.parametrize("address", ["0.0.0.0", "10.1.2.3", "::", "host.example"])
def test_where_others_can_reach_it_a_console_without_keys_is_closed(address: str) -> None:
    with pytest.raises(Unauthenticated, match="GLEANER_CONSOLE=on"):
        ConsoleAccessPolicy("auto", keyed=False, address=address).check()


@pytest.mark.parametrize(("mode", "keyed"), [("auto", True), ("on", True), ("on", False)])
def test_with_keys_the_key_decides_and_with_on_nothing_does(mode: Literal["auto", "on"], keyed: bool) -> None:
    ConsoleAccessPolicy(mode, keyed=keyed, address="0.0.0.0").check()


FILES = PageFiles()
STATIC = SAMPLES.parent / "static"


def text(name: str) -> str:
    return (STATIC / name).read_text()


def modules() -> list[str]:
    return [path.name for path in STATIC.glob("*.js")]


def test_the_page_has_no_inline_script_style_or_handler() -> None:
    page = text(PAGE)
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))


@pytest.mark.parametrize("name", [path.name for path in STATIC.iterdir()])
def test_no_file_names_another_host_or_makes_markup_of_text(name: str) -> None:
    content = text(name).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|@import|\burl\(", content)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", content)


def test_everything_that_is_named_is_there() -> None:
    named = set(re.findall(r"/console/files/([\w./]+)", text(PAGE)))
    named |= {name for module in modules() for name in re.findall(r"\"\./(\w+\.js)\"", text(module))}
    named |= {f"samples/{name}" for name in re.findall(r"\[\"(\w+\.\w+)\", \"", text("source.js"))}
    assert len(named) > 15
    assert named <= set(FILES.names)
    assert {name for name in FILES.names if name.endswith(".js")} <= named


def test_a_file_has_its_type_and_policy_and_is_sent_again_if_changed() -> None:
    answer = FILES.response("app.js")
    assert answer.headers["content-type"] == MEDIA_TYPES[".js"]
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert FILES.response("app.js", answer.headers["etag"]).status_code == 304


@pytest.mark.parametrize("name", ["", "none.js", "../page_files.py", "../../../settings.py", "samples/../index.html"])
def test_nothing_else_is_served(name: str) -> None:
    with pytest.raises(UnknownRoute):
        FILES.response(name)


PAPERS = [*SAMPLES.glob("*.pdf"), *(SAMPLES.parents[3] / "loadtest" / "samples").glob("*.pdf")]


def overprinted(data: bytes) -> list[tuple[int, int]]:
    """Pairs of the first page's texts, by number, of which one stands on the other by more than half a point."""
    document = pypdfium2.PdfDocument(data)
    frames = [each.get_bounds() for each in document[0].get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT])]
    document.close()
    return [
        (one, other)
        for (one, a), (other, b) in combinations(enumerate(frames), 2)
        if min(a[2], b[2]) - max(a[0], b[0]) > 0.5 and min(a[3], b[3]) - max(a[1], b[1]) > 0.5
    ]


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_no_line_of_a_sample_is_printed_over_another(path: Path) -> None:
    assert overprinted(path.read_bytes()) == []


@pytest.mark.parametrize(("top", "pairs"), [(742.0, [(0, 1)]), (715.0, [])])
def test_a_line_that_is_printed_over_another_is_seen(top: float, pairs: list[tuple[int, int]]) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 748, "VAT ID: DE136695976    Phone: +49 89 2154 7730    billing@northwind.example")
        canvas.drawString(400, top, "Invoice No: NO-1")

    assert overprinted(drawn(draw)) == pairs

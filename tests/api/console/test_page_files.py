"""The console's files: nothing inline, nothing from elsewhere, everything that is named is there."""

from __future__ import annotations

import re

import pytest

from service.api.console.console import CONTENT_SECURITY_POLICY, MEDIA_TYPES, PAGE, PageFiles
from service.core.errors import UnknownRoute
from tests.support.console_documents import SAMPLES, samples

FILES = PageFiles()
STATIC = SAMPLES.parent / "static"
MOST_BYTES = 120_000


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


def test_the_samples_are_those_of_their_generator() -> None:
    assert {path.name: path.read_bytes() for path in SAMPLES.iterdir()} == samples()


def test_a_file_comes_with_its_type_and_policy_and_again_only_if_it_changed() -> None:
    answer = FILES.response("app.js")
    assert answer.headers["content-type"] == MEDIA_TYPES[".js"]
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert FILES.response("app.js", answer.headers["etag"]).status_code == 304


@pytest.mark.parametrize("name", ["", "none.js", "../page_files.py", "../../../settings.py", "samples/../index.html"])
def test_nothing_else_is_served(name: str) -> None:
    with pytest.raises(UnknownRoute):
        FILES.response(name)


def test_the_page_is_small() -> None:
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < MOST_BYTES

"""Steps in the console's page that its tests and its pictures take."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import FilePayload, Page

DONE = "#copy:not([disabled])"
"""A document's answer is shown."""

ENTITIES = ".side > .choice button >> nth=1"
"""The button that turns from the fields to the entities."""


def drop(page: Page, name: str, data: bytes) -> None:
    """Give the page a file."""
    page.set_input_files("input[type=file]", files=[FilePayload(name=name, mimeType="", buffer=data)])


def sample(page: Page, name: str) -> dict[str, Any]:
    """Open a sample and wait for all of it; returns its answer."""
    with page.expect_response(re.compile("/extract")) as answer:
        page.click(f'#view-document [data-sample="{name}"]')
    page.wait_for_selector(DONE)
    page.wait_for_selector(".sheet img, mark")
    found: dict[str, Any] = answer.value.json()["documents"][0]
    return found


def entities(page: Page, name: str) -> dict[str, Any]:
    """Open a sample and turn to the list of its entities; returns its answer."""
    found = sample(page, name)
    if found["fields"]:
        page.click(ENTITIES)
    page.wait_for_selector(".entity")
    return found


def numbers(page: Page, selector: str) -> set[int]:
    """The entities that elements stand for."""
    found: list[str] = page.eval_on_selector_all(selector, "nodes => nodes.map(node => node.dataset.entity)")
    return set(map(int, found))

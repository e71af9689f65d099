"""What the documents say of the code is so."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest

from tests.documentation import ROOT, SETTINGS, settings_document, table_in
from tests.support.decision_records import FOLDERS, HEAD, HEADINGS, index_table, read_record, read_records
from tests.support.source_tree import place, sources

LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
RECORD = """# 007 A title

2026-11-22 · superseded by [008](../../infra/decisions/008-other.md)

One sentence.

## Context

a

## Decision

b

## Consequences

## Measured by

c
"""


def test_the_document_of_settings_is_that_of_the_code() -> None:
    assert SETTINGS.read_text() == settings_document(), "run `make docs`"


def test_relative_links_of_every_document_lead_to_files() -> None:
    documents = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))]
    links = [(path, target) for path in documents for target in LINK.findall(path.read_text())]
    assert len(links) > 100, "links are not found any more"
    broken = [f"{path.relative_to(ROOT)} → {target}" for path, target in links if not (path.parent / target).exists()]
    assert not broken


def test_every_decision_record_stands_in_the_index_as_it_says() -> None:
    assert table_in("DECISIONS.md", HEAD) == index_table(read_records(ROOT)), "run `make docs`"


def test_decision_records_have_their_parts_and_a_number_of_their_own() -> None:
    records = read_records(ROOT)
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    for record in records:
        assert record.headings == HEADINGS, record.path
        assert re.fullmatch(rf"{record.number:03d}-[a-z0-9-]+\.md", record.path.rpartition("/")[2]), record.path
        assert record.successor is None or record.number < record.successor <= len(records), record.path
    assert all(earlier.date <= later.date for earlier, later in pairwise(records))


def test_a_decision_record_of_another_form_is_refused() -> None:
    record = read_record("service/core/decisions/007-a.md", RECORD)
    assert (record.number, record.successor, record.headings) == (7, 8, ("Context", "Decision", "Measured by"))
    assert "superseded by [008](service/infra/decisions/008-other.md) | A title |" in index_table([record])
    for spoilt in (("superseded by", "replaced by"), ("2026-11-22", "yesterday"), ("One sentence.\n\n", "")):
        with pytest.raises(ValueError, match="007-a"):
            read_record("service/core/decisions/007-a.md", RECORD.replace(*spoilt))


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for name in re.findall(r"\bmake ([a-z]+)\b", (ROOT / "README.md").read_text()):
        assert name in targets, name


MAP_ROW = re.compile(r"^\| `([\w/]+)` \| ([^|]+) \| `([\w./]+)` \|$", re.MULTILINE)
MAPS = ("ARCHITECTURE.md", "loadtest/README.md", "infra/README.md", "model_store/README.md")
MOST_BYTES = {"ARCHITECTURE.md": 12 * 1024, "README.md": 12 * 1024}


def test_the_maps_name_every_folder_once_with_a_file_that_is_there() -> None:
    rows = [row for document in MAPS for row in MAP_ROW.findall((ROOT / document).read_text())]
    assert Counter(folder for folder, _, _ in rows) == Counter({place(path.parent) for path in sources()})
    for folder, rule, first in rows:
        assert rule.strip()
        assert (ROOT / folder / first).is_file(), f"{folder}/{first}"


@pytest.mark.parametrize("document", MOST_BYTES)
def test_what_everybody_reads_is_short(document: str) -> None:
    assert len((ROOT / document).read_bytes()) <= MOST_BYTES[document]


def test_every_test_that_is_named_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (ROOT / "BENCHMARKS.md").read_text())
    assert len(named) > 50
    for file, test in named:
        assert re.search(rf"^def {test}\(", (ROOT / file).read_text(), re.MULTILINE), f"{file}::{test}"


def test_every_finding_on_the_fleet_has_a_test_or_a_record_that_says_why_not() -> None:
    _, _, table = (ROOT / "BENCHMARKS.md").read_text().partition("### Findings on the fleet and their tests")
    rows = re.findall(r"^\| ([BL]\d+) \| .+ \| ([^|]+) \|$", table.partition("\n## ")[0], re.MULTILINE)
    assert [name for name, _ in rows] == [*(f"B{n}" for n in range(1, 21)), *(f"L{n}" for n in range(1, 18))]
    for name, shown in rows:
        assert "::test_" in shown or "infra/decisions/" in shown, name
    spoilt = (ROOT / "tests/infra/stacks/test_operation_rules.py").read_text()
    for name, shown in rows:
        assert ("test_operation_rules" in shown) == (f'"{name}: ' in spoilt), f"{name} and the templates spoilt for it"

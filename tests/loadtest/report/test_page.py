"""The report's page: its findings, charts and numbers, alone and in a real browser in both themes."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from loadtest.report.page import page
from loadtest.report.plots import plots
from tests.support.load_result import made_result

CHROMIUM = shutil.which("chromium") or "chromium"
QUIET = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
).split()
THEMES = {"light": 1, "dark": 0}
EXPECTED = {
    "latency-by-rate", "throughput-by-rate", "latency", "flow", "percentiles", "stages", "refusals",
    "queue", "backlog", "device", "memory", "gpu-memory", "files", "generator",
}  # fmt: skip
SERVICE = {"queue", "backlog", "device", "memory", "gpu-memory", "files"}
MOST_BYTES = 1_500_000
PROBE = """<script>
window.onerror = (message) => { document.body.dataset.error = message; };
const light = (colour) => {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
  const linear = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};
const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
const report = [];
for (const svg of document.querySelectorAll("svg")) {
  const box = svg.getBoundingClientRect(), figure = svg.closest("figure");
  const move = new MouseEvent("mousemove", {clientX: box.left + box.width / 2, clientY: box.top + 150});
  svg.dispatchEvent(move);
  const tip = figure.querySelector(".tip");
  const ground = getComputedStyle(svg.closest(".card")).backgroundColor;
  const words = [...svg.querySelectorAll("text")];
  const worst = Math.min(...words.map((t) => contrast(getComputedStyle(t).fill, ground)));
  const outside = words.filter((t) => {
    const b = t.getBoundingClientRect();
    return b.left < box.left - 2 || b.right > box.right + 2 || b.top < box.top - 2 || b.bottom > box.bottom + 2;
  }).length;
  report.push([svg.id, tip ? tip.children.length : 0, worst.toFixed(2), outside].join(";"));
}
document.body.dataset.report = report.join("\\n");
</script></body>"""
"""Moves the mouse over each chart, and compares colours of text with the colour behind it."""


class Outline(HTMLParser):
    """Ids of images, headings, and the number of tables of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.images: dict[str, str] = {}
        self.tables = 0
        self.sources: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "svg":
            self.images[str(found["id"])] = str(found["aria-label"])
        self.tables += tag == "table"
        self.sources += [value for name, value in attrs if name in ("src", "href") and value]


@pytest.fixture(scope="module")
def html() -> str:
    return page(made_result())


def test_every_chart_is_drawn_with_a_label_and_a_table_of_its_numbers(html: str) -> None:
    outline = Outline(html)
    assert outline.images == {chart.key: f"{chart.title}. {chart.caption}" for chart in plots(made_result())}
    assert outline.tables == 1 + len(EXPECTED)


def test_a_chart_without_data_is_left_out_and_named() -> None:
    html = page(made_result(metrics=False))
    assert set(Outline(html).images) == EXPECTED - SERVICE
    assert "nothing to show: Queue depth; Backlog; Device and processor; Memory" in html


def test_the_page_is_small_and_loads_nothing_from_anywhere(html: str) -> None:
    assert len(html.encode()) < MOST_BYTES
    assert Outline(html).sources == []
    assert not re.search(r"@import|url\((?!#)", html)


@pytest.mark.parametrize("source", ["given", "measured first"])
def test_the_source_of_the_capacity_is_said(source: str) -> None:
    result = made_result()
    summary = msgspec.structs.replace(result.summary, capacity_rps=60.0, capacity_source=source)
    assert f"capacity {source}: 60.0 documents a second" in page(replace(result, summary=summary))


def test_findings_stand_on_top(html: str) -> None:
    top = html[: html.index("<svg")]
    for finding in made_result().summary.findings:
        assert f"<li>{finding}</li>" in top


@pytest.mark.second_tier  # chromium
@pytest.mark.parametrize("theme", THEMES)
def test_in_a_browser_text_is_legible_and_the_crosshair_has_numbers(html: str, theme: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(html.replace("</body>", PROBE))
    flags = [f"--user-data-dir={tmp_path}/profile", f"--blink-settings=preferredColorScheme={THEMES[theme]}"]
    command = [CHROMIUM, *QUIET, *flags, "--window-size=1100,1400", "--dump-dom", file.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    assert 'data-ready="yes"' in shown
    assert "data-error" not in shown
    found = re.search(r'data-report="([^"]*)"', shown)
    assert found is not None
    seen = {line.split(";")[0]: line.split(";")[1:] for line in found[1].split("\n")}
    assert set(seen) == EXPECTED
    for key, (tips, contrast, outside) in seen.items():
        assert key == "stages" or int(tips) >= 2, f"{key}: the crosshair has no numbers"
        assert float(contrast) >= 3.0, f"{key}: a text has a contrast of {contrast}"
        assert int(outside) == 0, f"{key}: a text leaves the chart"

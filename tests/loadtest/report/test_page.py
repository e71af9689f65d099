"""The report is whole: every plot has data, titles, units and a legend; a real browser shows it without a word."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from loadtest.report.chart import Bars, Chart
from loadtest.report.page import page
from loadtest.report.plots import plots
from tests.support.load_result import made_result

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
).split()
EXPECTED = {
    "latency-by-rate", "throughput-by-rate", "latency", "flow", "percentiles", "stages", "refusals",
    "queue", "backlog", "device", "memory", "gpu-memory", "files", "generator",
}  # fmt: skip


def svgs(html: str) -> dict[str, ElementTree.Element]:
    found = [ElementTree.fromstring(each) for each in re.findall(r"<svg.*?</svg>", html, re.DOTALL)]
    return {each.attrib["id"]: each for each in found}


def test_every_plot_has_data_titles_units_and_a_legend() -> None:
    charts = plots(made_result())
    assert {chart.key for chart in charts} == EXPECTED
    drawn = svgs(page(made_result()))
    assert set(drawn) == EXPECTED
    for chart in charts:
        assert chart.has_data, chart.key
        assert chart.title
        assert chart.caption.endswith(".")
        assert chart.x_label
        words = [text.text for text in drawn[chart.key].iter("text")]
        if isinstance(chart, Chart):
            assert chart.y_label in words
            lines = [
                each.attrib["d"] for each in drawn[chart.key].iter("path") if "line" in each.attrib["class"].split()
            ]
            assert len(lines) == sum(bool(series.points) for series in chart.series)
            assert max(line.count("L") for line in lines) >= 2, f"{chart.key}: no line has three points"
            assert all(series.name in words for series in chart.series if series.points)
        else:
            assert all(name in words for name, _, _ in chart.parts)
        assert chart.x_label in words
        assert len({word for word in words if word and word[0].isdigit()}) >= 3, f"{chart.key}: an axis without numbers"


def test_every_line_stays_inside_its_plot() -> None:
    for key, svg in svgs(page(made_result())).items():
        height = float(svg.attrib["viewBox"].split()[3])
        for line in svg.iter("path"):
            for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", line.attrib["d"]):
                assert 0 <= float(x) <= 920, key
                assert 0 <= float(y) <= height, key


def test_what_was_not_seen_is_left_out_and_named() -> None:
    result = made_result(metrics=False)
    html = page(result)
    assert set(svgs(html)) == EXPECTED - {"queue", "backlog", "device", "memory", "gpu-memory", "files"}
    assert "Left out, because there was nothing to show: Queue depth; Backlog; Device and processor; Memory" in html


def test_the_page_loads_nothing_from_anywhere() -> None:
    html = page(made_result())
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", html)
    assert "@import" not in html
    assert "url(" not in html


def test_findings_stand_on_top_with_their_figures() -> None:
    html = page(made_result())
    top = html[: html.index("<svg")]
    assert "A p99 of 500 ms holds up to" in top
    assert "every one typed and with Retry-After" in top
    assert "No request failed." in top


def test_names_from_outside_cannot_break_the_page() -> None:
    charts = [Bars("k", "<b>", "c.", "x", ("</script>",), (("<i>", "blue", (1.0,)),))]
    from loadtest.report.svg import draw_bars

    assert "<i>" not in draw_bars(charts[0])
    assert "</script>" not in draw_bars(charts[0])


@pytest.mark.skipif(
    not CHROMIUM.exists(), reason="Debian's chromium is not installed (`make test` as root installs it)"
)
def test_a_real_browser_shows_it_and_the_crosshair_has_numbers(tmp_path: Path) -> None:
    """The browser runs the page, we move its mouse over each plot, and take down what it says and where texts lie."""
    html = page(made_result())
    probe = """<script>
    window.onerror = (m) => { document.body.dataset.error = m; };
    const report = [];
    for (const svg of document.querySelectorAll("svg")) {
      const box = svg.getBoundingClientRect();
      const move = new MouseEvent("mousemove", {clientX: box.left + box.width / 2, clientY: box.top + 150});
      svg.dispatchEvent(move);
      const tip = svg.closest("figure").querySelector(".tip");
      const out = [...svg.querySelectorAll("text")].filter((t) => {
        const b = t.getBoundingClientRect();
        return b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1;
      }).map((t) => t.textContent);
      const legend = [...svg.querySelectorAll(".legend")].map((t) => t.getBoundingClientRect());
      const clash = legend.some((a, i) => legend.some((b, j) => i < j && a.top === b.top && b.left < a.right));
      report.push([svg.id, Math.round(box.width), tip ? tip.children.length : -1, out.join("|"), clash].join(";"));
    }
    document.body.dataset.report = report.join("\\n");
    </script></body>"""
    file = tmp_path / "report.html"
    file.write_text(html.replace("</body>", probe))
    command = [str(CHROMIUM), *QUIET, f"--user-data-dir={tmp_path}/profile", "--window-size=1100,1400", "--dump-dom"]
    shown = subprocess.run([*command, file.as_uri()], capture_output=True, text=True, timeout=120, check=True).stdout
    assert 'data-ready="yes"' in shown
    assert "data-error" not in shown
    found = re.search(r'data-report="([^"]*)"', shown)
    assert found is not None
    seen = {line.split(";")[0]: line.split(";")[1:] for line in found[1].split("\n")}
    assert set(seen) == EXPECTED
    for key, (width, tips, outside, clash) in seen.items():
        assert int(width) > 800, key
        assert outside == "", f"{key}: texts outside of the plot: {outside}"
        assert clash == "false", f"{key}: names in the legend overlap"
        assert key == "stages" or int(tips) >= 2, f"{key}: the crosshair says nothing"

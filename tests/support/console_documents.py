"""Documents for the console's tests and pictures: its own samples, a long report, scans, hostile HTML. All invented."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

SAMPLES = Path(__file__).parents[2] / "service" / "api" / "console" / "samples"
NAMES = ("Ada Lindqvist", "Jonas Moreau", "Mirela Petrov", "Ingrid Brandt", "Rafael Silva", "Yuki Tanaka", "Ann Lee")
FIRMS = ("Aldgate Partners Ltd", "Fjordline AS", "Cobalt Mining plc", "Sierra Foods SA", "Brunel Rail GmbH")
NOTE = ("DELIVERY NOTE", "", "Harbour & Finch Ltd", "27 Quay Street, Bristol", "", "Order PO-88123", "6 field lenses")
HOSTILE_HTML = """<html><head><script>window.harmed = 1</script></head><body>
<script>window.harmed = 2</script><img src=x onerror="window.harmed = 3">
<p>Invoice INV-20931 from &lt;img src=x onerror="window.harmed=4"&gt; Acme GmbH, due 12 March 2026.</p>
<p>Contact: Jane &lt;script&gt;window.harmed=5&lt;/script&gt; Doe, jane@acme.example</p>
</body></html>
"""
"""Scripts that must not run, and text that looks like one, which must be shown."""


def sample(name: str) -> bytes:
    """A sample that the console offers."""
    return (SAMPLES / name).read_bytes()


def report(pages: int, rows: int, *, scanned: int = 0) -> bytes:
    """A report with so many paragraphs on a page, then pages that are pictures."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1)
    for page in range(1, pages + 1):
        canvas.setFont("Helvetica-Bold", 15)
        canvas.drawString(56, 782, f"Audit file {2000 + page}, page {page} of {pages}")
        canvas.setFont("Helvetica", 9.5)
        for row in range(rows):
            at = page * rows + row
            who, firm = NAMES[at % 7], FIRMS[at % 5]
            amount = f"EUR {1_000 + at * 37 % 90_000:,}.00"
            canvas.drawString(56, 740 - 54 * row, f"On {at % 28 + 1} March 2025 {who} approved {amount} to {firm}.")
        canvas.showPage()
    for _ in range(scanned):
        canvas.drawImage(ImageReader(_picture()), 0, 0, *A4)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def half_a_page() -> bytes:
    """A letter whose lower half is a picture of a note."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1)
    for row, line in enumerate(("Dear Ada Lindqvist,", *["please see the note below that Jonas Moreau wrote."] * 8)):
        canvas.drawString(56, 760 - 20 * row, line)
    canvas.drawImage(ImageReader(_picture().crop((100, 150, 1_140, 900))), 56, 80, 480, 340)
    canvas.save()
    return file.getvalue()


def scan() -> bytes:
    """A page that lay across the scanner, and a little askew: a picture, of which nothing can be read."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=landscape(A4), invariant=1)
    turned = _picture().rotate(94, expand=True, fillcolor=225, resample=Image.Resampling.BICUBIC)
    canvas.drawImage(ImageReader(turned), 0, 0, *landscape(A4))
    canvas.save()
    return file.getvalue()


def _picture() -> Image.Image:
    paper = Image.new("L", (1_240, 1_754), 246)
    pen = ImageDraw.Draw(paper)
    for row, line in enumerate(NOTE):
        pen.text((150, 200 + 62 * row), line, fill=70, font=ImageFont.load_default(34))
    return paper

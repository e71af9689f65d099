"""Documents for the console: its samples, and those of its tests and screenshots. All content is invented.

`python -m tests.support.console_documents` writes the samples anew.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "service" / "api" / "console" / "samples"
INK, SOFT, RULE, ACCENT = HexColor("#1d2530"), HexColor("#5b6675"), HexColor("#d5dbe3"), HexColor("#1f5c7a")
Item = tuple[str, str, str, str]


class Sheet:
    """An A4 page to write on; lengths are points from the upper left corner."""

    def __init__(self, canvas: Any) -> None:
        self._canvas = canvas

    def text(
        self, left: float, top: float, text: str, size: float = 9.5, *, bold: bool = False, colour: Color = INK
    ) -> None:
        self._canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
        self._canvas.setFillColor(colour)
        self._canvas.drawString(left, A4[1] - top, text)

    def right(self, right: float, top: float, text: str, size: float = 9.5, *, bold: bool = False) -> None:
        self._canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
        self._canvas.setFillColor(INK)
        self._canvas.drawRightString(right, A4[1] - top, text)

    def rule(self, top: float, left: float = 56, right: float = 539, colour: Color = RULE) -> None:
        self._canvas.setStrokeColor(colour)
        self._canvas.setLineWidth(0.7)
        self._canvas.line(left, A4[1] - top, right, A4[1] - top)

    def block(self, left: float, top: float, width: float, height: float, colour: Color) -> None:
        self._canvas.setFillColor(colour)
        self._canvas.rect(left, A4[1] - top - height, width, height, stroke=0, fill=1)


def _pdf(draw: Any) -> bytes:
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def _bill(
    head: tuple[str, str, tuple[str, ...]],
    facts: Iterable[tuple[str, str]],
    buyer: tuple[str, ...],
    table: tuple[tuple[str, str, str, str], tuple[Item, ...]],
    sums: tuple[tuple[str, str], ...],
    foot: tuple[str, ...],
) -> bytes:
    """An invoice: name, title and sender; facts; whom it is for; its items; its sums; how to pay."""
    name, title, sender = head

    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas)
        sheet.block(0, 0, A4[0], 8, ACCENT)
        sheet.text(56, 66, name, 17, bold=True, colour=ACCENT)
        for row, line in enumerate(sender):
            sheet.text(56, 84 + 13 * row, line, 8.5, colour=SOFT)
        sheet.right(539, 66, title, 17, bold=True)
        for row, (label, value) in enumerate(facts):
            sheet.text(350, 92 + 15 * row, label, 9, colour=SOFT)
            sheet.right(539, 92 + 15 * row, value)
        for row, line in enumerate(buyer):
            sheet.text(56, 176 + 14 * row, line, 10.5 if row == 1 else 9.5, bold=row == 1)
        columns, items = table
        sheet.block(56, 256, 483, 20, HexColor("#eef3f6"))
        for at, column in zip((64, 340, 440, 531), columns, strict=True):
            (sheet.text if at == 64 else sheet.right)(at, 270, column, 8.5, bold=True)
        for row, item in enumerate(items):
            top = 296 + 24 * row
            sheet.text(64, top, item[0])
            for at, cell in zip((340, 440, 531), item[1:], strict=True):
                sheet.right(at, top, cell)
            sheet.rule(top + 9)
        top = 306 + 24 * len(items)
        for row, (label, value) in enumerate(sums):
            last = row == len(sums) - 1
            sheet.text(360, top + 18 * row, label, 11 if last else 9.5, bold=last)
            sheet.right(531, top + 18 * row, value, 11 if last else 9.5, bold=last)
        for row, line in enumerate(foot):
            sheet.text(56, top + 110 + 15 * row, line)
        sheet.rule(800)

    return _pdf(draw)


def invoice() -> bytes:
    """An English invoice; IBAN and VAT number pass their checksums."""
    return _bill(
        ("Northwind Optics GmbH", "INVOICE", (
            "Lindenallee 14, 80331 München, Germany", "VAT ID: DE136695976", "Phone: +49 89 2154 7730",
            "billing@northwind-optics.example",
        )),
        (("Invoice No", "NO-2026-00417"), ("Invoice date", "2 March 2026"), ("Due date", "1 April 2026"),
         ("Purchase order", "PO-88123")),
        ("Bill to", "Harbour & Finch Ltd", "27 Quay Street", "Bristol BS1 4DJ", "United Kingdom"),
        (("Description", "Qty", "Unit price", "Amount"), (
            ("Telescope mount, model TM-4", "2", "EUR 420.00", "EUR 840.00"),
            ("Field lens, coated, 40 mm", "6", "EUR 35.50", "EUR 213.00"),
            ("Alignment on site, one day", "1", "EUR 640.00", "EUR 640.00"),
        )),
        (("Net amount", "EUR 1,693.00"), ("VAT 19 %", "EUR 321.67"), ("Total", "EUR 2,014.67")),
        ("Please pay by bank transfer to IBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX.",
         "Questions? Ask Katrin Vogel, billing@northwind-optics.example."),
    )  # fmt: skip


def german_invoice() -> bytes:
    """A German invoice, with German dates and amounts."""
    return _bill(
        ("Hanse Werkzeugbau AG", "RECHNUNG", (
            "Speicherstraße 8, 20457 Hamburg", "USt-IdNr.: DE811907980", "Telefon: 040 3355 1820",
            "buchhaltung@hanse-werkzeug.example",
        )),
        (("Rechnungsnummer", "RE-2026-1184"), ("Rechnungsdatum", "17.02.2026"), ("Fällig am", "19.03.2026"),
         ("Bestellnummer", "B-40977")),
        ("Rechnung an", "Möller & Söhne KG", "Am Deich 3", "26603 Aurich", "Deutschland"),
        (("Bezeichnung", "Menge", "Einzelpreis", "Betrag"), (
            ("Fräskopf FK 12, gehärtet", "4", "189,00 €", "756,00 €"),
            ("Spannzange ER 32, Satz", "2", "124,50 €", "249,00 €"),
            ("Schleifscheibe 200 mm", "10", "18,90 €", "189,00 €"),
        )),
        (("Nettobetrag", "1.194,00 €"), ("MwSt. 19 %", "226,86 €"), ("Gesamtbetrag", "1.420,86 €")),
        ("Zahlbar innerhalb von 30 Tagen auf das Konto IBAN DE02 1203 0000 0000 2020 51, BIC BYLADEM1001.",
         "Ansprechpartnerin: Frauke Janssen, buchhaltung@hanse-werkzeug.example"),
    )  # fmt: skip


_WORK = (
    ("Senior Data Engineer", "Blue Harvest Analytics, Valencia", "March 2021 - present",
     ("Built streaming pipelines in Python, Spark and Kafka for 40 retail customers.",
      "Cut the cost of nightly reports by a third by moving them to PostgreSQL.")),
    ("Data Engineer", "Castell Software, Barcelona", "June 2017 - February 2021",
     ("Moved reporting from Oracle to Airflow and dbt.", "Trained four new colleagues in SQL and Docker.")),
    ("Software Developer", "Puerto Digital, Alicante", "September 2014 - May 2017",
     ("Wrote the booking service of a ferry line in Java and Spring.",)),
)  # fmt: skip


def resume() -> bytes:
    """A résumé in two columns."""

    def draw(canvas: Any) -> None:
        sheet = Sheet(canvas)
        sheet.block(0, 0, 180, A4[1], HexColor("#eef3f6"))
        sheet.text(210, 74, "Maria Delgado", 24, bold=True, colour=ACCENT)
        sheet.text(210, 94, "Data Engineer", 12, colour=SOFT)
        side = (
            ("Contact", ("Valencia, Spain", "maria.delgado@mail.example", "+34 612 345 678", "https://delgado.example")),
            ("Skills", ("Python", "Kafka", "Spark", "PostgreSQL", "Airflow", "Docker")),
            ("Languages", ("Spanish", "English", "French")),
        )  # fmt: skip
        top = 140.0
        for title, lines in side:
            sheet.text(28, top, title, 11, bold=True, colour=ACCENT)
            for row, line in enumerate(lines):
                sheet.text(28, top + 19 + 16 * row, line, 9)
            top += 46 + 16 * len(lines)
        sheet.text(210, 140, "Experience", 13, bold=True, colour=ACCENT)
        sheet.rule(147, 210)
        top = 168.0
        for role, employer, when, did in _WORK:
            sheet.text(210, top, role, 10.5, bold=True)
            sheet.right(539, top, when, 9)
            sheet.text(210, top + 14, employer, 9.5, colour=SOFT)
            for row, line in enumerate(did):
                sheet.text(218, top + 31 + 14 * row, line, 9)
            top += 58 + 14 * len(did)
        sheet.text(210, top + 6, "Education", 13, bold=True, colour=ACCENT)
        sheet.rule(top + 13, 210)
        sheet.text(210, top + 34, "Master of Science in Computer Science", 10.5, bold=True)
        sheet.text(210, top + 48, "University of Valencia, 2014", 9.5, colour=SOFT)

    return _pdf(draw)


LETTER = """<!doctype html>
<html lang="en"><head><title>Offer</title></head><body>
<h1>Offer of services</h1>
<p>Lisbon, 9 January 2026</p>
<p>Dear Mr Okafor,</p>
<p>Thank you for your visit. Our company, Tejo Marine Survey Lda, offers to survey the ferry <em>Aurora</em> in
Rotterdam from 16 February 2026 for EUR 14,800.00, with a discount of 5 % if you sign before 30 January 2026.</p>
<table><tr><td>Contact</td><td>Inês Carvalho, Head of Operations</td></tr>
<tr><td>Phone</td><td>+351 21 555 0142</td></tr><tr><td>Mail</td><td>ines.carvalho@tejo-marine.example</td></tr></table>
<p>Please send the signed offer to Rua do Arsenal 12, 1100-040 Lisboa. It is governed by the laws of Portugal.</p>
</body></html>
"""
_FIRST = ("Ada", "Jonas", "Mirela", "Tomás", "Ingrid", "Rafael", "Yuki", "Clara", "Owen", "Priya")
_LAST = ("Lindqvist", "Moreau", "Petrov", "Okafor", "Brandt", "Silva", "Tanaka", "Novak", "Hughes", "Raman")
_FIRMS = ("Aldgate Partners Ltd", "Fjordline AS", "Cobalt Mining plc", "Sierra Foods SA", "Brunel Rail GmbH")
_TOWNS = ("London", "Oslo", "Madrid", "Vienna", "Lyon", "Gdansk", "Porto")


def report(pages: int, rows: int = 12) -> bytes:
    """A long report: each page has so many paragraphs, with names, days and amounts of its own."""

    def draw(canvas: Any) -> None:
        for number in range(1, pages + 1):
            _report_page(Sheet(canvas), number, pages, rows)
            canvas.showPage()

    return _pdf(draw)


def _report_page(sheet: Sheet, number: int, pages: int, rows: int) -> None:
    sheet.text(56, 60, f"Audit file {2000 + number}", 15, bold=True, colour=ACCENT)
    sheet.right(539, 60, f"Page {number} of {pages}", 9)
    sheet.rule(70)
    for row in range(rows):
        at = number * 12 + row
        person = f"{_FIRST[at % 10]} {_LAST[at // 10 % 10]}"
        firm, town = _FIRMS[at % 5], _TOWNS[at % 7]
        day, amount = (
            f"{at % 28 + 1} {('March', 'May', 'July', 'October')[at % 4]} 20{20 + at % 6}",
            1_000 + at * 37 % 90_000,
        )
        top = 100 + 54 * row
        sheet.text(56, top, f"{at}. Payment to {firm}", 10.5, bold=True)
        sheet.text(56, top + 15, f"On {day} {person} approved a payment of EUR {amount:,}.00 to {firm} in {town}.")
        sheet.text(56, top + 28, f"The auditor found the invoice INV-{at:06d} complete and the goods delivered.")


def scan() -> bytes:
    """A page that lay across the scanner, and a little askew: a picture, of which nothing can be read."""
    wide, high = 1_240, 1_754
    paper = Image.new("L", (wide, high), 246)
    pen = ImageDraw.Draw(paper)
    font = ImageFont.load_default(34)
    lines = ("DELIVERY NOTE", "", "Harbour & Finch Ltd", "27 Quay Street, Bristol", "", "Order PO-88123", "",
             "2 telescope mounts", "6 field lenses", "", "Received: R. Finch, 4 March 2026")  # fmt: skip
    for row, line in enumerate(lines):
        pen.text((150, 200 + 62 * row), line, fill=70, font=font)
    pen.rectangle((120, 160, wide - 120, 960), outline=120, width=3)
    turned = paper.rotate(94, expand=True, fillcolor=225, resample=Image.Resampling.BICUBIC)
    file = io.BytesIO()
    turned.save(file, "JPEG", quality=60)
    file.seek(0)

    def draw(canvas: Any) -> None:
        canvas.setPageSize(landscape(A4))
        canvas.drawImage(ImageReader(file), 0, 0, *landscape(A4))

    return _pdf(draw)


def half_scanned() -> bytes:
    """Two pages: an ordinary one, and a scan."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1)
    _report_page(Sheet(canvas), 1, 2, 12)
    canvas.showPage()
    picture = Image.new("L", (620, 877), 235)
    ImageDraw.Draw(picture).text((80, 100), "Signed, R. Finch", fill=60, font=ImageFont.load_default(26))
    canvas.drawImage(ImageReader(picture), 0, 0, *A4)
    canvas.save()
    return file.getvalue()


HOSTILE_HTML = """<html><head><script>window.harmed = 1</script></head><body>
<script>window.harmed = 2</script><img src=x onerror="window.harmed = 3">
<p>Invoice INV-20931 from &lt;img src=x onerror="window.harmed=4"&gt; Acme GmbH, due 12 March 2026.</p>
<p>Contact: Jane &lt;script&gt;window.harmed=5&lt;/script&gt; Doe, jane@acme.example</p>
</body></html>
"""
"""Scripts that must not run, and text that looks like one, which must be shown."""


def samples() -> dict[str, bytes]:
    """The samples by their file names."""
    return {
        "invoice.pdf": invoice(),
        "rechnung.pdf": german_invoice(),
        "resume.pdf": resume(),
        "offer.html": LETTER.encode(),
    }


def main() -> None:
    """Write the samples."""
    SAMPLES.mkdir(exist_ok=True)
    for name, data in samples().items():
        (SAMPLES / name).write_bytes(data)


if __name__ == "__main__":
    main()

"""Generator of the sample documents: `python -m tests.support.sample_files FOLDER` (needs the development extras).

Their content is invented; the IBAN and the VAT number pass their checksums.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import docx
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

INVOICE = (
    (72, 780, 16, "Northwind Optics GmbH"),
    (72, 762, 9, "Lindenallee 14, 80331 München, Germany"),
    (72, 748, 9, "VAT ID: DE136695976    Phone: +49 89 2154 7730    billing@northwind-optics.example"),
    (400, 780, 16, "INVOICE"),
    (400, 742, 10, "Invoice No: NO-2026-00417"),
    (400, 728, 10, "Invoice date: 2026-03-02"),
    (400, 714, 10, "Due date: 2026-04-01"),
    (400, 700, 10, "Purchase order: PO-88123"),
    (72, 714, 10, "Bill to"),
    (72, 700, 11, "Harbour & Finch Ltd"),
    (72, 686, 10, "27 Quay Street, Bristol BS1 4DJ, United Kingdom"),
    (72, 640, 10, "Description"),
    (330, 640, 10, "Qty"),
    (400, 640, 10, "Unit price"),
    (490, 640, 10, "Amount"),
    (72, 620, 10, "Telescope mount, model TM-4"),
    (330, 620, 10, "2"),
    (400, 620, 10, "EUR 420.00"),
    (490, 620, 10, "EUR 840.00"),
    (72, 604, 10, "Field lens, coated"),
    (330, 604, 10, "6"),
    (400, 604, 10, "EUR 35.50"),
    (490, 604, 10, "EUR 213.00"),
    (400, 570, 10, "Net amount"),
    (490, 570, 10, "EUR 1,053.00"),
    (400, 554, 10, "VAT 19 %"),
    (490, 554, 10, "EUR 200.07"),
    (400, 536, 11, "Total"),
    (490, 536, 11, "EUR 1,253.07"),
    (72, 480, 10, "Please pay by bank transfer to IBAN DE89 3704 0044 0532 0130 00, BIC COBADEFFXXX."),
    (72, 464, 10, "Questions? Ask Katrin Vogel, billing@northwind-optics.example."),
)

RESUME = (
    ("Title", "Maria Delgado"),
    ("Normal", "Data Engineer"),
    ("Normal", "Valencia, Spain | maria.delgado@mail.example | +34 612 345 678"),
    ("Heading 1", "Experience"),
    ("Normal", "Senior Data Engineer, Blue Harvest Analytics, Valencia, March 2021 - present"),
    ("List Bullet", "Built streaming pipelines in Python, Spark and Kafka for 40 retail customers."),
    ("Normal", "Data Engineer, Castell Software, Barcelona, June 2017 - February 2021"),
    ("List Bullet", "Moved reporting from Oracle to PostgreSQL and Airflow."),
    ("Heading 1", "Education"),
    ("Normal", "Master of Science in Computer Science, University of Valencia, 2017"),
    ("Heading 1", "Languages"),
    ("Normal", "Spanish, English, French"),
)


def write_invoice(path: Path) -> None:
    """A one-page PDF invoice."""
    canvas = Canvas(str(path), pagesize=A4, invariant=True)
    for left, baseline, size, text in INVOICE:
        canvas.setFont("Helvetica", size)
        canvas.drawString(left, baseline, text)
    canvas.save()


def write_resume(path: Path) -> None:
    """A DOCX résumé."""
    document = docx.Document()
    for style, text in RESUME:
        document.add_paragraph(text, style=style)
    document.save(str(path))


def main() -> None:
    """Write both samples into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    write_invoice(folder / "invoice.pdf")
    write_resume(folder / "resume.docx")


if __name__ == "__main__":
    main()

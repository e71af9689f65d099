"""Documents made on the spot, so that tests know what stands in them and where."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import docx
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

PAGE_WIDTH, PAGE_HEIGHT = 600, 800
WORD_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
COMPATIBILITY_NAMESPACE = "http://schemas.openxmlformats.org/markup-compatibility/2006"

Placed = tuple[float, float, str]
"""Points from the left, points from the top to the baseline, text."""


def pdf(*pages: Iterable[Placed], rotation: int = 0, password: str | None = None, font_size: float = 10) -> bytes:
    """A PDF with each string drawn at its place, in the given order."""

    def draw(canvas: Any) -> None:
        for page in pages:
            canvas.setFont("Helvetica", font_size)
            if rotation in (90, 270):  # reportlab swaps the sides of a page that it turns; swapped back here
                canvas.setPageSize((PAGE_HEIGHT, PAGE_WIDTH))
            canvas.setPageRotation(rotation)
            for left, down, text in page:
                canvas.drawString(left, PAGE_HEIGHT - down, text)
            canvas.showPage()

    return drawn(draw, password=password)


def drawn(draw: Callable[[Any], None], *, password: str | None = None) -> bytes:
    """A PDF drawn by `draw` on a reportlab canvas of 600 by 800 points; the same bytes every time."""
    file = io.BytesIO()
    encryption = StandardEncryption(password) if password else None
    canvas = Canvas(file, pagesize=(PAGE_WIDTH, PAGE_HEIGHT), encrypt=encryption, invariant=1)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def column(left: float, top: float, texts: Iterable[str], leading: float = 12) -> list[Placed]:
    return [(left, top + row * leading, text) for row, text in enumerate(texts)]


def simple_pdf(*lines: str) -> bytes:
    """A PDF of one A4 page with these lines, one inch from its left edge."""
    file = io.BytesIO()
    canvas = Canvas(file)
    for number, line in enumerate(lines):
        canvas.drawString(72, 720 - 20 * number, line)
    canvas.save()
    return file.getvalue()


def simple_docx(*paragraphs: str) -> bytes:
    """A DOCX of these paragraphs."""

    def fill(document: Any) -> None:
        for paragraph in paragraphs:
            document.add_paragraph(paragraph)

    return word_document(fill)


def word_document(fill: Callable[[Any], None]) -> bytes:
    """A DOCX that `fill` has written with python-docx."""
    document = docx.Document()
    fill(document)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def word_body(body: str, **parts: str) -> bytes:
    """A minimal DOCX whose body is the given WordprocessingML (prefixes `w:` and `mc:`); other parts by name."""
    named = {f"word/{name}.xml": _part("hdr", content) for name, content in parts.items()}
    return package_of(_part("document", f"<w:body>{body}</w:body>"), named)


def package_of(main: str, parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """A DOCX package around a main part."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("word/document.xml", main)
        for name, content in (parts or {}).items():
            package.writestr(name, content)
    return file.getvalue()


def _part(root: str, content: str, namespace: str = WORD_NAMESPACE) -> str:
    return f'<w:{root} xmlns:w="{namespace}" xmlns:mc="{COMPATIBILITY_NAMESPACE}">{content}</w:{root}>'


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"

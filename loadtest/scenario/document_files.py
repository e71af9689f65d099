"""PDF and DOCX writers: small valid files of a text. The same text gives the same bytes."""

from __future__ import annotations

import io
import textwrap
import zipfile
import zlib
from xml.sax.saxutils import escape

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OPEN = "http://schemas.openxmlformats.org"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
TYPES = (
    f'{HEAD}<Types xmlns="{OPEN}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{WORD}.document.main+xml"/></Types>'
)
RELATIONS = (
    f'{HEAD}<Relationships xmlns="{OPEN}/package/2006/relationships"><Relationship Id="rId1" '
    f'Type="{OPEN}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>'
)


def make_docx(text: str) -> bytes:
    """A DOCX of this text."""
    return make_docx_of(
        "".join(f'<w:p><w:r><w:t xml:space="preserve">{escape(line)}</w:t></w:r></w:p>' for line in text.split("\n"))
    )


def make_docx_of(body: str) -> bytes:
    """A DOCX with this WordprocessingML in its body."""
    document = f'{HEAD}<w:document xmlns:w="{OPEN}/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>'
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in (("[Content_Types].xml", TYPES), ("_rels/.rels", RELATIONS), ("word/document.xml", document)):
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), part, zipfile.ZIP_DEFLATED)
    return sink.getvalue()


COLUMNS = 95
LINES = 56
LEADING = 13


def make_pdf(text: str) -> bytes:
    """A PDF of this text, wrapped into lines and pages; characters outside Latin-1 become question marks."""
    lines = [line for part in text.split("\n") for line in (textwrap.wrap(part, COLUMNS) or [""])]
    pages = [lines[first : first + LINES] for first in range(0, len(lines), LINES)]
    numbers = [4 + 2 * page for page in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, page in zip(numbers, pages, strict=True):
        objects += [_page(number + 1), _content(page)]
    return _file(objects)


def _page(content: int) -> bytes:
    box = "/MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >>"
    return f"<< /Type /Page /Parent 2 0 R {box} /Contents {content} 0 R >>".encode()


def _content(lines: list[str]) -> bytes:
    shown = "\n".join(f"({_escaped(line)}) Tj T*" for line in lines)
    drawn = f"BT /F1 10 Tf {LEADING} TL 50 790 Td\n{shown}\nET".encode("latin-1", "replace")
    packed = zlib.compress(drawn)
    return f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n".encode() + packed + b"\nendstream"


def _escaped(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: list[bytes]) -> bytes:
    out, offsets = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n".encode()
    return bytes(out)

"""Small files of every format, which the zygote reads before it forks: what they need is imported by then."""

from __future__ import annotations

import io
import zipfile

_TEXT = "Grüße aus Köln, schöne Straßen und Öfen. ".encode("cp1252") * 8
_HTML = b"<html><head><title>t</title></head><body><p>Anna &amp; Co</p><table><tr><td>1</td></tr></table></body></html>"

_DOCUMENT = "word/document.xml"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"

_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Override PartName="/{_DOCUMENT}" ContentType="{_MAIN}"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r1" Type="{_OFFICE}"'
    f' Target="{_DOCUMENT}"/></Relationships>',
    _DOCUMENT: f'<w:document xmlns:w="{_WORD}"><w:body><w:p><w:r><w:t>Anna</w:t></w:r></w:p></w:body></w:document>',
}

_PAGE = b"BT /F1 11 Tf 72 700 Td (Invoice) Tj 0 -14 Td (a line with a hyphen-) Tj 200 14 Td (Total) Tj ET"
_OBJECTS = (
    b"<< /Type /Catalog /Pages 2 0 R >>",
    b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
    b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
    b"<< /Length %d >>\nstream\n%b\nendstream" % (len(_PAGE), _PAGE),
)


def samples() -> dict[str, bytes]:
    """Name → content."""
    return {"a.pdf": _pdf(), "a.docx": _docx(), "a.html": _HTML, "a.txt": _TEXT, "b.txt": "日本語".encode("utf-16")}


def _pdf() -> bytes:
    """One page with two columns and a hyphen at a line's end, so that lines must be put in order."""
    file, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(_OBJECTS, 1):
        offsets.append(b"%010d 00000 n \n" % len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    count, start = len(_OBJECTS) + 1, len(file)
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, b"".join(offsets))
    return file + table + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, start)


def _docx() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(name, content)
    return file.getvalue()

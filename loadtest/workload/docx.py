"""DOCX writer: a small valid file with one paragraph per line. The same text gives the same bytes."""

from __future__ import annotations

import io
import zipfile
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
        for name, part in (
            ("[Content_Types].xml", TYPES),
            ("_rels/.rels", RELATIONS),
            ("word/document.xml", document),
        ):
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), part, zipfile.ZIP_DEFLATED)
    return sink.getvalue()

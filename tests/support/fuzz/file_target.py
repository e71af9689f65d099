"""The fuzz target of files: the reader of each format, with its limits. A zipped format is mutated inside as well."""

from __future__ import annotations

import io
import json
import zipfile
from base64 import b64encode
from random import Random

from loadtest.scenario.document_files import make_docx, make_pdf
from loadtest.scenario.workload import report
from service.core.errors import GleanerError
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from tests.support.document_files import column, pdf, simple_docx, simple_pdf, word_document
from tests.support.drawn_sheets import sheet
from tests.support.fuzz.mutation import mutate
from tests.support.ocr_results import ALTO, HOCR, SIZE, textract
from tests.support.ocr_results import WORDS as OCR_WORDS

LIMITS = DocumentLimits(max_bytes=4 << 20, max_pages=200, max_characters=2_000_000, max_unpacked_bytes=32 << 20)
HTML = b"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>A</title></head><body><h1>Invoice</h1>
<table><tr><th>No</th><td>INV-20931</td></tr></table><p>Due &amp; paid&nbsp;on 3&#46;5.<br>Total <b>12</b></p><pre> x
</pre><ul><li>a<li>b</ul><svg><text>t</text></svg><script>var a = "<p>";</script></body></html>"""


class FileTarget:
    """Files of one format; `name` is what they are declared as."""

    def __init__(self, name: str, media_type: str | None, samples: tuple[bytes, ...], *, zipped: bool = False) -> None:
        self.name = name
        self._media_type = media_type
        self._samples = samples
        self._zipped = zipped

    def make(self, draw: Random) -> bytes:
        """A mutated sample."""
        sample = draw.choice(self._samples)
        if self._zipped and draw.random() < 0.8:
            return _mutate_member(sample, self._samples, draw)
        return mutate(sample, self._samples, draw)

    def attack(self, data: bytes) -> str:
        """Read it: a document, or the code of a typed error."""
        try:
            read_document(data, media_type=self._media_type, limits=LIMITS)
        except GleanerError as error:
            return error.code
        return "document"


def file_targets() -> list[FileTarget]:
    """One target a format, and one whose format is guessed."""
    prose = report(300, Random(1))
    pdfs = (
        make_pdf(prose),
        simple_pdf("Invoice INV-20931", "Total 12"),
        pdf(column(50, 100, ["left one", "left two"]) + column(320, 100, ["right one", "right two"]), rotation=90),
        pdf([(50, 50, "secret")], password="a"),
    )
    picture = sheet().file()
    html = HTML + b'<img src="data:image/png;base64,%b">' % b64encode(picture)
    pictured = word_document(lambda document: document.add_picture(io.BytesIO(picture)))
    docx = (make_docx(prose), simple_docx("Invoice INV-20931", "Total 12"), pictured)
    texts = (prose.encode(), "Grüße aus Köln, 3 €".encode("cp1252"), "請求書 123".encode("utf-16"), b"")
    results = (
        HOCR.encode(),
        ALTO.format(version=4, unit="pixel", size=SIZE).encode(),
        json.dumps(textract(*OCR_WORDS)).encode(),
    )
    return [
        FileTarget("pdf", "application/pdf", pdfs),
        FileTarget(
            "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", docx, zipped=True
        ),
        FileTarget("html", "text/html", (HTML, html, b"<p>" * 50 + b"a", prose.encode())),
        FileTarget("text", "text/plain; charset=utf-8", texts),
        FileTarget("csv", "text/csv", (b'No;Text;"Sum"\n1;"a; ""b""";20,00\n', b"a,b\n1,2\n", b"sep=|\r\na|b\r\n")),
        FileTarget("OCR result", None, results),
        FileTarget("any format", None, (*pdfs, *docx, HTML, *texts, *results)),
    ]


def _mutate_member(sample: bytes, others: tuple[bytes, ...], draw: Random) -> bytes:
    """The same package with one mutated member, whole as a package."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(sample)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as sink:
        names = source.namelist()
        chosen = draw.choice(names)
        for name in names:
            data = source.read(name)
            sink.writestr(name, mutate(data, [data, *others], draw) if name == chosen else data)
    return made.getvalue()

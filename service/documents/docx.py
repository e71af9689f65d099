"""Reads the text of a DOCX file: headers, the body in document order, footnotes, endnotes, footers.

Paragraphs are lines; cells are separated by a tab and rows by a line break; a text box follows the paragraph that it is
anchored in. Left out: deleted and moved-away revisions, comments, hidden text, field codes, list numbers (Word computes
them; the file does not hold them). The zip's parts are parsed as a stream of events: no tree, no DTD, no network, and
no more unpacked bytes than the limit, whatever sizes the zip claims.

The format: ECMA-376 part 1, chapters 17 (WordprocessingML) and 15.2 (parts). Elements are matched by local name, so
that the strict and the transitional namespaces are read alike.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, cast

from lxml import etree

from service.core.errors import UnreadableDocument
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.text_writer import TextWriter

_CHUNK_BYTES = 65_536
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, KeyError)
_MAIN_PART = "word/document.xml"
_SKIPPED = frozenset("del moveFrom Fallback pPr sectPr tblPr trPr tcPr instrText delText rt".split())
_OFF = frozenset(("0", "false", "off"))
_MARKS = {"tab": "\t", "ptab": "\t", "noBreakHyphen": "\u2011"}
_NUMBER = re.compile(r"\d+")


def read_docx(data: bytes, *, limits: DocumentLimits) -> Document:
    """The document in a DOCX file.

    Raises:
        UnreadableDocument: the zip or one of its parts is damaged.
        DocumentTooLarge: over a limit.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as package:
            return Document(_Package(package, limits).text())
    except _BROKEN as error:
        raise UnreadableDocument(f"The DOCX file is damaged or incomplete ({_reason(error)}).") from error
    except etree.XMLSyntaxError as error:
        raise UnreadableDocument(f"The DOCX file holds XML that is not well formed ({_reason(error)}).") from error


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__


class _Package:
    """The parts of one DOCX file, unpacked within the limits."""

    def __init__(self, package: zipfile.ZipFile, limits: DocumentLimits) -> None:
        self._package = package
        self._limits = limits
        self._unpacked_bytes = 0
        self._characters = 0

    def text(self) -> str:
        main = self._main_part()
        texts = (self._part(name) for name in self._in_order(main))
        return "\n".join(text for text in texts if text)

    def _main_part(self) -> str:
        names = set(self._package.namelist())
        if _MAIN_PART in names:
            return _MAIN_PART
        others = sorted(name for name in names if re.fullmatch(r"word/document\d*\.xml", name))
        if not others:
            raise UnreadableDocument("The DOCX file is damaged or incomplete (it has no word/document.xml).")
        return others[0]

    def _in_order(self, main: str) -> Iterator[str]:
        """The names of the parts: headers, body, notes, footers; those of one kind by the number in their name."""
        names = sorted(self._package.namelist(), key=lambda name: (_number(name), name))
        yield from (name for name in names if re.fullmatch(r"word/header\d*\.xml", name))
        yield main
        yield from (name for name in ("word/footnotes.xml", "word/endnotes.xml") if name in names)
        yield from (name for name in names if re.fullmatch(r"word/footer\d*\.xml", name))

    def _part(self, name: str) -> str:
        target = _Body(self._limits, self._characters)
        parser = etree.XMLParser(
            target=cast(Any, target), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True
        )
        for chunk in self._chunks(name):
            parser.feed(chunk)
        parser.close()
        self._characters += target.characters
        return target.text

    def _chunks(self, name: str) -> Iterator[bytes]:
        with self._package.open(name) as part:
            while chunk := part.read(_CHUNK_BYTES):
                self._unpacked_bytes += len(chunk)
                self._limits.check_unpacked_bytes(self._unpacked_bytes)
                yield chunk


def _number(name: str) -> int:
    found = _NUMBER.search(name)
    return int(found.group()[:9]) if found else 0


class _Body:
    """lxml's parser target: writes the text of WordprocessingML events to the innermost writer."""

    def __init__(self, limits: DocumentLimits, characters_before: int) -> None:
        self.text = ""
        self.characters = 0
        self._limits = limits
        self._characters_before = characters_before
        self._writers = [TextWriter()]  # the body's, then that of each open text box
        self._boxes: list[str] = []  # texts of closed text boxes, until their paragraph ends
        self._skipped_depth = 0
        self._in_text = False
        self._run_is_hidden = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if self._skipped_depth or name in _SKIPPED:
            self._skipped_depth += 1
        elif name == "t":
            self._in_text = not self._run_is_hidden
        elif name == "r":
            self._run_is_hidden = False
        elif name == "vanish":
            self._run_is_hidden = not any(value in _OFF for value in attributes.values())
        elif name in _MARKS:
            self._writers[-1].verbatim(_MARKS[name])
        elif name in ("br", "cr"):
            self._writers[-1].line_break()
        else:
            self._structure(name)

    def _structure(self, name: str) -> None:
        writer = self._writers[-1]
        if name == "p":
            writer.block()
        elif name == "tr":
            writer.row_start()
        elif name == "tc":
            writer.cell_start()
        elif name == "txbxContent":
            self._writers.append(TextWriter())

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if self._skipped_depth:
            self._skipped_depth -= 1
        elif name == "t":
            self._in_text = False
        elif name == "p":
            self._end_paragraph()
        elif name == "tr":
            self._writers[-1].row_end()
        elif name == "txbxContent" and len(self._writers) > 1:
            self._boxes.append(self._writers.pop().result())

    def _end_paragraph(self) -> None:
        self._writers[-1].block()
        if len(self._writers) == 1:
            for box in self._boxes:
                self._writers[0].verbatim(box)
                self._writers[0].block()
            self._boxes.clear()

    def data(self, text: str) -> None:
        if self._in_text and not self._skipped_depth:
            self._writers[-1].verbatim(text)
            self.characters += len(text)
            self._limits.check_characters(self._characters_before + self.characters)

    def doctype(self, name: str | None, public_id: str | None, system: str | None) -> None:
        """Refuse the file before it declares an entity: with a parser target lxml expands entities in any case."""
        raise UnreadableDocument("The DOCX file declares a document type, which the format forbids.")

    def comment(self, text: str) -> None:
        """Ignored: XML comments are not text."""

    def close(self) -> None:
        self.text = self._writers[0].result()

"""DOCX → text: headers, then the body in document order, then footnotes, endnotes and footers.

Paragraphs are lines; cells are separated by a tab and rows by a line break; a text box follows the paragraph that it is
anchored in. Left out: deleted and moved-away revisions, comments, hidden text, field codes, list numbers (Word computes
them, the file does not hold them). Read straight from the zip as a stream of events: no tree, no DTD, no network, and
no more unpacked bytes than the limit, whatever sizes the zip claims.

The format: ECMA-376 part 1, chapters 17 (WordprocessingML) and 15.2 (parts); events go by local name, so that the
strict and the transitional namespaces read alike.
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
    """Raises `UnreadableDocument` where the zip or its parts are broken, `DocumentTooLarge` over a limit."""
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
    """The parts of one file, unpacked within the limits."""

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
        """Headers, body, notes, footers; parts of one kind by the number in their name."""
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
    """lxml's parser target: WordprocessingML events in, text into the innermost flow."""

    def __init__(self, limits: DocumentLimits, characters_before: int) -> None:
        self.text = ""
        self.characters = 0
        self._limits = limits
        self._characters_before = characters_before
        self._flows = [TextWriter()]  # the body, then each open text box
        self._boxes: list[str] = []  # texts of closed boxes, waiting for their paragraph to end
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
            self._flows[-1].verbatim(_MARKS[name])
        elif name in ("br", "cr"):
            self._flows[-1].line_break()
        else:
            self._structure(name)

    def _structure(self, name: str) -> None:
        flow = self._flows[-1]
        if name == "p":
            flow.block()
        elif name == "tr":
            flow.row_start()
        elif name == "tc":
            flow.cell_start()
        elif name == "txbxContent":
            self._flows.append(TextWriter())

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if self._skipped_depth:
            self._skipped_depth -= 1
        elif name == "t":
            self._in_text = False
        elif name == "p":
            self._end_paragraph()
        elif name == "tr":
            self._flows[-1].row_end()
        elif name == "txbxContent" and len(self._flows) > 1:
            self._boxes.append(self._flows.pop().result())

    def _end_paragraph(self) -> None:
        self._flows[-1].block()
        if len(self._flows) == 1:
            for box in self._boxes:
                self._flows[0].verbatim(box)
                self._flows[0].block()
            self._boxes.clear()

    def data(self, text: str) -> None:
        if self._in_text and not self._skipped_depth:
            self._flows[-1].verbatim(text)
            self.characters += len(text)
            self._limits.check_characters(self._characters_before + self.characters)

    def doctype(self, name: str | None, public_id: str | None, system: str | None) -> None:
        """Called before any entity is declared; lxml expands entities for a target whatever it is told."""
        raise UnreadableDocument("The DOCX file declares a document type, which the format forbids.")

    def comment(self, text: str) -> None:
        """XML comments are no text."""

    def close(self) -> None:
        self.text = self._flows[0].result()

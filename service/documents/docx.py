"""Reads the text of a DOCX file: headers, the body in document order, footnotes, endnotes, footers.

`docx_body` says what of a part is text, and what is hidden. Embedded parts (`altChunk`) of HTML, web archives, text and
DOCX are read in their place, others refuse the file; diagrams are read, pictures noted (`embedded_pictures`). Left out:
comments, list numbers (Word computes them; the file does not hold them). The zip's parts are parsed as a stream of
events: no tree, no DTD, no network, and no more unpacked bytes than the limit, whatever sizes the zip claims.

The format: ECMA-376 part 1, chapters 17 (WordprocessingML) and 15.2 (parts). Elements are matched by local name, so
that the strict and the transitional namespaces are read alike.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from email.message import Message  # imported here, since a parser process cannot
from email.parser import BytesParser
from functools import cache, cached_property, partial
from io import BytesIO
from typing import Any, cast

from lxml import etree

from service.core.errors import UnreadableDocument
from service.documents.charset import read_text
from service.documents.colours import WHITE, Paint, Special, colour_of
from service.documents.document import UNREAD_PICTURES, Document, UnreadReason
from service.documents.docx_body import BodyReader
from service.documents.docx_colours import attribute, theme_of
from service.documents.docx_drawings import DiagramReader, ShapeReader
from service.documents.docx_styles import (
    PLAIN,
    Appearances,
    PartReader,
    RunStyle,
    StylesReader,
    resolved,
    without_table_styles,
)
from service.documents.embedded_pictures import SAMPLE_BYTES, SIGN, EmbeddedPictures, is_marks
from service.documents.html import read_html
from service.documents.limits import DocumentLimits

_CHUNK_BYTES = 65_536
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, KeyError)
_MAIN_PART = "word/document.xml"
_STYLES_PART, _THEME_PART, _SETTINGS_PART = "word/styles.xml", "word/theme/theme1.xml", "word/settings.xml"
_BACKGROUND = re.compile(rb'<w:background [^>]{0,300}?w:color="([0-9A-Fa-f]{6})"[^>]{0,300}>')
_NUMBER = re.compile(r"\d+")


def read_docx(data: bytes, *, limits: DocumentLimits, is_embedded: bool = False) -> Document:
    """The document in a DOCX file.

    Raises:
        UnreadableDocument: the zip or one of its parts is damaged.
        DocumentTooLarge: over a limit.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as package:
            return _Package(package, limits, is_embedded).document()
    except _BROKEN as error:
        raise UnreadableDocument(f"The DOCX file is damaged or incomplete ({_reason(error)}).") from error
    except etree.XMLSyntaxError as error:
        raise UnreadableDocument(f"The DOCX file holds XML that is not well formed ({_reason(error)}).") from error


def docx_picture(data: bytes, number: int) -> bytes:
    """The picture of this number in a DOCX file, which is its place among the parts.

    Raises:
        UnreadableDocument: it is damaged.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as package:
            part = package.infolist()[number - 1]
            with package.open(part) as file:
                return file.read(part.file_size)  # unpacks no more, whatever the part holds
    except (*_BROKEN, IndexError) as error:
        raise UnreadableDocument(f"The picture is damaged ({_reason(error)}).") from error


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__


class _Package:
    """The parts of one DOCX file, unpacked within the limits."""

    def __init__(self, package: zipfile.ZipFile, limits: DocumentLimits, is_embedded: bool) -> None:
        self._is_embedded = is_embedded
        self._package = package
        self._limits = limits
        self._unpacked_bytes = 0
        self._characters = 0
        self._left_out: Counter[UnreadReason] = Counter()
        self._pictures = EmbeddedPictures()
        self._numbers = {part.filename: number for number, part in enumerate(package.infolist(), 1)}

    def document(self) -> Document:
        text = ""
        for part in map(self._part, self._in_order(self._main_part())):
            between = "\n" if text and part and not (is_marks(text) or is_marks(part)) else ""
            text += between + part
        return self._pictures.document(text, left_out=self._left_out)

    @cached_property
    def _style_named(self) -> Callable[[str], RunStyle]:
        data, of_tables = without_table_styles(self._bytes(_STYLES_PART))
        reader = StylesReader(self._appearances.theme)
        if data:
            self._parse_chunks([data], reader)
        styles = reader.styles | of_tables
        known = cache(partial(resolved, styles))
        return lambda name: known(name) if name in styles else PLAIN

    @cached_property
    def _appearances(self) -> Appearances:
        return Appearances(theme_of(self._bytes(_THEME_PART)))

    @cached_property
    def _shapes(self) -> ShapeReader:
        names = self._package.namelist()
        has_pictures = any(name.startswith("word/media/") for name in names)
        return ShapeReader(self._appearances.theme, self._page_ground(), has_pictures=has_pictures)

    def _page_ground(self) -> Paint:
        """The colour of the page, where the settings say that it shows; of a page with a pattern or picture unknown."""
        with self._package.open(self._main_part()) as part:
            found = _BACKGROUND.search(part.read(_CHUNK_BYTES))
        if found is None or b"displayBackgroundShape" not in self._bytes(_SETTINGS_PART):
            return WHITE
        colour = colour_of(f"#{found[1].decode().lower()}")
        return colour if colour and found[0].endswith(b"/>") else Special.UNKNOWN

    def _bytes(self, name: str) -> bytes:
        return b"".join(self._chunks(name)) if name in self._package.namelist() else b""

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
        targets: dict[str, str] | None = None

        def target(relationship: str) -> str:
            nonlocal targets
            if targets is None:
                targets = self._targets(name)
            return targets.get(relationship, "")

        before = self._characters
        body = BodyReader(
            self._style_named,
            self._appearances,
            self._shapes,
            lambda relationship: self._embedded(target(relationship)),
            lambda relationship, is_whole: self._picture(target(relationship), is_whole),
            lambda characters: self._limits.check_characters(before + characters),
        )
        self._parse(name, body)
        self._characters = before + body.characters
        self._left_out += body.left_out
        return body.text

    def _parse(self, name: str, target: PartReader) -> None:
        self._parse_chunks(self._chunks(name), target)

    def _parse_chunks(self, chunks: Iterable[bytes], target: PartReader) -> None:
        parser = etree.XMLParser(
            target=cast(Any, target), resolve_entities=True, no_network=True, load_dtd=False, huge_tree=True
        )
        for chunk in chunks:
            parser.feed(chunk)
        parser.close()

    def _targets(self, name: str) -> dict[str, str]:
        """The parts that a part's relationships name, by id."""
        folder, _, file = name.rpartition("/")
        relationships = f"{folder}/_rels/{file}.rels"
        if relationships not in self._package.namelist():
            return {}
        target = _RelationshipsReader(folder)
        self._parse(relationships, target)
        return target.parts

    def _picture(self, name: str, is_whole: bool) -> str:
        """The mark of the picture in this part."""
        part = self._package.NameToInfo.get(name)
        if part is None:
            return ""
        mark = self._pictures.mark(name, self._numbers[name], lambda: self._begin(name))
        if mark and (not is_whole or part.file_size > self._limits.max_bytes):
            self._pictures.is_partly_read = True
            return ""
        return mark

    def _begin(self, name: str) -> bytes:
        with suppress(*_BROKEN), self._package.open(name) as part:
            return part.read(SAMPLE_BYTES)
        return b"?"

    def _embedded(self, name: str) -> str:
        """The text of an embedded part or a diagram's data; nothing if there is no such part.

        Raises:
            UnreadableDocument: the part is of a format that is not read.
        """
        if name not in self._package.namelist():
            return ""
        if "/diagrams/" in name:
            diagram = DiagramReader()
            self._parse(name, diagram)
            return diagram.text
        return self._embedded_file(name, b"".join(self._chunks(name))).replace(SIGN, "")

    def _embedded_file(self, name: str, data: bytes) -> str:
        ending = name.rpartition(".")[2].lower()
        if ending in ("mht", "mhtml", "eml"):
            return self._text_of(_web_archive(data, self._limits))
        if ending in ("htm", "html", "xhtml"):
            return self._text_of(read_html(data, limits=self._limits))
        if ending == "txt":
            return read_text(data).text
        if ending in ("docx", "docm", "dotx") and not self._is_embedded:
            limits = replace(self._limits, max_unpacked_bytes=self._limits.max_unpacked_bytes - self._unpacked_bytes)
            return self._text_of(read_docx(data, limits=limits, is_embedded=True))
        raise UnreadableDocument(f"The DOCX file embeds a part that cannot be read ({name[-80:]}).")

    def _text_of(self, document: Document) -> str:
        self._left_out.update({part.reason: part.characters for part in document.partly_read})
        self._pictures.is_partly_read |= bool(document.pictures) or UNREAD_PICTURES in document.partly_read
        return document.text

    def _chunks(self, name: str) -> Iterator[bytes]:
        with self._package.open(name) as part:
            while chunk := part.read(_CHUNK_BYTES):
                self._unpacked_bytes += len(chunk)
                self._limits.check_unpacked_bytes(self._unpacked_bytes)
                yield chunk


class _RelationshipsReader(PartReader):
    """lxml's parser target for a part's relationships: the names of parts of the file, by id."""

    def __init__(self, folder: str) -> None:
        self.parts: dict[str, str] = {}
        self._folder = folder

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        target = attribute(attributes, "Target")
        if attribute(attributes, "TargetMode") != "External":
            path = target if target.startswith("/") else posixpath.join("/", self._folder, target)
            self.parts[attribute(attributes, "Id")] = posixpath.normpath(path).lstrip("/")


def _web_archive(data: bytes, limits: DocumentLimits) -> Document:
    """The document of a web archive's page: its first HTML part, or else its first text."""
    root: Message = BytesParser().parsebytes(data)
    parts = [part for part in root.walk() if part.get_content_maintype() == "text"]
    page = next((part for part in parts if part.get_content_subtype() == "html"), parts[0] if parts else None)
    content = None if page is None else page.get_payload(decode=True)
    if page is None or not isinstance(content, bytes):
        raise UnreadableDocument("The DOCX file embeds a web archive without a page.")
    charset = page.get_content_charset()
    if page.get_content_subtype() != "html":
        return read_text(content, charset=charset)
    document, pictures = read_html(content, charset=charset, limits=limits), EmbeddedPictures()
    for number, part in enumerate(root.walk()):
        if part.get_content_maintype() == "image":
            pictures.mark(str(number), number, partial(_content, part))
    if any(pictures.marks.values()) or pictures.is_partly_read:
        return replace(document, partly_read=(*document.partly_read, UNREAD_PICTURES))
    return document


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _number(name: str) -> int:
    found = _NUMBER.search(name)
    return int(found.group()[:9]) if found else 0

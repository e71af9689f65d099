"""Reads the text of an HTML file that a browser shows.

Left out: the head with its title, scripts, styles, templates, comments, values of form controls, and what `hidden` or
an inline `display:none` hides (style sheets are not applied). Blocks are lines, cells are separated by tabs, `<pre>`
keeps its white space, entities are decoded.

The parser sends events to a target and builds no tree, so nesting of any depth needs no stack.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from lxml import etree

from service.documents.charset import charset_of, decode_text
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.text_writer import TextWriter

_UNSHOWN = frozenset(
    "head script style template noscript iframe object svg audio video canvas textarea datalist".split()
)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol optgroup option p pre search section "
    "select summary table tbody tfoot thead ul".split()
)
_NOTHING_SHOWN = re.compile(r"display\s*:\s*none", re.I)
_META = re.compile(rb"<meta[^>]{0,500}charset[^>]{0,100}>", re.I)
_META_WITHIN_BYTES = 4096
_CHUNK_CHARACTERS = 65_536
_UNWANTED = re.compile(r"[\x00\ud800-\udfff]")


def read_html(data: bytes, *, charset: str | None = None, limits: DocumentLimits) -> Document:
    """The document in an HTML file.

    Raises:
        UnsupportedFormat: the content is binary.
        DocumentTooLarge: over the limit of characters.
        MemoryError: the parser ran out of memory; libxml2 then stops silently and leaves the root element open.
    """
    text, found = decode_text(data, charset or _meta_charset(data))
    target = _Shown(limits)
    parser = etree.HTMLParser(target=cast(Any, target), encoding="utf-8", huge_tree=True)
    for start in range(0, len(text), _CHUNK_CHARACTERS):
        parser.feed(text[start : start + _CHUNK_CHARACTERS].encode())
    if text:
        parser.close()
    if target.open_roots:
        raise MemoryError("the HTML parser stopped for want of memory")
    return Document(target.writer.result(), charset=found)


def _meta_charset(data: bytes) -> str | None:
    meta = _META.search(data[:_META_WITHIN_BYTES])
    return charset_of(meta.group().decode("ascii", errors="ignore")) if meta else None


class _Shown:
    """lxml's parser target: writes the text that shows to `writer`."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.writer = TextWriter()
        self.open_roots = 0
        self._limits = limits
        self._hidden_depth = 0  # open elements from the outermost hidden one on
        self._pre_depth = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.open_roots += tag == "html"
        if self._hidden_depth or _hides(tag, attributes):
            self._hidden_depth += tag not in _VOID
        elif tag in _BLOCKS:
            self.writer.block()
            self._pre_depth += tag == "pre"
        elif tag in ("td", "th"):
            self.writer.cell_start()
        elif tag == "tr":
            self.writer.row_start()
        elif tag == "br":
            self.writer.line_break()

    def end(self, tag: str) -> None:
        self.open_roots -= tag == "html"
        if self._hidden_depth:
            self._hidden_depth -= tag not in _VOID
        elif tag in _BLOCKS:
            self.writer.block()
            self._pre_depth -= tag == "pre"
        elif tag == "tr":
            self.writer.row_end()

    def data(self, text: str) -> None:
        if self._hidden_depth:
            return
        text = _UNWANTED.sub("", text)
        if self._pre_depth:
            self.writer.verbatim(text)
        else:
            self.writer.words(text)
        self._limits.check_characters(self.writer.characters)

    def comment(self, text: str) -> None:
        """Ignored: comments do not show."""

    def close(self) -> None:
        """Required by lxml's target protocol; the result is in `writer`."""


def _hides(tag: str, attributes: Mapping[str, str]) -> bool:
    return tag in _UNSHOWN or "hidden" in attributes or _NOTHING_SHOWN.search(attributes.get("style", "")) is not None

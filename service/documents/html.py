"""Reads the text of an HTML file that a browser shows.

Left out: the head with its title, scripts, templates, comments, what `hidden`, an inline style or a rule of `<style>`
hides (`html_style`), closed dialogs, struck-out text, and characters without width. Text in its place that has no ink
(`html_ink`) is left out as well, and counted as hidden. Blocks are lines; cells and boxes beside each other are
separated by tabs; `<pre>` keeps its white space; entities are decoded. Of form controls what they show is text: the
value of an input, the selected option, `☒` and `☐`. Raised cents and note marks are kept apart from their number.

The parser sends events to a target and builds no tree, so nesting of any depth needs no stack.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from lxml import etree

from service.core.errors import UnreadableDocument
from service.documents.charset import charset_of, decode_text
from service.documents.document import Document, UnreadReason
from service.documents.embedded_pictures import EmbeddedPictures, data_of, shown_address
from service.documents.html_elements import CONTROLS, NOTED, PLAIN_ELEMENT, Element, Inheritance
from service.documents.html_style import Display, Place, StyleSheet
from service.documents.limits import DocumentLimits
from service.documents.raised_text import raised_separator
from service.documents.text_writer import UNSEEN, TextWriter

_UNSHOWN = frozenset("title script style template noscript iframe object svg audio video canvas datalist".split())
_IN_HEAD = frozenset("title base link meta style script noscript template".split())
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol p pre search section "
    "summary table tbody tfoot thead ul".split()
)
_UNSHOWN_INPUTS = frozenset("hidden password file color range image".split())
_BOXES = {"checkbox", "radio"}
_SEPARATED = _BLOCKS | {"td", "th", "tr", "br"}
_META = re.compile(rb"<meta[^>]{0,500}charset[^>]{0,100}>|<\?xml[^>]{0,100}encoding[^>]{0,100}>", re.I)
_LONGEST_CURRENCY = 8
"""Characters after raised text that say whether a currency follows."""
_META_WITHIN_BYTES = 4096
_CHUNK_CHARACTERS = 65_536
_UNWANTED = re.compile(rf"[\x00\ud800-\udfff\uffff{UNSEEN}]")
"""Characters that cannot be in a text, or that a browser shows as nothing."""


def read_html(data: bytes, *, charset: str | None = None, limits: DocumentLimits) -> Document:
    """The document in an HTML file.

    Raises:
        UnsupportedFormat: the content is binary.
        DocumentTooLarge: over the limit of characters.
        MemoryError: the parser ran out of memory; libxml2 then stops silently and leaves the root element open.
    """
    text, found = decode_text(data, charset, _markup_charset(data))
    target = _shown(text, limits)
    marked = target.writer.result(target.left_out)
    return target.pictures.document(marked, charset=found, left_out=target.left_out)


def html_picture(data: bytes, number: int, *, charset: str | None = None, limits: DocumentLimits) -> bytes:
    """The picture of this number in an HTML file, which is its place among them.

    Raises:
        UnreadableDocument: there is none.
    """
    text, _ = decode_text(data, charset, _markup_charset(data))
    addresses = tuple(_shown(text, limits).pictures.marks)
    if not 1 <= number <= len(addresses):
        raise UnreadableDocument(f"The file has no picture {number}.")
    return data_of(addresses[number - 1])


def _shown(text: str, limits: DocumentLimits) -> _Shown:
    target = _Shown(limits)
    parser = etree.HTMLParser(target=cast(Any, target), encoding="utf-8", huge_tree=True)
    for start in range(0, len(text), _CHUNK_CHARACTERS):
        parser.feed(text[start : start + _CHUNK_CHARACTERS].encode())
    if text:
        parser.close()
    if target.open_roots:
        raise MemoryError("the HTML parser stopped for want of memory")
    return target


def _markup_charset(data: bytes) -> str | None:
    """The charset that the XML declaration or a `<meta>` says, whichever is first."""
    said = _META.search(data[:_META_WITHIN_BYTES])
    return charset_of(said.group().decode("ascii", errors="ignore")) if said else None


class _Choice:
    """An open `<select>`: its options' texts, and which are selected."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self._is_list = "multiple" in attributes
        self._options: list[tuple[bool, list[str]]] = []

    def option(self, attributes: Mapping[str, str]) -> None:
        self._options.append(("selected" in attributes, []))

    def data(self, text: str) -> None:
        if self._options:
            self._options[-1][1].append(text)

    def shown(self) -> str:
        """The selected options; of a drop-down the last selected, or the first."""
        selected = ["".join(parts) for is_selected, parts in self._options if is_selected]
        if self._is_list:
            return ", ".join(selected)
        return selected[-1] if selected else "".join(self._options[0][1]) if self._options else ""


class _Shown:
    """lxml's parser target: writes the text that shows to `writer`."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.writer = TextWriter()
        self.pictures = EmbeddedPictures()
        self.open_roots = 0
        self.left_out: Counter[UnreadReason] = Counter()
        self._limits = limits
        self._sheet = StyleSheet()
        self._css: list[str] | None = None  # of the open <style>
        self._media = ""
        self._hidden_depth = 0  # open elements from the outermost hidden one on
        self._is_drawing = False  # the hidden element is an <svg> that shows
        self._inheritance = Inheritance()
        self._open = [PLAIN_ELEMENT]
        self._path: list[Place] = []  # the open elements that show
        self._pre_depth = 0
        self._choice: _Choice | None = None
        self._raised_depth = 0
        self._raised = ""  # raised text that waits for what follows it
        self._after_raised = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.open_roots += tag == "html"
        if tag == "style":
            self._css, self._media = [], attributes.get("media", "")
        elif tag in NOTED:
            self._inheritance.note(tag, attributes)
        if self._hidden_depth:
            self._hidden_depth += tag not in _VOID
            if self._is_drawing:
                self._drawing(tag, attributes)
            return
        if self._path and self._path[-1][0] == "head" and tag not in _IN_HEAD:
            self._begin_body()
        style = self._sheet.style_of(tag, attributes, self._path)
        is_void = tag in _VOID
        if style.hides or _hides(tag, attributes):
            self._hidden_depth += not is_void
            self._inheritance.note_unread(style)
            is_shown = not (style.hides or "hidden" in attributes) and self._open[-1].shows_pictures
            self._is_drawing = tag == "svg" and is_shown and not style.invisible
            if tag == "object" and is_shown:
                self._picture(tag, attributes)
            return
        element = self._inheritance.child(self._open[-1], tag, attributes, style)
        self._open.append(element)
        self._path.append((tag, attributes))
        if tag in _SEPARATED or element is not PLAIN_ELEMENT:
            self._separate(tag, element, opens=True)
        if tag in CONTROLS:
            self._control(tag, attributes)
        elif (tag == "img" or "data:" in attributes.get("style", "")) and element.shows_pictures:
            self._picture(tag, attributes)
        if is_void:
            self._open.pop()
            self._path.pop()

    def _begin_body(self) -> None:
        """End the head before an element of the body, which the parser puts into the head if it does not know it."""
        style = self._sheet.style_of("body", {}, self._path[:-1])
        self._open[-1] = self._inheritance.child(self._open[-2], "body", {}, style)
        self._path[-1] = ("body", {})

    def _picture(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Mark the place of a picture that the file itself holds."""
        if address := shown_address(tag, attributes):
            number = len(self.pictures.marks) + 1
            self.writer.mark(self.pictures.mark(address, number, lambda: data_of(address)))

    def _drawing(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Note what an `<svg>` shows: a picture, or text, which is not read."""
        if tag == "image":
            self._picture(tag, attributes)
        elif tag == "text":
            self.pictures.is_partly_read = True

    def _separate(self, tag: str, element: Element, *, opens: bool) -> None:
        """Write what stands between this element and what is before it, or after it."""
        writer = self.writer
        if element.is_raised:
            self._raised_depth += 1 if opens else -1
        elif tag in _BLOCKS or element.display in (Display.BLOCK, Display.CONTAINER):
            if self._raised:
                self._end_raised()
            writer.block()
            if tag == "pre":
                self._pre_depth += 1 if opens else -1
        elif tag in ("td", "th") and opens:
            self._end_raised()
            writer.cell_start()
        elif tag == "tr":
            self._end_raised()
            writer.row_start() if opens else writer.row_end()
        elif tag == "br" and opens:
            self._end_raised()
            writer.line_break()
        elif element.display is not Display.SILENT:
            self._end_raised()
            writer.gap("\t" if element.display is Display.CELL else " ")

    def _control(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Read the text that a form control shows."""
        if tag == "select":
            self._choice = _Choice(attributes)
        elif tag == "option" and self._choice:
            self._choice.option(attributes)
        elif tag == "input":
            kind = attributes.get("type", "text").lower()
            if kind in _BOXES:
                self._boxed("☒" if "checked" in attributes else "☐")
            elif kind not in _UNSHOWN_INPUTS:
                self._boxed(attributes.get("value", ""))

    def _boxed(self, text: str) -> None:
        self.writer.gap(" ")
        self.data(text)
        self.writer.gap(" ")

    def end(self, tag: str) -> None:
        self.open_roots -= tag == "html"
        if tag == "style" and self._css is not None:
            css, self._css = "".join(self._css), None
            self._sheet.add(css, self._media)
            self._inheritance.note_sheet(css)
        if tag in _VOID:
            return
        if self._hidden_depth:
            self._hidden_depth -= 1
            return
        if tag == "select" and self._choice:
            shown, self._choice = self._choice.shown(), None
            self._boxed(shown)
        element = self._open.pop() if self._path else self._open[0]
        del self._path[-1:]
        if tag in _SEPARATED or element is not PLAIN_ELEMENT:
            self._separate(tag, element, opens=False)

    def data(self, text: str) -> None:
        if self._css is not None:
            self._css.append(text)
        if self._hidden_depth:
            return
        if not (element := self._open[-1]).is_shown:
            if not element.invisible:
                reason = UnreadReason.STRUCK if element.ink.struck else UnreadReason.HIDDEN
                self.left_out[reason] += len("".join(_UNWANTED.sub("", text).split()))
            return
        if not text.isascii() or "\x00" in text:
            text = _UNWANTED.sub("", text)
        if self._choice is not None:
            self._choice.data(text)
        elif self._raised_depth:
            if self._after_raised:
                self._end_raised()
            self._raised += text
        elif self._raised:
            self._after_raised += text  # entities come one by one: wait for enough to see a currency
            if len(self._after_raised.strip()) >= _LONGEST_CURRENCY:
                self._end_raised()
        else:
            self._write(text)
        self._limits.check_characters(self.writer.characters + len(self._raised))

    def _write(self, text: str) -> None:
        if self._pre_depth:
            self.writer.verbatim(text)
        else:
            self.writer.words(text)

    def _end_raised(self) -> None:
        """Write the raised text that waits and what follows it."""
        if self._raised:
            raised, after = self._raised, self._after_raised
            self._raised = self._after_raised = ""
            self.writer.words(raised_separator(self.writer.line(), raised.strip(), after))
            self.writer.words(raised)
            self._write(after)

    def doctype(self, name: str | None, public_id: str | None, system: str | None) -> None:
        """Read a document as browsers do that it declares to keep the standard."""
        self._inheritance.is_quirky = False

    def comment(self, text: str) -> None:
        """Ignored: comments do not show."""

    def close(self) -> None:
        """End what is open; the result is in `writer`."""
        self._end_raised()


def _hides(tag: str, attributes: Mapping[str, str]) -> bool:
    return tag in _UNSHOWN or "hidden" in attributes or (tag == "dialog" and "open" not in attributes)

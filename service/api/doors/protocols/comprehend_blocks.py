"""Where entities stand in a file, as Comprehend says it: a block for each line's part of an entity, with its geometry.

Comprehend's blocks are all words and lines of a file; here they are the parts of the text that hold an entity, so each
block is exactly what its entity covers on one line: a `WORD`, or a `LINE` where it has spaces. A page without text is
an error of that page.
"""

from __future__ import annotations

from typing import Any

from service.api.extraction.request import DocumentInput
from service.api.schemas import EntityResult
from service.core.arrays import Logits
from service.core.decoding.entities import Entity
from service.documents.document import Box, Document, Page
from service.documents.format_detection import Format, detect_format
from service.text.pipeline import Prepared, decode_merged
from service.text.tokenizer import TextTokenizer

_TYPES = {Format.PDF: "NATIVE_PDF", Format.DOCX: "MS_WORD"}


class BlocksDecoder:
    """Decodes the one document of a request as usual, and keeps its pages and layout."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self._labels = labels
        self._source = DocumentInput("")
        self._document = Document("")

    def __call__(
        self, source: DocumentInput, document: Document, tokenizer: TextTokenizer, prepared: Prepared, logits: Logits, /
    ) -> list[Entity]:
        """The entities of the document."""
        self._source, self._document = source, document
        return decode_merged(tokenizer, prepared, logits, self._labels)

    def described(self, shown: list[dict[str, Any]], entities: list[EntityResult]) -> dict[str, Any]:
        """The answer about the file; to each entity that is shown its blocks are added."""
        document, blocks = self._document, list[dict[str, Any]]()
        for each, entity in zip(shown, entities, strict=True):
            parts = document.parts(entity.start, entity.end)
            if not parts:
                continue
            each["BlockReferences"] = []
            page = _page_at(document, entity.start)
            for start, end, box in parts:
                text = document.text[start:end].strip()
                block = _block(str(len(blocks) + 1), text, page, box)
                blocks.append(block)
                each["BlockReferences"].append({"BlockId": block["Id"], "BeginOffset": 0, "EndOffset": len(text)})
        pages = document.pages or (Page(1, 0, len(document.text)),)
        kind = _TYPES.get(detect_format(self._source.data), "PLAIN_TEXT")
        return {
            "Entities": shown,
            "DocumentMetadata": {
                "Pages": len(pages),
                "ExtractedCharacters": [{"Page": page.number, "Count": page.end - page.start} for page in pages],
            },
            "DocumentType": [{"Page": page.number, "Type": kind} for page in pages],
            "Blocks": blocks,
            "Errors": [_unread(number) for number in document.unread_pages],
        }


def _page_at(document: Document, offset: int) -> Page:
    assert document.pages, "a layout has pages"
    number = document.page_at(offset)
    return next(page for page in document.pages if page.number == number)


def _block(id_: str, text: str, page: Page, box: Box) -> dict[str, Any]:
    width, height = page.width or 1.0, page.height or 1.0
    left, right = (min(max(x / width, 0.0), 1.0) for x in (box[0], box[2]))
    top, bottom = (min(max(y / height, 0.0), 1.0) for y in (box[1], box[3]))
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return {
        "Id": id_,
        "BlockType": "LINE" if " " in text else "WORD",
        "Text": text,
        "Page": page.number,
        "Geometry": {
            "BoundingBox": {"Left": left, "Top": top, "Width": right - left, "Height": bottom - top},
            "Polygon": [{"X": x, "Y": y} for x, y in corners],
        },
    }


def _unread(number: int) -> dict[str, Any]:
    said = "The page holds images only, as a scan does; nothing was read from it."
    return {"Page": number, "ErrorCode": "TEXTRACT_BAD_PAGE", "ErrorMessage": said}

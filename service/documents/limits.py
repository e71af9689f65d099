"""Size limits of one document, and the error raised over them."""

from __future__ import annotations

from dataclasses import dataclass

from service.core.errors import DocumentTooLarge

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLimits:
    """Limits of one document; each check raises `DocumentTooLarge` with the limit and the excess.

    Attributes:
        max_bytes: of the document as sent.
        max_pages: of a format that has pages.
        max_characters: of the text, in code points.
        max_unpacked_bytes: of the parts of a zipped format once unpacked, together; stops zip bombs.
    """

    max_bytes: int = 64 * MEBIBYTE
    max_pages: int = 2_000
    max_characters: int = 10_000_000
    max_unpacked_bytes: int = 256 * MEBIBYTE

    def check_bytes(self, count: int) -> None:
        _check(count, self.max_bytes, "bytes")

    def check_pages(self, count: int) -> None:
        _check(count, self.max_pages, "pages")

    def check_characters(self, count: int) -> None:
        _check(count, self.max_characters, "characters")

    def check_unpacked_bytes(self, count: int) -> None:
        _check(count, self.max_unpacked_bytes, "unpacked bytes")


def _check(count: int, limit: int, unit: str) -> None:
    if count > limit:
        raise DocumentTooLarge(
            f"The document has {count:,} {unit}; the limit is {limit:,}: {count - limit:,} too many."
        )

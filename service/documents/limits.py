"""Size limits of one document, and the error raised over them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.core.errors import DocumentTooLarge

MEBIBYTE = 1024 * 1024
CHARACTERS_PER_BYTE = 50
"""Most characters that a file may unpack to for each of its bytes. Ordinary ones: 3 in a DOCX, 1 in a text."""
ALWAYS_CHARACTERS = 1_000_000
"""Characters that a file of any size may unpack to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLimits:
    """Limits of one document; each check raises `DocumentTooLarge` with the limit and the excess.

    Attributes:
        max_bytes: of the document as sent.
        max_pages: of a format that has pages.
        max_characters: of the text, in code points.
        max_tokens: of the text, by the model's tokenizer; not known to the readers.
        max_unpacked_bytes: of the parts of a zipped format once unpacked, together; stops zip bombs.
        file_bytes: bytes of the file, where they set `max_characters`.
    """

    max_bytes: int = 64 * MEBIBYTE
    max_pages: int = 2_000
    max_characters: int = 10_000_000
    max_tokens: int = 5_000_000
    max_unpacked_bytes: int = 256 * MEBIBYTE
    file_bytes: int | None = None

    def for_file_of(self, file_bytes: int) -> DocumentLimits:
        """The limits of a file of so many bytes, whose text may not be out of all proportion to them."""
        most = max(ALWAYS_CHARACTERS, CHARACTERS_PER_BYTE * file_bytes)
        return self if most >= self.max_characters else replace(self, max_characters=most, file_bytes=file_bytes)

    def check_bytes(self, count: int) -> None:
        _check(count, self.max_bytes, "bytes", "MAX_DOCUMENT_BYTES")

    def check_pages(self, count: int) -> None:
        _check(count, self.max_pages, "pages", "MAX_DOCUMENT_PAGES")

    def check_characters(self, count: int) -> None:
        if count <= self.max_characters:
            return
        if self.file_bytes is not None:
            _check(count, self.max_characters, f"characters for its {self.file_bytes:,} bytes")
        _check(count, self.max_characters, "characters", "MAX_DOCUMENT_TOKENS")

    def check_tokens(self, count: int) -> None:
        _check(count, self.max_tokens, "tokens or more", "MAX_DOCUMENT_TOKENS")

    def check_unpacked_bytes(self, count: int) -> None:
        _check(count, self.max_unpacked_bytes, "unpacked bytes")


def in_bytes(count: int) -> str:
    """Format a limit as `64 MiB` where that is exact, else as `1,234 bytes`."""
    return f"{count:,} bytes" if count % MEBIBYTE else f"{count // MEBIBYTE:,} MiB"


def body_too_large(limit_bytes: int) -> DocumentTooLarge:
    """Make the error for a body of more bytes."""
    return DocumentTooLarge(f"The body is over {in_bytes(limit_bytes)}: send its documents in several requests.")


def _check(count: int, limit: int, unit: str, setting: str = "") -> None:
    if count > limit:
        most = in_bytes(limit).removesuffix(" bytes") if unit == "bytes" else f"{limit:,}"
        way = f" Split it, or raise GLEANER_{setting} of the service." if setting else ""
        raise DocumentTooLarge(
            f"The document has {count:,} {unit}; the limit is {most}: {count - limit:,} too many.{way}"
        )

"""Layout models between a document's pages and scores: words with boxes, each page in windows of its own.

The rule: a word is tagged by its first token, and an entity is whole words of one page. Words are the caller's own; in
a file's text white space separates them. A document without pages is refused, unless `decoding.json` says that the
model reads texts without boxes too: then it is read as by any token classifier, and all boxes are 0. A model made from
a text encoder with a token for line ends may read the text of the pages instead of their words (`layout_tokens`): words
are then found as in any text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import cast

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from service.core.arrays import BOXED, Pictures, TokenIds
from service.core.decoding.windows import Window
from service.core.errors import UnreadableDocument
from service.core.sequences import with_picture
from service.documents.document import Document, Page, PlacedWords
from service.documents.words import words_between_spaces
from service.families.layout.boxes import BoxColumns, inked, of_lines, pages_of
from service.families.layout.sample_pages import sample_page
from service.families.layout.tokenizer import LayoutTokenizer, WordTokens
from service.families.processor import PictureFormat
from service.families.token_classifier.processor import TagDocument, TagTask, TokenClassifier
from service.text.tokenizer import GivenWords, Tokens, Vocabulary
from service.wire import ModelStatus


class LayoutModel(TokenClassifier):
    """One revision of a layout model."""

    @property
    def tokenizer(self) -> LayoutTokenizer:
        return cast(LayoutTokenizer, super().tokenizer)

    def _read(self, known: Iterable[Vocabulary]) -> LayoutTokenizer:
        return LayoutTokenizer(self._folder, known)

    def steps(self, task: TagTask, document: Document) -> Iterator[int | TagDocument]:
        words = document.words or words_between_spaces(document)
        if words is not None and document.pages:
            yield from self._page_steps(task, document, document.pages, words)
            return
        if not self._reads_texts:
            raise UnreadableDocument(NO_PAGES)
        yield from map(self._without_boxes, super().steps(task, document))

    @property
    def picture(self) -> PictureFormat | None:
        return self.tokenizer.picture

    def readable(self, document: Document) -> Document:
        if document.pages is None and not self._reads_texts:
            document = sample_page(document.text)
        return with_blank_pictures(document, self.picture)

    def described(self, status: ModelStatus) -> ModelStatus:
        needs = {"needs_pages": not self._reads_texts, "needs_pictures": self.picture is not None}
        return replace(super().described(status), **needs)

    @property
    def _reads_texts(self) -> bool:
        """True if it was trained on texts without boxes as well."""
        return self.tokenizer.decoding.text_without_boxes and self.picture is None

    def _page_steps(
        self, task: TagTask, document: Document, pages: Sequence[Page], words: PlacedWords
    ) -> Iterator[int | TagDocument]:
        tokenizer = self.tokenizer
        read = tokenizer.text_tokens if tokenizer.decoding.text_tokens else tokenizer.word_tokens
        for step in read(document.text, words, composed=task.reads_composed):
            if isinstance(step, int):
                yield step
            else:
                yield self._prepared(task, document, pages, words, step)

    def _prepared(
        self, task: TagTask, document: Document, pages: Sequence[Page], words: PlacedWords, found: WordTokens
    ) -> TagDocument:
        page_of_word = pages_of(words, pages)
        boxes = self._boxes(document, pages, words, page_of_word)[found.owners]
        firsts = np.flatnonzero(np.append(True, np.diff(found.owners) != 0)[: len(found.owners)])
        borders = np.searchsorted(page_of_word[found.owners], range(len(pages) + 1)).tolist()
        parts = {page: part for page, part in enumerate(pairwise(borders)) if part[0] < part[1]}
        given = None if self.tokenizer.decoding.text_tokens else GivenWords(firsts, tuple(parts.values()))
        tokens = Tokens(found.ids, found.offsets, given)
        windows: list[Window] = []
        sequences: list[TokenIds] = []
        for page, part in parts.items():
            picture = None if self.picture is None else picture_of_page(document, page, self.picture)
            for window in self._windows(task, *part):
                inside = slice(window.start, window.stop)
                sequence = self.tokenizer.placed_sequence(found.ids[inside], boxes[inside])
                windows.append(window)
                sequences.append(sequence if picture is None else with_picture(sequence, picture))
        return TagDocument(document.text, tokens, tuple(windows), sequences, task, document)

    def _windows(self, task: TagTask, start: int, stop: int) -> Iterator[Window]:
        """The windows of one page's tokens `[start, stop)`."""
        longest, overlap = task.sizes
        for window in self.tokenizer.windows(stop - start, longest=longest, overlap=overlap):
            yield Window(*(start + place for place in dataclasses.astuple(window)))

    def _boxes(
        self, document: Document, pages: Sequence[Page], words: PlacedWords, page_of_word: NDArray[np.intp]
    ) -> BoxColumns:
        places = inked(words.boxes, page_of_word)
        if self.tokenizer.decoding.line_boxes:
            places = of_lines(places, document, words, page_of_word)
        sides = np.array([(page.width, page.height) for page in pages], dtype=np.float64)
        return self.tokenizer.boxes.scaled(places, page_of_word, sides)

    def _without_boxes(self, step: int | TagDocument) -> int | TagDocument:
        if isinstance(step, int):
            return step
        return dataclasses.replace(step, sequences=[*map(without_boxes, step.sequences)])


NO_PAGES = (
    "the model reads words by their places on a page, and this document has no pages: send a PDF or a picture of it, "
    "or its words with their boxes as `pages`"
)


def picture_of_page(document: Document, page: int, wanted: PictureFormat) -> Pictures:
    """The picture of a page, counted from 0. Raises UnreadableDocument where there is none."""
    picture = document.page_pixels[page] if page < len(document.page_pixels) else None
    if picture is None:
        raise UnreadableDocument(
            f"the model sees a picture of each page, and page {page + 1} has none: send a PDF or a picture of it, or "
            "its `image` beside its words"
        )
    assert picture.shape == (3, wanted.side, wanted.side), "drawn as the model sees pages"
    return picture


def with_blank_pictures(document: Document, wanted: PictureFormat | None) -> Document:
    """Give the document white pictures of its pages, if the model sees pictures."""
    if wanted is None:
        return document
    white = np.full((3, wanted.side, wanted.side), 255, dtype=np.uint8)
    return dataclasses.replace(document, page_pixels=(white,) * len(document.pages or ()))


def without_boxes(sequence: TokenIds) -> TokenIds:
    """A sequence of ids, `[tokens]`, with a box of zeros for each, special ones too."""
    boxed = np.zeros((len(sequence), BOXED), dtype=np.int32)
    boxed[:, 0] = sequence
    return boxed


FAMILY = LayoutModel

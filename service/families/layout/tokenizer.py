"""Tokenizer of a layout model: words with boxes to tokens, each word by itself, as `is_split_into_words` does.

A byte-level tokenizer reads each word with a space before it, wherever it stands: that is how these models are trained,
whatever its file says of texts. Special tokens have boxes of their own, which tokenizer_config.json may say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from model_store.families.family import CONFIG, TOKENIZER_CONFIG, Contents
from model_store.families.layout import (
    LARGEST,
    PREPROCESSOR,
    PROCESSOR,
    is_box,
    needs_pictures,
    picture_options,
    picture_side,
)
from service.core.arrays import BOXED, TokenIds
from service.core.decoding.offsets import ComposedText, compose
from service.core.errors import ModelError
from service.documents.document import PlacedWords
from service.families.layout.boxes import Boxes
from service.families.processor import PictureFormat
from service.text.tokenizer import TextTokenizer, Tokens, Vocabulary, encoded_words

WORDS_A_STEP = 4_096
"""Words that are tokenized at a time, without the GIL."""
BROS = "bros"
BILINEAR = 2
"""Number of the filter that resizes pictures, if the folder does not say it."""
SPECIAL_BOXES = {"layoutlm": (0, LARGEST), BROS: (0, LARGEST)}
"""Model type → coordinate of the boxes of special tokens before and behind a text; 0 for others; a folder may say."""
Ranges = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class WordTokens:
    """Tokens of some words: ids and offsets as in `Tokens`, and each token's word, ascending, intp `[tokens]`."""

    ids: TokenIds
    offsets: npt.NDArray[np.int32]
    owners: npt.NDArray[np.intp]


class LayoutTokenizer(TextTokenizer):
    """The tokenizer of a layout model's folder.

    Attributes:
        boxes: how the model reads boxes.
        picture: how it sees pages; None if it sees none.

    Raises:
        ModelError: as `TextTokenizer`; or a special token's box is none.
    """

    def __init__(self, folder: Path, known: Iterable[Vocabulary] = ()) -> None:
        super().__init__(folder, known)
        contents = {name: _object(folder / name) for name in (CONFIG, TOKENIZER_CONFIG, PREPROCESSOR, PROCESSOR)}
        config, options = contents[CONFIG], contents[TOKENIZER_CONFIG]
        self.picture = _picture(contents) if needs_pictures(config) else None
        self.boxes = Boxes(as_shares=config.get("model_type") == BROS)
        before, behind = SPECIAL_BOXES.get(str(config.get("model_type")), (0, 0))
        self._before = self.boxes.special(_box(options, "cls_token_box", before))
        self._behind = self.boxes.special(_box(options, "sep_token_box", behind))
        self._mark = mark_of_words(self.vocabulary)

    def word_tokens(self, text: str, words: PlacedWords, *, composed: bool) -> Iterator[int | WordTokens]:
        """Tokenize a text's words, some at a time: yields the number of tokens so far, at last all of them."""
        read = compose(text) if composed else ComposedText(text)
        ranges = words.ranges if read.places is None else read.read(words.ranges).astype(np.int32)
        parts: list[WordTokens] = []
        for first in range(0, max(len(ranges), 1), WORDS_A_STEP):
            if parts:
                yield sum(len(part.ids) for part in parts)
            parts.append(self._encode_words(read.text, ranges[first : first + WORDS_A_STEP], first))
        ids, offsets, owners = (
            np.concatenate(column) for column in zip(*((p.ids, p.offsets, p.owners) for p in parts), strict=True)
        )
        yield WordTokens(ids, _whole_words(read.written(offsets), owners, words.ranges), owners)

    def text_tokens(self, text: str, words: PlacedWords, *, composed: bool) -> Iterator[int | WordTokens]:
        """Tokenize a text as a whole; a token between words, such as a line end, belongs to the word before it."""
        parts: list[Tokens] = []
        for start, end in self.chunks(text):
            if parts:
                yield sum(len(part.ids) for part in parts)
            parts.append(self.encode_chunk(text, start, end, composed=composed))
        tokens = Tokens.joined(parts)
        count = len(tokens.ids) if len(words.ranges) else 0
        owners = np.searchsorted(words.ranges[:, 0], tokens.offsets[:count, 1], side="left") - 1
        yield WordTokens(tokens.ids[:count], tokens.offsets[:count], np.maximum(owners, 0))

    def _encode_words(self, text: str, ranges: Ranges, first: int) -> WordTokens:
        words = [self._mark + text[start:end] for start, end in ranges.tolist()]
        encoded = encoded_words(self._tokenizer, words)
        owners = np.array(encoded.word_ids, dtype=np.intp)
        starts = ranges[owners, 0] if len(owners) else np.empty(0, dtype=np.int32)
        stops = ranges[owners, 1] if len(owners) else starts
        offsets = np.array(encoded.offsets, dtype=np.int32).reshape(-1, 2) - len(self._mark) + starts[:, None]
        within = np.clip(offsets, starts[:, None], stops[:, None]).astype(np.int32)
        return WordTokens(np.array(encoded.ids, dtype=np.int32), within, owners + first)

    def placed_sequence(self, ids: TokenIds, boxes: npt.NDArray[np.int32]) -> TokenIds:
        """The sequence of a window, int32 `[tokens, 5]`, from its ids `[tokens]` and its boxes `[tokens, 4]`."""
        before, behind = len(self.prefix), len(self.suffix)
        sequence = np.empty((before + len(ids) + behind, BOXED), dtype=np.int32)
        sequence[:, 0] = np.concatenate([self.prefix, ids, self.suffix])
        sequence[:before, 1:], sequence[before : before + len(ids), 1:] = self._before, boxes
        sequence[before + len(ids) :, 1:] = self._behind
        return sequence


def _whole_words(offsets: npt.NDArray[np.int32], owners: npt.NDArray[np.intp], ranges: Ranges) -> npt.NDArray[np.int32]:
    """The tokens' offsets, with each word's first token beginning where the word does, and its last ending there."""
    if not len(owners):
        return offsets
    begins = np.append(True, owners[1:] != owners[:-1])
    offsets[begins, 0] = ranges[owners[begins], 0]
    ends = np.append(begins[1:], True)
    offsets[ends, 1] = ranges[owners[ends], 1]
    return offsets


def _picture(contents: Contents) -> PictureFormat:
    side, resample = picture_side(contents[CONFIG]), picture_options(contents).get("resample", BILINEAR)
    if not isinstance(side, int) or not isinstance(resample, int):
        raise ModelError(f"{PREPROCESSOR} does not say how pages are seen")
    return PictureFormat(side, resample)


def mark_of_words(vocabulary: Vocabulary) -> str:
    """Choose the prefix of each word: a space for a byte-level tokenizer whose file puts none before a text."""
    splitter = vocabulary.tokenizer.pre_tokenizer
    return " " if splitter is not None and _without_space(json.loads(splitter.__getstate__())) else ""


def _without_space(splitter: dict[str, Any]) -> bool:
    parts = splitter.get("pretokenizers")
    if isinstance(parts, list):
        return any(map(_without_space, parts))
    return splitter.get("type") == "ByteLevel" and not splitter.get("add_prefix_space")


def _object(file: Path) -> dict[str, Any]:
    """The object in a JSON file, an empty one where there is none."""
    try:
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{file.name} cannot be read: {error}") from error
    return content if isinstance(content, dict) else {}


def _box(options: dict[str, Any], name: str, default: int) -> list[int]:
    box = options.get(name, [default] * 4)
    if not is_box(box):
        raise ModelError(f"`{name}` in {TOKENIZER_CONFIG} is no box of four integers from 0 to {LARGEST:,}")
    return cast(list[int], box)

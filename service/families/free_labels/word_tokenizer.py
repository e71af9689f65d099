"""Word tokenizer of a model with free labels: a text's words to sequences, each with a prompt of labels.

A word's tokens are those that the tokenizer gives for the word alone, so they are looked up where it came before. No
text can hold a special token: a word is letters and digits, or a single mark.

A sequence is marked (`core/labels/marking`), so the engine sees the words and the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import TokenIds
from service.core.decoding.offsets import compose
from service.core.decoding.windows import Window
from service.core.errors import InvalidOptions
from service.core.labels import marking
from service.core.labels.label_set import Label, LabelSet
from service.families.free_labels.config import MOST_WORDS, LabelConfig
from service.families.free_labels.prompt import Prompt, Span
from service.text.pipeline import Prepared
from service.text.tokenizer import Tokens, Vocabulary

WORDS_AT_ONCE = 1_024
"""Words of one step of a long text."""
MOST_KNOWN = 32_768
"""Words of a generation; two are kept."""
LONGEST_KNOWN_CHARACTERS = 32
MOST_WORD_TOKENS = 128
"""Most tokens of a word; a longer one, as in scripts without spaces, is cut in two."""
SMALLEST_ROOM_TOKENS = 8
"""Least tokens of a window for words."""


@dataclass(frozen=True, eq=False)
class PreparedWords(Prepared):
    """A text for a model with free labels: windows are of words, each with a sequence for every group of labels.

    Attributes:
        words: start and end in code points, int32 `[words, 2]`.
        groups: the labels that each sequence of a window has.
    """

    words: NDArray[np.int32]
    groups: list[range]


class WordTokenizer:
    """The tokenizer of one folder of a model with free labels. Thread-safe.

    Args:
        most_known: words of a generation that are kept with their tokens.
    """

    def __init__(
        self, vocabulary: Vocabulary, prompt: Prompt, config: LabelConfig, *, most_known: int = MOST_KNOWN
    ) -> None:
        self._most_known = most_known
        self.vocabulary = vocabulary
        self.config = config
        self.prompt = prompt
        self._young: dict[str, TokenIds] = {}
        self._old: dict[str, TokenIds] = {}
        added = self.vocabulary.tokenizer.get_added_tokens_decoder().values()
        self._added = sorted({form for each in added for form in self._forms(each.content) if form.strip()})

    def check(self, labels: Sequence[Label], longest: int, most_tokens: int = 0) -> None:
        """Refuse labels that no window has room for, or that would be read as special tokens.

        Args:
            longest: tokens of a window.
            most_tokens: limit of a label for a model that reads labels apart; 0: the window alone sets the limit.

        Raises:
            InvalidOptions: names the first.
        """
        self._refuse_tokens("labels", labels)
        frame = sum(map(len, self.prompt.frame([])))
        most = longest - frame - max(SMALLEST_ROOM_TOKENS, longest // 4)
        for label, tokens in zip(labels, self.prompt.label_tokens(labels), strict=True):
            if tokens > most:
                raise InvalidOptions(f"labels: {label.name[:50]!r} has too many tokens for a window of {longest}.")
            if most_tokens and tokens > most_tokens:
                detail = f"has {tokens} tokens; the model takes {most_tokens} in a label or its description."
                raise InvalidOptions(f"labels: {label.name[:50]!r} {detail}")

    def check_records(self, labels: LabelSet, longest: int) -> None:
        """Refuse records of which no window has room for all, or that would be read as special tokens.

        Raises:
            InvalidOptions: says why.
        """
        self._refuse_tokens("schema", [*(Label(each.name) for each in labels.records), *labels.labels])
        before, behind = self._frame(labels, range(len(labels.labels)))
        if 2 * (len(before) + len(behind)) > longest:
            raise InvalidOptions(f"schema: it has more tokens than half a window of {longest}; ask for fewer fields.")

    def _refuse_tokens(self, option: str, labels: Sequence[Label]) -> None:
        for label in labels:
            said = "\n".join(self._forms(f"{label.name} {label.description}"))
            if token := next((each for each in self._added if each in said), None):
                raise InvalidOptions(f"{option}: {label.name[:50]!r} holds {token!r}, a special token of the model.")

    def _forms(self, text: str) -> tuple[str, str]:
        """A text as it is, and as the tokenizer normalizes it: some added tokens are found in the one, some there."""
        normalizer = self.vocabulary.tokenizer.normalizer
        return text, text if normalizer is None else normalizer.normalize_str(text)

    @property
    def largest_id(self) -> int:
        """Largest id of the tokens that a sequence may have; those of labels beside it do not count."""
        own = self.vocabulary.tokenizer.get_vocab(with_added_tokens=False).values()
        frame = np.concatenate([marking.text_part(part) for part in self.prompt.frame([Label("a")])])
        return max(max(own, default=0), int(marking.unmarked(frame).max(initial=0)))

    def prepare_in_steps(
        self, text: str, labels: LabelSet, *, longest: int, overlap: int
    ) -> Iterator[int | PreparedWords]:
        """Tokenize a text and cut it for a model that takes `longest` tokens, prompt and special tokens included.

        Yields the number of tokens so far after some words each, so that the caller may end it, at last the result.
        """
        groups = self._groups(labels, longest)
        frames = [self._frame(labels, group) for group in groups]
        room = longest - max(len(before) + len(behind) for before, behind in frames)
        spans: list[Span] = []
        ids: list[TokenIds] = []
        read = compose(text)
        count, words, ended = 0, self.prompt.words(read.text), f"{read.text}."
        while some := [*islice(words, WORDS_AT_ONCE)]:
            for span, each in self._encoded(ended, some, min(MOST_WORD_TOKENS, max(room // 2, 1))):
                spans.append(span)
                ids.append(each)
                count += len(each)
            yield count
        counts = np.fromiter(map(len, ids), dtype=np.int64, count=len(ids))
        windows = word_windows(
            counts,
            most_tokens=room,
            most_words=self.config.max_len or MOST_WORDS,
            overlap_words=max(self.config.overlap_words, overlap // 2),
        )
        places = read.written(np.array(spans, dtype=np.int32).reshape(-1, 2))
        every = np.concatenate(ids) if ids else np.empty(0, dtype=np.int32)
        tokens = Tokens(marking.unmarked(every), np.repeat(places, counts, axis=0))
        sequences = [np.concatenate([a, *ids[w.start : w.stop], b]) for w in windows for a, b in frames]
        yield PreparedWords(text, tokens, windows, sequences, places, groups)

    def blank(self) -> Callable[[int], TokenIds]:
        """Makes sequences that are as much work as one may be: many short labels, short words."""
        mark = self.prompt.class_id if self.prompt.field_id is None else self.prompt.field_id
        return partial(_blank, self.config.most_labels, mark)

    def _frame(self, labels: LabelSet, group: range) -> tuple[TokenIds, TokenIds]:
        if not labels.records:
            return self.prompt.frame([labels.labels[index] for index in group])
        return self.prompt.record_frame(labels)

    def _groups(self, labels: LabelSet, longest: int) -> list[range]:
        """Labels that have half a window together, or one of them that has more; records are in one."""
        if labels.records:
            return [range(len(labels.labels))]
        before, behind = self.prompt.frame([])
        room = (longest - len(before) - len(behind)) // 2
        return labels.groups(self.prompt.label_tokens(labels.labels), self.config.most_labels, room)

    def _encoded(self, text: str, spans: Sequence[Span], most_tokens: int) -> Iterator[tuple[Span, TokenIds]]:
        """Words and their tokens; one without tokens is none, and one of too many is cut in halves."""
        for (start, end), ids in zip(spans, self._ids([text[start:end] for start, end in spans]), strict=True):
            if len(ids) > most_tokens and end - start > 1:
                middle = (start + end) // 2
                yield from self._encoded(text, [(start, middle), (middle, end)], most_tokens)
            elif len(ids):
                yield (start, end), ids

    def _ids(self, words: Sequence[str]) -> list[TokenIds]:
        """The marked tokens of each word by itself."""
        young, old = self._young, self._old
        found = {word: ids for word in words if (ids := young.get(word, old.get(word))) is not None}
        if unknown := [word for word in dict.fromkeys(words) if word not in found]:
            found.update(zip(unknown, self._tokenized(unknown), strict=True))
        young.update((word, ids) for word, ids in found.items() if len(word) <= LONGEST_KNOWN_CHARACTERS)
        if len(young) > self._most_known:
            self._young, self._old = {}, young
        return [found[word] for word in words]

    def _tokenized(self, words: Sequence[str]) -> list[TokenIds]:
        return [marking.word(np.array(ids, dtype=np.int32)) for ids in self.prompt.tokens(words)]


def _blank(most_labels: int, mark: int | None, length: int) -> TokenIds:
    """A sequence of so many tokens. `mark`: the id of the token before each label; None where they stand apart."""
    sequence = np.zeros(length, dtype=np.int32)
    labels = min(most_labels, length // 4)
    if mark is None:
        beside = marking.label(np.zeros(1, dtype=np.int32))
        return np.concatenate([sequence[labels:], *[beside] * labels])
    sequence[: 2 * labels] = ~0
    sequence[: 2 * labels : 2] = ~mark
    return sequence


def word_windows(
    token_counts: NDArray[np.int64], *, most_tokens: int, most_words: int, overlap_words: int
) -> tuple[Window, ...]:
    """Windows over words, neighbours sharing `overlap_words` where so many leave half a window of new ones.

    The kept parts partition the words; their borders lie in the middle of the overlaps.

    Args:
        token_counts: of each word, none over `most_tokens`.
    """
    words = len(token_counts)
    if not words:
        return ()
    ends = np.cumsum(token_counts)
    spans = [(0, _stop(ends, 0, most_tokens, most_words))]
    while spans[-1][1] < words:
        start, stop = spans[-1]
        start = stop - min(overlap_words, (stop - start) // 2)
        while (further := _stop(ends, start, most_tokens, most_words)) <= stop:
            start += 1
        spans.append((start, further))
    borders = [0, *((right + stop) // 2 for (_, stop), (right, _) in pairwise(spans)), words]
    return tuple(Window(*span, *kept) for span, kept in zip(spans, pairwise(borders), strict=True))


def _stop(ends: NDArray[np.int64], start: int, most_tokens: int, most_words: int) -> int:
    """The word after the last one of a window that begins at `start`."""
    before = int(ends[start - 1]) if start else 0
    fits = int(np.searchsorted(ends, before + most_tokens, side="right"))
    return min(fits, start + most_words)

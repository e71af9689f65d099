from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer
from tokenizers.normalizers import NFKC, Lowercase, Sequence

from service.core.arrays import Logits, TokenIds
from service.core.decoding.spans import Overlaps
from service.core.decoding.windows import Window
from service.core.errors import InvalidOptions, ModelError
from service.core.labels import marking
from service.core.labels.label_set import Label, LabelSet, ScoreLimits
from service.families.free_labels.decoding import decode_spans
from service.families.free_labels.word_tokenizer import PreparedWords, WordTokenizer
from service.families.gliner.config import GlinerConfig
from service.families.gliner2.config import BoundaryConfig, SpanConfig
from tests.support.label_models import HOME, prepare_words, word_tokenizer

GLINER = ("uni-span-deberta", "uni-token-bert")
NAMES = (*GLINER, "gliner25-boundary", "gliner2-span", "bi-span-modernbert")

TEXT = "Jane Doe-Smith paid 1,250.00 EUR 😀 in Zürich.\nلبنان 東京の田中さん"
LABELS = LabelSet.of([Label("person"), Label("sum", "an amount of money")], ScoreLimits())


def prepared(tokenizer: WordTokenizer, text: str, labels: LabelSet = LABELS, longest: int = 512) -> PreparedWords:
    return prepare_words(tokenizer, text, labels, longest=longest, overlap=0)


def labels_of(*names: str) -> LabelSet:
    return LabelSet.of([*map(Label, names)], ScoreLimits(0.8))


def unmarked(sequence: TokenIds) -> list[int]:
    return [*map(int, marking.unmarked(sequence))]


@pytest.mark.parametrize("name", GLINER)
def test_a_sequence_is_that_of_the_pretokenized_prompt_and_words(name: str) -> None:
    words = word_tokenizer(HOME / name)
    text = prepared(words, TEXT)
    prompt = ["<<ENT>>", "person", "<<ENT>>", "an amount of money", "<<SEP>>"]
    tokenizer = Tokenizer.from_file(str(HOME / name / "tokenizer.json"))
    spelled = [TEXT[start:end] for start, end in text.words.tolist()]
    encoded = tokenizer.encode([*prompt, *spelled], is_pretokenized=True)
    (sequence,) = text.sequences
    assert unmarked(sequence) == encoded.ids
    assert (sequence >= 0).sum() == len(spelled)
    firsts = [encoded.word_ids.index(number) for number in range(len(prompt), len(prompt) + len(spelled))]
    assert np.flatnonzero(sequence >= 0).tolist() == firsts


@pytest.mark.parametrize("name", NAMES)
def test_known_words_have_the_tokens_of_new_ones(name: str) -> None:
    fresh = prepared(word_tokenizer(HOME / name), TEXT).sequences[0].tolist()
    read = word_tokenizer(HOME / name)
    words = WordTokenizer(read.vocabulary, read.prompt, read.config, most_known=3)
    assert all(prepared(words, TEXT).sequences[0].tolist() == fresh for _ in range(3))


def test_a_text_without_words_has_no_sequences() -> None:
    words = word_tokenizer(HOME / NAMES[0])
    assert prepared(words, "").sequences == prepared(words, " \n\t").sequences == []


def test_long_words_are_cut_and_nothing_is_left_out() -> None:
    words = word_tokenizer(HOME / NAMES[0])
    text = prepared(words, "x" * 3_000 + " end", longest=64)
    assert all(len(sequence) <= 64 for sequence in text.sequences)
    assert text.words[0, 0] == 0
    assert "".join(("x" * 3_000 + " end")[a:b] for a, b in text.words.tolist()) == "x" * 3_000 + "end"


@pytest.mark.parametrize("label", ["a <<ENT>> b", "[CLS]", "x [SEP]"])
def test_a_label_with_a_special_token_is_refused(label: str) -> None:
    words = word_tokenizer(HOME / NAMES[0])
    for each in (Label(label), Label("x", label)):
        with pytest.raises(InvalidOptions, match="special token"):
            words.check([Label("fine"), each], 512)


def test_a_label_with_a_special_token_is_refused_however_it_is_spelled(tmp_path: Path) -> None:
    for file in (HOME / "uni-token-bert").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.normalizer = Sequence([NFKC(), Lowercase()])
    tokenizer.add_tokens(["<<ENT>>", "<<SEP>>"])
    tokenizer.add_tokens([AddedToken("  ", normalized=True)])
    spelled = json.loads(tokenizer.to_str())
    for token in spelled["added_tokens"]:
        token["normalized"] = True
    (tmp_path / "tokenizer.json").write_text(json.dumps(spelled))
    words = word_tokenizer(tmp_path)
    for label in ("<<ent>>", "＜＜ENT＞＞"):
        assert (
            np.count_nonzero(prepared(words, "a", labels_of(label)).sequences[0] == ~(words.prompt.class_id or 0)) == 2
        )
        with pytest.raises(InvalidOptions, match="special token"):
            words.check([Label(label)], 512)
    words.check([Label("sum", "what is  due")], 512)


def test_a_label_that_leaves_no_room_for_words_is_refused() -> None:
    words = word_tokenizer(HOME / NAMES[0])
    long = Label("x", "some words of a long description " * 10)
    words.check([long], 512)
    with pytest.raises(InvalidOptions, match="too many tokens for a window of 64"):
        words.check([long], 64)


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"class_token_index": 3}, "class_token_index"), ({"ent_token": "<<NO>>"}, "<<NO>>"), (None, "cannot be read")],
)
def test_a_folder_that_contradicts_itself_is_refused(
    tmp_path: Path, changed: dict[str, object] | None, said: str
) -> None:
    for file in (HOME / NAMES[0]).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = tmp_path / "gliner_config.json"
    config.write_text("[]" if changed is None else json.dumps(json.loads(config.read_text()) | changed))
    with pytest.raises(ModelError, match=said):
        word_tokenizer(tmp_path)


def test_a_blank_sequence_has_labels_and_words() -> None:
    words = word_tokenizer(HOME / NAMES[0])
    for length in (1, 16, 512):
        blank = words.blank()(length)
        assert len(blank) == length
        assert (blank >= 0).sum() >= length // 2
        assert np.count_nonzero(blank == ~(words.prompt.class_id or 0)) == min(25, length // 4)


def test_starts_ends_and_insides_of_a_text_are_read_across_windows() -> None:
    words = word_tokenizer(HOME / "uni-token-bert")
    labels = LabelSet.of([Label(f"thing {number}") for number in range(30)], ScoreLimits(0.5))
    text = prepare_words(words, "word " * 100, labels, longest=128, overlap=8)
    assert (len(text.windows) > 5, len(text.groups)) == (True, 3)
    every = np.full((100, 30, 3), -9.0, dtype=np.float32)
    every[20, 25, 0] = every[79, 25, 1] = 9.0
    every[20:80, 25, 2] = 9.0
    found = [
        every[w.start : w.stop, g.start : g.stop].reshape(w.stop - w.start, -1)
        for w in text.windows
        for g in text.groups
    ]
    (entity,) = decode_spans(text, found, labels, words.config)
    assert (entity.label, entity.start, entity.end) == ("thing 25", 20 * 5, 80 * 5 - 1)


def test_labels_count_as_tokens_and_so_does_each_pass() -> None:
    words = word_tokenizer(HOME / NAMES[0])
    few, many = (LabelSet.of([Label(f"thing {n}") for n in range(count)], ScoreLimits()) for count in (2, 50))
    text = "Jane Doe paid 5 EUR. " * 10
    texts = [prepare_words(words, text, labels, longest=512, overlap=0) for labels in (few, many)]
    costs = [sum(map(len, each.sequences)) for each in texts]
    assert costs[1] > 2 * costs[0]


@pytest.mark.parametrize("name", ["gliner25-boundary", "gliner2-span"])
def test_a_url_at_the_end_is_read_with_the_full_stop_and_found_without(name: str) -> None:
    words, text = word_tokenizer(HOME / name), "see www.x.org"
    text_alone, stopped = prepared(words, text), prepared(words, f"{text}.")
    assert text_alone.sequences[0].tolist() == stopped.sequences[0].tolist()
    grid = np.array([[0, 1, -9, -9], [1, 2, 9, -9]], dtype=np.float32)
    found = [[1.0, 2.0, 0.0, 0.9]] if name == "gliner2-span" else words.config.condense(grid, 0.5)
    (entity,) = decode_spans(text_alone, [np.array(found, dtype=np.float32)], LABELS, words.config)
    assert (entity.text, entity.end) == ("www.x.org", len(text))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("overlaps", list(Overlaps))
def test_passes_of_some_labels_each_find_what_one_of_all_finds(name: str, overlaps: Overlaps) -> None:
    words = word_tokenizer(HOME / name)
    whole, labels = cut_text(words, overlaps)
    scores = scores_of(words, 600)
    parts = replace(whole, groups=[range(2), range(2, 3), range(3, 5)])
    found = []
    for each in (whole, parts):
        passes = [of_labels(words, part_of(words, scores, w), g) for w in each.windows for g in each.groups]
        found.append(decode_spans(each, [words.config.condense(one, 0.8) for one in passes], labels, words.config))
    assert len(whole.windows) > 3
    assert len(found[0]) > 40
    assert found[0] == found[1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("overlaps", list(Overlaps))
def test_windows_of_64_words_find_what_no_windows_find(name: str, overlaps: Overlaps) -> None:
    words = word_tokenizer(HOME / name)
    cut, labels = cut_text(words, overlaps)
    assert len(cut.windows) >= 8
    assert max(window.stop - window.start for window in cut.windows) <= 64
    whole = replace(cut, windows=(Window(0, 600, 0, 600),))
    scores = scores_of(words, 600)
    found = [
        decode_spans(
            each, [words.config.condense(part_of(words, scores, w), 0.8) for w in each.windows], labels, words.config
        )
        for each in (cut, whole)
    ]
    assert len(found[1]) > 40
    assert found[0] == found[1]


def cut_text(words: WordTokenizer, overlaps: Overlaps) -> tuple[PreparedWords, LabelSet]:
    """A text of 600 words in windows, for five labels."""
    labels = LabelSet.of([Label(f"thing {number}") for number in range(5)], ScoreLimits(0.8), overlaps)
    return prepare_words(words, "word " * 600, labels, longest=100, overlap=24), labels


def scores_of(words: WordTokenizer, count: int) -> Logits:
    """What a model without context finds in a text of so many words, as it gives it: five labels."""
    draw = np.random.default_rng(4)
    if isinstance(config := words.config, GlinerConfig | SpanConfig):
        columns = 5 * (config.max_width if config.scores_spans else 3)
        return draw.normal(0, 2, (count, columns)).astype(np.float32)
    starts = draw.integers(0, count - 12, 2 * count)
    spans = np.stack([starts, starts + draw.integers(1, 12, 2 * count)], axis=1)
    return np.concatenate([spans, draw.normal(0, 2, (2 * count, 5))], axis=1).astype(np.float32)


def of_labels(words: WordTokenizer, scores: Logits, group: range) -> Logits:
    """The part that the model gives for some of the labels."""
    if isinstance(words.config, BoundaryConfig):
        return scores[:, [0, 1, *(2 + number for number in group)]]
    shape = (len(scores), -1, 5) if words.config.scores_spans else (len(scores), 5, 3)
    apart = scores.reshape(shape)
    chosen = apart[:, :, list(group)] if words.config.scores_spans else apart[:, list(group)]
    return chosen.reshape(len(scores), -1)


def part_of(words: WordTokenizer, scores: Logits, window: Window) -> Logits:
    """The part that the model gives for a window."""
    if not isinstance(words.config, BoundaryConfig):
        return scores[window.start : window.stop]
    inside = scores[(scores[:, 0] >= window.start) & (scores[:, 1] <= window.stop)]
    return inside - np.array([window.start, window.start, 0, 0, 0, 0, 0], dtype=np.float32)

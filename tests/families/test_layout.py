"""Layout models' processor: words of pages to tokens with boxes, and scores of first tokens to entities of whole words.

Also the tests of `boxes`, `sample_pages` and `tokenizer` there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import processors

from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.decoding.model_decoding import PLAIN
from service.core.decoding.spans import Candidates, Overlaps
from service.core.decoding.word_tags import WordTags
from service.core.errors import ModelError, UnreadableDocument
from service.core.labels.label_set import NO_LIMITS, ScoreLimits
from service.core.sequences import picture_of
from service.core.types import ResponseKind
from service.documents.document import Document, Layout, Page, PlacedWords
from service.families.layout.boxes import Boxes, inked, of_lines
from service.families.layout.processor import LayoutModel
from service.families.layout.sample_pages import HEIGHT, MARGIN, WIDTH, sample_page
from service.families.layout.tokenizer import WORDS_A_STEP
from service.families.processor import PictureFormat, PreparedDocument, WindowSizes, prepare
from service.families.registry import open_processor
from service.families.token_classifier.reducing import reduce_to_tags
from service.text.tokenizer import TextTokenizer
from service.wire import ModelStatus
from tests.families.test_reducing import asked
from tests.support.tiny_models import BERT_SPECIALS, ROBERTA_SPECIALS, byte_level, word_piece

LABELS = ("O", "B-PER", "I-PER")
OUT, BEGIN, INNER = [9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [0.0, 0.0, 9.0]
STATUS = ModelStatus("m", "stable", "sha256:0", "", LABELS, 512, False, 1)
SIZES = WindowSizes(512, 128)
Words = Sequence[tuple[str, tuple[float, float, float, float]]]


@dataclass(frozen=True, slots=True)
class Options:
    aggregation: Aggregation = Aggregation.CONSTRAINED
    labels: object = None
    records: object = None
    overlaps: Overlaps = Overlaps.FLAT
    min_score: ScoreLimits = NO_LIMITS
    fields: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    logits: Logits
    tags: WordTags | None = None
    spans: Sequence[Candidates] = ()


def write_folder(folder: Path, kind: str = "layoutlm", *, space: bool = True, **files: Any) -> Path:
    """A layout model's folder without weights; `files`: tokenizer_config, decoding."""
    first, pad, last, unknown, mask = ROBERTA_SPECIALS if kind == "lilt" else _bert_order()
    tokenizer = (byte_level if kind == "lilt" else word_piece)(first, pad, last, unknown, mask)
    ends = [(token, tokenizer.token_to_id(token)) for token in (first, last)]
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{first} $A {last}", special_tokens=ends)
    if kind == "lilt" and not space:
        tokenizer.pre_tokenizer.add_prefix_space = False
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, content in {"config": {"model_type": kind}, **files}.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def _bert_order() -> tuple[str, ...]:
    pad, unknown, first, last, mask = BERT_SPECIALS
    return first, pad, last, unknown, mask


def opened(folder: Path) -> LayoutModel:
    processor = open_processor(folder)
    assert isinstance(processor, LayoutModel)
    return processor


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> LayoutModel:
    return opened(write_folder(tmp_path_factory.mktemp("layoutlm")))


def pages_of_words(*pages: Words, width: float = 200.0, height: float = 100.0) -> Document:
    """A document of pages of words, each page a line of text."""
    text, ranges, boxes, found = "", [], [], []
    for number, words in enumerate(pages, start=1):
        start = len(text)
        for word, box in words:
            ranges.append((len(text), len(text) + len(word)))
            boxes.append(box)
            text += f"{word} "
        text = text.rstrip(" ") + "\n"
        found.append(Page(number, start, len(text), width, height))
    placed = PlacedWords(np.array(ranges, dtype=np.int32).reshape(-1, 2), np.array(boxes, dtype=float).reshape(-1, 4))
    return Document(text, tuple(found), words=placed)


def in_a_row(*words: str) -> Words:
    return [(word, (10.0 * at, 10.0, 10.0 * at + 9.0, 20.0)) for at, word in enumerate(words)]


def prepared(model: LayoutModel, document: Document, aggregation: Aggregation, sizes: WindowSizes) -> PreparedDocument:
    return prepare(model.task(Options(aggregation), STATUS, sizes), document)


def boxes_in(model: LayoutModel, *pages: Words) -> list[list[list[int]]]:
    """The boxes of each sequence, special tokens included."""
    found = prepared(model, pages_of_words(*pages), Aggregation.CONSTRAINED, SIZES)
    return [sequence[:, 1:].tolist() for sequence in found.sequences]


def answer(
    model: LayoutModel, document: Document, rows: dict[str, list[float]], aggregation: Aggregation
) -> list[Entity]:
    """The entities where the first tokens of these words have these logits, and all other tokens those outside."""
    found = prepared(model, document, aggregation, SIZES)
    assert found.tokens.words is not None
    logits = np.array([OUT] * len(found.tokens.ids), dtype=np.float32)
    for first in found.tokens.words.firsts.tolist():
        word = document.text[found.tokens.offsets[first, 0] :].split()[0]
        logits[first] = rows.get(word, OUT)
        if aggregation in (Aggregation.AVERAGE, Aggregation.MAX):  # They ask a word's other tokens as well.
            logits[first : first + len(model.tokenizer.encode(word).ids)] = rows.get(word, OUT)
    if found.model_input().response_kind is ResponseKind.WORD_TAGS:
        logits = logits[found.tokens.words.firsts]
    return found.findings("a", Answer(logits)).entities


def test_each_token_has_its_words_box_in_thousandths(model: LayoutModel) -> None:
    (boxes,) = boxes_in(model, [("anna", (20.0, 10.0, 33.3, 25.9)), ("zq", (199.9, -5.0, 230.0, 101.0))])
    anna, edge = [100, 100, 166, 259], [999, 0, 1000, 1000]
    assert boxes == [[0] * 4, anna, edge, edge, [1000] * 4]


def test_bros_reads_shares_of_the_page(tmp_path: Path) -> None:
    (boxes,) = boxes_in(opened(write_folder(tmp_path, "bros")), [("anna", (20.0, 10.0, 33.3, 125.0))])
    shares = np.array(boxes, dtype=np.int32).view(np.float32)
    assert shares.tolist() == [[0.0] * 4, np.array([0.1, 0.1, 33.3 / 200, 1.0], np.float32).tolist(), [1.0] * 4]


def test_special_tokens_have_the_folders_boxes(tmp_path: Path) -> None:
    boxes = {"cls_token_box": [1, 2, 3, 4], "sep_token_box": [500, 500, 500, 500]}
    (found,) = boxes_in(opened(write_folder(tmp_path, "lilt", tokenizer_config=boxes)), in_a_row("a"))
    assert (found[0], found[-1]) == ([1, 2, 3, 4], [500] * 4)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    (found,) = boxes_in(opened(tmp_path), in_a_row("a"))
    assert (found[0], found[-1]) == ([0] * 4, [0] * 4)


@pytest.mark.parametrize("box", [[0, 0, 0], [0, 0, 0, 1001], [9, 0, 8, 0], [0.5, 0, 0, 0], "none", None])
def test_a_special_box_that_is_none_is_refused(tmp_path: Path, box: object) -> None:
    folder = write_folder(tmp_path, tokenizer_config={"sep_token_box": box})
    with pytest.raises(ModelError, match="sep_token_box"):
        _ = opened(folder).tokenizer


def test_a_page_without_sides_gives_boxes_of_zero() -> None:
    places, page = np.array([[1.0, 2.0, 3.0, 4.0]]), np.zeros(1, dtype=np.intp)
    assert Boxes().scaled(places, page, np.zeros((1, 2))).tolist() == [[0, 0, 0, 0]]
    assert Boxes().scaled(np.array([[3.0, 4.0, 1.0, 2.0]]), page, np.full((1, 2), 10.0)).tolist() == [
        [300, 400, 300, 400]
    ]


def test_a_word_without_ink_lies_where_its_neighbour_does() -> None:
    blank, a, b = [np.nan] * 4, [1.0, 1.0, 2.0, 2.0], [5.0, 5.0, 6.0, 6.0]
    places = np.array([blank, a, blank, b, blank, blank])
    pages = np.array([0, 0, 0, 1, 1, 2])
    assert inked(places, pages).tolist() == [a, a, a, b, b, [0.0] * 4]


def lines_of(document: Document) -> list[list[float]]:
    assert document.words is not None
    assert document.pages is not None
    pages: NDArray[np.intp] = np.array([document.page_at(start) or 0 for start in document.words.ranges[:, 0]]) - 1
    lines: list[list[float]] = of_lines(document.words.boxes, document, document.words, pages).tolist()
    return lines


def test_lines_end_at_line_ends_and_pages() -> None:
    first = [("a", (0.0, 5.0, 9.0, 15.0)), ("b", (10.0, 4.0, 19.0, 14.0))]
    given = pages_of_words(first, [("c", (1.0, 2.0, 3.0, 4.0))])
    line = [0.0, 4.0, 19.0, 15.0]
    assert lines_of(given) == [line, line, [1.0, 2.0, 3.0, 4.0]]
    layout = Layout(np.full((len(given.text), 4), np.nan, np.float32), np.array([0, 2, 4], dtype=np.int32))
    parted = Document(given.text, given.pages, layout, words=given.words)
    assert lines_of(parted) == [list(first[0][1]), list(first[1][1]), [1.0, 2.0, 3.0, 4.0]]


def test_a_folder_may_ask_for_the_boxes_of_lines(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, decoding={"layout_boxes": "line"})
    (boxes,) = boxes_in(opened(folder), [("a", (0.0, 0.0, 20.0, 10.0)), ("b", (20.0, 0.0, 40.0, 20.0))])
    assert boxes[1:-1] == [[0, 0, 200, 200]] * 2


def test_a_window_never_spans_two_pages_and_a_long_page_is_read_to_its_end(model: LayoutModel) -> None:
    pages = [in_a_row(*["anna"] * 30), [], in_a_row(*["berlin"] * 3)]
    found = prepared(model, pages_of_words(*pages), Aggregation.FIRST, WindowSizes(16, 4))
    anna, berlin = (model.tokenizer.vocabulary.tokenizer.token_to_id(word) for word in ("anna", "berlin"))
    contents = [set(sequence[1:-1, 0].tolist()) for sequence in found.sequences]
    assert contents == [{anna}, {anna}, {anna}, {berlin}]
    assert all(len(sequence) <= 16 for sequence in found.sequences)
    kept = found.model_input().kept
    assert sum(stop - start for start, stop in kept) == 33
    boxes = [s[a:b, 1].tolist() for s, (a, b) in zip(found.sequences, kept, strict=True)]
    assert [*chain(*boxes)] == [50 * at for at in range(20)] + [1000] * 10 + [0, 50, 100]


@pytest.mark.parametrize("aggregation", list(Aggregation))
def test_entities_are_whole_words_as_they_stand(model: LayoutModel, aggregation: Aggregation) -> None:
    document = pages_of_words(in_a_row("bill", "(anna-maria,", "smith:", "paid"))
    rows = {"(anna-maria,": BEGIN, "smith:": INNER}
    (entity,) = answer(model, document, rows, aggregation)
    assert (entity.label, entity.text, entity.start, entity.end) == ("PER", "(anna-maria, smith:", 5, 24)
    assert document.text[5:24] == entity.text


@pytest.mark.parametrize("aggregation", [Aggregation.CONSTRAINED, Aggregation.FIRST])
def test_no_entity_goes_over_two_pages(model: LayoutModel, aggregation: Aggregation) -> None:
    document = pages_of_words(in_a_row("paid", "anna"), in_a_row("smith", "due"))
    found = answer(model, document, {"anna": BEGIN, "smith": [0.0, 5.0, 9.0]}, aggregation)
    assert [each.text for each in found] == ["anna", "smith"]


def test_a_word_without_tokens_keeps_its_place(model: LayoutModel) -> None:
    document = pages_of_words(in_a_row("anna", "\u200d", "smith", "\x01"))
    found = prepared(model, document, Aggregation.FIRST, SIZES)
    assert found.tokens.words is not None
    assert len(found.tokens.words.firsts) == 2
    (entity,) = answer(model, document, {"anna": BEGIN, "smith": INNER}, Aggregation.FIRST)
    assert entity.text == "anna \u200d smith"


def test_pages_without_words_give_nothing_to_compute(model: LayoutModel) -> None:
    for document in (pages_of_words([]), Document("", (Page(1, 0, 0, 9.0, 9.0),), words=pages_of_words([]).words)):
        found = prepared(model, document, Aggregation.CONSTRAINED, SIZES)
        assert found.model_input().sequences == []
        assert found.findings("a", Answer(np.empty((0, 0), np.float32))).entities == []


def test_words_of_a_file_are_those_between_spaces(model: LayoutModel) -> None:
    text = "anna paid\n"
    boxes = np.array([[10 * at, 0, 10 * at + 10, 10] for at in range(len(text))], dtype=np.float32)
    boxes[[4, 9]] = np.nan
    document = Document(text, (Page(1, 0, len(text), 100.0, 100.0),), Layout(boxes, np.zeros(1, np.int32)))
    found = prepared(model, document, Aggregation.FIRST, SIZES)
    assert found.sequences[0][1, 1:].tolist() == [0, 0, 400, 100]
    assert found.tokens.offsets[[0, -1]].tolist() == [[0, 4], [5, 9]]


def test_a_byte_level_tokenizer_reads_each_word_behind_a_space(tmp_path: Path) -> None:
    for name in ("with", "without"):
        (tmp_path / name).mkdir()
    models = [opened(write_folder(tmp_path / name, "lilt", space=name == "with")) for name in ("with", "without")]
    document = pages_of_words(in_a_row("the", "and", "école"))
    with_space, without = (prepared(each, document, Aggregation.FIRST, SIZES) for each in models)
    token = models[0].tokenizer.vocabulary.tokenizer.id_to_token
    assert [token(number) for number in with_space.tokens.ids[:3].tolist()] == ["Ġ", "the", "Ġa"]
    assert with_space.tokens.ids.tolist() == without.tokens.ids.tolist()
    assert without.tokens.offsets[-1].tolist() == [12, 13]
    assert without.tokens.words is not None
    assert without.tokens.offsets[without.tokens.words.firsts, 0].tolist() == [0, 4, 8]


def test_accents_are_read_alike_however_they_are_written(tmp_path: Path) -> None:
    model = opened(write_folder(tmp_path, "lilt"))
    composed, parted = (pages_of_words(in_a_row("a", word, "b")) for word in ("caf\u00e9", "cafe\u0301"))
    one, other = (prepared(model, each, Aggregation.CONSTRAINED, SIZES) for each in (composed, parted))
    assert one.tokens.ids.tolist() == other.tokens.ids.tolist()
    (entity,) = answer(model, parted, {"cafe\u0301": BEGIN}, Aggregation.CONSTRAINED)
    assert entity.text == "cafe\u0301"
    as_written = prepared(model, parted, Aggregation.FIRST, SIZES)
    assert as_written.tokens.ids.tolist() != one.tokens.ids.tolist()


def test_word_tags_lead_to_the_entities_that_all_logits_lead_to(model: LayoutModel) -> None:
    document = pages_of_words(in_a_row("anna", "paid", "12,500.00", "annaanna", "-", "smith,"))
    found = prepared(model, document, Aggregation.CONSTRAINED, SIZES)
    sent = found.model_input()
    assert sent.response_kind is ResponseKind.WORD_TAGS
    for seed in range(20):
        rows = np.random.default_rng(seed).normal(size=(len(found.sequences[0]), 3)).astype(np.float32)
        at_engine = asked(ResponseKind.WORD_TAGS, sent.sequences[0], special_tokens_at_end=1)
        (tags,) = reduce_to_tags(PLAIN, [rows], [at_engine], LABELS)
        assert isinstance(tags, WordTags)
        assert found.findings("a", Answer(rows[:0], tags)).entities == found.entities_in([rows])


def test_a_document_without_pages_is_refused(model: LayoutModel) -> None:
    assert (model.described(STATUS).needs_pages, model.described(STATUS).needs_pictures) == (True, False)
    with pytest.raises(UnreadableDocument, match="pages"):
        prepared(model, Document("Anna paid."), Aggregation.CONSTRAINED, SIZES)


def test_a_folder_may_take_texts_without_boxes(tmp_path: Path) -> None:
    model = opened(write_folder(tmp_path, decoding={"text_without_boxes": True}))
    found = prepared(model, Document("anna paid, (smith)"), Aggregation.CONSTRAINED, SIZES)
    assert not model.described(STATUS).needs_pages
    assert found.sequences[0].shape[1] == 5
    assert not found.sequences[0][:, 1:].any()
    assert found.sequences[0][1, 0] == model.tokenizer.vocabulary.tokenizer.token_to_id("anna")
    (boxes,) = boxes_in(model, in_a_row("paid", "anna"))
    assert any(map(any, boxes)), "a page keeps its boxes"


def test_a_long_document_is_read_in_steps(model: LayoutModel) -> None:
    words = in_a_row(*["anna"] * (2 * WORDS_A_STEP + 1))
    task = model.task(Options(), STATUS, SIZES)
    assert next(iter(task.prepare_in_steps(pages_of_words(words)))) == WORDS_A_STEP
    *counts, last = task.prepare_in_steps(pages_of_words(words))
    assert counts == [WORDS_A_STEP, 2 * WORDS_A_STEP]
    assert isinstance(last, PreparedDocument)
    assert len(last.tokens.ids) == len(words)


def test_a_text_is_laid_on_pages(model: LayoutModel) -> None:
    text = "Invoice 4711\n" * 80 + "x" * 300
    document = sample_page(text)
    assert document.text == text
    assert document.pages is not None
    assert document.words is not None
    assert [page.end for page in document.pages] == [document.pages[1].start, len(text)]
    boxes = document.words.boxes
    assert (boxes.min(), boxes[:, 2].max() <= WIDTH, boxes[:, 3].max() <= HEIGHT - MARGIN) == (MARGIN, True, True)
    assert model.readable(Document(text)).words is not None


@pytest.fixture
def seeing(tmp_path: Path) -> LayoutModel:
    """A model that sees pictures of pages, of 2 by 2 pixels."""
    picture = {"size": {"height": 2, "width": 2}, "resample": 3}
    folder = write_folder(tmp_path, "lilt", preprocessor_config=picture)
    (folder / "config.json").write_text(json.dumps({"model_type": "layoutlmv3", "input_size": 2}))
    return opened(folder)


def test_all_windows_of_a_page_have_its_picture(seeing: LayoutModel) -> None:
    assert seeing.picture == PictureFormat(2, 3)
    assert seeing.described(STATUS).needs_pictures
    pixels = tuple(np.full((3, 2, 2), level, dtype=np.uint8) for level in range(3))
    document = replace(pages_of_words(in_a_row(*["a"] * 60), [], in_a_row("b")), page_pixels=pixels)
    found = prepared(seeing, document, Aggregation.FIRST, WindowSizes(20, 4))
    levels = [int(picture[0, 0, 0]) for each in found.sequences if (picture := picture_of(each)) is not None]
    assert len(levels) > 3
    assert levels == [0] * (len(levels) - 1) + [2]


def test_a_page_without_a_picture_is_refused_and_named(seeing: LayoutModel) -> None:
    document = pages_of_words(in_a_row("a"), in_a_row("b"))
    white = np.zeros((3, 2, 2), dtype=np.uint8)
    for pixels in ((), (white, None)):
        with pytest.raises(UnreadableDocument, match=f"page {len(pixels) or 1} has none"):
            prepared(seeing, replace(document, page_pixels=pixels), Aggregation.FIRST, SIZES)
    with pytest.raises(UnreadableDocument, match="no pages"):
        prepared(seeing, Document("a"), Aggregation.FIRST, SIZES)


def test_a_check_of_a_model_that_sees_pages_has_white_ones(seeing: LayoutModel) -> None:
    (sequence,) = prepared(seeing, seeing.readable(Document("Anna paid")), Aggregation.FIRST, SIZES).sequences
    picture = picture_of(sequence)
    assert picture is not None
    assert (picture.shape, picture.min()) == ((3, 2, 2), 255)


def test_tokens_of_a_text_have_the_boxes_of_its_words(tmp_path: Path) -> None:
    model = opened(write_folder(tmp_path, "lilt", decoding={"layout_tokens": "text"}))
    document = pages_of_words(in_a_row("the", "ont"), [("ab", (50.0, 50.0, 70.0, 60.0))])
    found = prepared(model, document, Aggregation.CONSTRAINED, SIZES)
    text = TextTokenizer(tmp_path).encode(document.text)
    first, second = (sequence[1:-1] for sequence in found.sequences)
    assert np.concatenate([first, second])[:, 0].tolist() == text.ids.tolist()
    assert found.tokens.words is None
    ends = [place for place, (start, _) in enumerate(text.offsets.tolist()) if document.text[start] == "\n"]
    assert len(ends) == 2
    assert first[ends[0], 1:].tolist() == first[ends[0] - 1, 1:].tolist() == [50, 100, 95, 200]
    assert second[:, 1:].tolist() == [[250, 500, 350, 600]] * len(second)
    assert first[0, 1:].tolist() == [0, 100, 45, 200]


def test_a_page_without_words_has_no_tokens_of_a_text(tmp_path: Path) -> None:
    model = opened(write_folder(tmp_path, "lilt", decoding={"layout_tokens": "text"}))
    assert prepared(model, pages_of_words([]), Aggregation.CONSTRAINED, SIZES).sequences == []

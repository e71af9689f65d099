"""Foreign records of labelled pages: FUNSD, CORD, SROIE's boxes, Label Studio's OCR, and words with boxes and tags."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from service.evaluation.foreign_documents import (
    Box,
    ForeignDocument,
    ForeignPage,
    PlacedWord,
    ReadOptions,
    Size,
    UnreadableFormat,
    WordSpan,
    around,
    paged_document,
    placed_words,
)
from service.evaluation.tagged_tokens import BadTokens, token_spans

BOXES = ("bboxes", "bbox", "boxes")
"""Names of the boxes beside tokens and tags."""
NO_LABEL = frozenset({"other", "O", ""})
"""Labels of FUNSD and CORD for words that are no entity."""
_SCALE = 1000
"""Width and height of a page in datasets for LayoutLM."""
_QUAD_LINE = re.compile(r"\s*(?:-?\d+(?:\.\d+)?\s*,\s*){8}")
_CORNERS = ("x1", "y1"), ("x2", "y2"), ("x3", "y3"), ("x4", "y4")

Part = tuple[Sequence[PlacedWord], str | None]
"""Words that stand together, and their label if they are an entity."""


def is_funsd(record: Mapping[str, Any]) -> bool:
    form = record.get("form")
    return isinstance(form, list) and all(isinstance(each, dict) and "words" in each for each in form)


def is_cord(record: Mapping[str, Any]) -> bool:
    truth = record.get("ground_truth")
    return isinstance(record.get("valid_line"), list) or (isinstance(truth, str) and '"valid_line"' in truth)


def looks_boxed(text: str) -> bool:
    """True when each line has four corners and a text, as SROIE's boxes."""
    lines = [line for line in text.splitlines()[:400] if line.strip()]
    return bool(lines) and all(map(_QUAD_LINE.match, lines))


def read_funsd(record: Any, where: str, options: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    """Read a form of FUNSD: its parts are the entities, except those labelled `other`."""
    parts = [
        ([placed for word in part["words"] for placed in placed_words(word["text"], _box(word["box"]))], part["label"])
        for part in record["form"]
    ]
    yield _of_parts(where, parts, options.page_size, notes)


def read_cord(record: Any, where: str, options: ReadOptions, notes: Counter[str]) -> Iterator[ForeignDocument]:
    """Read a receipt of CORD: its lines are the entities, with captions (`is_key`), as published scores count them."""
    truth = json.loads(record["ground_truth"]) if "ground_truth" in record else record
    if captions := sum(word.get("is_key") == 1 for line in truth["valid_line"] for word in line["words"]):
        notes["captions of values (`is_key`), which are part of their entities, as in published scores"] += captions
    parts = [
        ([placed for word in line["words"] for placed in placed_words(word["text"], _quad(word["quad"]))],
         line["category"])
        for line in truth["valid_line"]
    ]  # fmt: skip
    meta = truth.get("meta", {})
    size = meta.get("image_size")
    number = record.get("id", meta.get("image_id"))
    yield _of_parts(
        where,
        parts,
        (size["width"], size["height"]) if size else options.page_size,
        notes,
        None if number is None else str(number),
    )


def _of_parts(
    where: str, parts: Iterable[Part], size: Size | None, notes: Counter[str], id: str | None = None
) -> ForeignDocument:
    words: list[PlacedWord] = []
    entities: list[WordSpan] = []
    for placed, label in parts:
        if placed and label in NO_LABEL:
            notes[f"entities with the label {label!r}, which were read as none"] += 1
        elif placed and label is not None:
            entities.append((0, len(words), len(words) + len(placed), label))
        words += placed
    return paged_document(where, [(words, size)], entities, notes, id)


def read_sroie(text: str, options: ReadOptions, notes: Counter[str]) -> ForeignDocument:
    """Read a receipt of SROIE: boxes of lines, divided among their words; each place of a value is an entity."""
    words: list[PlacedWord] = []
    for line in filter(str.strip, text.splitlines()):
        *corners, written = line.split(",", 8)
        numbers = [float(each) for each in corners]
        words += placed_words(written, around(zip(numbers[::2], numbers[1::2], strict=True)))
    if not options.values:
        notes["receipts without a file of values beside them (in `entities` or `key`)"] += 1
    entities = [
        (0, first, end, label)
        for label, value in options.values.items()
        for first, end in _found(label, value, words, notes)
    ]
    return paged_document("line 1", [(words, options.page_size)], entities, notes)


def _found(label: str, value: str, words: Sequence[PlacedWord], notes: Counter[str]) -> list[tuple[int, int]]:
    """Find the places of a value, as whole words; letters alone are compared."""
    wanted = "".join(value.split()).casefold()
    owners = [number for number, word in enumerate(words) for _ in word.text.casefold()]
    letters = "".join(word.text.casefold() for word in words)
    if not wanted:
        return []
    places = [match.start() for match in re.finditer(re.escape(wanted), letters)]
    found = {(owners[place], owners[place + len(wanted) - 1] + 1) for place in places}
    if not found:
        notes[f"values of {label} that do not stand in the text, which were left out"] += 1
    if len(found) > 1:
        notes[f"values of {label} that stand in several places, all of which are entities"] += 1
    return sorted(found)


def is_region(result: Mapping[str, Any]) -> bool:
    """True for a result of Label Studio's that is a part of a picture."""
    value = result.get("value", {})
    return isinstance(value, dict) and ("points" in value or {"x", "y", "width", "height"} <= value.keys())


def read_regions(
    results: Iterable[Mapping[str, Any]], where: str, notes: Counter[str], id: str | None
) -> ForeignDocument:
    """Read the regions of a Label Studio task: results of one id are one region, with box, transcription and label."""
    regions: dict[str, dict[str, Any]] = {}
    for result in results:
        if not is_region(result):
            notes[f"results of the kind {result.get('type')!r}, which were not read"] += 1
            continue
        region = regions.setdefault(str(result.get("id", len(regions))), {})
        value = result["value"]
        region.setdefault("page", int(result.get("item_index") or 0))
        region.setdefault("size", (result["original_width"], result["original_height"]))
        region.setdefault("box", _region_box(value, *region["size"]))
        if "text" in value:
            written = value["text"]
            region["text"] = " ".join(written) if isinstance(written, list) else str(written)
        for name in ("labels", "rectanglelabels", "polygonlabels"):
            region.setdefault("labels", []).extend(value.get(name) or ())
    return _of_regions(list(regions.values()), where, notes, id)


def _of_regions(
    regions: Sequence[Mapping[str, Any]], where: str, notes: Counter[str], id: str | None
) -> ForeignDocument:
    written = [each for each in regions if str(each.get("text", "")).strip()]
    if lost := len(regions) - len(written):
        notes["regions without a transcription, which were left out"] += lost
    pages: list[tuple[list[PlacedWord], Size | None]] = []
    entities: list[WordSpan] = []
    single = all(len(each["text"].split()) == 1 for each in written)
    for number in sorted({each["page"] for each in written}):
        words: list[PlacedWord] = []
        size: Size | None = None
        before: list[str] = []
        for region in (each for each in written if each["page"] == number):
            first, size, labels = len(words), region["size"], list(dict.fromkeys(region["labels"]))
            words += placed_words(region["text"], region["box"])
            if single and labels and labels == before:
                notes["neighbouring regions of one word and one label, which are one entity"] += 1
                entities[-len(labels) :] = [(*each[:2], len(words), each[3]) for each in entities[-len(labels) :]]
            else:
                entities += [(len(pages), first, len(words), label) for label in labels]
            before = labels
        pages.append((words, size))
    return paged_document(where, pages, entities, notes, id)


def _region_box(value: Mapping[str, Any], width: float, height: float) -> Box:
    """Compute the box around a region, given in percent; a rectangle is turned about its upper left corner."""
    if "points" in value:
        return around((x * width / 100, y * height / 100) for x, y in value["points"])
    left, across = value["x"] * width / 100, value["width"] * width / 100
    top, down = value["y"] * height / 100, value["height"] * height / 100
    angle = math.radians(value.get("rotation") or 0)
    cosine, sine = math.cos(angle), math.sin(angle)
    corners = ((0.0, 0.0), (across, 0.0), (0.0, down), (across, down))
    return around((left + x * cosine - y * sine, top + x * sine + y * cosine) for x, y in corners)


def read_tagged_boxes(
    record: Mapping[str, Any],
    tokens: Sequence[str],
    tags: Sequence[str],
    where: str,
    options: ReadOptions,
    notes: Counter[str],
) -> ForeignDocument:
    """Read words with boxes and tags, as datasets for LayoutLM have them.

    The page's size is the record's `width` and `height`, or 1000 by 1000 if no box goes beyond that.

    Raises:
        BadTokens: the lists differ in length.
    """
    boxes = [_box(each) for each in next(record[name] for name in BOXES if name in record)]
    if not len(tokens) == len(tags) == len(boxes):
        raise BadTokens(f"there are {len(tokens)} tokens, {len(tags)} tags and {len(boxes)} boxes")
    words: list[PlacedWord] = []
    starts = [0]
    for token, box in zip(tokens, boxes, strict=True):
        words += placed_words(token, box)
        starts.append(len(words))
    entities = [
        (0, starts[first], starts[end], label) for first, end, label in token_spans(tags) if starts[first] < starts[end]
    ]
    number = None if record.get("id") is None else str(record["id"])
    return paged_document(where, [(words, _size(record, boxes, options))], entities, notes, number)


def _size(record: Mapping[str, Any], boxes: Iterable[Box], options: ReadOptions) -> Size | None:
    if "width" in record and "height" in record:
        return float(record["width"]), float(record["height"])
    if all(max(box) <= _SCALE for box in boxes):
        return _SCALE, _SCALE
    return options.page_size


def with_boxes(
    documents: Iterable[ForeignDocument], boxes: Mapping[str, Sequence[Mapping[str, Any]]], doubts: Counter[str]
) -> Iterator[ForeignDocument]:
    """Give documents the pages of `boxes`, by their ids; the letters of each must be those of its words.

    Args:
        boxes: id → a record for each page: `width`, `height`, and `words` as `[start, end, x0, y0, x1, y1]`, places of
            the document's text.

    Raises:
        UnreadableFormat: a record of boxes is not of this form.
    """
    for document in documents:
        found = boxes.get(document.id or "", ())
        pages = tuple(_boxed_page(document, each) for each in found)
        letters = "".join(word.text for page in pages for word in page.words)
        if not found:
            doubts["documents without boxes, which have no pages"] += 1
            pages = ()
        elif letters != "".join(document.text.split()):
            doubts["documents whose boxes do not cover their text, which have no pages"] += 1
            pages = ()
        yield ForeignDocument(document.where, document.text, document.spans, document.id, pages, document.others)


def _boxed_page(document: ForeignDocument, record: Mapping[str, Any]) -> ForeignPage:
    try:
        words = [PlacedWord(document.text[start:end], _box(box)) for start, end, *box in record["words"]]
        size = float(record["width"]), float(record["height"])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableFormat(f"the boxes of {document.id} cannot be read: {error!r}") from error
    return paged_document(document.where, [(words, size)], (), Counter()).pages[0]


def _box(edges: Sequence[Any]) -> Box:
    left, top, right, bottom = edges
    return left, top, right, bottom


def _quad(quad: Mapping[str, Any]) -> Box:
    return around((quad[x], quad[y]) for x, y in _CORNERS)

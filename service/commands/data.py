"""`gleaner data`: converts labelled documents of other tools to JSON lines, and checks files before they are used.

`gleaner train`, `gleaner evaluate` and `gleaner models publish --golden` read one format: a JSON object a line, with
`text` and `entities`, whose offsets are code points and whose ends are exclusive; `id`, `group`, `lang`, `kind` and
`fields` if you like:

  {"text": "Anna paid 9.00", "entities": [{"start": 0, "end": 4, "label": "PERSON"}]}
  {"id": "b7", "group": "acme", "text": "Nothing here.", "entities": []}

A document may have `pages` beside its text or in place of it, for models that see where words stand. Width, height and
boxes (left, top, right, bottom) are in one unit; an entity may also be given by the words of a page, counted from 0:

  {"pages": [{"width": 600, "height": 800, "words": [{"text": "Anna", "box": [20, 30, 64, 42]}]}],
   "entities": [{"page": 1, "words": [0, 1], "label": "PERSON"}]}

The exit code is 0 if all is well, 1 if something was left out, is doubtful or cannot be read, 2 for a bad option.
"""

from __future__ import annotations

import argparse
import json
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from service.core.errors import InvalidOptions
from service.evaluation.data_check import findings, label_counts, unknown_labels
from service.evaluation.foreign_documents import ForeignDocument, ForeignPage, ReadOptions, Size, UnreadableFormat
from service.evaluation.foreign_formats import ForeignData, read_foreign
from service.evaluation.foreign_pages import with_boxes
from service.evaluation.foreign_records import TITLES
from service.evaluation.labelled_documents import (
    BadRecords,
    LabelledDocument,
    LabelledSpan,
    json_object,
    read_sets,
    text_of_file,
)
from service.evaluation.record_text import span_problem

STANDARD = Path("-")
"""The path that stands for standard input or output."""
PICTURE_ENDINGS = ("png", "jpg", "jpeg", "tif", "tiff")
PICTURE_FOLDERS, VALUE_FOLDERS = ("images", "image", "img"), ("entities", "key")
"""Folders beside that of the labels: FUNSD's and SROIE's for pictures, SROIE's for values."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    parser.description, _, parser.epilog = __doc__.partition("\n\n")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    convert = actions.add_parser(
        "convert",
        help="JSON lines from CoNLL, spaCy, Prodigy, Doccano, Label Studio, Hugging Face tokens and tags; pages with "
        "boxes from FUNSD, CORD, SROIE, Label Studio's OCR, or Hugging Face words, boxes and tags",
        epilog=parser.epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    convert.add_argument("source", type=Path, metavar="IN", help="a file, a folder of files, or `-`")
    convert.add_argument(
        "target",
        nargs="?",
        type=Path,
        default=STANDARD,
        metavar="OUT",
        help="instead of stdout; for a folder, another or one .jsonl file",
    )
    convert.add_argument(
        "--pictures", action="store_true", help="write the picture beside a page into it, for models that see pictures"
    )
    convert.add_argument(
        "--boxes",
        type=Path,
        metavar="FILE",
        help="JSON lines of pages with the words of IN's documents: "
        '{"id": "b7", "width": 600, "height": 800, "words": [[START, END, X0, Y0, X1, Y1], …]}',
    )
    convert.add_argument("--from", dest="format", choices=sorted(TITLES), help="instead of finding it by the content")
    convert.add_argument("--tags", metavar="NAMES|FILE", help="names of numbered tags: O,B-PER,… or dataset_info.json")
    convert.add_argument("--column", type=int, metavar="N", help="CoNLL: the column of the tags, from 1")
    convert.add_argument("--offsets", choices=["codepoint", "utf16"], help="unit of IN's offsets, where it is unclear")
    convert.set_defaults(run=run_convert)
    check = actions.add_parser("check", help="labels, duplicates, overlaps, and labels that a model lacks")
    check.add_argument("data", nargs="+", type=Path, metavar="DATA", help="JSON lines, or folders of them")
    check.add_argument("--model", metavar="MODEL", help="a model's folder, or its name in the store")
    check.set_defaults(run=run_check)


def run_convert(chosen: argparse.Namespace) -> int:
    """Convert and report; returns 1 if something was left out or is doubtful, as `check`."""
    if chosen.column is not None and chosen.column < 2:
        raise InvalidOptions("--column takes the number of a column after the first")
    options = ReadOptions(tag_names(chosen.tags, chosen.source), chosen.column, chosen.offsets)
    boxes = _boxes(chosen.boxes) if chosen.boxes else None
    whole = True
    written: dict[Path, list[str]] = {}
    for source, target in _pairs(chosen.source, chosen.target):
        name = "stdin" if source == STANDARD else source.name
        picture, size = _picture(source)
        data = _read(source, name, chosen.format, replace(options, page_size=size, values=_values(source)))
        if boxes is not None:
            data = replace(data, documents=tuple(with_boxes(data.documents, boxes, data.doubts)))
        lines, documents, problems = converted(data, Path(name).stem, picture if chosen.pictures else b"")
        written.setdefault(target, []).extend(lines)
        doubts = [*(f"{count:,} {sentence}" for sentence, count in data.doubts.items()), *map(str, findings(documents))]
        whole = whole and not problems and not doubts
        _report(name, data, documents, [*doubts, *_left_out(problems)])
    for target, lines in written.items():
        _write(target, lines)
    return 0 if whole else 1


def _picture(source: Path) -> tuple[bytes, Size | None]:
    """Read the picture of a file of labels and its size: of the same stem, beside the file or in a picture folder."""
    for folder in (source.parent, *(source.parent.parent / name for name in PICTURE_FOLDERS)):
        for path in (folder / f"{source.stem}.{ending}" for ending in PICTURE_ENDINGS):
            try:
                with Image.open(path) as picture:
                    return path.read_bytes(), picture.size
            except OSError:
                continue
    return b"", None


def _values(source: Path) -> dict[str, str]:
    """Read the values of SROIE's receipt: a JSON object in a file of the same stem, beside it or in a value folder."""
    for folder in (source.parent, *(source.parent.parent / name for name in VALUE_FOLDERS)):
        for path in (folder / f"{source.stem}.json", folder / f"{source.stem}.txt"):
            try:
                values = json.loads(path.read_bytes())
            except (OSError, ValueError):
                continue
            if path != source and isinstance(values, dict):
                return {name: value for name, value in values.items() if isinstance(value, str)}
    return {}


def _boxes(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read pages of words by the ids of their documents. Raises BadRecords."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number, line in enumerate(text_of_file(path).split("\n"), 1):
        if line.strip():
            record = json_object(f"{path.name}, line {number}", line)
            found.setdefault(str(record.get("id")), []).append(record)
    return found


def tag_names(given: str | None, source: Path) -> tuple[str, ...]:
    """Find the names of numbered tags: as given, in a file, or in the dataset_info.json beside the data.

    Raises:
        InvalidOptions: the file holds no names.
    """
    beside = (source if source.is_dir() else source.parent) / "dataset_info.json"
    if given is None and not beside.is_file():
        return ()
    path = beside if given is None else Path(given)
    if given is not None and not path.is_file():
        return tuple(each.strip() for each in given.split(","))
    try:
        text = path.read_text(encoding="utf-8")
        names = _names_in(json.loads(text)) if text.lstrip()[:1] in ("{", "[") else text.split()
    except (OSError, ValueError) as error:
        raise InvalidOptions(f"--tags: {path} cannot be read: {error}") from error
    if not names and given is not None:
        raise InvalidOptions(f"--tags: there are no names of tags in {path}")
    return tuple(map(str, names))


def _names_in(content: Any) -> list[Any]:
    """Find the names: a list itself, the values of an `id2label`, or the first list `names` in a features file."""
    if isinstance(content, list):
        return content if all(isinstance(each, str) for each in content) else []
    if not isinstance(content, dict):
        return []
    if isinstance(labels := content.get("id2label"), dict):
        return [labels[number] for number in sorted(labels, key=int)]
    if isinstance(names := content.get("names"), list):
        return names
    return next(
        (found for each in content.values() if (found := _names_in(each) if isinstance(each, dict) else [])), []
    )


def _pairs(source: Path, target: Path) -> list[tuple[Path, Path]]:
    """Pair files to read with files to write: a folder's files with a folder, or all with one file."""
    if target != STANDARD and target.exists() and source.exists() and target.samefile(source):
        raise InvalidOptions(f"{target} is what is read; write to another file")
    if not source.is_dir():
        return [(source, target)]
    files = sorted(path for path in source.iterdir() if path.is_file() and not _is_beside(path))
    if not files:
        raise InvalidOptions(f"the folder {source} holds no file")
    if target == STANDARD or target.suffix == ".jsonl":
        return [(path, target) for path in files]
    target.mkdir(parents=True, exist_ok=True)
    return [(path, target / f"{path.stem}.jsonl") for path in files]


def _is_beside(path: Path) -> bool:
    """True for a file that holds no labels: a picture, or the names of tags."""
    return path.name == "dataset_info.json" or path.suffix.lower().lstrip(".") in PICTURE_ENDINGS


def _read(source: Path, name: str, format_name: str | None, options: ReadOptions) -> ForeignData:
    """Read the documents of a file. Raises BadRecords with file, place and fault."""
    text = sys.stdin.read() if source == STANDARD else text_of_file(source)
    try:
        data = read_foreign(text, format_name, options)
    except UnreadableFormat as error:
        raise BadRecords([f"{name}, {error}."]) from error
    if not data.documents:
        raise BadRecords([f"{name}, read as {TITLES[data.format]}, holds no document."])
    return data


def converted(
    data: ForeignData, name: str, picture: bytes = b""
) -> tuple[list[str], list[LabelledDocument], list[str]]:
    """Convert to lines, the same as documents, and a sentence for each entity that cannot be written.

    `picture`: of a document's only page, to be written into it.
    """
    lines: list[str] = []
    documents: list[LabelledDocument] = []
    problems: list[str] = []
    for each in data.documents:
        spans: list[LabelledSpan] = []
        for start, end, label, _ in each.spans:
            if problem := span_problem(start, end, label, len(each.text)):
                problems.append(f"{each.where}: {problem}")
            else:
                spans.append(LabelledSpan(start, end, label))
        spans.sort()
        record = _record(each, spans, name)
        if picture and len(each.pages) == 1:
            record["pages"][0]["image"] = b64encode(picture).decode()
        lines.append(json.dumps(record, ensure_ascii=False))
        where = f"{name}, {each.where}"
        documents.append(LabelledDocument(where, each.text, tuple(spans), where))
    return lines, documents, problems


def _record(document: ForeignDocument, spans: Iterable[LabelledSpan], name: str) -> dict[str, Any]:
    """Make a document's record; a document with pages has its file's name where it has no id."""
    number = document.id or (name if document.pages else None)
    return {
        **({} if number is None else {"id": number}),
        "text": document.text,
        **document.others,
        **({"pages": [_page(page) for page in document.pages]} if document.pages else {}),
        "entities": [{"start": span.start, "end": span.end, "label": span.label} for span in spans],
    }


def _page(page: ForeignPage) -> dict[str, Any]:
    words = [{"text": word.text, "box": [round(edge, 2) for edge in word.box]} for word in page.words]
    return {"width": page.size[0], "height": page.size[1], "words": words}


def _write(target: Path, lines: Iterable[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if target == STANDARD:
        sys.stdout.write(text)
        return
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidOptions(f"{target} cannot be written: {error.strerror}") from error


def _report(name: str, data: ForeignData, documents: Sequence[LabelledDocument], found: Sequence[str]) -> None:
    """Report on stderr, because the lines may go to stdout."""
    print(f"{name}: {TITLES[data.format]}; {_counted(documents)}", file=sys.stderr)
    for sentence, count in data.notes.items():
        print(f"  {count:,} {sentence}", file=sys.stderr)
    for finding in found:
        print(f"  {finding}", file=sys.stderr)


def _left_out(problems: Sequence[str]) -> list[str]:
    shown = [f"left out: {problem}" for problem in problems[:10]]
    return [*shown, f"{len(problems):,} entities were left out"] if problems else []


def _counted(documents: Sequence[LabelledDocument]) -> str:
    counts: Counter[str] = label_counts(documents)
    by_label = ", ".join(f"{label} {count:,}" for label, count in counts.most_common())
    empty = sum(not document.spans for document in documents)
    without = f" ({empty:,} without any)" if empty else ""
    paged = sum(document.placed is not None for document in documents)
    without += f", {paged:,} with pages" if paged else ""
    return f"{len(documents):,} documents{without}, {counts.total():,} entities{': ' if by_label else ''}{by_label}"


def run_check(chosen: argparse.Namespace) -> int:
    """Print each file's counts and doubts; returns 1 if there is a doubt."""
    known = _labels_of(chosen.model) if chosen.model else None
    doubtful = False
    for each in read_sets(chosen.data):
        print(f"{each.name}: {_counted(each.documents)}, {each.groups:,} groups")
        for finding in findings(each.documents, known):
            doubtful = True
            print(f"  {finding}")
        if known is not None and unknown_labels(each.documents, known):
            print("  (`gleaner train` gives the new model a head for all labels of the data)")
    return 1 if doubtful else 0


def _labels_of(model: str) -> list[str] | None:
    """Read the labels that a model and its rules answer, of a folder or the store; None: it takes any."""
    from model_store.contents.allowed_files import RULES
    from model_store.contents.scan import scan_folder
    from model_store.families.registry import CONFIGS
    from model_store.local.catalog import Catalog
    from service.settings import read_settings
    from service.text.pipeline import answered_labels

    folder = Path(model)
    if any((folder / name).is_file() for name in CONFIGS):
        labels = scan_folder(folder).config.labels
    else:
        revision = Catalog(read_settings().model_store).resolve(model)
        folder, labels = revision.folder, revision.manifest.labels
    return answered_labels(labels, has_rules=(folder / RULES).is_file()) if labels else None

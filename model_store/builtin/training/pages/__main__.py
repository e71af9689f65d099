"""`python -m model_store.builtin.training.pages OUT --count 20000`: generated pages as JSON lines.

OUT/pages.jsonl is for `gleaner train`; OUT/pages_left_out.jsonl has pages of templates that are not in it, for
`gleaner evaluate`. They tell how well templates are learned, not how well documents are read.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from time import process_time

from model_store.builtin.training.pages.documents import pages
from model_store.builtin.training.pages.grammar import is_held_out
from service.documents.words import words_between_spaces
from service.evaluation.labelled_documents import LabelledDocument
from service.evaluation.record_text import pages_json


def main(arguments: list[str] | None = None) -> int:
    """Write the files, print how many pages each has and the pages a second of one core; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training.pages", description=__doc__)
    parser.add_argument("out", type=Path, help="folder to write to")
    parser.add_argument("--count", type=int, default=20_000, help="pages of both files together (%(default)s)")
    parser.add_argument("--seed", type=int, default=20931)
    parser.add_argument("--boxes", action="store_true", help="write words with their boxes, of pages read as a PDF")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    files = {False: options.out / "pages.jsonl", True: options.out / "pages_left_out.jsonl"}
    lines: dict[bool, list[str]] = {False: [], True: []}
    began = process_time()
    for page in pages(options.seed, options.count):
        lines[is_held_out(page.group)].append(json.dumps(_record(page, boxes=options.boxes), ensure_ascii=False) + "\n")
    seconds = process_time() - began
    for is_out, path in files.items():
        path.write_text("".join(lines[is_out]), encoding="utf-8")
        print(f"{path}: {len(lines[is_out])} pages")
    print(f"{options.count / seconds:.0f} pages a second of processor time")
    return 0


def _record(page: LabelledDocument, *, boxes: bool) -> dict[str, object]:
    """One page as `gleaner train` and `gleaner evaluate` read it."""
    boxed = page.placed if boxes else None
    pages = (
        {} if boxed is None else {"pages": json.loads(pages_json(replace(boxed, words=words_between_spaces(boxed))))}
    )
    return {
        "id": page.id,
        "text": page.text,
        **pages,
        "entities": [{"start": span.start, "end": span.end, "label": span.label} for span in page.spans],
        "group": page.group,
        "lang": page.language,
        "kind": page.kind,
    }


if __name__ == "__main__":
    sys.exit(main())

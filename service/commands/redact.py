"""`gleaner redact`: writes files without the entities in them, beside each as `NAME.redacted.ENDING`, or into a folder.

PDFs, pictures and texts come back as such; of DOCX and HTML the redacted text with `--output text`. Prints what went: a
line for each file on a terminal, JSON lines in a pipe. A file that fails is reported on stderr, nothing is written for
it, the others go on, and the exit code is 1. Of standard input (`-`) the result goes to standard output.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
from collections import Counter
from pathlib import Path

from service.commands.file_answers import STANDARD_INPUT, Answer, add_file_arguments, answers, options_of, service_of
from service.core.errors import InvalidOptions
from service.core.redaction import RedactionMode
from service.terminal import printable, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    add_file_arguments(parser)
    parser.add_argument("--mode", choices=[each.value for each in RedactionMode], help="what stands in texts instead")
    parser.add_argument("--output", choices=["document", "text"], help="`text`: the redacted text of any file")
    parser.add_argument("--only-found", dest="repeats", action="store_false", default=None, help="no repetitions")
    parser.add_argument("--allow-unread", action="store_true", default=None, help="let what was not read of pages stay")
    parser.add_argument("--folder", type=Path, help="write there, under the files' own names")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Redact and write; returns 1 when a file failed."""
    return asyncio.run(_run(chosen))


async def _run(chosen: argparse.Namespace) -> int:
    names = (
        "model",
        "labels",
        "overlaps",
        "min_score",
        "aggregation",
        "ocr",
        "mode",
        "output",
        "repeats",
        "allow_unread",
    )
    failed = 0
    if STANDARD_INPUT in chosen.files and len(chosen.files) > 1:
        raise InvalidOptions("standard input (`-`) is redacted alone, because the result goes to standard output")
    async with service_of(chosen, options_of(chosen, names), redacts=True) as service:
        async for path, answer in answers(chosen.files, service.redact, chosen.type):
            written = None
            if answer["error"] is None:
                written = await asyncio.to_thread(_write, path, answer, chosen.folder)
            else:
                failed += 1
                say(f"{path}: {answer['error']['detail']}")
            _report(path, answer, written, as_line=sys.stdout.isatty() and not chosen.json)
    return 1 if failed else 0


def _write(path: Path, answer: Answer, folder: Path | None) -> Path:
    """Write the redacted file, and return its path."""
    is_file = answer["file"] is not None
    data = base64.b64decode(answer["file"]["data"]) if is_file else answer["text"].encode("utf-8", "replace")
    if path == STANDARD_INPUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return path
    ending = path.suffix if is_file or path.suffix in (".txt", ".md") else ".txt"
    if folder is None:
        target = path.with_name(f"{path.stem}.redacted{ending}")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{path.stem}{ending}"
    if target.exists() and target.samefile(path):
        target = path.with_name(f"{path.stem}.redacted{ending}")
    target.write_bytes(data)
    return target


def _report(path: Path, answer: Answer, written: Path | None, *, as_line: bool) -> None:
    to = sys.stderr if path == STANDARD_INPUT else sys.stdout
    if not as_line:
        kept = {name: value for name, value in answer.items() if name not in ("file", "text")}
        print(
            json.dumps({"file": str(path), "written": written and str(written), **kept}, ensure_ascii=False),
            flush=True,
            file=to,
        )
    elif written is not None:
        counts = Counter(each["label"] for each in answer["entities"])
        went = ", ".join(f"{count} {label}" for label, count in counts.most_common()) or "nothing"
        pictures = [str(each["page"]) for each in answer["rasterized_pages"]]
        also = f"; now pictures: pages {', '.join(pictures)}" if pictures else ""
        print(printable(f"{path} → {written}: {went}{also}"), flush=True, file=to)

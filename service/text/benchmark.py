"""`python -m service.text.benchmark --model FOLDER FILES…`: what looking words up saves of tokenizing, by set.

Each file is JSONL with a `text` a line. Its first 1,500 documents, 4,096 characters of each, are tokenized by Hugging
Face's tokenizer alone, then by the service's, which knows no word at first and gets to know them document by document,
then once more. All tokens must be the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from tokenizers import Encoding, Tokenizer

from service.text.tokenizer import SHORT_CHARACTERS, TextTokenizer, Tokens

MOST_DOCUMENTS = 1_500
Result = TypeVar("Result")
PARTS = ("Hugging Face's alone", "words new at first", "words known")


def compare(texts: Sequence[str], folder: Path) -> tuple[int, list[float]]:
    """Tokens of all texts, and microseconds a text for each of `PARTS`.

    Raises:
        AssertionError: a text's tokens differ.
    """
    alone, ours = Tokenizer.from_file(str(folder / "tokenizer.json")), TextTokenizer(folder)
    theirs, seconds = _timed(lambda text: alone.encode(text, add_special_tokens=False), texts)
    times = [seconds]
    for _ in PARTS[1:]:
        found, seconds = _timed(ours.encode, texts)
        times.append(seconds)
        assert all(map(_are_equal, theirs, found)), "a text has other tokens"
    return sum(map(len, theirs)), [1e6 * each / len(texts) for each in times]


def _timed(encode: Callable[[str], Result], texts: Sequence[str]) -> tuple[list[Result], float]:
    begun = time.perf_counter()
    found = [encode(text) for text in texts]
    return found, time.perf_counter() - begun


def _are_equal(theirs: Encoding, ours: Tokens) -> bool:
    return np.array_equal(theirs.ids, ours.ids) and np.array_equal(
        np.array(theirs.offsets).reshape(-1, 2), ours.offsets
    )


def main() -> int:
    """Print a row for each file."""
    parser = argparse.ArgumentParser(prog="python -m service.text.benchmark", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--model", type=Path, required=True, help="a folder with tokenizer.json")
    chosen = parser.parse_args()
    print(f"| documents | tokens each | {', µs | '.join(PARTS)}, µs |\n|---|---|{'---|' * len(PARTS)}")
    for file in chosen.files:
        lines = [line for line in file.read_text(encoding="utf-8").split("\n") if line][:MOST_DOCUMENTS]
        texts = [text[:SHORT_CHARACTERS] for line in lines if (text := json.loads(line)["text"])]
        if not texts:
            parser.error(f"{file} has no text")
        tokens, times = compare(texts, chosen.model)
        print(
            f"| {file.stem} | {tokens / len(texts):.0f} | {' | '.join(f'{each:.0f}' for each in times)} |", flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m model_store.builtin.training.fitting.speed MODEL --data DATA`: processor time of decoding.

Of real texts left out of training, document by document (from logits to entities, as a worker does with long ones) and
all at once (from logits to tags, as the engine does with a batch of short ones).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from model_store.builtin.training.fitting.frozen import FrozenModel, Scored
from model_store.builtin.training.mixture import read_real_sets, split
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import decode_logits
from service.core.decoding.model_decoding import PLAIN, Decoding, word_logits
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.tokens import word_starts
from service.core.decoding.word_tags import search_all
from service.text.decoding_files import read_decoding

REPEATS: Final = 7


def rows(scored: Sequence[Scored], scheme: Scheme, asked: Decoding) -> list[str]:
    """A line of the table for each way of decoding."""
    ways = {"plain": PLAIN, "with transitions": replace(PLAIN, transitions=asked.transitions), "all it asks for": asked}
    return [f"| {name} | {_milliseconds(scored, scheme, way)} |" for name, way in ways.items()]


def _milliseconds(scored: Sequence[Scored], scheme: Scheme, way: Decoding) -> str:
    logits = [each.logits.astype(np.float32) for each in scored]
    documents = list(zip(scored, logits, strict=True))
    words = []
    for each, scores in documents:
        firsts = np.flatnonzero(word_starts(each.example.text, each.encoding.offsets, compounds=way.compounds))
        words.append(word_logits(scores, firsts, len(scores), scheme, way.first_piece_share))

    def one_by_one() -> None:
        for each, scores in documents:
            decode_logits(each.example.text, each.encoding, scores, scheme, Aggregation.CONSTRAINED, way)

    alone, together = _least(one_by_one), _least(lambda: search_all(words, scheme, way.transitions))
    return f"{1e3 * alone / len(scored):.2f} | {1e3 * together / len(scored):.2f}"


def _least(work: Callable[[], object]) -> float:
    """Seconds of the processor, the least of REPEATS."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training.fitting.speed", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="folder with train/ and MAPPING.json")
    parser.add_argument("--most", type=int, default=8, help="examples of each set")
    options = parser.parse_args()
    model = FrozenModel(options.model)
    sets = read_real_sets(options.data).values()
    scored = model.score([example for examples in sets for example in split(examples)[1][: options.most]])
    tokens = sum(len(each.logits) for each in scored)
    print(f"{len(scored)} documents, {tokens / len(scored):.0f} tokens each\n")
    print("| decoding | ms a document, alone | ms a document, in a batch |\n|---|---|---|")
    print("\n".join(rows(scored, model.scheme, read_decoding(options.model))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

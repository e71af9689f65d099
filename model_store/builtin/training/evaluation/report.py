"""`python -m model_store.builtin.training.evaluation.report MODEL --data <folder>`: prints the model card's scores.

With `--url` in place of MODEL, the scores of a running service, in its precision.

Real sets: the groups held out from training, and the sets of `eval/`, which are never trained on. Generated documents:
templates held out from training.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from model_store.builtin.training.evaluation.predict import load
from model_store.builtin.training.evaluation.scoring import Score, Tagging, score_examples, score_labels
from model_store.builtin.training.evaluation.served import ServedTagger
from model_store.builtin.training.examples import Example
from model_store.builtin.training.mixture import assemble, read_real_sets

MOST_EXAMPLES: Final = 80
SEED: Final = 20931


def report(tagger: Tagging, sets: Mapping[str, Sequence[Example]], *, most: int = MOST_EXAMPLES) -> Iterator[str]:
    """A line of a Markdown table for each set, over its first `most` examples, and one for all spans together."""
    yield "| set | examples | gold spans | precision | recall | F1 fine | F1 coarse |"
    yield "|---|---|---|---|---|---|---|"
    all_fine = all_coarse = Score(0, 0, 0)
    count = 0
    for name, examples in sets.items():
        fine, coarse = score_examples(tagger, examples[:most])
        yield _row(name, len(examples[:most]), fine, coarse, digits=2)
        all_fine, all_coarse, count = all_fine + fine, all_coarse + coarse, count + len(examples[:most])
    yield _row("all spans together", count, all_fine, all_coarse, digits=4)


def report_labels(
    tagger: Tagging, sets: Mapping[str, Sequence[Example]], labels: Sequence[str], *, most: int = MOST_EXAMPLES
) -> Iterator[str]:
    """A line of a Markdown table for each set and label, over the set's first `most` examples."""
    yield "| set | label | found | gold | precision | recall | F1 |"
    yield "|---|---|---|---|---|---|---|"
    for name, examples in sets.items():
        for label, score in score_labels(tagger, examples[:most], labels).items():
            rates = " | ".join(f"{rate:.2f}" for rate in (score.precision, score.recall, score.f1))
            yield f"| {name} | {label} | {score.found} | {score.gold} | {rates} |"


def _row(name: str, examples: int, fine: Score, coarse: Score, *, digits: int) -> str:
    rates = " | ".join(f"{rate:.{digits}f}" for rate in (fine.precision, fine.recall, fine.f1, coarse.f1))
    return f"| {name} | {examples} | {fine.gold} | {rates} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m model_store.builtin.training.evaluation.report", description=__doc__
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("model", type=Path, nargs="?")
    which.add_argument("--url", help="a running service")
    parser.add_argument("--data", type=Path, required=True, help="folder with train/, eval/ and MAPPING.json")
    parser.add_argument("--documents", type=int, default=3000, help="documents to generate")
    parser.add_argument("--pages", type=int, default=3000, help="pages to generate")
    parser.add_argument("--most", type=int, default=MOST_EXAMPLES, help="examples of each set")
    parser.add_argument("--labels", help="only these, comma-separated, each by itself")
    options = parser.parse_args()
    _, held_out = assemble(options.data, documents=options.documents, pages=options.pages, seed=SEED)
    sets = held_out | read_real_sets(options.data, folder="eval")
    tagger = ServedTagger(options.url) if options.url else load(options.model)
    if options.labels:
        lines = report_labels(tagger, sets, options.labels.split(","), most=options.most)
    else:
        lines = report(tagger, sets, most=options.most)
    for line in lines:
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

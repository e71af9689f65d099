"""`python -m model_store.builtin.training --data DATA --out OUT`: trains the built-in model.

Four steps: public sets and generated pages are mixed; the pretrained base gets our vocabulary and a new head; the loop
of `gleaner train` trains it; transitions and calibration are fitted on the groups that training left out. The same
command goes on with a training that was cut off.
"""

import argparse
import hashlib
import logging
import random
import shutil
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import torch
from tokenizers import Tokenizer

from model_store.builtin import model_folder
from model_store.builtin.training.fitting import fit
from model_store.builtin.training.labels import EVERY_LABEL
from model_store.builtin.training.mixture import WEIGHTS, Sets, assemble, mixed
from model_store.builtin.training.pretrained_base import LAYERS, Base, installed_base, starting_model
from model_store.builtin.training.tokenizer import build_tokenizer, save_tokenizer
from model_store.builtin.training.vocabulary import kept_pieces, names, scored
from service.evaluation.labelled_documents import LabelledSet, limited
from service.training.data import TrainingSet
from service.training.finetune import train_sets
from service.training.options import TrainingOptions

START = "start"
"""Folder in the output folder with the model that training begins with; removed at the end."""
NAMES_OF_A_LOCALE = 60
"""Generated names from which pieces of the vocabulary are chosen."""
SCORED_DOCUMENTS = 20
"""Documents of each held-out set that are scored after each pass."""
BASE_RATE = 2e-4
"""Highest learning rate of the base's layers."""
HEAD_FACTOR = 5.0
"""Factor of the learning rate of the head."""
COPIED = ("NOTICE", "provenance.json", "rules.json")
"""Files of the shipped folder that no training changes."""
logger = logging.getLogger(__name__)


def main(arguments: list[str] | None = None) -> int:
    """Mix, train and fit; the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    training, held_out = assemble(options.data, pages=options.pages, seed=options.seed)
    for name, each in training.items():
        logger.info("%-28s %6d for training, %5d held out", name, len(each.documents), _count(held_out.get(name)))
    start = options.out / START
    base = options.start or write_start(start, training, options.vocabulary, layers=options.layers)
    _train(training, held_out, base, options)
    shutil.rmtree(start, ignore_errors=True)
    for name in COPIED:
        shutil.copyfile(model_folder() / name, options.out / name)
    fit(options.out, list(held_out.values()))
    return 0


def _train(training: Sets, held_out: Sets, base: Path, options: argparse.Namespace) -> None:
    mix = mixed(training, WEIGHTS, seed=options.seed)
    scored_sets = [limited(each, SCORED_DOCUMENTS) for each in held_out.values()]
    digest = hashlib.sha256("\0".join(document.text for each in mix for document in each.documents).encode())
    train_sets(
        mix,
        [TrainingSet(each.documents, each.labels) for each in scored_sets],
        EVERY_LABEL,
        TrainingOptions(
            data=(),
            base=str(base),
            out=str(options.out),
            layout=options.layout,
            epochs=options.passes,
            minutes=options.minutes,
            rate=BASE_RATE * options.rate,
            new_head_factor=HEAD_FACTOR,
            batch_tokens=options.batch_tokens,
            seed=options.seed,
            threads=options.threads,
            device=options.device,
        ),
        data_digest=digest.hexdigest(),
        new_head=options.start is None,
    )


def write_start(folder: Path, training: Sets, vocabulary: Path | None, *, layers: int) -> Path:
    """The folder with the model that training begins with: the base's first layers over our pieces, with a new head."""
    base = installed_base()
    kept, tokenizer = _vocabulary(base, training.values(), vocabulary)
    logger.info("vocabulary: %d tokens", tokenizer.get_vocab_size())
    save_tokenizer(tokenizer, folder)
    starting_model(base, kept, layers=layers).save_pretrained(folder)
    return folder


def _vocabulary(base: Base, sets: Iterable[LabelledSet], earlier: Path | None) -> tuple[list[int], Tokenizer]:
    """The pieces that stay, and their tokenizer."""
    if earlier is not None:
        number_of = {piece: number for number, piece in enumerate(base.pieces)}
        tokenizer = Tokenizer.from_file(str(earlier))
        tokens = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        return [number_of[token] for token, _ in tokens[:-2]], tokenizer
    texts = (document.text for each in sets for document in each.documents)
    kept = kept_pieces(base, chain(texts, names(NAMES_OF_A_LOCALE)))
    return kept, build_tokenizer(scored(base, kept))


def _count(labelled: LabelledSet | None) -> int:
    return len(labelled.documents) if labelled else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train/*.jsonl and MAPPING.json")
    parser.add_argument("--out", type=Path, required=True, help="folder to write the model to")
    parser.add_argument("--minutes", type=float, default=70, help="most time; the learning rate falls with it")
    parser.add_argument("--passes", type=int, default=3, help="most passes over the mix (%(default)s)")
    parser.add_argument("--pages", type=int, default=6_000, help="pages to generate (%(default)s)")
    parser.add_argument("--from", dest="start", type=Path, help="a trained model's folder, in place of the base")
    parser.add_argument("--layout", action="store_true", help="make a LayoutLM of it, which sees where words stand")
    parser.add_argument("--rate", type=float, default=1.0, help="times the usual learning rates; less with --from")
    parser.add_argument("--vocabulary", type=Path, help="an earlier model's tokenizer.json, in place of a new choice")
    parser.add_argument("--layers", type=int, default=LAYERS, help="of the base, from the first (%(default)s)")
    parser.add_argument("--batch-tokens", type=int, default=1536)
    parser.add_argument("--threads", type=int, default=0, help="of the CPU; 0 for one a core")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--seed", type=int, default=20931)
    return parser


if __name__ == "__main__":
    sys.exit(main())

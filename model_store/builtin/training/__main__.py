"""`python -m model_store.builtin.training --data <folder> --out <folder>`: trains the built-in model.

In several processes: `torchrun --nproc-per-node 2 -m model_store.builtin.training --threads 1 …`.
"""

import argparse
import logging
import random
import sys
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertForTokenClassification

from model_store.builtin.training.base.packed_file import Base, installed_base
from model_store.builtin.training.base.pieces import kept_pieces, names, scored
from model_store.builtin.training.base.starting_model import LAYERS, starting_model
from model_store.builtin.training.base.tokenizer import build_tokenizer
from model_store.builtin.training.batches import SpecialIds, batches
from model_store.builtin.training.encoding import encode
from model_store.builtin.training.evaluation.report import report
from model_store.builtin.training.evaluation.scoring import Tagger
from model_store.builtin.training.examples import Example
from model_store.builtin.training.export import export
from model_store.builtin.training.mixture import assemble, weights
from model_store.builtin.training.peers import Peers
from model_store.builtin.training.trainer import Training

NAMES_OF_A_LOCALE = 60
logger = logging.getLogger(__name__)


def main(arguments: list[str] | None = None) -> int:
    """Read, generate, train, export and score; the exit status."""
    options = _parser().parse_args(arguments)
    peers = Peers.joined()
    level = logging.WARNING if peers.rank else logging.INFO
    logging.basicConfig(level=level, stream=sys.stdout, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    training_sets, held_out = assemble(
        options.data, documents=options.documents, pages=options.pages, seed=options.seed
    )
    for name, examples in training_sets.items():
        logger.info("%-28s %6d for training", name, len(examples))
    model, tokenizer = beginning(training_sets, options)
    logger.info("vocabulary: %d tokens", tokenizer.get_vocab_size())
    encoded = {name: list(encode(tokenizer, examples)) for name, examples in training_sets.items()}
    logger.info("training on %.1f M tokens", sum(len(doc.ids) for docs in encoded.values() for doc in docs) / 1e6)
    training = Training(model, peers, rate=options.rate)
    if options.checkpoint.is_file():
        training.load(options.checkpoint)
        logger.info("going on after %.1f minutes", training.progress.seconds / 60)
    torch.manual_seed(options.seed + peers.rank)
    draws = batches(
        encoded,
        weights(encoded),
        special=SpecialIds.of(tokenizer),
        budget_tokens=options.batch_tokens,
        random=np.random.default_rng((options.seed, training.progress.steps, peers.rank)),
    )
    training.run(draws, minutes=options.minutes, checkpoint=options.checkpoint)
    if peers.rank:
        return 0
    size = export(training.model, tokenizer, options.out)
    logger.info("wrote %s: %.1f MB", options.out, size / 1e6)
    for line in report(Tagger(training.model, tokenizer), held_out):
        logger.info(line)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train/*.jsonl and MAPPING.json")
    parser.add_argument("--out", type=Path, required=True, help="folder to write the model to")
    parser.add_argument("--minutes", type=float, default=70, help="time to train for in all; the schedule follows it")
    parser.add_argument("--documents", type=int, default=12_000, help="documents to generate")
    parser.add_argument("--pages", type=int, default=12_000, help="pages to compose and read back; 0: none")
    parser.add_argument(
        "--from", dest="start", type=Path, help="a trained model's folder to go on from, in place of the base"
    )
    parser.add_argument("--rate", type=float, default=1.0, help="times the usual learning rates; less with --from")
    parser.add_argument("--vocabulary", type=Path, help="an earlier model's tokenizer.json, in place of a new choice")
    parser.add_argument("--layers", type=int, default=LAYERS, help="of the base, from the first")
    parser.add_argument("--batch-tokens", type=int, default=1536)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20931)
    parser.add_argument(
        "--checkpoint",
        type=Path,
        default=Path(gettempdir()) / "gleaner-training.pt",
        help="written every five minutes; a training goes on from it if it is there",
    )
    return parser


def beginning(
    sets: Mapping[str, Iterable[Example]], options: argparse.Namespace
) -> tuple[BertForTokenClassification, Tokenizer]:
    """(The model that training begins with, its tokenizer): trained before, or the base with a new head."""
    if options.start is not None:
        model: BertForTokenClassification = BertForTokenClassification.from_pretrained(options.start).float()
        return model, Tokenizer.from_file(str(options.start / "tokenizer.json"))
    base = installed_base()
    kept, tokenizer = _vocabulary(base, sets, options.vocabulary)
    return starting_model(base, kept, layers=options.layers), tokenizer


def _vocabulary(base: Base, sets: Mapping[str, Iterable[Example]], earlier: Path | None) -> tuple[list[int], Tokenizer]:
    """The pieces that stay, and their tokenizer."""
    if earlier is not None:
        number_of = {piece: number for number, piece in enumerate(base.pieces)}
        tokenizer = Tokenizer.from_file(str(earlier))
        tokens = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        return [number_of[token] for token, _ in tokens[:-2]], tokenizer
    texts = (example.text for example in chain.from_iterable(sets.values()))
    kept = kept_pieces(base, chain(texts, names(NAMES_OF_A_LOCALE)))
    return kept, build_tokenizer(scored(base, kept))


if __name__ == "__main__":
    sys.exit(main())

"""`python -m model_store.builtin.training --data <folder> --out <folder>`: trains the built-in model."""

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
from safetensors.torch import load_file
from tokenizers import Tokenizer

from model_store.builtin.training.batches import batches
from model_store.builtin.training.encoding import encode
from model_store.builtin.training.evaluation.report import report
from model_store.builtin.training.evaluation.scoring import Tagger
from model_store.builtin.training.examples import Example
from model_store.builtin.training.export import export
from model_store.builtin.training.mixture import WEIGHTS, assemble
from model_store.builtin.training.trainer import PEAK_RATE, new_model, train
from model_store.builtin.training.vocabulary import train_tokenizer

WEIGHTS_FILE = "model.safetensors"
logger = logging.getLogger(__name__)


def main(arguments: list[str] | None = None) -> int:
    """Read, generate, train, score and export; the exit status."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    random.seed(options.seed)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    training, held_out = assemble(options.data, documents=options.documents, seed=options.seed)
    for name, examples in training.items():
        logger.info("%-28s %6d for training", name, len(examples))
    tokenizer = _vocabulary_of(options.resume) or train_tokenizer(
        _vocabulary_texts(training), vocabulary_size=options.vocabulary
    )
    logger.info("vocabulary: %d tokens", tokenizer.get_vocab_size())
    encoded = {name: list(encode(tokenizer, examples)) for name, examples in training.items()}
    logger.info("training on %.1f M tokens", sum(len(doc.ids) for docs in encoded.values() for doc in docs) / 1e6)
    model = new_model(vocabulary_size=tokenizer.get_vocab_size(), layers=options.layers, width=options.width)
    if options.resume:
        model.load_state_dict(
            {name: weight.float() for name, weight in load_file(options.resume / WEIGHTS_FILE).items()}
        )
    draws = batches(encoded, WEIGHTS, budget_tokens=options.batch_tokens, random=np.random.default_rng(options.seed))
    train(model, draws, minutes=options.minutes, checkpoint=options.checkpoint, peak_rate=options.peak_rate)
    size = export(model, tokenizer, options.out)
    logger.info("wrote %s: %.1f MB", options.out, size / 1e6)
    for line in report(Tagger(model, tokenizer), held_out):
        logger.info(line)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train/*.jsonl and MAPPING.json")
    parser.add_argument("--out", type=Path, required=True, help="folder to write the model to")
    parser.add_argument("--minutes", type=float, default=50, help="time to train for; the schedule follows it")
    parser.add_argument("--documents", type=int, default=30_000, help="documents to generate")
    parser.add_argument("--vocabulary", type=int, default=22_000, help="tokens in the vocabulary")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--batch-tokens", type=int, default=2560)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", type=Path, help="folder of an earlier model to go on from, vocabulary included")
    parser.add_argument("--peak-rate", type=float, default=PEAK_RATE, help="highest learning rate")
    parser.add_argument("--seed", type=int, default=20931)
    parser.add_argument(
        "--checkpoint", type=Path, default=Path(gettempdir()) / "gleaner-checkpoint.pt", help="file for checkpoints"
    )
    return parser


def _vocabulary_of(folder: Path | None) -> Tokenizer | None:
    return Tokenizer.from_file(str(folder / "tokenizer.json")) if folder else None


def _vocabulary_texts(training: Mapping[str, Iterable[Example]]) -> Iterable[str]:
    """All texts, and every fifth one in capitals too."""
    texts = [example.text for example in chain.from_iterable(training.values())]
    return chain(texts, (text.upper() for text in texts[::5]))


if __name__ == "__main__":
    sys.exit(main())

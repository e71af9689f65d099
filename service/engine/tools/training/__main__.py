"""`python -m service.engine.tools.training OPTIONS`: one training, its options as JSON, its progress on stderr.

What `gleaner train` runs in a process of its own, because memory and threads depend on the environment.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import msgspec
import torch

from service.core.errors import GleanerError
from service.engine.device.selection import choose_device, use_threads
from service.engine.tools.training.base_model import freeze_embeddings, open_base
from service.engine.tools.training.checkpoint import SavedState
from service.engine.tools.training.errors import TrainingError
from service.engine.tools.training.examples import Cutter
from service.engine.tools.training.finetuning import FineTuning
from service.engine.tools.training.labels import marked_labels
from service.engine.tools.training.model_folder import prepare_folder, write_card, write_model
from service.engine.tools.training.options import TrainingOptions
from service.engine.tools.training.records import read_documents
from service.engine.tools.training.scoring import SpanCounts, score
from service.engine.tools.training.splits import split
from service.process import die_with_parent
from service.settings import read_settings
from service.text.tokenizer import TextTokenizer

INTERRUPTED = 130
log = logging.getLogger(__name__)


def main() -> int:
    """Train; exit code 1 with a sentence on stderr if that is not possible."""
    die_with_parent()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    logging.getLogger("service.engine.encoder").setLevel(logging.WARNING)
    options = msgspec.json.decode(sys.argv[1], type=TrainingOptions)
    try:
        train(options)
    except (TrainingError, GleanerError) as error:
        print(f"gleaner: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("gleaner: interrupted; the same command goes on from what was saved last", file=sys.stderr)
        return INTERRUPTED
    return 0


def train(options: TrainingOptions) -> SpanCounts | None:
    """Train, and write the model's folder; its scores on the groups left out, if there are any.

    Raises:
        TrainingError: the data, the base or the output folder cannot be used.
        ModelError: the device is missing.
    """
    torch.manual_seed(options.seed)
    device = choose_device(options.device)
    use_threads(options.threads, on_gpu=device.type == "cuda")
    documents = read_documents([Path(path) for path in options.data])
    training, left_out = split(documents, left_out_percent=options.left_out_percent, seed=options.seed)
    marked = marked_labels(documents)
    labels = frozenset().union(*marked.values())
    prepare_folder(Path(options.out))
    if options.closed:
        marked = dict.fromkeys(marked, labels)
    base = Path(options.base)
    checkpoint, new_head = open_base(base, labels)
    model = checkpoint.model.to(device)
    freeze_embeddings(model)
    tags = tuple(model.config.id2label[number] for number in range(model.config.num_labels))
    cutter = Cutter(TextTokenizer(base), tags, checkpoint.max_tokens, read_settings().overlap_tokens)
    examples = cutter.examples(training, marked)
    log.info("%d documents (%d windows) to learn from, %d left out, %d labels, %s", len(training), len(examples),
             len(left_out), len(labels), device)  # fmt: skip
    saved = SavedState(options)
    tuning = FineTuning(model, options, saved, new_head=new_head)
    tuning.run(examples, lambda: score(model, cutter, left_out, marked).f1() if left_out else None)
    counts = score(model, cutter, left_out, marked) if left_out else None
    write_card(Path(options.out), options, documents, counts)
    write_model(model, base, Path(options.out))
    saved.remove()
    log.info("wrote %s%s", options.out, f", F1 {counts.f1():.3f}" if counts else "")
    return counts


if __name__ == "__main__":
    sys.exit(main())

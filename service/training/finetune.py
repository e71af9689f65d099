"""Fine-tuning from options to a model's folder: reads, splits, trains, scores on the groups left out, writes.

Scores count exact spans of whole documents, decoded as the new folder will be served, and only labels that a
document's set marks.
"""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import torch
from transformers import PreTrainedModel

from service.core.decoding.tag_scheme import scheme_of
from service.documents.document import Document
from service.engine.device.selection import choose_device, use_threads
from service.engine.encoder.encoder import read_checkpoint
from service.engine.encoder.padded_rows import run_padded
from service.evaluation.labelled_documents import LabelledSet, LabelledSpan, read_sets, repeated_texts
from service.evaluation.span_scores import SpanScore, Tally, exact_spans
from service.families.processor import WindowSizes
from service.families.registry import open_processor
from service.families.token_classifier.processor import TokenClassifier
from service.settings import read_settings
from service.text.decoding_files import TRANSITIONS
from service.text.pipeline import decode_entities
from service.training.data import Cutter, TrainingSet, check_learnable, split
from service.training.fitting import fit_own
from service.training.loop import FineTuning, SavedState
from service.training.model import (
    HEAD,
    described_kinds,
    digest_files,
    freeze_embeddings,
    kinds_of,
    open_base,
    prepare_folder,
    read_processor,
    write_box_facts,
    write_card,
    write_model,
    write_rules,
)
from service.training.options import TrainingOptions

ALL = "all"
"""The name of the score over all labels."""
MAY_CHANGE = {"out": "", "threads": 0, "device": "auto", "minutes": None, "kinds": {}}
"""Options that may differ when a training is resumed."""
LabelScores = dict[str, SpanScore]
"""Label → its score; `ALL` comes last."""
log = logging.getLogger(__name__)


def train(options: TrainingOptions) -> LabelScores | None:
    """Train on the labelled files and write the model's folder; returns the scores on the groups left out, if any.

    Raises:
        TrainingError: the data, the base or the output folder cannot be used.
        BadRecords: the files hold no labelled documents.
        ModelError: the device is missing.
    """
    paths = [Path(path) for path in options.data]
    sets = read_sets(paths)
    check_learnable(sets)
    if options.left_out_percent and (repeated := repeated_texts(sets)):
        log.info("%d documents have the text of an earlier one; equal texts are all learned or all left out", repeated)
    labels = frozenset().union(*(each.labels for each in sets))
    kinds = kinds_of(options, labels)
    parts = split(sets, left_out_percent=options.left_out_percent)
    if unused := _count(sets) - sum(map(_count, parts)):
        log.info("%d documents are used for neither: their text is left out of another set", unused)
    training, left_out = (
        [TrainingSet(each.documents, labels if options.closed else each.labels) for each in part] for part in parts
    )
    scores = train_sets(training, left_out, labels, options, data_digest=digest_files(paths))
    out = Path(options.out)
    write_rules(out, kinds)
    fitted = None
    if scores is not None:
        held_out = [replace(each, labels=labels) if options.closed else each for each in parts[1]]
        fitted = fit_own(out, held_out, log.debug)
        log.info("%s", fitted)
        scores = score_folder(out, left_out) if (out / TRANSITIONS).exists() else scores
    write_card(out, options, sets, scores, str(fitted or ""))
    log.info("values: %s", described_kinds(labels, kinds))
    log.info("to serve it: gleaner models publish %s NAME", options.out)
    return scores


def _count(sets: Iterable[LabelledSet]) -> int:
    return sum(len(each.documents) for each in sets)


def train_sets(
    training: Sequence[TrainingSet],
    left_out: Sequence[TrainingSet],
    labels: frozenset[str],
    options: TrainingOptions,
    *,
    data_digest: str,
    new_head: bool = False,
) -> LabelScores | None:
    """Train on sets in memory, and write the model's folder without its card.

    Args:
        data_digest: digest of the data; an unfinished training resumes only with the same data and options.
        new_head: True if the base's head has learned nothing yet, although it is for these labels.

    Raises:
        TrainingError, ModelError: as `train`.
    """
    torch.manual_seed(options.seed)
    device = choose_device(options.device)
    use_threads(options.threads, on_gpu=device.type == "cuda")
    out = Path(options.out)
    prepare_folder(Path(options.base), out)
    checkpoint, new = open_base(Path(options.base), labels, layout=options.layout)
    model = checkpoint.model.to(device)
    freeze_embeddings(model)
    _tell_pages([*training, *left_out], sees_boxes=checkpoint.page is not None)
    if checkpoint.page is not None:
        reads_texts = any(document.placed is None for each in (*training, *left_out) for document in each.documents)
        write_box_facts(Path(options.base), out, layout=options.layout, reads_texts=reads_texts)
    tags = tuple(model.config.id2label[number] for number in range(model.config.num_labels))
    sizes = WindowSizes(checkpoint.max_tokens, read_settings().overlap_tokens)
    cutter = Cutter(read_processor(out, model), tags, sizes, checkpoint.page)
    examples = cutter.examples(training)
    documents, held_out = (sum(len(each.documents) for each in part) for part in (training, left_out))
    log.info("%d documents (%d windows) to learn from, %d left out, %d labels, %s", documents, len(examples),
             held_out, len(labels), device)  # fmt: skip
    saved = SavedState(out, _identity(options, data_digest))
    tuning = FineTuning(model, options, saved, new={*new, HEAD} if new_head else new, page=checkpoint.page)
    tuning.run(examples, lambda: score(model, cutter, left_out)[ALL].f1 if held_out else None)
    scores = score(model, cutter, left_out) if held_out else None
    write_model(model, out)
    saved.remove()
    log.info("wrote %s%s", options.out, f", F1 {scores[ALL].f1:.3f}" if scores else "")
    return scores


def _tell_pages(sets: Iterable[TrainingSet], *, sees_boxes: bool) -> None:
    """Say how many documents have pages, where the model and they do not fit."""
    documents = [document for each in sets for document in each.documents]
    paged = sum(document.placed is not None for document in documents)
    if sees_boxes:
        log.info("%d documents have pages of words; %d are texts without boxes", paged, len(documents) - paged)
    elif paged:
        log.info("%d documents have pages, of which the base reads the text alone; --layout adds boxes to it", paged)


def score_folder(folder: Path, sets: Sequence[TrainingSet]) -> LabelScores:
    """Score the model in a folder over documents."""
    checkpoint = read_checkpoint(folder, torch.float32)
    sizes = WindowSizes(checkpoint.max_tokens, read_settings().overlap_tokens)
    processor = open_processor(folder)
    assert isinstance(processor, TokenClassifier), "only token classifiers are scored"
    return score(checkpoint.model, Cutter(processor, checkpoint.labels, sizes, checkpoint.page), sets)


def _identity(options: TrainingOptions, data_digest: str) -> str:
    encoded = msgspec.json.encode(msgspec.structs.replace(options, **MAY_CHANGE))
    return hashlib.sha256(encoded + data_digest.encode()).hexdigest()


def score(model: PreTrainedModel, cutter: Cutter, sets: Sequence[TrainingSet]) -> LabelScores:
    """Score a model over documents; it is left in evaluation mode."""
    model.eval()
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for number, each in enumerate(sets):
        for document in each.documents:
            truth, found = (
                exact_spans(document.text, spans, each.settled)
                for spans in (document.spans, find_spans(model, cutter, document.document))
            )
            for label in {span[2] for span in truth | found}:
                gold, predicted = ({span for span in part if span[2] == label} for part in (truth, found))
                for name in (label, ALL):
                    tallies[name].add(
                        (number, document.group), gold=len(gold), found=len(predicted), right=len(gold & predicted)
                    )
    total = tallies.pop(ALL, Tally()).score()
    return {label: tallies[label].score() for label in sorted(tallies)} | {ALL: total}


@torch.inference_mode()
def find_spans(model: PreTrainedModel, cutter: Cutter, document: Document) -> list[LabelledSpan]:
    """Find the entities in a document, decoded as the cutter's folder will be served."""
    prepared = cutter.prepared(document)
    logits = [
        run_padded(model, [sequence], page=cutter.page)[0].float().cpu().numpy() for sequence in prepared.sequences
    ]
    entities = decode_entities(cutter.tokenizer, prepared, logits, scheme_of(cutter.tags))
    return [LabelledSpan(entity.start, entity.end, entity.label) for entity in entities]

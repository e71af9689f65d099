"""Float8 accuracy: spans that a model finds in labelled documents with 8-bit products, beside float32 and bfloat16.

`python -m service.engine.tools.float8_accuracy MODEL_FOLDER FILE_OR_FOLDER… [--most N]`, without a GPU: fused layers
run on the CPU, and 8-bit products are computed in float32 from the same 8-bit numbers. A GPU adds the rounding of its
sums. Documents as `gleaner evaluate` reads them, a MAPPING.json beside them too; exact spans of the model alone,
without rules.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from service.core.arrays import Logits
from service.engine.device.dtype import name_of
from service.engine.device.selection import use_threads
from service.engine.encoder import attention
from service.engine.encoder.attention_backends import register_packed_attention
from service.engine.encoder.checkpoint import read_checkpoint
from service.engine.encoder.cuda.fused_check import backend_for
from service.engine.encoder.cuda.fused_model import FusedModel
from service.engine.encoder.cuda.row_operators import TORCH_ROWS
from service.engine.encoder.encoder import TransformersEncoder
from service.engine.encoder.forward_path import FUSED
from service.evaluation.labelled_documents import LabelledSet, nearest_scheme, read_sets
from service.evaluation.span_scores import SpanScore, Tally
from service.text.pipeline import decode_entities, prepare
from service.text.tokenizer import TextTokenizer

CPU = torch.device("cpu")
PRECISIONS = {"float32": (torch.float32, False), "bfloat16": (torch.bfloat16, False), "fp8": (torch.bfloat16, True)}
WINDOW_TOKENS, OVERLAP_TOKENS = 512, 128
"""The service's own, where nothing else is set."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Of one precision over some documents.

    Attributes:
        error: mean error of a logit, as a share of the mean size of float32's.
        labels_changed: share of the tokens whose best label is not float32's.
    """

    spans: SpanScore
    error: float
    labels_changed: float


class Reader:
    """A model in one precision, with its tokenizer."""

    def __init__(self, folder: Path, precision: str) -> None:
        dtype, float8 = PRECISIONS[precision]
        register_packed_attention()
        checkpoint = read_checkpoint(folder, dtype)
        attention.set_attention(checkpoint.model, attention.NAME)
        fused = FusedModel(checkpoint.model, backend_for(checkpoint), float8=TORCH_ROWS if float8 else None)
        fused.forget_own_layers()
        self._encoder = TransformersEncoder(checkpoint, CPU, name_of(dtype), FUSED, fused)
        self._tokenizer = TextTokenizer(folder)
        self._longest = min(WINDOW_TOKENS, checkpoint.max_tokens)

    def read(self, text: str) -> tuple[list[Logits], set[tuple[int, int, str]]]:
        """The logits of a text's windows, and its spans."""
        prepared = prepare(self._tokenizer, text, longest=self._longest, overlap=OVERLAP_TOKENS)
        logits = self._encoder.forward(prepared.sequences)
        found = decode_entities(self._tokenizer, prepared, logits, self._encoder.labels)
        return logits, {(each.start, each.end, each.label) for each in found}


def accuracies(folder: Path, documents: LabelledSet) -> Iterator[tuple[str, Accuracy]]:
    """Each precision's accuracy over one set; a document without a token is left out."""
    exact: list[list[Logits]] = []
    for precision in PRECISIONS:
        reader, tally, found = Reader(folder, precision), Tally(), []
        for document in documents.documents:
            if not document.text.strip():
                continue
            logits, spans = reader.read(document.text)
            gold = {(span.start, span.end, span.label) for span in document.spans}
            spans = {span for span in spans if span[2] in documents.labels}
            tally.add(document.group, gold=len(gold), found=len(spans), right=len(gold & spans))
            found.append(logits)
        exact = exact or found
        yield precision, Accuracy(tally.score(), *_differences(exact, found))


def _differences(exact: Sequence[Sequence[Logits]], found: Sequence[Sequence[Logits]]) -> tuple[float, float]:
    """Mean error ÷ mean size of all logits, and the share of tokens with another best label."""
    wanted, given = (np.concatenate([rows for each in some for rows in each]) for some in (exact, found))
    error = float(np.abs(given - wanted).mean() / np.abs(wanted).mean())
    return error, float((given.argmax(axis=1) != wanted.argmax(axis=1)).mean())


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m service.engine.tools.float8_accuracy", description=__doc__)
    parser.add_argument("model", type=Path, help="folder of a model of BERT's kind")
    parser.add_argument("data", type=Path, nargs="+", help="labelled documents: .jsonl files, or folders of them")
    parser.add_argument("--most", type=int, default=100, help="documents of each set, the first ones")
    options = parser.parse_args(arguments)
    use_threads(0)
    print("| set | precision | documents | gold spans | precision | recall | F1 | error of logits | labels changed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for each in read_sets(options.data, nearest_scheme(options.data)):
        documents = each.only(each.documents[: options.most])
        for precision, found in accuracies(options.model, documents):
            spans = found.spans
            rates = f"{spans.precision:.4f} | {spans.recall:.4f} | {spans.f1:.4f}"
            logits = f"{found.error:.4f} | {found.labels_changed:.2%}"
            count = len(documents.documents)
            print(f"| {each.name} | {precision} | {count} | {spans.gold} | {rates} | {logits} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

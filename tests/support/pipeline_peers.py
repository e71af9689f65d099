"""Tiny random models on which transformers' pipeline and the service's decoding can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForTokenClassification, AutoTokenizer, TokenClassificationPipeline

from service.core.decoding import tag_scheme
from service.core.decoding.aggregation_strategies import Aggregation, subwords
from service.core.decoding.entities import Entity, decode_logits
from service.core.decoding.tokens import Encoding
from tests.support.tiny_models import MAX_TOKENS, make_model

SENTENCES = [
    "Angela Merkel wohnte in Berlin und später in Zürich.",
    "Invoice INV-20931 of 12.03.2026: total €1,234.56 (19 % VAT)",
    "Please   pay GB29 NWBK 6016 1331 9268 19 to ACME Ltd.\nby Friday",
    "東京タワー is in 東京, says naïve Zoë ☃ 😀😀 — unverständlich",
    "e-mail jane.doe@example.com, +49 30 1234567!",
]


def computing_once(model: Any) -> Any:
    """The model, which from now on computes each sequence once."""
    computed: dict[bytes, Any] = {}
    compute = model.forward

    def forward(input_ids: torch.Tensor, **more: Any) -> Any:
        key = input_ids.numpy().tobytes()
        if key not in computed:
            computed[key] = compute(input_ids=input_ids, **more)
        return computed[key]

    model.forward = forward
    return model


@dataclass(frozen=True)
class Peer:
    """transformers' pipeline and the service's decoding, on one model."""

    pipeline: Any
    tokenizer: Any
    model: Any
    labels: list[str]
    continuing_prefix: bool

    def expected(self, text: str, strategy: Aggregation, stride: int | None = None) -> list[dict[str, Any]]:
        """The pipeline's entities."""
        found: list[dict[str, Any]] = self.pipeline(text, aggregation_strategy=strategy.value, stride=stride)
        return found

    def encode(self, text: str) -> tuple[list[int], Encoding]:
        """The text's token ids, and its tokens as decoding takes them."""
        encoded = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids, offsets = encoded["input_ids"], np.array(encoded["offset_mapping"], dtype=np.int32).reshape(-1, 2)
        flags = subwords(
            self.tokenizer.convert_ids_to_tokens(ids),
            np.array(ids, dtype=np.int32),
            offsets,
            text,
            continuing_prefix=self.continuing_prefix,
            unk_id=self.tokenizer.unk_token_id,
        )
        return ids, Encoding(offsets, flags)

    def logits(self, ids: list[int]) -> NDArray[np.float32]:
        """Logits `[tokens, labels]` of one window, special tokens added and their rows removed."""
        with torch.inference_mode():
            whole = torch.tensor([[self.tokenizer.cls_token_id, *ids, self.tokenizer.sep_token_id]])
            logits: NDArray[np.float32] = self.model(input_ids=whole).logits[0, 1:-1].numpy()
        return logits

    def found(self, text: str, strategy: Aggregation) -> list[Entity]:
        """The entities that the service decodes."""
        ids, encoding = self.encode(text)
        if not ids:
            return []
        scheme = tag_scheme.read_scheme(dict(enumerate(self.labels)))
        return decode_logits(text, encoding, self.logits(ids), scheme, strategy)


def peer(folder: Path, kind: str, labels: list[str], max_length: int = MAX_TOKENS) -> Peer:
    """A tiny random model of this kind with these labels, and the pipeline on it."""
    make_model(folder, kind, labels=labels, seed=4)  # Of a seed whose models find entities by every label set.
    tokenizer = AutoTokenizer.from_pretrained(folder, model_max_length=max_length)
    model = computing_once(AutoModelForTokenClassification.from_pretrained(folder).eval())
    pipeline = TokenClassificationPipeline(model=model, tokenizer=tokenizer, device="cpu")
    return Peer(pipeline, tokenizer, model, labels, continuing_prefix=kind == "bert")

"""Tiny random models on which transformers' pipeline and the service's decoding can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForTokenClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForTokenClassification,
    TokenClassificationPipeline,
)

from service.core.decoding import tag_scheme
from service.core.decoding.aggregation_strategies import Aggregation, subwords
from service.core.decoding.entities import Entity, decode_logits
from service.core.decoding.tokens import Encoding

SENTENCES = [
    "Angela Merkel wohnte in Berlin und später in Zürich.",
    "Invoice INV-20931 of 12.03.2026: total €1,234.56 (19 % VAT)",
    "Please   pay GB29 NWBK 6016 1331 9268 19 to ACME Ltd.\nby Friday",
    "東京タワー is in 東京, says naïve Zoë ☃ 😀😀 — unverständlich",
    "e-mail jane.doe@example.com, +49 30 1234567!",
]


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


def _word_pieces() -> Tokenizer:
    letters = sorted({character for sentence in SENTENCES for character in sentence.lower() if character.isalnum()})
    words = "angela berlin pay invoice in ##el ##er ##ich . , - : @ % ( to".split()
    known = letters[:-6]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words, *known, *(f"##{letter}" for letter in known)]
    tokenizer = Tokenizer(models.WordPiece({token: i for i, token in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def _byte_pairs() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["[CLS]", "[PAD]", "[SEP]", "[UNK]"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("[SEP]", 2), ("[CLS]", 0), add_prefix_space=False)
    return tokenizer


def peer(kind: str, labels: list[str], seed: int = 0, max_length: int = 512) -> Peer:
    """A tiny random model of this kind with these labels, and the pipeline on it."""
    raw = _word_pieces() if kind == "bert" else _byte_pairs()
    named = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, model_max_length=max_length, **named)
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    torch.manual_seed(seed)
    config_class, model_class = {
        "bert": (BertConfig, BertForTokenClassification),
        "roberta": (RobertaConfig, RobertaForTokenClassification),
    }[kind]
    config = config_class(
        vocab_size=raw.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=600,
        initializer_range=0.8,
        pad_token_id=tokenizer.pad_token_id,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )
    model = model_class(config).eval()
    pipeline = TokenClassificationPipeline(model=model, tokenizer=tokenizer, device="cpu")
    return Peer(pipeline, tokenizer, model, labels, continuing_prefix=kind == "bert")

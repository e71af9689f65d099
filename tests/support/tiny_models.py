"""Tiny token classifiers with random weights, written to disk as Hugging Face folders, tokenizer included.

For tests here and in tests/system: everything that reads a model folder can read these.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import AutoConfig, AutoModelForTokenClassification
from transformers.utils import logging as transformers_logging

FUSABLE = ("bert", "roberta", "xlm-roberta", "distilbert", "electra")
PACKABLE = (*FUSABLE, "modernbert", "eurobert", "openai_privacy_filter", "deberta-v2")
UNPACKABLE = ("mpnet",)
KINDS = PACKABLE + UNPACKABLE
MIXING = ("fnet", "convbert", "nystromformer", "mobilebert", "funnel", "yoso")
"""Their rows change with padding, whatever the mask says."""

FULL_PRECISION = ("deberta", "fnet", "xlnet", "mra")
"""Their code raises in bfloat16."""
BOXED = {"layoutlm": 48, "lilt": 48, "bros": 64, "layoutlmv3": 48}
"""Those whose tokens have boxes, which the family `layout` reads, and a hidden size that each can have."""

LABELS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-DATE", "I-DATE")
MAX_TOKENS = 512
HEADS = 4
SLIDING_WINDOW = 16
"""ModernBERT's `local_attention`: a token sees this many neighbours, half on each side."""

WORDS = "the of and to in for is on by invoice number date total from bill amount due paid berlin anna maria smith"
BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def make_model(
    folder: Path,
    kind: str = "bert",
    *,
    labels: Sequence[str] = LABELS,
    seed: int = 0,
    hidden: int | None = None,
    layers: int = 2,
) -> Path:
    """Write config.json, model.safetensors, tokenizer.json and tokenizer_config.json; returns the folder.

    Weights are drawn wide (standard deviation 0.2 rather than 0.02), so that a token's logits depend visibly on its
    neighbours and on its position.
    """
    folder.mkdir(parents=True, exist_ok=True)
    hidden = hidden or BOXED.get(kind, 32)
    vocabulary = _write_tokenizer(folder, kind)
    config = AutoConfig.for_model(kind, **_config(kind, vocabulary, labels, hidden, layers))
    torch.manual_seed(seed)
    model = AutoModelForTokenClassification.from_config(config)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1:
                torch.nn.init.normal_(weight, std=0.2)
            elif name.endswith("bias"):
                torch.nn.init.normal_(weight, std=0.1)
            elif name.endswith("sinks"):
                torch.nn.init.normal_(weight)
    transformers_logging.disable_progress_bar()
    model.save_pretrained(folder)
    return folder


def _config(kind: str, vocabulary: dict[str, int], labels: Sequence[str], hidden: int, layers: int) -> dict[str, Any]:
    roberta_like = kind in ("roberta", "xlm-roberta", "mpnet", "lilt", "layoutlmv3")
    sizes: dict[str, Any] = {
        "vocab_size": len(vocabulary),
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": HEADS,
        "intermediate_size": 2 * hidden,
        "max_position_embeddings": MAX_TOKENS + 2 if roberta_like else MAX_TOKENS,
        "pad_token_id": vocabulary["<pad>"] if "<pad>" in vocabulary else vocabulary["[PAD]"],
        "id2label": dict(enumerate(labels)),
        "label2id": {label: index for index, label in enumerate(labels)},
    }
    for name in {"funnel": ["num_hidden_layers"], "xlnet": ["max_position_embeddings"]}.get(kind, []):
        del sizes[name]  # Layers that are numbered by blocks; no limit.
    return sizes | _of_kind(kind, vocabulary, hidden, layers)


def _of_kind(kind: str, vocabulary: dict[str, int], hidden: int, layers: int) -> dict[str, Any]:
    if kind == "distilbert":
        return {"dim": hidden, "n_layers": layers, "n_heads": HEADS, "hidden_dim": 2 * hidden}
    if kind == "electra":
        return {"embedding_size": hidden // 2}
    if kind == "modernbert":
        special: dict[str, Any] = {"cls_token_id": vocabulary["[CLS]"], "sep_token_id": vocabulary["[SEP]"]}
        special |= {"bos_token_id": None, "eos_token_id": None}
        return special | {"local_attention": SLIDING_WINDOW, "global_attn_every_n_layers": 2}
    if kind in ("eurobert", "openai_privacy_filter"):
        grouped: dict[str, Any] = {"num_key_value_heads": HEADS // 2, "bos_token_id": None, "eos_token_id": None}
        experts = {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": SLIDING_WINDOW // 2}
        return grouped | ({"head_dim": hidden // 2} | experts if kind == "openai_privacy_filter" else {})
    if kind in ("deberta", "deberta-v2"):
        relative: dict[str, Any] = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
        third = {"position_buckets": 32, "share_att_key": True, "norm_rel_ebd": "layer_norm"}
        third |= {"position_biased_input": False, "type_vocab_size": 0}
        return relative | (third if kind == "deberta-v2" else {"max_relative_positions": 64})
    if kind == "funnel":
        sizes: dict[str, Any] = {"d_model": hidden, "n_head": HEADS, "d_head": hidden // HEADS, "d_inner": 2 * hidden}
        return sizes | {"block_sizes": [1] * layers, "num_decoder_layers": 1}
    others: dict[str, dict[str, Any]] = {
        "layoutlmv3": {"coordinate_size": hidden // 6, "shape_size": hidden // 6, "input_size": 32},
        "convbert": {"embedding_size": hidden, "head_ratio": 2, "conv_kernel_size": 9, "num_groups": 1},
        "nystromformer": {"num_landmarks": 64, "segment_means_seq_len": 64, "conv_kernel_size": 65},
        "xlnet": {"d_inner": 2 * hidden, "d_head": hidden // HEADS},
        "mra": {"max_position_embeddings": MAX_TOKENS - 2},
        "mobilebert": {"embedding_size": 16, "intra_bottleneck_size": 16, "true_hidden_size": 16},
        "big_bird": {"block_size": 16, "num_random_blocks": 1, "attention_type": "block_sparse"},
    }
    return others.get(kind, {})


def _write_tokenizer(folder: Path, kind: str) -> dict[str, int]:
    first, pad, last, unknown, mask = _specials(kind)
    build = byte_level if kind in ("roberta", "xlm-roberta", "modernbert", "lilt", "layoutlmv3") else word_piece
    tokenizer = build(first, pad, last, unknown, mask)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": MAX_TOKENS,
        "cls_token": first,
        "sep_token": last,
        "bos_token": first,
        "eos_token": last,
        "pad_token": pad,
        "unk_token": unknown,
        "mask_token": mask,
        "model_input_names": ["input_ids", "attention_mask"],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2), encoding="utf-8")
    return tokenizer.get_vocab()


def _specials(kind: str) -> tuple[str, str, str, str, str]:
    """First, padding, last, unknown, mask."""
    if kind in ("roberta", "xlm-roberta", "mpnet", "lilt", "layoutlmv3"):
        return "<s>", "<pad>", "</s>", "<unk>", "<mask>"
    return "[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"


def word_piece(*specials: str) -> Tokenizer:
    """Known words whole, others letter by letter."""
    letters = [chr(code) for code in range(33, 127)]
    pieces = [*_in_order(specials), *letters, *(f"##{letter}" for letter in letters), *WORDS.split(), "##s", "##ing"]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=specials[3], max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(specials))
    return tokenizer


def byte_level(*specials: str) -> Tokenizer:
    """Bytes, and a few merges so that common pairs are one token."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("Ġ", "t"), ("i", "n"), ("e", "r"), ("o", "n"), ("Ġ", "a"), ("Ġ", "0")]
    pieces = [*_in_order(specials), *alphabet, *("".join(pair) for pair in merges)]
    vocabulary = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(specials))
    return tokenizer


def _in_order(specials: tuple[str, ...]) -> tuple[str, ...]:
    return ROBERTA_SPECIALS if "<s>" in specials else BERT_SPECIALS

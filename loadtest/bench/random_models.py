"""Random models for benchmarks: token classifiers, those that see pages among them, and a GLiNER.

Speed does not depend on the values of weights. The classifier's are drawn wide, so that scores spread over [0, 1] as a
trained model's do; otherwise rounding to bfloat16 would cost less than it does. `O` is favoured, so that most tokens
belong to no entity, as in documents.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch import nn
from transformers import AutoConfig, AutoModelForTokenClassification, DebertaV2Config, DebertaV2Model
from transformers.utils.logging import disable_progress_bar

from loadtest.bench.fixtures import vocabulary

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LABELS = ["O", *(f"{prefix}-{kind}" for kind in "ABCD" for prefix in "BI")]
FAVOUR = 5.0
"""Added to the logit of `O`, whose standard deviation is 3."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The size of an encoder."""

    layers: int
    hidden: int
    heads: int
    kind: str = "bert"
    inner: int = 0
    """Numbers between the two matrices of a feed-forward layer; 0: four times `hidden`."""
    vocabulary: int = 30_522


SHAPES = {
    "small": Shape(2, 128, 2),
    "six-layer": Shape(6, 384, 12),
    "bert-base": Shape(12, 768, 12),
    "bert-large": Shape(24, 1024, 16),
    "xlm-roberta-base": Shape(12, 768, 12, "xlm-roberta", vocabulary=250_002),
    "modernbert-base": Shape(22, 768, 12, "modernbert", inner=1_152, vocabulary=50_368),
    "layoutlm": Shape(12, 768, 12, "layoutlm"),
    "lilt": Shape(12, 768, 12, "lilt", vocabulary=50_265),
    "bros": Shape(12, 768, 12, "bros"),
    "layoutlmv3": Shape(12, 768, 12, "layoutlmv3", vocabulary=50_265),
}


def make_model(folder: Path, shape: Shape, seed: int = 0, shards: int = 1) -> None:
    """Write a Hugging Face folder with its weights in about `shards` files."""
    folder.mkdir(parents=True, exist_ok=True)
    size = write_tokenizer(folder)
    disable_progress_bar()
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        shape.kind,
        vocab_size=max(size, shape.vocabulary),
        num_hidden_layers=shape.layers,
        hidden_size=shape.hidden,
        num_attention_heads=shape.heads,
        intermediate_size=shape.inner or 4 * shape.hidden,
        max_position_embeddings=514,
        pad_token_id=0,
        id2label=dict(enumerate(LABELS)),
        label2id={label: index for index, label in enumerate(LABELS)},
    )
    model = AutoModelForTokenClassification.from_config(config)
    torch.nn.init.normal_(model.classifier.weight, std=3.0 / shape.hidden**0.5)
    with torch.no_grad():
        model.classifier.bias[0] = FAVOUR
    size_bytes = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    model.save_pretrained(folder, max_shard_size=size_bytes + 1 if shards == 1 else size_bytes // (shards - 1))


LABEL_MODELS = {"gliner-span": "markerV0", "gliner-token": "token_level"}
"""Names of models with free labels, with their `span_mode`."""
PROMPT = ["[FLERT]", "<<ENT>>", "<<SEP>>"]
DEBERTA_V3_BASE: dict[str, Any] = {
    "vocab_size": 128_100,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "position_buckets": 256,
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
    "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
}
LABEL_SIZE, WIDTH = 512, 12
"""Numbers of a word's vector, and words of the longest span, in a GLiNER v2.1 of this trunk."""
SCORE_SPREAD = 2.0
"""Standard deviation of a span's logit, about."""


def make_label_model(folder: Path, mode: str, seed: int = 0) -> None:
    """Write the folder of a GLiNER of this `span_mode`, whose trunk has the shape of DeBERTa-v3-base."""
    folder.mkdir(parents=True, exist_ok=True)
    size = write_tokenizer(folder, PROMPT)
    torch.manual_seed(seed)
    trunk = DebertaV2Config(**DEBERTA_V3_BASE)
    parts: dict[str, nn.Module] = {
        "token_rep_layer.bert_layer.model": DebertaV2Model(trunk),
        "token_rep_layer.projection": nn.Linear(trunk.hidden_size, LABEL_SIZE),
        "rnn.lstm": nn.LSTM(LABEL_SIZE, LABEL_SIZE // 2, bidirectional=True),
    }
    if mode == "token_level":
        parts["scorer.proj_token"], parts["scorer.proj_label"] = (nn.Linear(LABEL_SIZE, 2 * LABEL_SIZE) for _ in "tl")
        parts["scorer.out_mlp"] = _perceptron(3 * LABEL_SIZE, 3)
    else:
        layer = "span_rep_layer.span_rep_layer"
        parts |= {f"{layer}.project_{side}": _perceptron(LABEL_SIZE, LABEL_SIZE) for side in ("start", "end")}
        parts[f"{layer}.out_project"] = _perceptron(2 * LABEL_SIZE, LABEL_SIZE)
        parts["prompt_rep_layer"] = _perceptron(LABEL_SIZE, LABEL_SIZE)
    weights = {f"{name}.{key}": each for name, part in parts.items() for key, each in part.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    config = {"model_name": "random", "encoder_config": trunk.to_dict(), "hidden_size": LABEL_SIZE, "span_mode": mode}
    more = {"max_width": WIDTH, "max_len": 384, "max_types": 25, "num_rnn_layers": 1, "class_token_index": size - 2}
    (folder / "gliner_config.json").write_text(json.dumps({**config, **more, "vocab_size": size}))


def _perceptron(size: int, out: int) -> nn.Module:
    """Two layers as GLiNER names them, initialized so that results spread as widely as inputs."""
    first, last = nn.Linear(size, 4 * LABEL_SIZE), nn.Linear(4 * LABEL_SIZE, out)
    for each in (first, last):
        nn.init.normal_(each.weight, std=SCORE_SPREAD / each.in_features**0.5)
    return nn.Sequential(first, nn.ReLU(), nn.Dropout(), last)


def write_tokenizer(folder: Path, more: list[str] | None = None) -> int:
    words = vocabulary(4_000)
    pieces = [*SPECIALS, ".", *"abcdefghijklmnopqrstuvwxyz", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"), *words]
    ids = {piece: index for index, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([*SPECIALS, *(more or ())])
    specials = [(piece, ids[piece]) for piece in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, specials)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}
    tokens = {f"{name}_token": token for name, token in names.items()}
    (folder / "tokenizer_config.json").write_text(json.dumps({**config, **tokens}))
    return int(tokenizer.get_vocab_size())


def main() -> None:
    """`python -m loadtest.bench.random_models SHAPE FOLDER`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", choices=[*SHAPES, *LABEL_MODELS])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shards", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.shape in LABEL_MODELS:
        make_label_model(chosen.folder, LABEL_MODELS[chosen.shape], chosen.seed)
        return
    make_model(chosen.folder, SHAPES[chosen.shape], chosen.seed, chosen.shards)


if __name__ == "__main__":
    main()

"""Model of a training: reads it from the base folder, gives it a head for the labels, and writes it to the new folder.

The head is kept if the base has the same labels; else a new one gets the rows of the labels that both have.
The new folder has half-precision weights, the base's tokenizer and licence, and a card with data and scores. Of the
base's rules it has the kinds of values of labels that both have, and of the base's decoding the options for boxes.
Transitions, calibration and other rules are not copied: they were fitted to the base's labels.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import PreTrainedModel

from model_store.families.family import CONFIG, TOKENIZER_CONFIG
from model_store.families.layout import WITH_PICTURES
from model_store.families.registry import read_object
from service.core.decoding.value import ValueKind
from service.core.errors import ModelError
from service.core.labels.label_set import Label
from service.engine.encoder.encoder import read_checkpoint
from service.evaluation.labelled_documents import LabelledSet
from service.evaluation.span_scores import SpanScore
from service.families.engine.checkpoint import Checkpoint
from service.families.engine.page_input import PageInput
from service.families.refusals import labels_like
from service.families.registry import open_processor
from service.families.token_classifier.processor import TokenClassifier
from service.text.decoding_files import RULES as DECODING
from service.text.rules.rule_set import FILE as RULES
from service.text.rules.rule_set import RuleSet
from service.text.tokenizer import TextTokenizer
from service.text.values.reading import value_kind
from service.training.data import tags_of
from service.training.layout_model import SPECIAL_BOXES, TABLES, layout_model
from service.training.options import BadData, OtherTraining, TrainingOptions, UnusableBase, taken_folder

KEPT_FILES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE"),
)
"""Files copied from the base: its tokenizer, and the licence of its weights."""
CARD = "README.md"
BOX_FACTS = ("layout_boxes", "layout_tokens", "text_without_boxes")
"""Members of decoding.json that say how a model reads boxes."""
HEAD = "classifier."
"""First part of the names of a head's weights."""

NEW_ROW_DEVIATION = 0.02
"""Standard deviation of the weights of a label that the base does not have."""


def open_base(folder: Path, labels: Iterable[str], *, layout: bool = False) -> tuple[Checkpoint, tuple[str, ...]]:
    """Open the folder's model in float32 with a head for `labels`, and name the parts that have learned nothing yet.

    Rows of labels that the old head has are kept. `layout`: make a LayoutLM of the folder's text encoder.

    Raises:
        UnusableBase: the folder is no token classifier, needs pictures, or its head is no linear layer.
    """
    if _kind(folder) == WITH_PICTURES:
        raise UnusableBase(
            f"{folder} is a LayoutLMv3, which sees pictures of pages; training with pictures is not supported: take a "
            "LayoutLM, LiLT or BROS, or --layout with a text encoder."
        )
    try:
        checkpoint = read_checkpoint(folder, torch.float32)
    except ModelError as error:
        raise UnusableBase(str(error)) from error
    if layout and checkpoint.page is not None:
        raise UnusableBase(f"{folder} sees boxes already; leave --layout out.")
    if layout:
        seeing = layout_model(checkpoint.model)
        checkpoint = replace(checkpoint, model=seeing, first_position=0, page=PageInput(False, (0, 0, 0, 0)))
    model, new = checkpoint.model, TABLES if layout else ()
    model.requires_grad_(True)
    before, after = _tags(model), tags_of(labels)
    if set(before) == set(after):
        return checkpoint, new
    model.classifier = _new_head(model, before, after)
    model.num_labels = len(after)
    model.config.id2label = dict(enumerate(after))
    model.config.label2id = {tag: number for number, tag in enumerate(after)}
    return checkpoint, (*new, HEAD)


def _kind(folder: Path) -> object:
    return read_object(folder / CONFIG).get("model_type")


def freeze_embeddings(model: PreTrainedModel) -> None:
    """Freeze word embeddings: most of their rows occur in no training text, and the others would drift."""
    for parameter in model.get_input_embeddings().parameters():
        parameter.requires_grad_(False)


def parameter_groups(
    model: PreTrainedModel, *, rate: float, new_rate: float, new: Collection[str] = ()
) -> list[dict[str, object]]:
    """Group parameters for an optimizer, each group with its `peak` rate; only matrices decay.

    `new`: parts of the names of parameters that have learned nothing yet, whose rate is `new_rate`.
    """
    trained = [
        (any(part in name for part in new), each) for name, each in model.named_parameters() if each.requires_grad
    ]
    return [
        {
            "params": [each for is_new, each in trained if is_new is in_new and (each.ndim > 1) is matrix],
            "weight_decay": 0.01 if matrix else 0.0,
            "peak": new_rate if in_new else rate,
        }
        for in_new in (False, True)
        for matrix in (False, True)
    ]


def prepare_folder(base: Path, folder: Path) -> None:
    """Make the folder with the base's tokenizer and licence. Raises OtherTraining if it holds a model."""
    if problem := taken_folder(folder):
        raise OtherTraining(problem)
    folder.mkdir(parents=True, exist_ok=True)
    for name in KEPT_FILES:
        if (base / name).exists():
            shutil.copyfile(base / name, folder / name)


def write_box_facts(base: Path, folder: Path, *, layout: bool, reads_texts: bool) -> None:
    """Write how the new model reads boxes: as its base, and texts without boxes if it learns from some.

    `layout`: the base is a text encoder; a LayoutLM of it still reads the tokens of texts.
    """
    facts = box_facts(base)
    if reads_texts:
        facts["text_without_boxes"] = True
    if layout and _tokenizes_space(folder):
        facts["layout_tokens"] = "text"
    if facts:
        _write_object(folder / DECODING, facts)
    if layout:
        _write_object(folder / TOKENIZER_CONFIG, read_object(folder / TOKENIZER_CONFIG) | SPECIAL_BOXES)


def _tokenizes_space(folder: Path) -> bool:
    """True if a folder's tokenizer has tokens for line ends and tabs, which its encoder has learned to read."""
    tokenizer = TextTokenizer(folder)
    return len(tokenizer.encode("a\n\tb").ids) > len(tokenizer.encode("a b").ids)


def box_facts(folder: Path) -> dict[str, Any]:
    """Read the options for boxes in a folder's decoding.json."""
    return {name: value for name, value in read_object(folder / DECODING).items() if name in BOX_FACTS}


def read_processor(folder: Path, model: PreTrainedModel) -> TokenClassifier:
    """Read the processor that the folder will have once the model is in it."""
    with TemporaryDirectory(prefix="gleaner-train-") as temporary:
        whole = Path(temporary)
        for name in (*KEPT_FILES, DECODING):
            if (folder / name).exists():
                (whole / name).symlink_to((folder / name).absolute())
        _write_object(whole / CONFIG, model.config.to_dict())
        processor = open_processor(whole)
        assert isinstance(processor, TokenClassifier), "only token classifiers are trained"
        _ = processor.tokenizer
        return processor


def _write_object(file: Path, content: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_model(model: PreTrainedModel, folder: Path) -> None:
    """Write weights, then the configuration, which makes the folder a model."""
    weights = {name: each.detach().cpu().to(torch.float16).contiguous() for name, each in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict() | {"architectures": [type(model).__name__], "dtype": "float16"}
    config = {key: value for key, value in config.items() if key not in {"transformers_version", "_name_or_path"}}
    _write_object(folder / CONFIG, config)


def kinds_of(options: TrainingOptions, labels: Iterable[str]) -> dict[str, str]:
    """Collect the kinds of values of a model with these labels: the base's, then those of the options.

    Raises:
        BadData: the options name a label that the data lack.
    """
    known = sorted(labels)
    if unknown := sorted(options.kinds.keys() - {*known}):
        raise BadData([f"--kind: the data have no label {unknown[0]!r}; {labels_like(unknown[0], known)}"])
    kept = {label: kind for label, kind in RuleSet.read(Path(options.base)).kinds.items() if label in known}
    return kept | {label: str(kind) for label, kind in options.kinds.items()}


def write_rules(folder: Path, kinds: Mapping[str, str]) -> None:
    """Write the kinds of values, if there are some, as the folder's rules."""
    if kinds:
        _write_object(folder / RULES, {"kinds": dict(sorted(kinds.items()))})


def described_kinds(labels: Iterable[str], kinds: Mapping[str, str]) -> str:
    """Describe how values of these labels are read, and by what."""
    read = {each: value_kind(Label(each, kind=ValueKind(kinds[each]) if each in kinds else None)) for each in labels}
    known = sorted(each for each in labels if each in kinds or read[each] is not ValueKind.TEXT)
    named = [f"{each} is {read[each]}{'' if each in kinds else ' by its name'}" for each in known]
    others = ["all others are text; --kind LABEL=KIND says another"] if len(known) < len(read) else []
    return ", ".join([*named, *others])


def write_card(
    folder: Path,
    options: TrainingOptions,
    sets: Sequence[LabelledSet],
    scores: dict[str, SpanScore] | None,
    calibration: str = "",
) -> None:
    """Write README.md with data, options, scores on the groups left out by label and in total, and `calibration`."""
    base = Path(options.base)
    lines = [
        "---", "library_name: transformers", "pipeline_tag: token-classification", "---", f"# {folder.name}", "",
        f"Made by `gleaner train{' --layout' * options.layout}` from {base.name} "
        f"({_digest(base / 'model.safetensors')}).",
        f"Seed {options.seed}, rate {options.rate:g}, at most {options.epochs} passes of batches of "
        f"{options.batch_tokens:,} tokens.", "",
        "| set | documents | entities |", "|---|---|---|",
        *(f"| {each.name} | {len(each.documents)} | {sum(len(d.spans) for d in each.documents)} |" for each in sets),
        "", *(f"`{Path(path).name}`: {_digest(Path(path))}" for path in options.data),
    ]  # fmt: skip
    if scores is not None:
        lines += [
            "", f"Exact spans on the groups left out of training ({options.left_out_percent} % of the text):", "",
            "| label | to be found | F1 |", "|---|---|---|",
            *(f"| {label} | {score.gold} | {score.f1:.3f} |" for label, score in scores.items()),
        ]  # fmt: skip
    if calibration:
        lines += ["", f"{calibration[0].upper()}{calibration[1:]}."]
    (folder / CARD).write_text("\n".join(lines) + "\n", encoding="utf-8")


def digest_files(paths: Iterable[Path]) -> str:
    """Compute the SHA-256 of files, and of the JSON lines in folders, in hexadecimal."""
    digest = hashlib.sha256()
    for path in paths:
        for file in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _digest(path: Path) -> str:
    return f"sha256:{digest_files([path])[:16]}…" if path.exists() else "unknown"


def _tags(model: PreTrainedModel) -> tuple[str, ...]:
    return tuple(model.config.id2label[number] for number in range(model.config.num_labels))


def _new_head(model: PreTrainedModel, before: tuple[str, ...], after: tuple[str, ...]) -> nn.Linear:
    old = getattr(model, "classifier", None)
    if not isinstance(old, nn.Linear):
        raise UnusableBase(f"{type(model).__name__} has no linear head that could be replaced.")
    head = nn.Linear(old.in_features, len(after))
    nn.init.normal_(head.weight, std=NEW_ROW_DEVIATION)
    nn.init.zeros_(head.bias)
    rows = {tag: row for row, tag in enumerate(before)}
    with torch.no_grad():
        for row, tag in enumerate(after):
            if tag in rows:
                head.weight[row], head.bias[row] = old.weight[rows[tag]], old.bias[rows[tag]]
    return head

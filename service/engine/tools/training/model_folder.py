"""The new model's folder: weights in half precision, the base's tokenizer and licence, a card with data and scores."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import PreTrainedModel

from service.engine.tools.training.errors import OtherTraining
from service.engine.tools.training.options import TrainingOptions
from service.engine.tools.training.records import LabelledDocument
from service.engine.tools.training.scoring import SpanCounts

KEPT_FILES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE"),
)
"""What is copied from the base: its tokenizer, and the licence that its weights come under."""
CARD = "README.md"


def prepare_folder(folder: Path) -> None:
    """Make the folder. Raises OtherTraining if it holds a model."""
    if (folder / "config.json").exists():
        raise OtherTraining(f"{folder} already holds a model. Choose another folder, or remove it.")
    folder.mkdir(parents=True, exist_ok=True)


def write_model(model: PreTrainedModel, base: Path, folder: Path) -> None:
    """Write weights, configuration and tokenizer. The configuration comes last: with it the folder is a model."""
    for name in KEPT_FILES:
        if (base / name).exists():
            shutil.copyfile(base / name, folder / name)
    weights = {name: each.detach().cpu().to(torch.float16).contiguous() for name, each in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict() | {"architectures": [type(model).__name__], "dtype": "float16"}
    config = {key: value for key, value in config.items() if key not in {"transformers_version", "_name_or_path"}}
    (folder / "config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_card(
    folder: Path, options: TrainingOptions, documents: Sequence[LabelledDocument], counts: SpanCounts | None
) -> None:
    """Write README.md: what it was made from and how, and its scores on the groups left out."""
    weights = _digest(Path(options.base) / "model.safetensors")
    lines = [
        "---", "library_name: transformers", "pipeline_tag: token-classification", "---", f"# {folder.name}", "",
        f"Made by `gleaner train` from {Path(options.base).name} ({weights}).",
        f"Seed {options.seed}, rate {options.rate:g}, at most {options.epochs} passes of batches of "
        f"{options.batch_tokens:,} tokens.", "",
        "| data | digest | documents | entities |", "|---|---|---|---|", *_data_rows(options, documents),
    ]  # fmt: skip
    if counts is not None:
        lines += [
            "", f"Exact spans on the groups left out of training ({options.left_out_percent} % of the text):", "",
            "| label | to be found | F1 |", "|---|---|---|",
            *(f"| {label} | {counts.gold[label]} | {counts.f1(label):.3f} |" for label in sorted(counts.gold)),
            f"| all | {counts.gold.total()} | {counts.f1():.3f} |",
        ]  # fmt: skip
    (folder / CARD).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _data_rows(options: TrainingOptions, documents: Sequence[LabelledDocument]) -> list[str]:
    sizes = Counter(document.source for document in documents)
    entities: Counter[str] = Counter()
    for document in documents:
        entities[document.source] += len(document.entities)
    return [
        f"| {Path(path).name} | {_digest(Path(path))} | {sizes[path]} | {entities[path]} |" for path in options.data
    ]


def _digest(path: Path) -> str:
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}…" if path.exists() else "unknown"

"""`python -m model_store.builtin.training.evaluation.head_start --data DATA --out OUT`: what starting from it is worth.

For each set: half of its groups, of those that the built-in model learned from, train two models with the same steps,
one from the built-in model and one from the same architecture with random weights (`gleaner train`). Both, and a CRF
that learned from the same half, are scored on the groups that none of them saw (`gleaner evaluate --left-out 12`).
A model whose report lies in OUT is not trained again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForTokenClassification

from model_store.builtin import model_folder
from model_store.builtin.training.mixture import read_real_sets, split

PASSES = {"receipt_sroie_en": 2, "invoice_zugferd_de_fr": 4, "legal_lener_pt": 1}
"""Set → passes over its half: more where it is small."""
LEFT_OUT_PERCENT = 12
SEED = 1
Record = dict[str, Any]


def half(records: Sequence[Record], without: Collection[str]) -> list[Record]:
    """The records of the first groups, in the order of a digest, that hold half of the text; none of `without`."""
    sizes: Counter[str] = Counter()
    for record in records:
        sizes[record["group"]] += len(record["text"])
    kept: set[str] = set()
    taken = 0
    for group in sorted(sizes, key=lambda name: hashlib.sha256(name.encode()).digest()):
        if group not in without and taken * 2 < sizes.total():
            kept.add(group)
            taken += sizes[group]
    return [record for record in records if record["group"] in kept]


def relabelled(records: Sequence[Record], labels: Mapping[str, str | None]) -> list[Record]:
    """The records with the built-in model's labels; what has none is left out."""
    return [
        {**record, "entities": [{**e, "label": labels[e["label"]]} for e in record["entities"] if labels[e["label"]]]}
        for record in records
    ]


def write_random(folder: Path) -> None:
    """A folder of the built-in model's architecture and tokenizer, its weights drawn anew."""
    base = model_folder()
    torch.manual_seed(SEED)
    model = AutoModelForTokenClassification.from_config(AutoConfig.from_pretrained(base))
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(base / name, folder / name)


def main() -> int:
    """Train and score by set; prints a row for each."""
    parser = argparse.ArgumentParser(prog="head_start", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train/*.jsonl and MAPPING.json")
    parser.add_argument("--out", type=Path, required=True, help="folder for halves and models, to be made")
    parser.add_argument("--sets", nargs="+", choices=PASSES, default=list(PASSES))
    parser.add_argument("--limit", default="60", help="documents of each set that are scored")
    chosen = parser.parse_args()
    write_random(chosen.out / "random")
    print("| set | passes | from the built-in model | from random weights | CRF |\n|---|---|---|---|---|")
    for name in chosen.sets:
        print(_row(name, chosen.data, chosen.out, chosen.limit), flush=True)
    return 0


def _row(name: str, data: Path, out: Path, limit: str) -> str:
    source = data / "train" / f"{name}.jsonl"
    labels = json.loads((data / "MAPPING.json").read_text(encoding="utf-8"))["map"][name]
    unseen = {example.group for example in split(read_real_sets(data)[name])[1]}
    records = half([json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()], unseen)
    native = _write(out / "native" / source.name, records)
    mapped = _write(out / "half" / source.name, relabelled(records, labels))
    scores = []
    for start, base in (("builtin", "builtin"), ("random", str(out / "random"))):
        report = out / f"{start}-{name}.json"
        if not report.is_file():
            model = out / f"{start}-{name}"
            steps = ("--left-out", "0", "--epochs", str(PASSES[name]), "--batch-tokens", "512")
            _gleaner("train", str(mapped), "--from", base, "--out", str(model), *steps)
            asked = ("--left-out", str(LEFT_OUT_PERCENT), "--limit", limit, "--crf", str(native), "--out", str(report))
            _gleaner("evaluate", str(model), str(source), *asked)
        scores.append(json.loads(report.read_text(encoding="utf-8"))["sets"][0])
    ours, random, crf = scores[0]["rates"], scores[1]["rates"], scores[0]["crf"]["rates"]
    return f"| {name} | {PASSES[name]} | {ours['f1']:.2f} | {random['f1']:.2f} | {crf['f1']:.2f} |"


def _write(path: Path, records: Sequence[Record]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records), encoding="utf-8")
    return path


def _gleaner(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "service.cli", *arguments], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main())

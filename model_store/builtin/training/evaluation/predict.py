"""`python -m model_store.builtin.training.evaluation.predict MODEL FILE…`: prints a model's entities in text files."""

import argparse
import sys
from pathlib import Path

from tokenizers import Tokenizer
from transformers import BertForTokenClassification

from model_store.builtin.training.evaluation.scoring import Tagger


def load(folder: Path) -> Tagger:
    """The tagger of a model folder, in float32."""
    model = BertForTokenClassification.from_pretrained(folder).float()
    return Tagger(model, Tokenizer.from_file(str(folder / "tokenizer.json")))


def main() -> int:
    """Print label and text of each entity, one per line."""
    parser = argparse.ArgumentParser(
        prog="python -m model_store.builtin.training.evaluation.predict", description=__doc__
    )
    parser.add_argument("model", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    tagger = load(options.model)
    for path in options.files:
        text = path.read_text(encoding="utf-8")
        print(f"== {path.name}: {len(text)} characters")
        for start, end, label in tagger.tag(text):
            print(f"{label:15} {text[start:end]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

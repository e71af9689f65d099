"""`python -m model_store.builtin.training.fitting MODEL --data DATA`: fits transitions and calibration of a BIO model.

Fitted on the groups and templates that training leaves out (`service/training/fitting`); the calibration on real
documents alone, because on generated pages a model is right too often. `gleaner evaluate` tells what both files gain.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from model_store.builtin.training.labels import settled_labels
from model_store.builtin.training.mixture import PAGES, assemble
from service.core.decoding.model_decoding import Decoding
from service.evaluation.labelled_documents import LabelledSet
from service.training.fitting import STRENGTH
from service.training.fitting import fit as fit_sets

RULES: Final = Decoding(compounds=True, first_piece_share=0.5, cells=True, marks=True, unknown=True)
"""Decoding rules of the built-in model, but for its transitions and calibration."""
SEED: Final = 20931


def fit(folder: Path, sets: Sequence[LabelledSet], *, strength: float = STRENGTH) -> None:
    """Fit the built-in model's transitions and calibration on the sets, and write both files."""
    fit_sets(
        folder,
        sets,
        decoding=RULES,
        settled=lambda each: settled_labels(each.name, each.labels),
        calibrates=lambda each: each.name != PAGES,
        strength=strength,
        progress=_progress,
    )


def _progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Read the arguments, and fit."""
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training.fitting", description=__doc__)
    parser.add_argument("model", type=Path, help="a model's folder; the two files are written into it")
    parser.add_argument("--data", type=Path, required=True, help="folder with train/ and MAPPING.json")
    parser.add_argument("--pages", type=int, default=1_500, help="pages to generate (%(default)s)")
    parser.add_argument("--strength", type=float, default=STRENGTH, help="factor of the transitions (%(default)s)")
    options = parser.parse_args()
    _, held_out = assemble(options.data, pages=options.pages, seed=SEED)
    fit(options.model, list(held_out.values()), strength=options.strength)
    return 0


if __name__ == "__main__":
    sys.exit(main())

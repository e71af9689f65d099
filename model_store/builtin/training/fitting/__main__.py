"""`python -m model_store.builtin.training.fitting MODEL --data DATA`: fits transitions and calibration of a model.

Writes `transitions.safetensors` and `decoding.json` into its folder, and prints what each step of decoding gains.
Fitted on groups and templates that are left out of training: one matrix on each half of the groups, and their mean is
written. The calibration is fitted on real documents alone: on generated ones a model is right too often. The figures on
these groups are of the matrix of the other half. `--evaluate` adds the sets that are never trained on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from model_store.builtin.training.evaluation.report import MOST_EXAMPLES, SEED
from model_store.builtin.training.evaluation.scoring import Score
from model_store.builtin.training.examples import Example
from model_store.builtin.training.fitting import ladder
from model_store.builtin.training.fitting.calibration import calibration_error, fit_calibration
from model_store.builtin.training.fitting.crf import fit_transitions
from model_store.builtin.training.fitting.frozen import FrozenModel
from model_store.builtin.training.fitting.ladder import FOLDS, Found
from model_store.builtin.training.generator import generate_many
from model_store.builtin.training.mixture import GENERATED, is_held_out, read_real_sets, split
from service.core.decoding.model_decoding import Calibration, Decoding
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.transitions import Transitions
from service.text.decoding_files import RULES, TRANSITIONS

STRENGTH: Final = 0.8
FIRST_PIECE_SHARE: Final = 0.5

Sets = Mapping[str, Sequence[Example]]


def left_out(data: Path, *, documents: int, most: int) -> dict[str, list[Example]]:
    """Examples by set: groups of the sets of `train/` and templates of generated documents that training leaves out."""
    sets = {name: split(examples)[1][:most] for name, examples in read_real_sets(data).items()}
    for example in generate_many(SEED, documents):
        if is_held_out(example.group):
            sets.setdefault(example.source, []).append(example)
    return {name: examples[:most] for name, examples in sets.items()}


def fit(folder: Path, sets: Sets, unseen: Sets, *, rules: Decoding, strength: float) -> None:
    """Fit, print and write."""
    model = FrozenModel(folder)
    scheme = model.scheme
    scored = {name: model.score(examples, _progress) for name, examples in sets.items()}

    def learn(without_fold: int) -> NDArray[np.float32]:
        texts = ladder.lattices(scored, scheme, rules, without_fold=without_fold)
        return fit_transitions(texts, scheme, strength=strength, progress=_progress)

    halves = [learn(fold) for fold in range(FOLDS)]
    crossed = [Transitions.of(steps, scheme) for steps in halves]
    answers = _print_ladder(scored, scheme, rules, crossed, "left out of training, transitions of the other half")
    real = [answers[name] for name in answers if not name.startswith(GENERATED)] or list(answers.values())
    calibration = _print_calibration([answer for of_set in real for answer in of_set])
    learned: NDArray[np.float32] = np.stack(halves).mean(axis=0)
    write(folder, rules, learned, calibration)
    _progress(f"wrote {RULES} and {TRANSITIONS} to {folder}")
    if unseen:
        others = {name: model.score(examples, _progress) for name, examples in unseen.items()}
        whole: list[Transitions] = [Transitions.of(learned, scheme)] * FOLDS
        answers = _print_ladder(others, scheme, rules, whole, "never trained on")
        _print_error("never trained on", Found.joined(list(map(ladder.judged, answers.values()))), calibration)


def _print_ladder(
    scored: ladder.ScoredSets, scheme: Scheme, rules: Decoding, transitions: Sequence[Transitions], title: str
) -> dict[str, ladder.Answers]:
    """Print the table; the answers of its last step."""
    columns: dict[str, dict[str, Score]] = {}
    answers: dict[str, ladder.Answers] = {}
    for step, (name, decoding) in enumerate(ladder.steps_of(rules).items()):
        of_folds = transitions if step >= ladder.STEPS_WITHOUT_TRANSITIONS else [None] * FOLDS
        answers = ladder.find_all(scored, scheme, decoding, of_folds)
        columns[name] = ladder.score_sets(answers)
        _progress(f"decoded: {name}")
    print(f"\nF1 on sets {title}\n")
    print("\n".join(ladder.table(columns)), flush=True)
    return answers


def _print_calibration(answers: ladder.Answers) -> Calibration:
    """Print the error of maps fitted on one half and applied to the other; the map fitted on all."""
    halves = [ladder.judged([a for a in answers if ladder.fold_of(a[0].example) == fold]) for fold in range(FOLDS)]
    mapped = []
    for fold, part in enumerate(halves):
        others = Found.joined([other for number, other in enumerate(halves) if number != fold])
        mapped.append(np.array(fit_calibration(others.scores, others.is_right).shares_of(part.scores.tolist())))
    found = Found.joined(halves)
    before = calibration_error(found.scores, found.is_right)
    after = calibration_error(np.concatenate(mapped), found.is_right)
    count = len(found.scores)
    print(f"\ncalibration error, left out of training, map of the other half: {before:.3f} → {after:.3f} ({count})")
    return fit_calibration(found.scores, found.is_right)


def _print_error(title: str, found: Found, calibration: Calibration) -> None:
    before = calibration_error(found.scores, found.is_right)
    after = calibration_error(np.array(calibration.shares_of(found.scores.tolist())), found.is_right)
    print(f"\ncalibration error, {title}: {before:.3f} → {after:.3f} ({len(found.scores)} entities)", flush=True)


def write(folder: Path, rules: Decoding, transitions: NDArray[np.float32], calibration: Calibration) -> None:
    """Write both files of a model's folder."""
    (folder / TRANSITIONS).write_bytes(save({"transitions": transitions.astype(np.float32)}))
    content = {
        "compounds": rules.compounds,
        "first_piece_share": rules.first_piece_share,
        "cells": rules.cells,
        "marks": rules.marks,
        "unknown": rules.unknown,
        "calibration": {"scores": calibration.scores, "shares": calibration.shares},
    }
    (folder / RULES).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Read the arguments, and fit."""
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training.fitting", description=__doc__)
    parser.add_argument("model", type=Path, help="a model's folder; the two files are written into it")
    parser.add_argument("--data", type=Path, required=True, help="folder with train/, eval/ and MAPPING.json")
    parser.add_argument("--documents", type=int, default=1500, help="documents to generate")
    parser.add_argument("--most", type=int, default=2 * MOST_EXAMPLES, help="examples of each set")
    parser.add_argument("--strength", type=float, default=STRENGTH, help="of the transitions")
    parser.add_argument(
        "--first-piece-share", type=float, default=FIRST_PIECE_SHARE, help="1: a word's first token alone"
    )
    parser.add_argument("--evaluate", action="store_true", help="also print figures on the sets of eval/")
    options = parser.parse_args()
    rules = Decoding(compounds=True, first_piece_share=options.first_piece_share, cells=True, marks=True, unknown=True)
    sets = left_out(options.data, documents=options.documents, most=options.most)
    unseen = read_real_sets(options.data, folder="eval") if options.evaluate else {}
    unseen = {name: examples[: options.most] for name, examples in unseen.items()}
    fit(options.model, sets, unseen, rules=rules, strength=options.strength)
    return 0


if __name__ == "__main__":
    sys.exit(main())

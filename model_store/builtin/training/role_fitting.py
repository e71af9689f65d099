"""`python -m model_store.builtin.training.role_fitting MODEL DATA…`: fits the weights of the scores of bills' roles.

DATA is what `gleaner evaluate` takes: JSON lines with `fields`, or folders of files with known fields. Bills are
generated beside them (`hard_bills`). The service answers all; a half of each set's groups fits the weights, the other
half is scored with them. Writes `service/core/fields/role_weights.py`, a table that the rules are committed with.

Logistic regression with a squared penalty, by projected Newton steps: the weights of evidence stay at 0 or above, those
of roles and their groups are free. Generated bills are harder than real ones: they have a weight of their own that the
table leaves out, so that they tell what evidence weighs, and real documents how many values are right. A role's weight
is penalized more than its group's, so that a rare role has its group's score. The penalty draws a weight to 0, or to
what is expected of evidence that is rare and certain (`EXPECTED`)
(Bertsekas 1982, projected Newton methods for problems with simple constraints).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model_store.builtin.training.pages.hard_bills import hard_bills
from service.commands.evaluate import ask_all, evaluated_service, read_data
from service.core.fields import role_weights
from service.core.fields.mentions import WRONG_CHECKSUM
from service.core.fields.role_scores import OTHERS_AT_RATE, weighed
from service.core.fields.roles import ORDER, RoleGroup
from service.evaluation.labelled_documents import LabelledSet, digest_of, nearest_scheme
from service.evaluation.report import RoleScores, role_scores
from service.evaluation.scoring import JudgedRole, score_set

GENERATED: Final = "generated bills"
GENERATED_WEIGHT: Final = 0.2
"""Weight of a value of a generated bill beside one of a real document."""
PENALTY, GROUP_PENALTY, ROLE_PENALTY = 1.0, 0.2, 3.0
"""Penalties of the squared weights: of evidence, of a group of roles, and of a role."""
EXPECTED: Final = {
    "not read": 2.0,
    "due before bill": 2.0,
    "doubted by its rule": 1.0,
}
"""Weights that the penalty draws to, by name of evidence that is rare in documents for fitting."""
EXPECTED_PENALTY: Final = 10.0
"""Penalty of a squared distance from those."""
CERTAIN: Final = (WRONG_CHECKSUM, OTHERS_AT_RATE)
CERTAIN_PENALTY: Final = 0.05
"""Penalty of evidence that hardly a right value has."""
MOST_STEPS, LEAST_STEP, LEAST_GAIN = 100, 1e-6, 1e-7
SAID_EACH: Final = 100
"""Papers between two lines about the progress."""
LEAST_WEIGHT = 0.005
"""Weights below it are left out of the table."""
SEED: Final = 20931

Numbers = NDArray[np.float64]


class Example(NamedTuple):
    """One value of a role: its evidence, with the role and its group, and whether it is right."""

    numbers: Mapping[str, float]
    is_right: bool
    weight: float = 1.0


def example(judged: JudgedRole, *, is_generated: bool = False) -> Example:
    """Make an example of a judged value; a number with a wrong checksum is never right, though samples print such."""
    numbers = weighed(judged.role.upper(), judged.answer.evidence)
    is_right = judged.is_right and WRONG_CHECKSUM not in numbers
    if is_generated:
        return Example({**numbers, GENERATED: 1.0}, is_right, GENERATED_WEIGHT)
    return Example(numbers, is_right)


def fit_weights(examples: Sequence[Example]) -> dict[str, float]:
    """Fit the weights of all evidence, by name; that of being generated is left out."""
    names = sorted({*EXPECTED, *(name for each in examples for name in each.numbers)})
    numbers = np.array([[each.numbers.get(name, 0.0) for name in names] for each in examples])
    is_right = np.array([each.is_right for each in examples], dtype=np.float64)
    shares = np.array([each.weight for each in examples])
    penalties = np.array([_penalty(name) for name in names])
    expected = np.array([EXPECTED.get(name, 0.0) for name in names])
    free = {*ORDER, *RoleGroup.__members__, GENERATED}
    loss = _Loss(numbers, is_right, shares, penalties, expected)
    found = dict(zip(names, _newton(loss, np.array([name in free for name in names])), strict=True))
    found.pop(GENERATED, None)
    return {name: round(float(weight), 3) for name, weight in found.items() if abs(weight) > LEAST_WEIGHT}


def _penalty(name: str) -> float:
    if name in EXPECTED:
        return EXPECTED_PENALTY
    if name in CERTAIN:
        return CERTAIN_PENALTY
    return ROLE_PENALTY if name in ORDER else GROUP_PENALTY if name in (*RoleGroup.__members__, GENERATED) else PENALTY


class _Loss(NamedTuple):
    """The penalized loss of weights; `numbers`: [examples, evidence]."""

    numbers: Numbers
    is_right: Numbers
    shares: Numbers
    penalties: Numbers
    expected: Numbers

    def of(self, weights: Numbers) -> float:
        """Compute the loss."""
        sums = self.numbers @ weights
        misfit = (self.shares * (np.logaddexp(0, sums) - self.is_right * sums)).sum()
        return float(misfit + (self.penalties * (weights - self.expected) ** 2).sum() / 2)

    def slope(self, weights: Numbers, likely: Numbers) -> Numbers:
        """Compute the gradient; `likely`: the probability of each example."""
        slope: Numbers = self.numbers.T @ (self.shares * (likely - self.is_right))
        return slope + self.penalties * (weights - self.expected)

    def step(self, slope: Numbers, likely: Numbers, moved: NDArray[np.bool_]) -> Numbers:
        """Compute Newton's step of the weights that are moved; 0 of the others."""
        part = self.numbers[:, moved]
        curve = (part.T * (self.shares * likely * (1 - likely))) @ part + np.diag(self.penalties[moved])
        step = np.zeros_like(slope)
        step[moved] = np.linalg.solve(curve, slope[moved])
        return step


def _newton(loss: _Loss, is_free: NDArray[np.bool_]) -> Numbers:
    """Find the weights of the least loss of which those that are not free are 0 or more."""
    weights = np.zeros(loss.numbers.shape[1])
    for _ in range(MOST_STEPS):
        likely = 1 / (1 + np.exp(-(loss.numbers @ weights)))
        slope = loss.slope(weights, likely)
        step = loss.step(slope, likely, is_free | (weights > 0) | (slope < 0))
        length, before = 1.0, loss.of(weights)
        tried = weights
        while length > LEAST_STEP:
            tried = np.where(is_free, weights - length * step, np.maximum(weights - length * step, 0))
            if loss.of(tried) <= before:
                break
            length /= 2
        if length <= LEAST_STEP or before - loss.of(tried) < LEAST_GAIN:
            break
        weights = tried
    return weights


def is_fitted_on(name: str, group: str) -> bool:
    """True for the half of a set's groups that fits; the other half judges."""
    return digest_of(f"{name}/{group}") % 2 == 0


async def judge(model: str, sets: Sequence[LabelledSet]) -> list[list[JudgedRole]]:
    """Ask for the fields of each set's documents; returns the values of bills' roles that its truth knows."""
    scheme = nearest_scheme([])
    with evaluated_service(model, lambda step: None) as service:
        async with service:
            answers = await ask_all(service, sets, _say)
    scored = (score_set(each, found, scheme).judged for each, found in zip(sets, answers, strict=True))
    return [[judged for judged in found if judged.answer.evidence] for found in scored]


def table(weights: Mapping[str, float], fitted_on: str) -> str:
    """Write the module of the weights."""
    ordered = sorted(weights, key=lambda name: (name not in RoleGroup.__members__, name not in ORDER, name))
    rows = "\n".join(f'    "{name}": {weights[name]},' for name in ordered)
    return f'''"""Weights of the evidence for roles (`role_scores`), by `model_store.builtin.training.role_fitting`."""

from __future__ import annotations

from collections.abc import Mapping

FITTED_ON = (
    "{fitted_on}"
)
"""Sets of documents, and the number of values in each, that the weights were fitted on."""
WEIGHTS: Mapping[str, float] = {{
{rows}
}}
'''


def _reliability(judged: Sequence[JudgedRole], weights: Mapping[str, float]) -> RoleScores:
    def score(numbers: Mapping[str, float]) -> float:
        return float(1 / (1 + np.exp(-sum(weights.get(name, 0.0) * number for name, number in numbers.items()))))

    return role_scores([(score(example(each).numbers), each.is_right) for each in judged])


def _say(name: str, done: int, total: int) -> None:
    if done % SAID_EACH == 0 or done == total:
        print(f"{name}: {done:,} of {total:,} papers read", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Fit, print how reliable the scores of the other half are, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m model_store.builtin.training.role_fitting", description=__doc__)
    parser.add_argument("model", help="a model's folder, or `builtin`")
    parser.add_argument("data", nargs="*", type=Path, help="JSON lines with `fields`, folders of them or of files")
    parser.add_argument("--generated", type=int, default=900, help="bills to generate (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path(role_weights.__file__), help="file to write (%(default)s)")
    options = parser.parse_args(arguments)
    sets = read_data(options.data, nearest_scheme(options.data)) if options.data else []
    if options.generated:
        sets.append(LabelledSet(GENERATED, tuple(hard_bills(SEED, options.generated)), frozenset()))
    judged = asyncio.run(judge(options.model, sets))
    named = list(zip([each.name for each in sets], judged, strict=True))
    weights = fit_weights(
        [
            example(each, is_generated=name == GENERATED)
            for name, values in named
            for each in values
            if is_fitted_on(name, each.group)
        ]
    )
    for name, values in named:
        other = _reliability([each for each in values if not is_fitted_on(name, each.group)], weights)
        print(
            f"{name}: {other.values} values, calibration error {other.calibration.error:.3f}, {other.kept:.0%} at 99 %"
        )
    fitted = (f"{name}: {sum(is_fitted_on(name, each.group) for each in values):,} values" for name, values in named)
    options.out.write_text(table(weights, ", ".join(fitted)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

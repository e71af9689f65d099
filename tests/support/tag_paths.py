"""Tag schemes, random scores, and the best path through them as textbooks have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.tag_scheme import Scheme, read_scheme

Rows = NDArray[np.float32]
Steps = NDArray[np.float64]


def _prefixed(letters: str, types: list[str]) -> Scheme:
    return read_scheme(dict(enumerate(["O", *(f"{letter}-{name}" for name in types for letter in letters)])))


SCHEMES = {letters: _prefixed(letters, [*"XYZ"]) for letters in ("BI", "BIES", "BILU", "BMES", "BIE", "B", "I")}
SCHEMES["many"] = _prefixed("BI", [f"T{number}" for number in range(12)])
SCHEMES["plain"] = read_scheme({0: "O", 1: "X", 2: "Y"})
SCHEMES["without O"] = read_scheme({0: "B-X", 1: "I-X", 2: "B-Y", 3: "I-Y"})


def textbook_path(rows: Rows, scheme: Scheme, steps: Steps | None = None) -> NDArray[np.intp]:
    """Viterbi in its plain form, over the full matrix; `steps`: scores of one tag after another."""
    steps = np.zeros((len(scheme.labels),) * 2) if steps is None else steps
    allowed = np.where(scheme.allowed, steps, -np.inf)
    outside = scheme.labels.index("O") if "O" in scheme.labels else None
    best = np.where(scheme.may_begin, rows[0] + (0.0 if outside is None else steps[outside]), -np.inf)
    came_from = []
    for row in rows[1:]:
        reached = best[:, None] + allowed
        came_from.append(reached.argmax(axis=0))
        best = reached.max(axis=0) + row
    path = [np.where(scheme.may_end, best + (0.0 if outside is None else steps[:, outside]), -np.inf).argmax()]
    for back in reversed(came_from):
        path.append(back[path[-1]])
    return np.array(path[::-1])


def random_case(
    seed: int, words: int, scheme: Scheme, spread: float = 1.0, outside: float = 0.0, strength: float = 0.0
) -> tuple[Rows, Steps]:
    """Scores of words and of steps; `outside` is added to those of the first label."""
    random = np.random.default_rng(seed)
    rows = random.normal(scale=spread, size=(words, len(scheme.labels)))
    rows[:, 0] += outside
    return rows.astype(np.float32), random.normal(scale=strength, size=(len(scheme.labels),) * 2)

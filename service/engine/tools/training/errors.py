"""Why a training cannot begin or go on. Each is the caller's to mend and has one helpful sentence.

TrainingError
├── BadData          records that cannot be used, all that were found at once
├── TooLittleData    nothing to learn from, or nothing to leave out
├── UnusableBase     the folder to start from is no token classifier, or has no linear head
└── OtherTraining    the output folder holds something else
"""

from __future__ import annotations


class TrainingError(Exception):
    """A training cannot begin or go on."""


class BadData(TrainingError):
    """Records that cannot be used; `problems` names file, line and reason of each."""

    MOST_SHOWN = 10

    def __init__(self, problems: list[str]) -> None:
        shown = problems[: self.MOST_SHOWN]
        more = f"\n… and {len(problems) - len(shown)} more" if len(problems) > len(shown) else ""
        super().__init__("The data cannot be used:\n" + "\n".join(shown) + more)
        self.problems = problems


class TooLittleData(TrainingError):
    """Nothing to learn from, or nothing to leave out."""


class UnusableBase(TrainingError):
    """The folder to start from is no token classifier, or has no linear head."""


class OtherTraining(TrainingError):
    """The output folder holds another model, or an unfinished training of other data or options."""

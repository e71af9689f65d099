"""Score limits: a least score of entities for all labels, and others for some labels."""

from __future__ import annotations

from dataclasses import dataclass

_NUMBER = r"(?:0|1|0?\.[0-9]+|1\.0+)"
_SPACE = r"\s\x1c-\x1f\x85"
"""White space that `str.strip` removes; the `\\s` of JavaScript, as in a schema's pattern, lacks some of it."""
_LABEL = rf"[^,:{_SPACE}](?:[^,:]*[^,:{_SPACE}])?"
_ENTRY = rf" *(?:{_LABEL} *: *)?{_NUMBER} *"
PATTERN = rf"^{_ENTRY}(?:,{_ENTRY})*$"
"""Pattern of the texts that `read_limits` takes, for schemas."""


@dataclass(frozen=True, slots=True)
class ScoreLimits:
    """Least scores, 0 to 1: `default` for labels that `by_label` does not name; None: the model's own default."""

    default: float | None = None
    by_label: tuple[tuple[str, float], ...] = ()

    def keeps(self, label: str, score: float) -> bool:
        return score >= dict(self.by_label).get(label, self.default or 0.0)


NO_LIMITS = ScoreLimits()


def read_limits(value: object) -> ScoreLimits:
    """Read a number, or a text like `0.5,PERSON:0.8,IBAN:0`; of two limits for one label the later counts.

    Raises:
        ValueError: the value is neither, or a limit is not between 0 and 1.
    """
    if isinstance(value, ScoreLimits):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ScoreLimits(_limit(value))
    if not isinstance(value, str):
        raise ValueError("Input should be a number, or a text like 0.5,PERSON:0.8")
    default, by_label = None, {}
    for entry in value.split(","):
        label, colon, number = entry.rpartition(":")
        try:
            limit = _limit(float(number))
        except ValueError:
            raise ValueError(f"{entry.strip()[:50]!r} should be a number from 0 to 1, or LABEL:number") from None
        if colon and not label.strip():
            raise ValueError(f"{entry.strip()[:50]!r} names no label")
        if colon:
            by_label[label.strip()] = limit
        else:
            default = limit
    return ScoreLimits(default, tuple(by_label.items()))


def _limit(value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise ValueError("Input should be a number from 0 to 1")
    return float(value)

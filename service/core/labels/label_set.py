"""Labels and score limits of a request: what it gives a model, with what each label asks for, and what it keeps.

A model with free labels is prompted with them, in the order of the request: to many models a label's score depends on
those beside it. So no two requests share a prompt, and no label is reordered, merged or left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.core.decoding.records import RecordKind
from service.core.decoding.spans import Overlaps
from service.core.decoding.value import ValueKind

_NUMBER = r"(?:0|1|0?\.[0-9]+|1\.0+)"
_SPACE = r"\s\x1c-\x1f\x85"
"""White space that `str.strip` removes; the `\\s` of JavaScript, as in a schema's pattern, lacks some of it."""
_LABEL = rf"[^,:{_SPACE}](?:[^,:]*[^,:{_SPACE}])?"
_ENTRY = rf" *(?:{_LABEL} *: *)?{_NUMBER} *"
LIMITS_PATTERN = rf"^{_ENTRY}(?:,{_ENTRY})*$"
"""Pattern of the texts that `read_limits` takes, for schemas."""

MOST_LABELS = 200
DEFAULT_LIMIT = 0.5
"""Least score of an entity where a request names none."""
NAME_CHARACTERS, DESCRIPTION_CHARACTERS = 100, 500
"""Longest name and longest description of a label."""
_KEYS = ("description", "kind", "min_score")


@dataclass(frozen=True, slots=True)
class ScoreLimits:
    """Least scores, 0 to 1: `default` for labels that `by_label` does not name; None: the model's own default."""

    default: float | None = None
    by_label: tuple[tuple[str, float], ...] = ()

    def keeps(self, label: str, score: float) -> bool:
        return score >= dict(self.by_label).get(label, self.default or 0.0)


NO_LIMITS = ScoreLimits()


@dataclass(frozen=True, slots=True)
class Label:
    """One label as it was asked for.

    Attributes:
        description: what the model reads in place of the name, if there is one.
        kind: in what form its values are; None where that is for the label's words to say.
        min_score: the least score of its entities; None where the request's limit counts.
    """

    name: str
    description: str = ""
    kind: ValueKind | None = None
    min_score: float | None = None

    @property
    def prompt(self) -> str:
        """What the model reads."""
        return self.description or self.name

    @property
    def is_plain(self) -> bool:
        """True where the request said no more than its name."""
        return self == Label(self.name)


@dataclass(frozen=True, slots=True)
class LabelSet:
    """The labels of one request.

    Attributes:
        limits: the least score of each.
        records: the kinds of records whose fields the labels are, where records are asked for and not entities.
    """

    labels: tuple[Label, ...]
    limits: tuple[float, ...]
    overlaps: Overlaps = Overlaps.FLAT
    records: tuple[RecordKind, ...] = ()

    @classmethod
    def of(cls, labels: Sequence[Label], limits: ScoreLimits, overlaps: Overlaps = Overlaps.FLAT) -> LabelSet:
        """The set of these labels; a label's own limit comes before that of the request."""
        by_name = dict(limits.by_label)
        default = DEFAULT_LIMIT if limits.default is None else limits.default
        found = (by_name.get(each.name, default) if each.min_score is None else each.min_score for each in labels)
        return cls(tuple(labels), tuple(found), overlaps)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.labels)

    @property
    def least_limit(self) -> float:
        """What no entity, and no record, scores below."""
        return min(self.limits if not self.records else [each.limit for each in self.records])

    def groups(self, prompt_tokens: Sequence[int], most_labels: int, most_tokens: int) -> list[range]:
        """Parts of the labels that a model takes at a time, in order, each of at most so many labels and tokens.

        A label that alone has more tokens is a group of its own.
        """
        groups: list[range] = []
        start = tokens = 0
        for index, count in enumerate(prompt_tokens):
            if index > start and (index - start == most_labels or tokens + count > most_tokens):
                groups.append(range(start, index))
                start, tokens = index, 0
            tokens += count
        return [*groups, range(start, len(prompt_tokens))]


def read_labels(value: object) -> tuple[Label, ...] | None:
    """The labels of an option: a list of names, one text with commas between them, or an object.

    An object maps names to a description, or to an object with any of `description`, `kind` and `min_score`. White
    space in names is folded. Of a name that comes again in a list the first place counts.

    Raises:
        ValueError: it is none of these; the sentence says what is wrong with which label.
    """
    if value is None or isinstance(value, tuple):
        return value
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()] or None
        return None if value is None else read_labels(value)
    if isinstance(value, list):
        return tuple({name: Label(name) for name in map(_folded, _names(value))}.values())
    if isinstance(value, Mapping):
        labels = tuple(read_label(name, wish) for name, wish in value.items())
        refuse_twice(each.name for each in labels)
        return labels
    raise ValueError("Input should be a list of labels, a text with commas between them, or an object")


def label_problem(labels: Sequence[Label]) -> str | None:
    """Why a model is not given these labels, as a sentence; None if it is."""
    if not labels:
        return "the list is empty"
    if len(labels) > MOST_LABELS:
        return f"there are {len(labels)}; a request may have {MOST_LABELS}"
    for number, each in enumerate(labels):
        if not each.name.strip():
            return f"element {number} is blank"
        if len(each.name) > NAME_CHARACTERS:
            return f"{each.name[:50]!r}… is longer than {NAME_CHARACTERS} characters; a description may be longer"
        if len(each.description) > DESCRIPTION_CHARACTERS:
            return f"the description of {each.name!r} is longer than {DESCRIPTION_CHARACTERS} characters"
    return None


def refuse_twice(names: Iterable[str]) -> None:
    """Raise ValueError, as `read_labels`, where a name comes again."""
    if twice := next((each for each, count in Counter(names).items() if count > 1), None):
        raise ValueError(f"{twice[:50]!r} comes twice")


def _names(value: Sequence[object]) -> Iterator[str]:
    for number, name in enumerate(value):
        if not isinstance(name, str):
            raise ValueError(f"Element {number} should be a valid string")
        yield name


def _folded(name: str) -> str:
    return " ".join(name.split())


def read_label(name: object, wish: object) -> Label:
    """A label by its name and what is said of it. Raises ValueError as `read_labels`."""
    if not isinstance(name, str):
        raise ValueError("the name of each label should be a valid string")
    name = _folded(name)
    if wish is None or isinstance(wish, str):
        return Label(name, (wish or "").strip())
    if not isinstance(wish, Mapping):
        raise ValueError(f"{name[:50]!r} should have a description, or an object with any of {', '.join(_KEYS)}")
    if unknown := next((key for key in wish if key not in _KEYS), None):
        raise ValueError(f"{name[:50]!r} has an unknown key {str(unknown)[:50]!r}; there are {', '.join(_KEYS)}")
    description, kind, limit = (wish.get(key) for key in _KEYS)
    if not isinstance(description, str | None):
        raise ValueError(f"the description of {name[:50]!r} should be a valid string")
    if kind is not None and kind not in tuple(ValueKind):
        raise ValueError(f"the kind of {name[:50]!r} should be one of {', '.join(ValueKind)}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1):
        raise ValueError(f"the min_score of {name[:50]!r} should be a number from 0 to 1")
    return Label(
        name, (description or "").strip(), None if kind is None else ValueKind(str(kind)), limit and float(limit)
    )


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

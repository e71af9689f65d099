"""Label set: the labels that a request gives a model, with what each one asks for.

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
from service.core.score_limits import ScoreLimits

MOST_LABELS = 200
DEFAULT_LIMIT = 0.5
"""Least score of an entity where a request names none."""
NAME_CHARACTERS, DESCRIPTION_CHARACTERS = 100, 500
"""Longest name and longest description of a label."""
_KEYS = ("description", "kind", "min_score")


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

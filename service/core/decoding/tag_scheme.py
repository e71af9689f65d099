"""Derives a model's tag scheme from its labels: which may begin an entity, end one, and follow which.

A label is `O` (no entity), a prefix and an entity type (`B-PERSON`), or a plain entity type (`PERSON`, `LABEL_0`).
Prefixes count only if the letters in use form one of the known schemes; else every label but `O` is plain:

    scheme   letters  an entity is                       allowed at its start    allowed at its end
    BIO      B I      B I*                               B                       any
    BIOES    B I E S  S, or B I* E                       B S                     E S
    BILOU    B I L U  as BIOES, with L for E, U for S
    BMES     B M E S  as BIOES, with M for I
    IO       I        I+ (neighbours of a type join)     I                       I
    plain             the same label, repeated           any                     any

Letters that a type lacks are made up for, type by type: without `B-X` (and `S-X`), `I-X` may begin an entity; without
`E-X`, `I-X` may end one. IOB1 (CoNLL 2003 as published: `I-` begins an entity, `B-` only separates two of a type) has
the labels of BIO and cannot be told from it by them; pass `inside_begins=True` for such a model.

Other notations of the letters (`B_PERSON`, `b-PERSON`, `PERSON-B`) count only where all labels but `O` have the same
one, and each type has a label to begin and one to go on with. Where no label is `O`, `0` or `o` may stand for it.

Whatever may begin may follow whatever may end: `transitions` relies on this, and on a label that may do both (`O`,
`S-X`, `B-X` in BIO). A label set without such a label cannot tag a single token, and is read as plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

OUTSIDE = "O"
IOB1 = "IOB1"
PLAIN = "plain"

_SCHEMES = {"BIO": "BI", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES"}
_ROLES = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S"}
_NOTATIONS = tuple(
    re.compile(notation.format(mark=re.escape(mark), letters=letters), re.DOTALL)
    for mark in "-_:.|/"
    for letters in ("BIMELSU", "bimelsu")
    for notation in ("(?P<letter>[{letters}]){mark}(?P<kind>.+)", "(?P<kind>.+){mark}(?P<letter>[{letters}])")
)
"""Notations of a letter and an entity type; the first one is the usual one."""


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """The labels of a model, and which may follow which. Arrays have one entry per label, in the model's order."""

    name: str
    """`BIO`, `IOB1`, `BIOES`, `BILOU`, `BMES`, `IO` or `plain`."""
    labels: tuple[str, ...]
    types: tuple[str, ...]
    """The entity types, in order of first appearance."""
    type_of: NDArray[np.int32]
    """Index into `types`, -1 for `O`."""
    may_begin: NDArray[np.bool_]
    """May stand at the document's start and after any label that may end; true of `O`."""
    may_end: NDArray[np.bool_]
    """May stand at the document's end; true of `O`."""
    begins: NDArray[np.bool_]
    """Always begins a new entity (`B`, `S`), even after one of the same type."""
    ends: NDArray[np.bool_]
    """Always ends its entity (`E`, `S`)."""
    allowed: NDArray[np.bool_]
    """`[labels, labels]`, True where the second may follow the first."""
    inner: NDArray[np.intp]
    """The labels that may precede each label inside an entity, `[most, labels]`, padded with the number of labels.

    All other allowed steps are an end followed by a beginning.
    """
    continued: NDArray[np.intp]
    """The label of a token that continues a word of each label: `I-X` for `B-X` and `I-X`; itself where none is."""

    @property
    def outside(self) -> str | None:
        """The label of words outside entities; None if there is none."""
        return next((label for label, kind in zip(self.labels, self.type_of.tolist(), strict=True) if kind < 0), None)

    @property
    def is_unusual(self) -> bool:
        """True if its tags are not written as `B-PERSON`."""
        return self.name != PLAIN and not any(_NOTATIONS[0].fullmatch(label) for label in self.labels)

    @property
    def may_be_iob1(self) -> bool:
        """True if its labels leave open whether it is BIO or IOB1."""
        return self.name == "BIO" and not self.may_begin.all()


def read_scheme(id2label: Mapping[int, str], *, inside_begins: bool = False) -> Scheme:
    """The scheme of a model's `id2label`: ids 0 to n - 1, as numbers or, as in a JSON configuration, strings."""
    by_id = {int(key): label for key, label in id2label.items()}
    assert sorted(by_id) == list(range(len(by_id))), "label ids must run from 0 without gaps"
    labels = tuple(by_id[key] for key in range(len(by_id)))
    outside = _outside(labels)
    for notation in _NOTATIONS:
        parts = _parts(labels, notation, outside)
        name = _name({letter for letter, _ in parts} - {"O", "P"})
        if name != PLAIN and (notation is _NOTATIONS[0] or _is_consistent(parts)):
            scheme = _build(name, labels, parts, inside_begins)
            if bool((scheme.may_begin & scheme.may_end).any()):
                return scheme
    return _build(PLAIN, labels, [("O", "") if label == outside else ("P", label) for label in labels], inside_begins)


@lru_cache(maxsize=64)
def scheme_of(labels: tuple[str, ...], *, inside_begins: bool = False) -> Scheme:
    """The scheme of a model's labels, in its order."""
    return read_scheme(dict(enumerate(labels)), inside_begins=inside_begins)


def scheme_named(name: str, labels: tuple[str, ...]) -> Scheme:
    """The scheme of a model's labels that has this name, where they leave that open."""
    return scheme_of(labels, inside_begins=name == IOB1)


def unread_tags(scheme: Scheme) -> list[str]:
    """The labels that are read as types though they look like tags.

    They have a letter to begin and another to go on with a type, or all have the one of `IO`.
    """
    plain = [label for label in scheme.labels if label in scheme.types]
    for notation in _NOTATIONS:
        parts = _parts(plain, notation, scheme.outside)
        if _kinds(parts, "B") & _kinds(parts, "IM") or (len(parts) > 1 and {letter for letter, _ in parts} == {"I"}):
            return [label for label, (letter, _) in zip(plain, parts, strict=True) if letter in _ROLES]
    return []


Parts = Sequence[tuple[str, str]]
"""Each label's letter (`O` outside entities, `P` where it has none) and entity type."""


def _outside(labels: Sequence[str]) -> str | None:
    """The label of words outside entities: `0` and `o` only among labels that are words."""
    if OUTSIDE in labels:
        return OUTSIDE
    others = [label for label in labels if label not in ("0", "o")]
    is_told = len(others) == len(labels) - 1 and all(len(label) > 1 and not label.isdigit() for label in others)
    return next(label for label in labels if label in ("0", "o")) if others and is_told else None


def _parts(labels: Sequence[str], notation: re.Pattern[str], outside: str | None) -> Parts:
    found = ((label, notation.fullmatch(label)) for label in labels)
    return [
        ("O", "") if label == outside else (part["letter"].upper(), part["kind"]) if part else ("P", label)
        for label, part in found
    ]


def _name(letters: set[str]) -> str:
    if letters == {"I"}:
        return "IO"
    return next((name for name, known in _SCHEMES.items() if "B" in letters and letters <= set(known)), PLAIN)


def _kinds(parts: Parts, letters: str) -> set[str]:
    return {kind for letter, kind in parts if letter in letters}


def _is_consistent(parts: Parts) -> bool:
    """True if all labels have a letter, and each type one to begin and one to go on with."""
    kinds = {kind for letter, kind in parts if letter != "O"}
    return not _kinds(parts, "P") and _kinds(parts, "B") == _kinds(parts, "IM") == kinds


def _build(name: str, labels: tuple[str, ...], parts: Parts, inside_begins: bool) -> Scheme:
    parsed = [(_ROLES.get(letter, letter), kind) for letter, kind in parts]
    types = tuple(dict.fromkeys(kind for role, kind in parsed if role != "O"))
    type_of = np.array([types.index(kind) if role != "O" else -1 for role, kind in parsed], dtype=np.int32)
    roles_of = {kind: {role for role, other in parsed if other == kind} for kind in types}
    may_begin = _flags(_may_begin(role, roles_of.get(kind, set()), inside_begins) for role, kind in parsed)
    may_end = _flags(_may_end(role, roles_of.get(kind, set())) for role, kind in parsed)
    goes_on = _flags(role in "BIP" for role, _ in parsed)
    continues = _flags(role in "IEP" for role, _ in parsed)
    same_type = (type_of[:, None] == type_of[None, :]) & (type_of >= 0)
    allowed = (may_end[:, None] & may_begin) | (same_type & goes_on[:, None] & continues)
    return Scheme(
        name=IOB1 if name == "BIO" and inside_begins else name,
        labels=labels,
        types=types,
        type_of=type_of,
        may_begin=may_begin,
        may_end=may_end,
        begins=_flags(role in "BS" for role, _ in parsed),
        ends=_flags(role in "ES" for role, _ in parsed),
        allowed=allowed,
        inner=_inner_predecessors(allowed & ~(may_end[:, None] & may_begin)),
        continued=_continued(parsed),
    )


def _inner_predecessors(inner: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The rows of each column that are True, first ones first, as `Scheme.inner` has them."""
    count = inner.sum(axis=0)
    table = np.argsort(~inner, axis=0, kind="stable")[: count.max()]
    return np.where(np.arange(len(table))[:, None] < count, table, len(inner))


def _continued(parsed: list[tuple[str, str]]) -> NDArray[np.intp]:
    inside = {kind: label for label, (role, kind) in enumerate(parsed) if role == "I"}
    return np.array([inside.get(kind, label) if role == "B" else label for label, (role, kind) in enumerate(parsed)])


def _flags(values: Iterable[bool]) -> NDArray[np.bool_]:
    return np.fromiter(values, dtype=np.bool_)


def _may_begin(role: str, roles: set[str], inside_begins: bool) -> bool:
    return role in "OBSP" or (role == "I" and (inside_begins or not roles & {"B", "S"}))


def _may_end(role: str, roles: set[str]) -> bool:
    return role in "OESP" or (role == "I" and "E" not in roles) or (role == "B" and not roles & {"E", "S"})

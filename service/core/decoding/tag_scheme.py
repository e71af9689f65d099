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
the labels of BIO and cannot be told from it; pass `inside_begins=True` for such a model.

Whatever may begin may follow whatever may end: `transitions` relies on this, and on a label that may do both (`O`,
`S-X`, `B-X` in BIO). A label set without such a label cannot tag a single token, and is read as plain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

OUTSIDE = "O"

_SCHEMES = {"BIO": "BI", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES"}
_ROLES = {"B": "B", "I": "I", "M": "I", "E": "E", "L": "E", "S": "S", "U": "S"}


@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """The labels of a model, and which may follow which. Arrays have one entry per label, in the model's order."""

    name: str
    """`BIO`, `BIOES`, `BILOU`, `BMES`, `IO` or `plain`."""
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


def read_scheme(id2label: Mapping[int, str], *, inside_begins: bool = False) -> Scheme:
    """The scheme of a model's `id2label`: ids 0 to n - 1, as numbers or, as in a JSON configuration, strings."""
    by_id = {int(key): label for key, label in id2label.items()}
    assert sorted(by_id) == list(range(len(by_id))), "label ids must run from 0 without gaps"
    labels = tuple(by_id[key] for key in range(len(by_id)))
    name = _detect(labels)
    if name != "plain":
        scheme = _build(name, labels, inside_begins)
        if bool((scheme.may_begin & scheme.may_end).any()):
            return scheme
    return _build("plain", labels, inside_begins)


@lru_cache(maxsize=64)
def scheme_of(labels: tuple[str, ...]) -> Scheme:
    """The scheme of a model's labels, in its order."""
    return read_scheme(dict(enumerate(labels)))


def _detect(labels: tuple[str, ...]) -> str:
    letters = {label[0] for label in labels if label[0:1] in _ROLES and label[1:2] == "-" and label[2:]}
    if letters == {"I"}:
        return "IO"
    return next((name for name, known in _SCHEMES.items() if "B" in letters and letters <= set(known)), "plain")


def _parse(name: str, label: str) -> tuple[str, str]:
    """A label's role (one of `O`, `B`, `I`, `E`, `S`, or `P` for plain) and its entity type."""
    if label == OUTSIDE:
        return "O", ""
    if name != "plain" and label[0:1] in _ROLES and label[1:2] == "-" and label[2:]:
        return _ROLES[label[0]], label[2:]
    return "P", label


def _build(name: str, labels: tuple[str, ...], inside_begins: bool) -> Scheme:
    parsed = [_parse(name, label) for label in labels]
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
        name=name,
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

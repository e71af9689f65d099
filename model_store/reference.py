"""Model references: parses `name`, `name@tag` and `name@sha256:<64 hex digits>`, and moves the values of tags. Pure.

A tag's value holds its revision, the time of its last move, and its history; `local` and `remote` store it. The
history, newest first, serves rollbacks, and garbage collection keeps it. The time of a publish is
recorded there and not in the manifest, whose digest must not depend on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

import msgspec

from model_store.errors import InvalidReference

DEFAULT_TAG = "stable"
DIGEST_PREFIX = "sha256:"

_WORD = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_REVISION = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A model by name and either tag or revision; a revision has its `sha256:`."""

    name: str
    tag: str | None
    revision: str | None

    def __str__(self) -> str:
        return f"{self.name}@{self.revision or self.tag}"


def parse_reference(text: str) -> Reference:
    """Parse a reference; the tag is `stable` if it names neither tag nor revision. Raises InvalidReference."""
    name, at, rest = text.partition("@")
    check_name(name)
    if not at:
        return Reference(name, DEFAULT_TAG, None)
    if rest.startswith(DIGEST_PREFIX):
        return Reference(name, None, check_revision(rest))
    return Reference(name, check_tag(rest), None)


def to_reference(reference: Reference | str) -> Reference:
    """Parse a text; a Reference stays as it is. Raises InvalidReference."""
    return parse_reference(reference) if isinstance(reference, str) else reference


def check_name(name: str) -> str:
    """Return a valid model name. Raises InvalidReference."""
    return _check_word(name, "model name")


def check_tag(tag: str) -> str:
    """Return a valid tag. Raises InvalidReference."""
    return _check_word(tag, "tag")


def check_revision(revision: str) -> str:
    """Return a valid revision: `sha256:` and 64 lower-case hex digits. Raises InvalidReference."""
    if not _REVISION.fullmatch(revision):
        raise InvalidReference(f"'{revision}' is no revision: it must be sha256: and all 64 lower-case hex digits.")
    return revision


def hex_digits(revision: str) -> str:
    """Remove the `sha256:` of a revision, for names of files and objects. Raises InvalidReference."""
    return check_revision(revision).removeprefix(DIGEST_PREFIX)


def _check_word(word: str, what: str) -> str:
    if not _WORD.fullmatch(word):
        raise InvalidReference(
            f"'{word}' is no {what}: use lower-case letters, digits, '.', '_' and '-', "
            "starting with a letter or digit, at most 100 characters."
        )
    return word


MAX_HISTORY = 16
"""Most earlier revisions that a tag keeps."""

_Revision = Annotated[str, msgspec.Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]


class Tag(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tag's `revision` since `moved_at_seconds` (since 1970), and the `earlier` revisions, newest first.

    `rolled_back`: the revisions that rollbacks left since the tag was last moved forward, newest first: garbage
    collection keeps them, because a rollback's message tells how to return to them.
    """

    revision: _Revision
    moved_at_seconds: float
    earlier: tuple[_Revision, ...] = ()
    rolled_back: tuple[_Revision, ...] = ()


def moved(tag: Tag | None, revision: str, *, now_seconds: float) -> Tag:
    """Move a tag's value to `revision`."""
    if tag is None:
        return Tag(revision, now_seconds)
    earlier = tuple(old for old in (tag.revision, *tag.earlier) if old != revision)
    return Tag(revision, now_seconds, earlier[:MAX_HISTORY])


def encode_tag(tag: Tag) -> bytes:
    """Encode a tag as JSON with sorted keys."""
    return msgspec.json.encode(tag, order="sorted")


def decode_tag(data: bytes) -> Tag:
    """Decode a tag from JSON. Raises ValueError."""
    return msgspec.json.decode(data, type=Tag)

"""Tags in a remote store: each move of a tag is a new numbered object, created atomically.

Moves are numbered from 1. Of two publishers that create the same number one is refused (`Remote.create`); it reads the
tag again and creates the next number, so no move is lost. On S3 this needs conditional writes (`If-None-Match: *` on
PUT), which AWS, MinIO, R2 and Ceph check atomically.

Numbers have no gaps and nothing is deleted, so one request tells whether a known tag is still current: the next number
does not exist.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from model_store.errors import InvalidTag, RemoteUnavailable
from model_store.reference import Tag, check_name, check_tag, decode_tag, encode_tag
from model_store.remote.base import Remote, tag_in, tag_key, tag_prefix

TRIES = 50
FIRST_WAIT_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class RemoteTag:
    """The tag after its `number`-th move."""

    number: int
    tag: Tag

    @property
    def revision(self) -> str:
        return self.tag.revision


def read_remote_tag(remote: Remote, name: str, tag: str, known: RemoteTag | None = None) -> RemoteTag | None:
    """The current tag, None if it was never set; one small request if `known` is still current.

    Raises InvalidTag, RemoteRefused, RemoteUnavailable.
    """
    number, data = _newest(remote, name, tag, known.number if known else None)
    return known if data is None else RemoteTag(number, _decode(remote, name, tag, number, data))


def change_remote_tag(
    remote: Remote, name: str, tag: str, change: Callable[[Tag | None], Tag]
) -> tuple[RemoteTag, bool]:
    """Move the tag to `change(old)`; the new tag, and false if it pointed to the same revision before.

    `change` must be pure: it is called again after each concurrent move. An unreadable tag counts as None.
    """
    for failures in range(TRIES):
        number, data = _newest(remote, name, tag)
        old = _decode_or_none(data)
        new = change(old)
        if old and new.revision == old.revision:
            return RemoteTag(number, old), False
        if remote.create(tag_key(name, tag, number + 1), encode_tag(new)):
            return RemoteTag(number + 1, new), True
        time.sleep(random.uniform(0.0, min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0**failures)))
    raise RemoteUnavailable(f"The tag {name}@{tag} in {remote.url} was moved by others {TRIES} times meanwhile.")


def _newest(remote: Remote, name: str, tag: str, known: int | None = None) -> tuple[int, bytes | None]:
    """The highest number and its bytes; no bytes if the number is `known`, or 0.

    A listing may be stale, so the search only starts from it and ends at a number that does not exist.
    """
    check_name(name), check_tag(tag)
    number = max(0, _listed(remote, name, tag) - 1) if known is None else known
    newest = None
    while (data := remote.read(tag_key(name, tag, number + 1))) is not None:
        number, newest = number + 1, data
    return number, newest


def _listed(remote: Remote, name: str, tag: str) -> int:
    numbers = (place[2] for stat in remote.stats(tag_prefix(name, tag)) if (place := tag_in(stat.key)))
    return max(numbers, default=0)


def _decode(remote: Remote, name: str, tag: str, number: int, data: bytes) -> Tag:
    try:
        return decode_tag(data)
    except ValueError as error:
        place = f"{remote.url}/{tag_key(name, tag, number)}"
        raise InvalidTag(f"The tag {name}@{tag} in {place} cannot be read: {error}. Publish it again.") from error


def _decode_or_none(data: bytes | None) -> Tag | None:
    try:
        return decode_tag(data) if data is not None else None
    except ValueError:
        return None

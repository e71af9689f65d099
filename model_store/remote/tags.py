"""Tags in a remote store. Each move is a new object, numbered from 1, which is created only if nobody else has done so.

So two publishers never lose each other's move: of two that want the same number one is refused, looks again, and writes
the next. The numbers have no gaps and nothing is deleted, so whoever knows the newest needs one request to see that it
still is: the next number is not there.

On AWS `If-None-Match: *` alone would do. Some servers check it and write later, so that two can pass the check (Swift
does), and some ignore it. Hence claims: whoever wants a number first puts an object of a unique name beside the others
that want it, and goes on only if it stands there alone and the number is still free; else it withdraws, waits a random
time and looks again. Of two claims the later one sees the earlier, whatever the server does about conditions. A claim
whose owner died counts for a minute.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import uuid4

import msgspec

from model_store.errors import InvalidTag, RemoteRefused, RemoteUnavailable
from model_store.local.tags import Tag
from model_store.reference import check_name, check_tag
from model_store.remote.base import Remote, Stat
from model_store.remote.keys import claim_prefix, tag_in, tag_key, tag_prefix

TRIES = 50
FIRST_WAIT_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 2.0
CLAIM_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class RemoteTag:
    """The tag after its `number`-th move."""

    number: int
    tag: Tag

    @property
    def revision(self) -> str:
        return self.tag.revision


def read_remote_tag(remote: Remote, name: str, tag: str, known: RemoteTag | None = None) -> RemoteTag | None:
    """The tag as it is now, or None if it was never set; one small request if it still is `known`.

    Raises InvalidTag, RemoteRefused, RemoteUnavailable.
    """
    number, data = _newest(remote, name, tag, known.number if known else None)
    return known if data is None else RemoteTag(number, _decode(remote, name, tag, number, data))


def change_remote_tag(
    remote: Remote, name: str, tag: str, change: Callable[[Tag | None], Tag]
) -> tuple[RemoteTag, bool]:
    """The tag after `change`, which is pure and asked again whenever somebody else was faster; whether it moved.

    An unreadable tag counts as none.
    """
    for failures in range(TRIES):
        number, data = _newest(remote, name, tag)
        old = _decode_or_none(data)
        new = change(old)
        if old and new.revision == old.revision:
            return RemoteTag(number, old), False
        if _take(remote, name, tag, number + 1, msgspec.json.encode(new, order="sorted")):
            return RemoteTag(number + 1, new), True
        time.sleep(random.uniform(0.0, min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2.0**failures)))
    raise RemoteUnavailable(f"The tag {name}@{tag} in {remote.url} was moved by others {TRIES} times meanwhile.")


def _take(remote: Remote, name: str, tag: str, number: int, data: bytes) -> bool:
    """Create the tag's object of this number, unless somebody else has done so or is about to."""
    prefix = claim_prefix(name, tag, number)
    own = prefix + uuid4().hex
    remote.create(own, b"")
    try:
        if _is_alone(own, list(remote.stats(prefix))):
            key = tag_key(name, tag, number)
            return remote.read(key) is None and remote.create(key, data)
        return False
    finally:
        # The claim of a number that is taken is in nobody's way; who may not delete may still publish.
        with suppress(RemoteRefused, RemoteUnavailable):
            remote.delete(own)


def _is_alone(own: str, claims: Sequence[Stat]) -> bool:
    """Whether no other claim is fresh; both ages are the server's. Our own must be listed, or the list is too old."""
    made_seconds = {stat.key: stat.modified_at_seconds for stat in claims}
    ours_seconds = made_seconds.pop(own, None)
    return ours_seconds is not None and all(each < ours_seconds - CLAIM_SECONDS for each in made_seconds.values())


def _newest(remote: Remote, name: str, tag: str, known: int | None = None) -> tuple[int, bytes | None]:
    """The highest number and what is written there; no bytes if it is `known`, or 0.

    A listing may lag behind, so it is only where the search begins: the end is a number that cannot be read.
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
        return msgspec.json.decode(data, type=Tag)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        place = f"{remote.url}/{tag_key(name, tag, number)}"
        raise InvalidTag(f"The tag {name}@{tag} in {place} cannot be read: {error}. Publish it again.") from error


def _decode_or_none(data: bytes | None) -> Tag | None:
    try:
        return msgspec.json.decode(data, type=Tag) if data is not None else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None

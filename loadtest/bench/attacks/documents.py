"""Attacks by what a request holds: few bytes that cost much, or very many (C1, C4, H8, M1, M2)."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence

from loadtest.bench.attacks.attack import Attack, Strike
from loadtest.bench.attacks.callers import ask_on
from loadtest.bench.attacks.target import Target, attackers_job
from loadtest.workload.docx import make_docx
from loadtest.workload.mix import DOCX, JSON, Job

REQUEST_BYTES = 256 << 20
"""Most bytes of a body, as the service comes."""
CHARSETS = ("undefined", "punycode", "raw_unicode_escape", "utf-7")
NAME_BYTES = 50_000
Make = Callable[[], Job]


def _json(body: Callable[[], bytes], **query: str) -> Make:
    return lambda: attackers_job(body(), JSON, tuple(query.items()))


def _docx(text: Callable[[], str]) -> Make:
    return lambda: attackers_job(make_docx(text()), DOCX)


def _repeated(start: str, item: str, count: int, end: str) -> bytes:
    """A JSON body: a list of so many items, between what begins and what ends it."""
    return (start + f"{item}," * (count - 1) + item + end).encode()


def _filled(start: str, item: str, end: str) -> bytes:
    return _repeated(start, item, (REQUEST_BYTES - len(start) - len(end)) // (len(item) + 1), end)


def _unknown_options(count: int) -> bytes:
    return ("{" + ",".join(f'"{number:x}":0' for number in range(count)) + "}").encode()


def _long_batch() -> bytes:
    return json.dumps({"documents": [{"text": "Invoice 7 from Acme GmbH. " * 2_300}] * 200}).encode()


def _asked_by(callers: int, *makes: Make) -> Strike:
    """The requests are made once and sent in turn, again and again."""

    async def strike(target: Target, end: float) -> None:
        turns = itertools.cycle([make() for make in makes])
        await ask_on(target, lambda: next(turns), callers, end)

    return strike


def _malformed() -> Sequence[Make]:
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\\ud800+2AA-.txt"\r\n\r\nanna\r\n--x--\r\n'
    forms = [_form(part, charset) for charset in CHARSETS]
    return [_json(lambda: b'{"text": "\xff"}'), *forms]


def _form(part: bytes, charset: str) -> Make:
    return lambda: attackers_job(part, f"multipart/form-data; boundary=x; charset={charset}")


async def _new_names(target: Target, end: float) -> None:
    """Media types and charsets that were never seen before, none of which a worker may remember for ever."""
    numbers = itertools.count()

    def make() -> Job:
        number = next(numbers)
        name = f"{number}{'x' * NAME_BYTES}"
        kind = f"multipart/form-data; boundary=x; charset={name}" if number % 2 else f"application/{name}"
        return attackers_job(b"anna", kind)

    await ask_on(target, make, 4, end)


ATTACKS = (
    Attack("DOCX of 20 KB, 19.9 M `-`", "C1", _asked_by(4, _docx(lambda: "-" * 19_900_000))),
    Attack("DOCX of 20 KB, 19.9 M characters `- `", "C1", _asked_by(4, _docx(lambda: "- " * 9_950_000))),
    Attack(
        "JSON, 4 M `の`",
        "C1",
        _asked_by(2, _json(lambda: json.dumps({"text": "の" * 4_000_000}, ensure_ascii=False).encode())),
    ),
    Attack(
        "JSON, 15 M characters of `--` lines",
        "C1",
        _asked_by(2, _json(lambda: json.dumps({"text": "\n--" * 5_000_000}).encode())),
    ),
    Attack(
        "JSON, 14 MB of labels",
        "C4",
        _asked_by(2, _json(lambda: _repeated('{"text":"a","labels":[', "[]", 5_000_000, "]}"))),
    ),
    Attack("JSON, 12 MB of unknown options", "C4", _asked_by(2, _json(lambda: _unknown_options(1_000_000)))),
    Attack(
        "JSON, 12 MB of unknown keys in a document",
        "C4",
        _asked_by(2, _json(lambda: b'{"documents":[' + _unknown_options(1_000_000) + b"]}")),
    ),
    Attack(
        "JSON, a million documents",
        "C4",
        _asked_by(2, _json(lambda: _repeated('{"documents":[', '{"text":""}', 1_000_000, "]}"))),
    ),
    Attack(
        "JSON, a model's name of 57 MB",
        "C4",
        _asked_by(1, _json(lambda: b'{"text":"a","model":"' + b"m" * 57_000_000 + b'"}')),
    ),
    Attack(
        "256 MiB of documents without a character",
        "C4",
        _asked_by(1, _json(lambda: _filled('{"documents":[', '{"text":""}', "]}"))),
    ),
    Attack(
        "256 MiB of lists for labels", "C4", _asked_by(1, _json(lambda: _filled('{"text":"a","labels":[', "[]", "]}")))
    ),
    Attack(
        "256 MiB of a text's escapes",
        "C4",
        _asked_by(1, _json(lambda: b'{"text":"' + b"\\u3042" * ((REQUEST_BYTES - 11) // 6) + b'"}')),
    ),
    Attack("200 documents of 60 KB, deadline 2 s", "H8", _asked_by(2, _json(_long_batch, deadline_ms="2000"))),
    Attack("no UTF-8, forms in strange charsets", "M1", _asked_by(4, *_malformed())),
    Attack("media types and charsets that are always new", "M2", _new_names),
)

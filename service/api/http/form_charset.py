"""The charset of a form: in which names of files and values of fields are decoded.

A form's parser takes any codec of Python's that the Content-Type names, which is not for clients to choose: some raise
errors of their own, some give characters that no answer can hold, and Python remembers every name for good.
"""

from __future__ import annotations

from python_multipart.multipart import parse_options_header

from service.core.errors import MalformedRequest

CHARSETS = frozenset(
    "utf-8 utf8 us-ascii ascii iso-8859-1 latin-1 latin1 iso-8859-15 windows-1250 windows-1251 windows-1252 cp1252 "
    "shift_jis euc-jp gb18030 gb2312 gbk big5 euc-kr koi8-r".split()
)
NAME_CHARACTERS = 1_024
"""Longest name of a file."""


def check_charset(content_type: str) -> None:
    """Refuse a form whose names and fields cannot be decoded.

    Raises:
        MalformedRequest: its charset is none of those that clients use.
    """
    _, parameters = parse_options_header(content_type)
    charset = parameters.get(b"charset", b"utf-8").decode("latin-1").strip().lower()
    if charset not in CHARSETS:
        raise MalformedRequest(f"The form's charset {charset[:40]!r} is not supported; send it as UTF-8.")


def check_name(name: str) -> None:
    """Refuse a file's name that no answer can hold.

    Raises:
        MalformedRequest: it is no Unicode text, or far too long.
    """
    if len(name) > NAME_CHARACTERS:
        raise MalformedRequest(f"A file's name has {len(name):,} characters; the limit is {NAME_CHARACTERS:,}.")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise MalformedRequest("A file's name is no Unicode text.") from None

"""What is wrong with JSON that cannot be decoded, in the same words at every door."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from service.core.errors import GleanerError, MalformedRequest

_T = TypeVar("_T")


def decoded(decode: Callable[[], _T], wrong: Callable[[msgspec.ValidationError], GleanerError]) -> _T:
    """What `decode` returns; `wrong` makes the error of JSON that is something else than it should be.

    Raises:
        GleanerError: what `wrong` made.
        MalformedRequest: it is not JSON, not UTF-8, or nested too deeply.
    """
    try:
        return decode()
    except msgspec.ValidationError as error:
        raise wrong(error) from None
    except RecursionError:
        raise MalformedRequest("The body is JSON that is nested too deeply.") from None
    except UnicodeError:
        raise MalformedRequest("The body is not JSON: it is not UTF-8.") from None
    except msgspec.DecodeError as error:
        raise MalformedRequest(f"The body is not JSON: {error}.") from None

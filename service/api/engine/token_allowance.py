"""The allowance of one document: how many tokens of it the engine may still admit.

A document is tokenized piece by piece, and the engine's own rules (`service/core/scheduling/admission.py`) refuse a
longer one wherever they refuse a shorter one. So as soon as the tokens so far are more than it would admit, the rest is
not worth tokenizing. The rule: nothing is refused here that the engine, in the state that it last reported, would take.
Pure: time is passed in.
"""

from __future__ import annotations

from service.core.errors import DeadlineExceeded, QueueFull
from service.wire import Status


def check_tokens(tokens: int, status: Status, deadline_seconds: float, now: float) -> None:
    """Refuse a document that has at least so many tokens, if the engine would.

    Raises:
        QueueFull: others wait, and it is longer than the whole queue.
        DeadlineExceeded: the device cannot compute so many tokens before the deadline.
    """
    waiting, limit, speed = status.load.tokens, status.queue_limit_tokens, status.tokens_per_second
    if waiting and 0 < limit < tokens:
        wait = (waiting + tokens - limit) / speed if speed else None
        detail = f"{waiting} tokens wait and the document has {tokens} or more; the limit is {limit}"
        raise QueueFull(detail, retry_after_seconds=wait)
    left = max(deadline_seconds - now, 0.0)
    if speed and tokens / speed > left:
        needed = tokens / speed
        detail = f"about {needed:.1f} s or more are needed and {left:.1f} s are left"
        raise DeadlineExceeded(detail, retry_after_seconds=waiting / speed)

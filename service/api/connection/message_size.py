"""The size of a message as it arrives: bytes of its head and of its body, and those around its body. Pure.

The parser has no limits, and keeps a header line until its end; so bytes are counted before it sees them too.
"""

from __future__ import annotations

from service.api.connection.limits import ConnectionLimits

FRAMING_BYTES = 16
"""Most bytes of chunk sizes and line ends beside one byte of a body."""


class MessageSize:
    """Counts of the message that arrives; all begin anew with the next one."""

    __slots__ = ("_around_body", "_limits", "body_bytes", "head_bytes", "in_head", "trailers")

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._around_body = 0
        self.head_bytes = self.body_bytes = self.trailers = 0
        self.in_head = True

    def receive(self, count: int) -> None:
        """Count bytes that came, before they are parsed."""
        if self.in_head:
            self.head_bytes += count
        else:
            self._around_body += count

    def end_head(self) -> None:
        """The head is complete."""
        self.in_head = False
        self.head_bytes = self.body_bytes = self.trailers = self._around_body = 0

    def end_body(self) -> None:
        """The message is complete."""
        self.in_head = True
        self.head_bytes = 0

    @property
    def is_too_large(self) -> bool:
        """True when what came of a head, or around a body (chunk sizes, trailers), is over its limit."""
        if self.in_head:
            return self.head_bytes > self._limits.head_bytes
        return self._around_body > self._limits.head_bytes + FRAMING_BYTES * self.body_bytes

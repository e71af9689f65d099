"""Device health: what threads that use the device outside of batches found, for the loop to read without waiting.

The loop's thread itself asks neither CUDA nor NVML anything: after a fault CUDA's calls raise, and in a driver that
hangs they never return.
"""

from __future__ import annotations

from collections.abc import Callable


class DeviceHealth:
    """The signs of life of one device; written by any thread.

    Args:
        wake: called, on the thread that reports it, for the first failure.

    Attributes:
        failure: the first error outside of batches that means that the device is broken; None while there is none.
        answers: how often the driver has answered the thread that polls it; None before the first time.
    """

    def __init__(self, wake: Callable[[], None] = lambda: None) -> None:
        self._wake = wake
        self.failure: str | None = None
        self.answers: int | None = None

    def failed(self, error: BaseException) -> None:
        """Record an error that means that the device is broken."""
        if self.failure is None:
            self.failure = summary(error)
            self._wake()

    def answered(self) -> None:
        """Record that the driver has answered; for the one thread that polls it."""
        self.answers = (self.answers or 0) + 1


def summary(error: BaseException) -> str:
    """Type and first line: what follows in CUDA's errors is advice on debugging."""
    return f"{type(error).__name__}: {error}".splitlines()[0]

"""Every failure of a load test that a person may see, as one tree.

LoadtestError        it failed: exit code 1
├── BadInput         a file, an option or a scenario that is not what it should be: exit code 2
├── Unreachable      nothing answers at the URL, or the service that was started does not become ready
├── NotTrusted       the generator was the bottleneck: its figures would blame the server for its own delay
└── CheckFailed      an --assert does not hold
"""

from __future__ import annotations


class LoadtestError(Exception):
    """A failure with one helpful sentence."""

    exit_code = 1


class BadInput(LoadtestError):
    """Used wrongly."""

    exit_code = 2


class Unreachable(LoadtestError):
    """There is nothing to load."""


class NotTrusted(LoadtestError):
    """The generator could not keep its schedule."""


class CheckFailed(LoadtestError):
    """A condition does not hold."""

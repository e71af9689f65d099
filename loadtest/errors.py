"""The errors of a load test, as one tree.

LoadtestError        exit code 1
├── BadInput         an invalid file, option or scenario: exit code 2
├── MissingExtra     a library of the extra `loadtest` is not installed: exit code 2
├── Unreachable      nothing answers at the URL, or the service that was started does not become ready
├── NotTrusted       the generator was the bottleneck, so its figures would be its own delay
└── CheckFailed      an assertion does not hold
"""

from __future__ import annotations


class LoadtestError(Exception):
    """A failure, with one helpful sentence."""

    exit_code = 1


class BadInput(LoadtestError):
    """An invalid file, option or scenario."""

    exit_code = 2


class MissingExtra(LoadtestError):
    """A library of the extra `loadtest` is not installed."""

    exit_code = 2


class Unreachable(LoadtestError):
    """Nothing answers, or the service that was started does not become ready."""


class NotTrusted(LoadtestError):
    """The generator did not keep its schedule."""


class CheckFailed(LoadtestError):
    """An assertion does not hold."""

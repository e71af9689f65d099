"""Which revision each reference of the settings leads to, the one before it, and what is wrong with a newer one. Pure.

A reference leads to exactly one revision. The one before is kept for whoever asks for it by its digest, and for a tag
that moves back.
"""

from __future__ import annotations


class ModelAliases:
    """All references of one engine."""

    def __init__(self, serving: dict[str, str]) -> None:
        self._serving = dict(serving)
        self._previous: dict[str, str] = {}
        self._problems: dict[str, str] = {}

    def serving(self) -> dict[str, str]:
        """Which revision each leads to."""
        return dict(self._serving)

    def previous(self) -> dict[str, str]:
        """Which revision each led to before, if to another."""
        return dict(self._previous)

    def resolve(self, reference: str) -> str:
        """The revision that a reference leads to now."""
        return self._serving[reference]

    def __contains__(self, revision: str) -> bool:
        return revision in self._serving.values() or revision in self._previous.values()

    def switch(self, reference: str, revision: str) -> set[str]:
        """Let a reference lead to another revision; returns those it led to, before and earlier, that serve no more."""
        before, dropped = self._serving[reference], self._previous.get(reference)
        self._serving[reference], self._previous[reference] = revision, before
        led_to = {before} if dropped is None else {before, dropped}
        return led_to - set(self._serving.values())

    def note_problem(self, reference: str, problem: str) -> None:
        """Say why a newer revision is not taken."""
        self._problems[reference] = problem

    def clear_problem(self, reference: str) -> None:
        """Note that nothing is wrong any more."""
        self._problems.pop(reference, None)

    def problem(self, reference: str) -> str:
        """Why a newer revision is not taken; empty if nothing is wrong."""
        return self._problems.get(reference, "")

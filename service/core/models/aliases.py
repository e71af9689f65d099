"""Model aliases: the revision that each reference stands for, the previous one, and why a newer one is rejected. Pure.

A reference stands for exactly one revision. The previous one is kept for requests that name it by its digest, and for a
tag that moves back.
"""

from __future__ import annotations


class ModelAliases:
    """The references of one engine, as its settings name them."""

    def __init__(self, serving: dict[str, str]) -> None:
        self._serving = dict(serving)
        self._previous: dict[str, str] = {}
        self._problems: dict[str, str] = {}

    def serving(self) -> dict[str, str]:
        """The revision of each reference."""
        return dict(self._serving)

    def previous(self) -> dict[str, str]:
        """The previous revision of each reference that had another one."""
        return dict(self._previous)

    def resolve(self, reference: str) -> str:
        """The revision that a reference stands for now."""
        return self._serving[reference]

    def __contains__(self, revision: str) -> bool:
        return revision in self._serving.values() or revision in self._previous.values()

    def switch(self, reference: str, revision: str) -> set[str]:
        """Let a reference stand for another revision; returns its former ones that no reference stands for any more."""
        previous, dropped = self._serving[reference], self._previous.get(reference)
        self._serving[reference], self._previous[reference] = revision, previous
        former = {previous} if dropped is None else {previous, dropped}
        return former - set(self._serving.values())

    def note_problem(self, reference: str, problem: str) -> None:
        """Record why a newer revision is rejected."""
        self._problems[reference] = problem

    def clear_problem(self, reference: str) -> None:
        """Record that no newer revision is rejected."""
        self._problems.pop(reference, None)

    def problem(self, reference: str) -> str:
        """Why a newer revision is rejected; empty if none is."""
        return self._problems.get(reference, "")

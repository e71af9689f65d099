"""Templates as independent structural choices: the axes of a kind of document, and one drawn at random.

A template is one option of each axis; its signature names its structure, in which training and held-out templates
differ. Page marks, rules and slogans (the axis `headers_footers`) are no structure, so that templates which differ
in nothing else are never on both sides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from service.evaluation.labelled_documents import digest_of

Axes = Mapping[str, tuple[str, ...]]
UNSTRUCTURED: Final = "headers_footers"
HELD_OUT_PERCENT: Final = 12
"""Percentage of templates and of public sets' texts that training leaves out."""


@dataclass(frozen=True, slots=True)
class Template:
    """One option of each axis."""

    kind: str
    options: Mapping[str, str]

    def __getitem__(self, axis: str) -> str:
        return self.options[axis]

    @property
    def signature(self) -> str:
        """E.g. invoice/window/columns/ruled/right/usual."""
        return "/".join((self.kind, *(option for axis, option in self.options.items() if axis != UNSTRUCTURED)))


def choose_template(rng: Random, kind: str, axes: Axes) -> Template:
    return Template(kind, {axis: rng.choice(options) for axis, options in axes.items()})


def is_held_out(signature: str) -> bool:
    """True for about HELD_OUT_PERCENT of the templates, by their digest."""
    return digest_of(signature) % 100 < HELD_OUT_PERCENT

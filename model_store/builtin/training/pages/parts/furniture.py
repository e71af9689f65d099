"""What stands on pages beside their matter: running heads and feet, page marks, rules, numbers that mean nothing."""

from random import Random
from typing import Final

from model_store.builtin.training.generator.canvas import Row, row
from model_store.builtin.training.generator.identifiers import digits, letters
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import Box, indented, lines, stack

FURNITURE: Final = ("plain", "paged", "ruled", "marked", "slogan")


def furnished(rng: Random, how: str, lexicon: Lexicon, boxes: list[Box]) -> Box:
    """The boxes of a page one below another, with one of the kinds of FURNITURE among them."""
    gap = rng.choice((0, 0, 1, 2))
    boxes = [box for box in boxes if box.fragments]
    match how:
        case "paged":
            mark = lexicon.say(rng, "page").format(n=(n := rng.randint(1, 4)), m=rng.randint(n, 6))
            shifted = indented(lines([row(mark)]), rng.choice((0, 30, 60)))
            boxes.insert(rng.choice((0, len(boxes))), shifted)
        case "ruled":
            mark, width = rng.choice("=-_*.─#~+"), rng.randint(4, 80)
            for _ in range(rng.randint(1, 4)):
                boxes.insert(rng.randint(0, len(boxes)), lines([row(mark * width)]))
        case "marked":
            for _ in range(rng.randint(1, 3)):
                boxes.insert(rng.randint(0, len(boxes)), lines([_junk(rng)]))
        case "slogan":
            boxes.insert(rng.choice((0, 1, len(boxes))), lines([row(lexicon.say(rng, "filler"))]))
    return stack(*boxes, gap=gap)


def _junk(rng: Random) -> Row:
    return row(
        rng.choice(
            (
                f"{letters(rng, 2)}-{digits(rng, 2)}/{digits(rng, 2)}",
                f"({rng.randint(1, 99)})",
                f"Rev. {rng.randint(1, 9)}.{rng.randint(0, 9)}",
                f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}",
                "* * *",
                "[ ]",
                "|||| ||| |||| ||",
                "o" * rng.randint(3, 20),
            )
        )
    )

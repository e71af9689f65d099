"""Where the words of a stretch of text stand when some of them run from right to left (UAX 9, much simplified)."""

from collections.abc import Sequence
from itertools import groupby


def is_leftward(text: str) -> bool:
    """Whether it has a letter of a script from right to left."""
    return any("\u0590" <= letter <= "\u08ff" for letter in text)


def shown_order(words: Sequence[str]) -> list[int]:
    """The words' numbers from left to right: text with right-to-left words is reversed, runs of other words in it not.

    Marks alone go with the text's own direction.
    """
    text_is_leftward = any(map(is_leftward, words))

    def goes_left(number: int) -> bool:
        return is_leftward(words[number]) or (text_is_leftward and not any(map(str.isalnum, words[number])))

    runs = [(left, list(run)) for left, run in groupby(range(len(words)), key=goes_left)]
    ordered = reversed(runs) if text_is_leftward else runs
    return [number for left, run in ordered for number in (reversed(run) if left else run)]

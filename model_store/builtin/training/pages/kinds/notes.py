"""Notes without a form: single sentences on bills, news, messages, and texts in which nothing is to be found."""

from random import Random
from typing import Final

from model_store.builtin.training.generator.canvas import Row
from model_store.builtin.training.pages.facts import new_trade
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.parts import furniture, prose
from model_store.builtin.training.pages.sheet import Box, beside, lines, stack

AXES: Final[Axes] = {
    "about": ("trade", "world", "both", "nothing"),
    "length": ("one", "few", "many"),
    "layout": ("paragraph", "unbroken", "lines", "bullets", "two_columns"),
    "furniture": furniture.FURNITURE,
}
_COUNTS: Final = {"one": (1, 1), "few": (2, 3), "many": (4, 8)}


def note(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    """Sentences; those on a sale are of one sale."""
    sentences = _sentences(rng, lexicon, template)
    dense = lexicon.is_dense
    match template["layout"]:
        case "lines":
            body = lines(sentences)
        case "unbroken":
            body = lines([prose.run_on(sentences, dense=dense)])
        case "bullets":
            body = lines([prose.bulleted(rng, sentence) for sentence in sentences])
        case "two_columns":
            boxes = [lines(prose.set_to(34, sentence, dense=dense)) for sentence in sentences]
            half = (len(boxes) + 1) // 2
            body = beside(stack(*boxes[:half]), stack(*boxes[half:]), gap=4)
        case _:
            body = lines(prose.set_to(rng.randint(40, 100), prose.run_on(sentences, dense=dense), dense=dense))
    # A slogan or junk beside one sentence would outweigh it.
    how = template["furniture"] if template["length"] == "many" else "plain"
    return furniture.furnished(rng, how, lexicon, [body])


def _sentences(rng: Random, lexicon: Lexicon, template: Template) -> list[Row]:
    trade = new_trade(rng, lexicon)
    makers = prose.of_world(rng, lexicon, trade.hand)
    sources = {"trade": ("prose",), "world": ("news",), "both": ("prose", "news", "filler"), "nothing": ("filler",)}
    keys = [rng.choice(sources[template["about"]]) for _ in range(rng.randint(*_COUNTS[template["length"]]))]
    return [
        prose.filled(lexicon.say(rng, key), makers | prose.of_trade(trade) if key == "prose" else makers)
        for key in keys
    ]

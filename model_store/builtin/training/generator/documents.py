"""One labelled document: a kind by weight, its rows, noise, and the rendering."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

from model_store.builtin.training.examples import Example
from model_store.builtin.training.generator.canvas import Block, render
from model_store.builtin.training.generator.kinds.contracts import contract_rows
from model_store.builtin.training.generator.kinds.forms import form_rows
from model_store.builtin.training.generator.kinds.invoices import invoice_rows
from model_store.builtin.training.generator.kinds.letters import letter_rows
from model_store.builtin.training.generator.kinds.receipts import receipt_rows
from model_store.builtin.training.generator.kinds.resumes import resume_rows
from model_store.builtin.training.generator.locales import choose_locale
from model_store.builtin.training.generator.noise import roughen
from model_store.builtin.training.generator.sentences import prose_rows, sentence_rows

Maker = Callable[[Random], tuple[str, Block]]
KINDS: Final[dict[str, tuple[float, Maker]]] = {
    "invoice": (32.0, invoice_rows),
    "resume": (16.0, resume_rows),
    "receipt": (9.0, receipt_rows),
    "contract": (10.0, contract_rows),
    "letter": (9.0, letter_rows),
    "form": (5.0, form_rows),
    "sentence": (18.0, sentence_rows),
    "prose": (8.0, prose_rows),
}
NOISY_SHARE: Final = 0.75


def generate(rng: Random, kind: str | None = None) -> Example:
    """A labelled document. `group` is its template's name, by which templates are held out."""
    kind = kind or rng.choices(list(KINDS), [weight for weight, _ in KINDS.values()])[0]
    template, rows = KINDS[kind][1](rng)
    if rng.random() < NOISY_SHARE:
        rows = roughen(rng, rows, choose_locale(rng))
    text, spans = render(rows, line_end="\n" if rng.random() < 0.95 else rng.choice((" ", "  ")))
    return Example(text=text, spans=spans, source=f"generated_{kind}", group=template)


def generate_many(seed: int, count: int) -> Iterator[Example]:
    """`count` documents; each has its own generator, so that any one of them can be had again."""
    for number in range(count):
        yield generate(Random(f"{seed}/{number}"))

"""One labelled document: a kind and a language by weight, a template, its page, and what a reader makes of it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Final, NamedTuple

from model_store.builtin.training.pages.grammar import Axes, Template, choose_template
from model_store.builtin.training.pages.kinds import (
    adverts,
    contracts,
    forms,
    letters,
    payslips,
    receipts,
    resumes,
    statements,
    trade,
)
from model_store.builtin.training.pages.lexicon import Lexicon, choose_lexicon
from model_store.builtin.training.pages.reading import MARGIN_POINTS, Medium, placed, transcribed
from model_store.builtin.training.pages.sheet import Box, mirrored
from service.evaluation.labelled_documents import LabelledDocument


class Kind(NamedTuple):
    """A kind of document: its share, its templates, and how a page is made after one."""

    weight: float
    axes: Axes
    draw: Callable[[Random, Lexicon, Template], Box]


KINDS: Final = {
    "invoice": Kind(27.0, trade.AXES, trade.invoice),
    "credit_note": Kind(3.0, trade.AXES, trade.credit_note),
    "receipt": Kind(8.0, receipts.AXES, receipts.receipt),
    "resume": Kind(14.0, resumes.AXES, resumes.resume),
    "contract": Kind(9.0, contracts.AXES, contracts.contract),
    "letter": Kind(8.0, letters.LETTER_AXES, letters.letter),
    "form": Kind(5.0, forms.AXES, forms.form),
    "statement": Kind(3.0, statements.AXES, statements.statement),
    "advert": Kind(4.0, adverts.AXES, adverts.advert),
    "payslip": Kind(3.0, payslips.AXES, payslips.payslip),
    "note": Kind(20.0, letters.NOTE_AXES, letters.note),
}
MEDIA: Final = {Medium.PDF: 0.7, Medium.MARKUP: 0.15, Medium.SPACED: 0.15}
INKED_SHARE: Final = 0.6
"""Share of the PDFs whose boxes are around the ink."""
PAGE_WIDTH: Final = 90


def page(rng: Random, *, kind: str | None = None, lexicon: Lexicon | None = None) -> LabelledDocument:
    """A labelled document, with boxes if it is read as a PDF; what is not given is drawn.

    `group` is the template's signature.
    """
    kind = kind or rng.choices(list(KINDS), [k.weight for k in KINDS.values()])[0]
    template = choose_template(rng, kind, KINDS[kind].axes)
    lexicon = lexicon or choose_lexicon(rng)
    medium = rng.choices(list(MEDIA), list(MEDIA.values()))[0]
    read = transcribed(drawn(rng, lexicon, template).fragments, medium)
    margins = rng.uniform(*MARGIN_POINTS), rng.uniform(*MARGIN_POINTS)
    boxed = None
    if medium is Medium.PDF:
        boxed = placed(read, margins, is_sheet=kind != "receipt", is_inked=rng.random() < INKED_SHARE)
    return LabelledDocument("page", *read[:2], template.signature, lexicon.language, kind, placed=boxed)


def drawn(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    """The template's page, mirrored where the language is written from right to left."""
    box = KINDS[template.kind].draw(rng, lexicon, template)
    return mirrored(box, PAGE_WIDTH) if lexicon.is_rtl else box


def pages(seed: int, count: int) -> Iterator[LabelledDocument]:
    """`count` documents; each has its own generator, so that any one of them can be had again."""
    for number in range(count):
        yield replace(page(Random(f"pages/{seed}/{number}")), id=f"page-{seed}-{number}")

"""Entities and fields as values: what was found in a document, and what an invoice, a receipt or a résumé says."""

from __future__ import annotations

import msgspec


class FoundEntity(msgspec.Struct, frozen=True):
    """One entity; `text` is exactly the document's characters `[start:end]`.

    Attributes:
        boxes: of a PDF's words, in points from the top left of the page.
        kind: what `value` is, such as `money` or `date`.
        source: `model` or `rule`.
        valid: whether the check digits hold; None where there are none.
        ambiguous: other values that the text may mean.
        number, unit: of an amount or a quantity, as decimal and currency.
        ocr_confidence: the least of its words, if they were recognized in a picture.
        words: in pages of words, its words [first, end), counted from 0 on its page; boxes are in the page's unit.
    """

    label: str
    text: str
    start: int
    end: int
    score: float
    value: str
    page: int | None = None
    boxes: list[tuple[float, float, float, float]] = []
    kind: str = "text"
    source: str = "model"
    valid: bool | None = None
    ambiguous: list[str] = []
    number: str | None = None
    unit: str | None = None
    ocr_confidence: float | None = None
    words: tuple[int, int] | None = None


class FoundRecord(msgspec.Struct, frozen=True):
    """One record of a kind that `schema` names: how surely it is one, and the values of each field."""

    score: float
    fields: dict[str, list[FoundEntity]]


class FieldEntity(FoundEntity, frozen=True, kw_only=True):
    """The entity chosen for a role, why (`reason`: `label`, `sum` or `context`), and those with other values.

    `text` is empty where the document does not show the value: a sum of stated amounts.
    `evidence`: of a bill's role, what speaks for the value (above 0) and against it (below).
    """

    reason: str
    alternatives: list[FoundEntity] = []
    evidence: dict[str, float] = {}


class LineItem(msgspec.Struct, frozen=True):
    """One row of a bill."""

    description: FoundEntity
    quantity: FoundEntity | None = None
    unit_price: FoundEntity | None = None
    amount: FoundEntity | None = None


class Tax(msgspec.Struct, frozen=True):
    """The tax of one rate; None for what is not stated. Of a supply without tax `rate` says why, its number is 0."""

    rate: FoundEntity | None = None
    base: FoundEntity | None = None
    amount: FoundEntity | None = None


class CheckLine(msgspec.Struct, frozen=True):
    """A line between the sums of a check; `amount` has the sign with which it is added, in decimal."""

    name: str
    amount: str


class SumCheck(msgspec.Struct, frozen=True):
    """A sum that was checked; `difference`: its left side less its right one, in decimal."""

    rule: str
    holds: bool
    difference: str
    lines: list[CheckLine] = []


class Job(msgspec.Struct, frozen=True):
    """One job of a résumé; `ongoing`: the document says that it lasts."""

    title: FoundEntity | None = None
    employer: FoundEntity | None = None
    dates: list[FoundEntity] = []
    ongoing: bool = False


class Education(msgspec.Struct, frozen=True):
    """One education of a résumé; `ongoing`: the document says that it lasts."""

    degree: FoundEntity | None = None
    school: FoundEntity | None = None
    dates: list[FoundEntity] = []
    ongoing: bool = False


class ContractParty(msgspec.Struct, frozen=True):
    """One party of a contract. `called`: what the contract calls it ("Landlord"); None where it does not."""

    name: FoundEntity
    called: FoundEntity | None = None


class Contradiction(msgspec.Struct, frozen=True):
    """A role for which an invoice's XML states one value (`embedded`) and the page shows another (`page`)."""

    role: str
    embedded: str
    page: FoundEntity


class EmbeddedInvoice(msgspec.Struct, frozen=True):
    """The XML of an electronic invoice, of which the fields are; `file`: the attachment's name, if it is one."""

    syntax: str
    profile: str
    document_type: str
    file: str | None = None
    contradictions: list[Contradiction] = []
    amount_due: str | None = None


class DocumentFields(msgspec.Struct, frozen=True):
    """The fields of an invoice, a credit note, a receipt, a contract or a résumé (`kind`), by role.

    Attributes:
        evidence: the labels that decided the kind, with the best score of each.
        currency, line_items, taxes, checks: of bills. A `credit_note`'s total is nothing to pay.
        bills: how many the file holds.
        document_type: of UNTDID 1001: `380` an invoice, `381` a credit note; None for a receipt.
        embedded: of an electronic invoice.
        jobs, educations, skills, languages: of résumés.
        parties: of contracts.
    """

    kind: str
    evidence: dict[str, float]
    roles: dict[str, FieldEntity]
    currency: str | None = None
    line_items: list[LineItem] = []
    taxes: list[Tax] = []
    checks: list[SumCheck] = []
    bills: int = 0
    document_type: str | None = None
    embedded: EmbeddedInvoice | None = None
    jobs: list[Job] = []
    educations: list[Education] = []
    skills: list[FoundEntity] = []
    languages: list[FoundEntity] = []
    parties: list[ContractParty] = []


class Paper(msgspec.Struct, frozen=True):
    """One paper of a file: a bill, an order, a delivery note …, at the document's characters `[start:end]`.

    Attributes:
        kind: what it is; None where that is not known.
        title: its heading, as the page writes it.
        document_type: of UNTDID 1001: `380` an invoice, `381` a credit note.
        pages: its first and its last; None in a format without pages.
        fields: of bills and résumés alone.
    """

    kind: str | None
    title: str | None
    document_type: str | None
    pages: tuple[int, int] | None
    start: int
    end: int
    fields: DocumentFields | None = None

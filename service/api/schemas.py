"""Answers to /extract, as msgspec writes them; OpenAPI shows them under the names of `json_schemas`."""

from __future__ import annotations

from typing import Annotated

import msgspec

from service.api.problems import Problem
from service.core.decoding.entities import Source
from service.core.decoding.value import ValueKind
from service.core.fields.contract import CONTRACT_ROLES
from service.core.fields.kinds import PaperKind
from service.core.fields.mentions import Reason
from service.core.fields.resume import PERSON_ROLES
from service.core.fields.roles import ORDER
from service.documents.document import Charset, RecognizedPage, UnreadAttachment, UnreadReason

Box = Annotated[
    tuple[float, float, float, float],
    msgspec.Meta(
        title="Box",
        description="`[left, top, right, bottom]` in points (1/72 inch) from the top left of the page as shown; for "
        "pages of words, in the unit of the page.",
    ),
]
PageSize = Annotated[
    tuple[float, float],
    msgspec.Meta(
        title="PageSize",
        description="`[width, height]` of the page as shown, in points (1/72 inch); for pages of words, as sent.",
    ),
]
WordRange = Annotated[
    tuple[Annotated[int, msgspec.Meta(ge=0)], Annotated[int, msgspec.Meta(ge=0)]],
    msgspec.Meta(
        title="WordRange",
        description="Words `[first, end)` of a page of words, counted from 0 on `page`; if an entity continues on the "
        "next page, those of its first page.",
    ),
]
Offset = Annotated[
    int,
    msgspec.Meta(
        ge=0,
        description="From the start of the text, in code points; with `offsets=utf16` in UTF-16 units, as JavaScript "
        "counts; with `offsets=byte` in bytes of UTF-8.",
    ),
]
_Milliseconds = Annotated[float, msgspec.Meta(ge=0)]


class ModelName(msgspec.Struct, frozen=True):
    """The model that answered: its name and the digest of its revision."""

    name: str
    revision: str


class EntityResult(msgspec.Struct, frozen=True):
    """One entity; `text` is exactly the document's characters `[start:end]`.

    `kind` is the form of `value`, and `source` says whether the model or a rule found it. What there is nothing to say
    about is left out: `valid` where there is no checksum, `ambiguous` (all readings) where there is one reading, and
    `number` and `unit` where the value has none.
    `score`: with `constrained`, of a calibrated model (`/models`), the share of such entities whose span and label are
    right; of others the mean probability that the model gave its words.
    """

    label: str
    text: str
    start: Offset
    end: Offset
    score: Annotated[float, msgspec.Meta(ge=0, le=1)]
    value: Annotated[str, msgspec.Meta(description="The text in the standard form of its `kind`.")]
    page: Annotated[int | None, msgspec.Meta(description="From 1; null where the format has no pages.")]
    boxes: Annotated[list[Box], msgspec.Meta(description="One for each line; empty where there is no layout.")]
    kind: ValueKind = ValueKind.TEXT
    source: Source = Source.MODEL
    valid: Annotated[
        bool | msgspec.UnsetType, msgspec.Meta(description="Whether the checksum or numbering plan holds.")
    ] = msgspec.UNSET
    ambiguous: Annotated[
        list[str] | msgspec.UnsetType, msgspec.Meta(description="All readings, where there are several.")
    ] = msgspec.UNSET
    number: Annotated[
        str | msgspec.UnsetType, msgspec.Meta(description="Of money, a quantity or a percentage: plain decimal.")
    ] = msgspec.UNSET
    unit: Annotated[
        str | msgspec.UnsetType, msgspec.Meta(description="ISO 4217 of money, CLDR's name of a quantity's unit.")
    ] = msgspec.UNSET
    ocr_confidence: Annotated[
        float | msgspec.UnsetType,
        msgspec.Meta(description="The least of its words, if in a picture; 0 to 1."),
    ] = msgspec.UNSET
    words: WordRange | msgspec.UnsetType = msgspec.UNSET


class FieldResult(EntityResult, frozen=True, kw_only=True):
    """The entity chosen for a role, and those with other values in the order in which they fit the role.

    An amount that names no currency has that of its paper in `value` and `unit`, as in `taxes` and `line_items`.

    With `source: rule` and a label of no role (MONEY, DATE, ID_NUMBER) it may be none of `entities`: a value that the
    model has not found, beside words for the role.
    `score`: of a bill's role, the probability that this value is right, from the label's score, the words before it,
    its checksum, the sums and the next best value; of others and of an alternative, the entity's own score, or 0.5 of a
    contract's value that is no entity, but named by words (`source: rule`).
    `reason`: what decided: its label and score, amounts that add up (`sum`), or words and place (`context`).
    With `source: embedded` the value is the one that the XML of an electronic invoice states; `text` is then empty
    where the page does not show it. So it is of a sum that the page does not state, such as the tax of several rates
    (`reason: sum`).
    """

    reason: Reason
    alternatives: list[EntityResult]
    evidence: Annotated[
        dict[str, float] | msgspec.UnsetType,
        msgspec.Meta(description="Of a bill's role: what speaks for the value (above 0) and against it (below)."),
    ] = msgspec.UNSET


class LineItemResult(msgspec.Struct, frozen=True):
    """One row of a bill."""

    description: EntityResult
    quantity: EntityResult | None
    unit_price: EntityResult | None
    amount: EntityResult | None


class TaxResult(msgspec.Struct, frozen=True):
    """The tax of one rate; null for what is not stated.

    The rate of a supply without tax is 0, its `text` the words that say so.
    """

    rate: EntityResult | None
    base: EntityResult | None
    amount: EntityResult | None


class CheckLineResult(msgspec.Struct, frozen=True):
    """A line between the sums of a check, such as a `tip`; `amount`: decimal, with the sign with which it is added."""

    name: str
    amount: str


class CheckResult(msgspec.Struct, frozen=True):
    """A sum that was checked; `difference`: its left side less its right one.

    `rule` names the lines that explain a difference, if the page states them: a `tip`, a `withholding`. `lines` has
    their amounts.
    """

    rule: str
    holds: bool
    difference: str
    lines: list[CheckLineResult] = []


class JobResult(msgspec.Struct, frozen=True):
    """One job of a résumé. `ongoing`: the document says that it lasts ("present")."""

    title: EntityResult | None
    employer: EntityResult | None
    dates: list[EntityResult]
    ongoing: bool


class EducationResult(msgspec.Struct, frozen=True):
    """One education of a résumé. `ongoing`: the document says that it lasts."""

    degree: EntityResult | None
    school: EntityResult | None
    dates: list[EntityResult]
    ongoing: bool


class ContractPartyResult(msgspec.Struct, frozen=True):
    """One party of a contract. `called`: what the contract calls it ("Landlord"); null where it does not."""

    name: EntityResult
    called: EntityResult | None


class ContradictionResult(msgspec.Struct, frozen=True):
    """A role for which an invoice's XML states one value (`embedded`) and the page shows another (`page`)."""

    role: str
    embedded: str
    page: EntityResult


class EmbeddedResult(msgspec.Struct, frozen=True):
    """The XML of an electronic invoice, of which the fields are: an attachment (`file`), or the document itself.

    `profile`: the guideline that it names; `document_type`: of UNTDID 1001: 380 an invoice, 381 a credit note.
    `amount_due`: what is to be paid, where it is another amount than the total.
    `contradictions`: where page and XML say different things, as in a fraud or a mistake of the sender.
    """

    syntax: str
    profile: str
    file: str | None
    document_type: str
    contradictions: list[ContradictionResult]
    amount_due: str | None = None


_ROLES = (
    f"Those that were found. Of a bill: {', '.join(map(str.lower, ORDER))}; of a résumé: {', '.join(PERSON_ROLES)}; "
    f"of a contract: {', '.join(CONTRACT_ROLES)}."
)


class FieldsResult(msgspec.Struct, frozen=True):
    """The fields of one document, by role. `evidence`: the labels that decided its kind, with the best score of each.

    Bills have `currency`, `line_items`, `taxes`, `checks`, `bills` and `document_type`, résumés the lists after them,
    contracts `parties`.
    The total of a `credit_note` is nothing to pay: the supplier owes it. `bills`: how many the file holds.
    What is to be paid: `amount_due`, if there is one, else `total_amount`.
    `document_type` (UNTDID 1001): 380 an invoice, 381 a credit note, 384 a correction, 386 a prepayment …; null where
    no heading says it.
    """

    kind: PaperKind
    evidence: dict[str, float]
    roles: Annotated[dict[str, FieldResult], msgspec.Meta(description=_ROLES)]
    currency: str | msgspec.UnsetType | None = msgspec.UNSET
    line_items: list[LineItemResult] | msgspec.UnsetType = msgspec.UNSET
    taxes: list[TaxResult] | msgspec.UnsetType = msgspec.UNSET
    checks: list[CheckResult] | msgspec.UnsetType = msgspec.UNSET
    bills: int | msgspec.UnsetType = msgspec.UNSET
    document_type: str | msgspec.UnsetType | None = msgspec.UNSET
    embedded: EmbeddedResult | msgspec.UnsetType = msgspec.UNSET
    jobs: list[JobResult] | msgspec.UnsetType = msgspec.UNSET
    educations: list[EducationResult] | msgspec.UnsetType = msgspec.UNSET
    skills: list[EntityResult] | msgspec.UnsetType = msgspec.UNSET
    languages: list[EntityResult] | msgspec.UnsetType = msgspec.UNSET
    parties: list[ContractPartyResult] | msgspec.UnsetType = msgspec.UNSET


class PaperResult(msgspec.Struct, frozen=True):
    """One paper of a file: a bill, an order, a delivery note …, at the document's characters `[start:end]`.

    `kind`: null where it is not known. `title`: the heading as the page writes it. `document_type`: of UNTDID 1001.
    `pages`: its first and its last; null in a format without pages. `fields`: of bills, contracts and résumés alone.
    """

    kind: PaperKind | None
    title: str | None
    document_type: str | None
    pages: tuple[int, int] | None
    start: Offset
    end: Offset
    fields: FieldsResult | None


class RecordResult(msgspec.Struct, frozen=True):
    """One record of the kind that a `schema` names: the values of each field, in the order of the text.

    A value's `label` is its field. `score`: how surely it is a record; a value's: also that it belongs to this one.
    """

    score: Annotated[float, msgspec.Meta(ge=0, le=1)]
    fields: dict[str, list[EntityResult]]


class PartlyReadResult(msgspec.Struct, frozen=True):
    """Part of a page or file that was not read: why (`image`, `outlines`, `unmapped`, `hidden`, `struck`), and boxes.

    `page` is null in a format without pages. `characters`: of `hidden` text, which no person sees, and of
    `struck` text, which a line goes through; 0 for other reasons.
    """

    page: int | None
    reason: UnreadReason
    boxes: list[Box]
    characters: int


class DocumentResult(msgspec.Struct, frozen=True, omit_defaults=False):
    """One document's entities, or its error.

    `page_sizes`: of each page of a PDF, or of pages of words, for those who draw `boxes` over it.
    `unread_pages`: numbers of the pages of which nothing was read, or next to nothing: scans, also with a stamp.
    `partly_read`: what was not read of pages with text; all others were read in full.
    `ocr_pages`: pages whose pictures were read, with the mean confidence, and how their text was turned; `page` is null
    of a picture in a DOCX or HTML file, `box` is that of a picture on a page whose text layer was read.
    `unread_attachments`: electronic invoices attached to the file that are damaged, and why.
    `charset`: the character encoding that a text or HTML file was read in, how it was found, and how surely.
    `fields`: those of the first bill, contract or résumé among the `papers`; null without one. Both are absent unless
    asked for.
    `records`: those of each kind that `schema` names, in the order of the text; absent unless asked for.
    """

    id: str
    pages: int | None
    unread_pages: list[int]
    characters: int
    tokens: int
    windows: int
    truncated: bool
    entities: list[EntityResult]
    error: Problem | None
    partly_read: list[PartlyReadResult] = []
    page_sizes: list[PageSize] | msgspec.UnsetType = msgspec.UNSET
    ocr_pages: list[RecognizedPage] | msgspec.UnsetType = msgspec.UNSET
    unread_attachments: list[UnreadAttachment] | msgspec.UnsetType = msgspec.UNSET
    charset: Charset | msgspec.UnsetType = msgspec.UNSET
    text: str | msgspec.UnsetType = msgspec.UNSET
    fields: FieldsResult | msgspec.UnsetType | None = msgspec.UNSET
    papers: list[PaperResult] | msgspec.UnsetType = msgspec.UNSET
    records: dict[str, list[RecordResult]] | msgspec.UnsetType = msgspec.UNSET


class Timing(msgspec.Struct, frozen=True):
    """Milliseconds by stage, summed over the documents; `total_ms` is the request's own time."""

    parse_ms: _Milliseconds = 0.0
    tokenize_ms: _Milliseconds = 0.0
    queue_ms: _Milliseconds = 0.0
    compute_ms: _Milliseconds = 0.0
    decode_ms: _Milliseconds = 0.0
    total_ms: _Milliseconds = 0.0


class ExtractResult(msgspec.Struct, frozen=True):
    """The answer to one request; `documents` in the order of the request."""

    model: ModelName
    documents: list[DocumentResult]
    timing: Timing


class DocumentLine(msgspec.Struct, frozen=True):
    """One line of an NDJSON answer."""

    model: ModelName
    document: DocumentResult
    timing: Timing

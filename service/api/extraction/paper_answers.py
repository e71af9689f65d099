"""Answers of papers: divides a document into its papers and reads each in the context of its own text.

The rule: no value is read, and no field chosen, from another paper's words. An electronic invoice is one paper: its XML
states one bill, and the labels of its values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

import msgspec

from service.api.extraction.field_answers import FieldAnswers
from service.api.extraction.request import ExtractRequest
from service.api.schemas import EntityResult, FieldsResult, PaperResult
from service.core.decoding.entities import Entity, Source
from service.core.decoding.offsets import OffsetMap
from service.core.fields.cells import Span
from service.core.fields.kinds import BILL_KINDS
from service.core.fields.paper_kind import PaperMatch, paper_kind
from service.core.fields.papers import divide
from service.core.fields.role_scores import MOST_DOUBTED
from service.documents.document import Document
from service.text.pipeline import keyword_entities
from service.text.values.context import DocumentContext
from service.text.values.reading import read_values, shielded


class PaperAnswers:
    """Answers the papers of one document, and its entities with the values that they have in their papers."""

    def __init__(
        self, document: Document, request: ExtractRequest, context: DocumentContext, offsets: OffsetMap
    ) -> None:
        self._document = document
        self._request = request
        self._context = context
        self._offsets = offsets
        self._page_starts = [page.start for page in document.pages or ()]

    def answer(self, found: Sequence[Entity]) -> tuple[list[EntityResult], list[PaperResult]]:
        """Answer all entities, whatever their score, and the papers; both in order."""
        answers = [self._paper(span, own) for span, own in self._divided(found)]
        papers = [paper for _, paper in answers]
        bills = sum(paper.fields is not None and paper.fields.bills is not msgspec.UNSET for paper in papers)
        if bills > 1:
            papers = [msgspec.structs.replace(each, fields=_with_bills(each.fields, bills)) for each in papers]
        return [entity for entities, _ in answers for entity in entities], papers

    def _divided(self, found: Sequence[Entity]) -> list[tuple[Span, list[Entity]]]:
        """Return the span of each paper with its entities, whose offsets are those in the paper."""
        text = self._context.text
        if self._document.invoice is not None:
            return [((0, len(text)), list(found))]
        whole = [(0, len(text))]
        spans = shielded(self._context, "divide", partial(divide, text, found, self._page_starts), whole)
        if spans == whole:
            return [(whole[0], list(found))]
        starts = [entity.start for entity in found]
        return [
            (
                (start, end),
                [
                    each._replace(start=each.start - start, end=each.end - start)
                    for each in found[bisect_left(starts, start) : bisect_left(starts, end)]
                ],
            )
            for start, end in spans
        ]

    def _paper(self, span: Span, found: list[Entity]) -> tuple[list[EntityResult], PaperResult]:
        """Answer the entities and the fields of one paper."""
        start, end = span
        context = self._context.part(start, end)
        answers = FieldAnswers(self._document, context, self._offsets, start)
        paper = shielded(context, "paper_kind", lambda: paper_kind(context.text, found), PaperMatch(None))
        missed = keyword_entities(context, answers.lines, found) if paper.kind in BILL_KINDS else []
        every = [*found, *missed]
        pages = [place - start for place in self._page_starts if start <= place < end]
        values = read_values(context, every, self._request.task.reading_labels, pages)
        entities = list(map(answers.entity, every, values))
        is_restated = not (self._document.stated or self._request.keeps_found)
        labels = self._request.task.answered if is_restated else ()
        fields, restated = answers.fields(
            paper, every, values, entities, by_keyword=len(missed), answered_labels=labels
        )
        listed = [
            _restated(entity, *restated[number]) if number in restated else entity
            for number, entity in enumerate(entities[: len(found)])
        ]
        return listed, self._result(span, paper, fields)

    def _result(self, span: Span, paper: PaperMatch, fields: FieldsResult | None) -> PaperResult:
        start, end = span
        first, last = self._document.page_at(start), self._document.page_at(max(start, end - 1))
        stated = None if fields is None or fields.document_type is msgspec.UNSET else fields.document_type
        return PaperResult(
            kind=paper.kind if fields is None else fields.kind,
            title=paper.title(self._context.text[start:end]),
            document_type=paper.document_type if fields is None else stated,
            pages=None if first is None or last is None else (first, last),
            start=self._offsets[start],
            end=self._offsets[end],
            fields=fields,
        )


def _restated(entity: EntityResult, label: str, is_stated: bool) -> EntityResult:
    """Give an entity the label that an attached invoice states; it is certain where the invoice has its value."""
    if not is_stated:
        return msgspec.structs.replace(entity, label=label)
    score = MOST_DOUBTED if entity.valid is False else 1.0
    return msgspec.structs.replace(entity, label=label, score=score, source=Source.EMBEDDED)


def _with_bills(fields: FieldsResult | None, bills: int) -> FieldsResult | None:
    """Say in a bill's fields how many bills the file holds."""
    if fields is None or fields.bills is msgspec.UNSET:
        return fields
    return msgspec.structs.replace(fields, bills=bills)

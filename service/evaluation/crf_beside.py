"""A CRF beside the model: trained on documents of other groups, or by cross-validation where there are no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from service.core.errors import ServiceError
from service.evaluation.answers import FoundInDocument
from service.evaluation.records import NO_SCHEME, EvaluationSet, GoldDocument
from service.evaluation.report import CrfRates, rates
from service.evaluation.sampling import folds
from service.evaluation.scoring import score_set

FOLDS = 5
LEAST_SHARE = 0.5
"""Of the scored documents: with fewer others than that, cross-validation trains on more."""


class NoCrf(ServiceError):
    """The CRF's package is not installed."""

    code = "no_crf"
    title = "The CRF's package is missing"


def crf_rates(found: EvaluationSet, training: Sequence[EvaluationSet]) -> CrfRates | None:
    """The CRF's rates on these documents; None where there is nothing to train it on.

    Args:
        training: the sets that it may be trained on; documents of groups that are scored are left away.

    Raises:
        NoCrf: the package `python-crfsuite` is missing.
    """
    scored = {document.group for document in found.documents}
    others = [document for each in training for document in each.documents if document.group not in scored]
    if len(others) >= LEAST_SHARE * len(found.documents):
        answers = _found(others, found.documents, found.labels)
        return CrfRates(
            f"on {len(others)} documents of other groups", rates(score_set(found, answers, NO_SCHEME).fine.score())
        )
    if not training or found.groups < FOLDS:
        return None
    by_id: dict[int, FoundInDocument] = {}
    for part in folds(found, FOLDS):
        held = {document.group for document in part.documents}
        others_in_set = [document for document in found.documents if document.group not in held]
        answers = _found([*others_in_set, *others], part.documents, found.labels)
        by_id.update((id(document), answer) for document, answer in zip(part.documents, answers, strict=True))
    answers = [by_id[id(document)] for document in found.documents]
    return CrfRates(f"{FOLDS}-fold cross-validation by group", rates(score_set(found, answers, NO_SCHEME).fine.score()))


def _found(
    training: Sequence[GoldDocument], documents: Sequence[GoldDocument], labels: frozenset[str]
) -> list[FoundInDocument]:
    try:
        from service.evaluation.crf import LinearCrf
    except ImportError as error:
        raise NoCrf("--crf needs the package python-crfsuite: pip install 'gleaner[train]'.") from error
    with TemporaryDirectory(prefix="gleaner-crf-") as folder:
        crf = LinearCrf(Path(folder))
        crf.train(training, labels)
        return [crf.find(document) for document in documents]

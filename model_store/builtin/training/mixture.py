"""The training mix of the built-in model: public sets, variants of some, and generated pages, each with its weight.

Public sets are split by `group` (company, author, page), generated pages by the structure of their template. Sets with
a file in `boxes/` have the places of their words: a line a page, `{"id": …, "width": …, "height": …, "words": [[start,
end, x0, y0, x1, y1], …]}`.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

from model_store.builtin.training.augmentation import variants
from model_store.builtin.training.labels import EVERY_LABEL, settled_labels
from model_store.builtin.training.pages.documents import pages as generated_pages
from model_store.builtin.training.pages.grammar import HELD_OUT_PERCENT, is_held_out
from model_store.builtin.training.pages.reading import placed_text
from service.documents.document import Document
from service.evaluation.labelled_documents import MAPPING_FILE, LabelledSet, left_out, read_scheme, read_sets
from service.evaluation.span_scores import conventional
from service.training.data import TrainingSet

PAGES: Final = "pages"
WEIGHTS: Final = {
    PAGES: 40.0,
    "resume_dotin_en": 9.0,
    "receipt_sroie_en": 7.0,
    "invoice_zugferd_de_fr": 8.0,
    "jobad_skillspan_en": 4.0,
    "jobad_kompetencer_da": 1.0,
    "contract_cuad_clauses_en": 1.5,
    "contract_sec_fin_en": 2.5,
    "legal_ler_de": 5.0,
    "legal_lener_pt": 5.0,
    "ner_wikigold_en": 3.0,
    "ner_europarl_multi": 2.5,
    "ner_ronec_ro": 4.5,
    "ner_factrueval_ru": 4.5,
    "ner_nergrit_id": 2.5,
}
"""Set → its share of the characters of a pass; a set without a weight is not trained on."""
VARIANTS: Final[dict[str, tuple[int, str | None]]] = {
    "invoice_zugferd_de_fr": (15, None),
    "receipt_sroie_en": (3, None),
    "resume_dotin_en": (1, "en"),
}
"""Set → copies with other values in them, and the language of those values (None: any)."""
UNPLACED_SHARE: Final = 0.3
"""Share of the documents with boxes that are trained on without them."""
Sets = dict[str, LabelledSet]


def assemble(data: Path, *, pages: int, seed: int) -> tuple[Sets, Sets]:
    """(training, held out) by set: public sets with variants of some, and generated pages."""
    training: Sets = {}
    held_out: Sets = {}
    for each in read_public_sets(data):
        outside = left_out(each, HELD_OUT_PERCENT)
        groups = {document.group for document in outside.documents}
        kept = [document for document in each.documents if document.group not in groups]
        if each.name in VARIANTS:
            copies, language = VARIANTS[each.name]
            kept = variants(Random(f"{seed}/{each.name}"), kept, copies=copies, language=language)
        training[each.name] = each.only(kept)
        if outside.documents:
            held_out[each.name] = outside
    generated = list(generated_pages(seed, pages))
    for sets, is_out in ((training, False), (held_out, True)):
        documents = tuple(page for page in generated if is_held_out(page.group) is is_out)
        if documents:
            sets[PAGES] = LabelledSet(PAGES, documents, EVERY_LABEL)
    return training, held_out


def read_public_sets(data: Path) -> list[LabelledSet]:
    """The sets of `train/` that have a mapping, their entities by the conventions of evaluation."""
    scheme = read_scheme(data / MAPPING_FILE)
    paths = [path for path in sorted((data / "train").glob("*.jsonl")) if path.stem in scheme.maps]
    return [with_boxes(_conventional(each), data / "boxes" / f"{each.name}.jsonl") for each in read_sets(paths, scheme)]


def with_boxes(labelled: LabelledSet, file: Path) -> LabelledSet:
    """Give documents of one page the boxes in a file, if it exists and has boxes for their whole text."""
    if not file.is_file():
        return labelled
    records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    pages = {record["id"]: record for record in records}
    return labelled.only(
        replace(document, placed=_placed(document.text, pages[document.id])) if document.id in pages else document
        for document in labelled.documents
    )


def _placed(text: str, record: Mapping[str, Any]) -> Document | None:
    """Make a page of a text; None if a character has no box."""
    boxes = np.full((len(text), 4), np.nan, dtype=np.float32)
    for start, end, left, top, right, bottom in record["words"]:
        edges = np.linspace(left, right, end - start + 1)
        boxes[start:end, ::2] = np.column_stack([edges[:-1], edges[1:]])
        boxes[start:end, 1::2] = top, bottom
    is_space = np.array([each.isspace() for each in text])
    if np.isnan(boxes[~is_space]).any():
        return None
    boxes[is_space] = np.nan
    return placed_text(text, boxes, record["width"], record["height"])


def _conventional(labelled: LabelledSet) -> LabelledSet:
    return labelled.only(
        replace(document, spans=tuple(conventional(document.text, document.spans, labelled.labels)))
        for document in labelled.documents
    )


def mixed(sets: Sets, weights: Mapping[str, float], *, seed: int) -> list[TrainingSet]:
    """One pass: each set's documents, repeated or cut so that its share of the characters is about its weight.

    The set with the most characters for its weight occurs once. Some documents with boxes lose them, so that a model
    that sees boxes also learns to read texts.
    """
    sizes = {name: sum(len(document.text) for document in each.documents) for name, each in sets.items()}
    scale = max(sizes[name] / weights[name] for name in sets if weights.get(name))
    mix = []
    for name, each in sets.items():
        documents, taken = [], 0
        random = Random(f"{seed}/{name}")
        while taken < scale * weights.get(name, 0):
            for document in random.sample(each.documents, len(each.documents)):
                if taken >= scale * weights[name]:
                    break
                is_blind = document.placed is not None and random.random() < UNPLACED_SHARE
                documents.append(replace(document, placed=None) if is_blind else document)
                taken += len(document.text)
        mix.append(TrainingSet(tuple(documents), settled_labels(name, each.labels)))
    return mix

"""The training mix: which sets are trained on, with which weights, and which examples are held out.

Real sets are split by `group` (same company, same author, same page); generated documents and pages by template.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Final

from model_store.builtin.training.augmentation import variants
from model_store.builtin.training.examples import Example, read_mapping, read_set
from model_store.builtin.training.generator import generate_many
from model_store.builtin.training.pages import pages as generate_pages

GENERATED: Final = "generated"
PAGES: Final = "pages"
HELD_OUT_PERCENT: Final = 12
# Shares of the tokens seen in training.
WEIGHTS: Final = {
    GENERATED: 20.0,
    PAGES: 20.0,
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
# Copies with other values in them, and the language of those values (None: any).
VARIANTS: Final[dict[str, tuple[int, str | None]]] = {
    "invoice_zugferd_de_fr": (15, None),
    "receipt_sroie_en": (3, None),
    "resume_dotin_en": (1, "en"),
}


Sets = dict[str, list[Example]]


def weights(sets: Iterable[str]) -> dict[str, float]:
    """Shares of the tokens by set; without pages the generated documents have theirs, too."""
    return WEIGHTS if PAGES in sets else WEIGHTS | {GENERATED: WEIGHTS[GENERATED] + WEIGHTS[PAGES]}


def assemble(data: Path, *, documents: int, pages: int, seed: int) -> tuple[Sets, Sets]:
    """(training, held out) by set: real sets with variants of some, generated documents, and generated pages if any."""
    training: Sets = {}
    held_out: Sets = {}
    for name, examples in read_real_sets(data).items():
        training[name], held_out[name] = split(examples)
        if name in VARIANTS:
            copies, language = VARIANTS[name]
            training[name] = variants(Random(f"{seed}/{name}"), training[name], copies=copies, language=language)
    for name, generated in ((GENERATED, generate_many(seed, documents)), (PAGES, generate_pages(seed, pages))):
        for example in generated:
            is_out = is_held_out(example.group)
            side, key = (held_out, example.source) if is_out else (training, name)
            side.setdefault(key, []).append(example)
    return training, held_out


def read_real_sets(data: Path, *, folder: str = "train") -> Sets:
    """All sets under a folder of `data` that have a mapping, by name."""
    mapping = read_mapping(data)
    paths = sorted((data / folder).glob("*.jsonl"))
    return {path.stem: read_set(path, mapping) for path in paths if path.stem in mapping}


def split(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """(training, held out) by group: examples of one group are never on both sides.

    Groups go out in the order of their hashes until they hold HELD_OUT_PERCENT of the text; the largest stay in.
    """
    sizes: Counter[str] = Counter()
    for example in examples:
        sizes[example.group] += len(example.text)
    total, out_characters, out = sizes.total(), 0, set[str]()
    for group in sorted(sizes, key=_number):
        if out_characters * 100 < HELD_OUT_PERCENT * total and sizes[group] * 100 <= 35 * total:
            out.add(group)
            out_characters += sizes[group]
    return [e for e in examples if e.group not in out], [e for e in examples if e.group in out]


def is_held_out(template: str) -> bool:
    """True for about HELD_OUT_PERCENT of the templates, by their hash."""
    return _number(template) % 100 < HELD_OUT_PERCENT


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")

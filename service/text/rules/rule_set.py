"""Rule set: the rules that a model asks for in `rules.json` beside its weights, and their application to a text.

`rules.json`: `{"find": ["email"], "borders": ["date"], "roles": ["date"], "kinds": {"WHEN": "date"}}`, each part
optional; the types below list the names. `kinds` says how the values of the model's labels are read. A folder without
the file asks for no rules. It is a file of the folder, not a field of the manifest, so that the revision's digest
covers it while stored manifests stay canonical.

The rule: a label that the model lacks is answered only if the request asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from service.core.decoding.entities import Entity
from service.core.decoding.offsets import compose
from service.core.decoding.span_trimming import trim
from service.core.decoding.tokens import BLANKS
from service.core.decoding.value import ValueKind
from service.core.errors import ModelError
from service.core.fields.named_roles import BILL_DATES, NAMED_BY_WORDS, named_dates
from service.core.fields.roles import AMOUNTS, IDENTIFIERS
from service.text.rules.amount_extension import missed_amounts, whole_amounts
from service.text.rules.contact_rules import emails, phones, urls
from service.text.rules.number_rules import bics, cards, ibans, percentages, tax_ids
from service.text.rules.rule_matches import RuleMatch, merge, on_visible_text
from service.text.rules.span_extension import DATES, era_dates, whole_dates, whole_identifiers, whole_periods
from service.text.values.context import DocumentContext
from service.text.values.reading import shielded

FILE = "rules.json"
MOST_BYTES = 65_536

Finder = Callable[[str, DocumentContext], Iterator[RuleMatch]]
FinderName = Literal["email", "url", "phone", "iban", "bic", "tax_id", "card", "percent", "era_date"]
BorderName = Literal["amount", "date", "identifier"]
RoleName = Literal["date"]

FINDERS: dict[FinderName, tuple[str, Finder]] = {
    "email": ("EMAIL", emails),
    "url": ("URL", urls),
    "phone": ("PHONE", phones),
    "iban": ("IBAN", ibans),
    "bic": ("BIC", bics),
    "tax_id": ("TAX_ID", tax_ids),
    "card": ("ID_NUMBER", cards),
    "percent": ("PERCENT", percentages),
    "era_date": ("DATE", era_dates),
}
"""Rule → label of its matches, and its finder."""


class RuleSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one model, which may be none: the content of `rules.json`."""

    find: tuple[FinderName, ...] = ()
    borders: tuple[BorderName, ...] = ()
    roles: tuple[RoleName, ...] = ()
    kinds: dict[str, str] = {}

    def __post_init__(self) -> None:
        for label, kind in self.kinds.items():
            if kind not in tuple(ValueKind):
                raise ValueError(f"the kind of {label!r} is {kind!r}; there are {', '.join(ValueKind)}")

    @property
    def value_kinds(self) -> frozenset[tuple[str, ValueKind]]:
        """(Label, kind of its values) where the folder says it."""
        return frozenset((label, ValueKind(kind)) for label, kind in self.kinds.items())

    @classmethod
    def read(cls, folder: Path) -> RuleSet:
        """Read the rules of a model's folder.

        Raises:
            ModelError: the file is unreadable or malformed.
        """
        try:
            with (folder / FILE).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return cls()
        except OSError as error:
            raise ModelError(f"{FILE} cannot be read: {error.strerror}") from error
        if len(content) > MOST_BYTES:
            raise ModelError(f"{FILE} has more than {MOST_BYTES:,} bytes")
        try:
            return msgspec.json.decode(content, type=cls)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise ModelError(f"{FILE} cannot be used: {error}") from error

    def labels(self, types: Collection[str]) -> set[str]:
        """Collect the labels that the rules add to the answers of a model with these types of entities."""
        named = BILL_DATES if "date" in self.roles and not BILL_DATES.isdisjoint(types) else frozenset[str]()
        return {*named, *(FINDERS[name][0] for name in self.find)}

    def apply(
        self, context: DocumentContext, entities: list[Entity], labels: Collection[str], requested: Collection[str] = ()
    ) -> list[Entity]:
        """Merge the rules' entities into the model's entities of a document, in order.

        Rules read the composed text, as the model does.

        Args:
            entities: the model's entities, in order, none overlapping.
            labels: the model's types of entities.
            requested: labels of the request, the model's or not.
        """
        if not (self.find or self.borders or self.roles):
            return entities
        apply = partial(self._in_composed_text, context, entities, {*labels, *requested})
        return shielded(context, "rules", apply, entities)

    def _in_composed_text(
        self, context: DocumentContext, entities: list[Entity], answered: Collection[str]
    ) -> list[Entity]:
        read = compose(context.text)
        if read.places is None:
            found = self._applied(read.text, context, entities, answered)
        else:
            composed = _moved(entities, read.read(_spans(entities)), read.text)
            found = self._applied(read.text, context, composed, answered)
            found = _moved(found, read.written(_spans(found)), context.text)
        return [*_trimmed(context.text, found)]

    def _applied(
        self, text: str, context: DocumentContext, entities: list[Entity], answered: Collection[str]
    ) -> list[Entity]:
        if "date" in self.borders and any(entity.label in DATES or entity.label in AMOUNTS for entity in entities):
            entities = shielded(context, "whole_periods", partial(whole_periods, text, entities, context), entities)
            entities = shielded(context, "whole_dates", partial(whole_dates, text, entities, context), entities)
        if "identifier" in self.borders and any(entity.label in IDENTIFIERS for entity in entities):
            entities = shielded(context, "whole_identifiers", partial(whole_identifiers, text, entities), entities)
        if "amount" in self.borders and any(entity.label in AMOUNTS for entity in entities):
            entities = shielded(context, "whole_amounts", partial(whole_amounts, text, entities, context), entities)
        if "date" in self.roles and any(entity.label in NAMED_BY_WORDS for entity in entities):
            entities = shielded(context, "named_dates", partial(named_dates, text, entities, answered), entities)
        chosen = [name for name in self.find if FINDERS[name][0] in answered]
        shown, placed = on_visible_text(text)
        found = (shielded(context, name, partial(find, name, shown, context), list[RuleMatch]()) for name in chosen)
        matches = [placed(match) for matches in found for match in matches]
        if "amount" in self.borders and "MONEY" in answered:
            matches += shielded(
                context, "missed_amounts", partial(missed_amounts, text, entities, context), list[RuleMatch]()
            )
        return merge(text, entities, matches)


def find(name: FinderName, text: str, context: DocumentContext) -> list[RuleMatch]:
    """Find a rule's matches in a document's text."""
    return list(FINDERS[name][1](text, context))


def _spans(entities: Sequence[Entity]) -> NDArray[np.int32]:
    return np.array([(each.start, each.end) for each in entities], dtype=np.int32).reshape(-1, 2)


def _moved(entities: Sequence[Entity], spans: NDArray[np.integer], text: str) -> list[Entity]:
    """The entities at other places, in another text."""
    places = zip(entities, spans.tolist(), strict=True)
    return [each._replace(text=text[start:end], start=start, end=end) for each, (start, end) in places]


def _trimmed(text: str, entities: Iterable[Entity]) -> Iterator[Entity]:
    for each in entities:
        start, end = trim(text, each.start, each.end, BLANKS)
        if (start, end) == (each.start, each.end):
            yield each
        elif start < end:
            yield each._replace(text=text[start:end], start=start, end=end)


ALL_RULES = RuleSet(find=tuple(FINDERS), roles=get_args(RoleName))
"""All rules that add labels of their own."""

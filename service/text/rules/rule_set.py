"""The rules that a model asks for, in `rules.json` beside its weights, and their work on one text.

`rules.json`: `{"find": ["email", "iban"], "borders": ["date"], "roles": ["date"]}`, each part optional; the names are
those of the types below. A folder without it asks for none. It is a file of the folder, and not a field of the
manifest, so that it is under the revision's digest while manifests that are stored stay canonical.

The rule: a label that the model lacks is answered only if the request asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import msgspec

from service.core.decoding.entities import Entity
from service.core.errors import ModelError
from service.core.fields.named_roles import BILL_DATES, NAMED_BY_WORDS, named_dates
from service.core.fields.roles import AMOUNTS, IDENTIFIERS
from service.text.rules.contact_rules import emails, phones, urls
from service.text.rules.number_rules import bics, cards, ibans, percentages, tax_ids
from service.text.rules.rule_matches import RuleMatch, merge, on_visible_text
from service.text.rules.span_extension import DATES, era_dates, whole_amounts, whole_dates, whole_identifiers
from service.text.values.context import DocumentContext

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
"""Rule → the label of what it finds, and how."""


class RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `rules.json`."""

    find: tuple[FinderName, ...] = ()
    borders: tuple[BorderName, ...] = ()
    roles: tuple[RoleName, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of one model, which may be none."""

    find: tuple[FinderName, ...] = ()
    borders: tuple[BorderName, ...] = ()
    roles: tuple[RoleName, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> RuleSet:
        """What a model's folder asks for.

        Raises:
            ModelError: its file is not what it should be.
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
            asked = msgspec.json.decode(content, type=RuleFile)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise ModelError(f"{FILE} cannot be used: {error}") from error
        return cls(asked.find, asked.borders, asked.roles)

    def labels(self, types: Collection[str]) -> set[str]:
        """The labels that a model with these types of entities is answered in by its rules."""
        named = BILL_DATES if "date" in self.roles and not BILL_DATES.isdisjoint(types) else frozenset[str]()
        return {*named, *(FINDERS[name][0] for name in self.find)}

    def apply(
        self, context: DocumentContext, entities: list[Entity], labels: Collection[str], asked: Collection[str] = ()
    ) -> list[Entity]:
        """The model's entities in a document and those of the rules, in order.

        Args:
            entities: what the model has found, in order, none overlapping.
            labels: the model's types of entities.
            asked: labels that the request wants, the model's or not.
        """
        if not (self.find or self.borders or self.roles):
            return entities
        text = context.text
        if "date" in self.borders and any(each.label in DATES or each.label in AMOUNTS for each in entities):
            entities = whole_dates(text, entities, context)
        if "identifier" in self.borders and any(each.label in IDENTIFIERS for each in entities):
            entities = whole_identifiers(text, entities)
        if "amount" in self.borders and any(each.label in AMOUNTS for each in entities):
            entities = whole_amounts(text, entities)
        answered = {*labels, *asked}
        if "date" in self.roles and any(each.label in NAMED_BY_WORDS for each in entities):
            entities = named_dates(text, entities, answered)
        chosen = [finder for name in self.find for label, finder in (FINDERS[name],) if label in answered]
        shown, placed = on_visible_text(text)
        return merge(text, entities, [placed(match) for finder in chosen for match in finder(shown, context)])


ALL_RULES = RuleSet(find=tuple(FINDERS), roles=get_args(RoleName))
"""The rules that give labels of their own."""

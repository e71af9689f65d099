"""The bare model asks for nothing beside its weights, and no reader of values knows its types of entities."""

from __future__ import annotations

import json

from loadtest.bench.host import with_strange_labels
from loadtest.managed_service import BUILTIN, MODEL_FILES
from service.text import decoding_files
from service.text.rules import rule_set
from service.text.values.reading import READERS


def test_nothing_in_its_folder_asks_for_rules_or_decoding() -> None:
    asking = {rule_set.FILE, decoding_files.RULES, decoding_files.TRANSITIONS}
    assert asking <= {each.name for each in BUILTIN.iterdir()}
    assert not asking & set(MODEL_FILES)


def test_its_labels_are_as_many_and_of_the_same_scheme_but_have_no_values() -> None:
    built_in = json.loads((BUILTIN / "config.json").read_text())
    bare = with_strange_labels(built_in)
    assert [label[:2] for label in bare["id2label"].values()] == [label[:2] for label in built_in["id2label"].values()]
    kinds = {label[2:] for label in bare["id2label"].values() if label != "O"}
    assert len(kinds) > 1
    assert not kinds & READERS.keys()
    assert bare["label2id"] == {label: int(number) for number, label in bare["id2label"].items()}
    assert {**bare, "id2label": {}, "label2id": {}} == {**built_in, "id2label": {}, "label2id": {}}

"""The allowlist of files, by name and kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.contents.allowed_files import (
    Entry,
    EntryKind,
    entry_problem,
    manifest_problems,
    missing_problems,
    select,
)
from model_store.manifest import path_problem


def file(name: str) -> Entry:
    return Entry(name, EntryKind.FILE, 1)


def test_files_of_a_loader_are_taken_and_others_left_out() -> None:
    selection = select(
        [
            file("tokenizer.json"),
            file("config.json"),
            file("model.safetensors"),
            file("vocab.txt"),
            file("README.md"),
            file("trainer_state.json"),
            file(".gitattributes"),
            Entry("checkpoint-500", EntryKind.FOLDER),
        ]
    )
    assert [entry.name for entry in selection.taken] == [
        "README.md",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "vocab.txt",
    ]
    assert selection.left_out == (".gitattributes", "checkpoint-500", "trainer_state.json")
    assert selection.problems == ()


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (file("pytorch_model.bin"), "pickle"),
        (file("model.PT"), "pickle"),
        (file("last.ckpt"), "pickle"),
        (file("state.pkl"), "pickle"),
        (file("training_args.bin"), "trainer_pickle"),
        (file("modeling_custom.py"), "code"),
        (file("native.so"), "code"),
        (file("model (1).safetensors"), "name"),
        (file("mödel.safetensors"), "name"),
        (file("a\nb.json"), "name"),
        (Entry("config.json", EntryKind.LINK), "link"),
        (Entry("folder", EntryKind.LINK), "link"),
        (Entry("pipe", EntryKind.OTHER), "special_file"),
    ],
)
def test_pickles_code_links_and_special_names_are_refused(entry: Entry, code: str) -> None:
    selection = select([entry, file("config.json")])
    assert [problem.code for problem in selection.problems] == [code]


@given(st.text(min_size=1, max_size=20), st.sampled_from(EntryKind))
def test_every_taken_file_is_allowed_in_a_manifest(name: str, kind: EntryKind) -> None:
    for entry in select([Entry(name, kind)]).taken:
        assert path_problem(entry.name) is None
        assert entry_problem(entry) is None


@pytest.mark.parametrize(
    ("names", "codes"),
    [
        ([], ["no_config", "no_tokenizer", "no_weights"]),
        (["config.json", "tokenizer.json", "model.safetensors"], []),
        (["config.json", "tokenizer.json", "transitions.safetensors"], ["no_weights"]),
        (["config.json", "tokenizer.json", "adapter_model.safetensors"], ["only_adapter"]),
        (
            ["config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json"],
            ["ambiguous_weights"],
        ),
    ],
)
def test_missing_files_and_ambiguous_weights_are_problems(names: list[str], codes: list[str]) -> None:
    assert [problem.code for problem in missing_problems(names)] == codes


@pytest.mark.parametrize(("name", "code"), [("notes.json", "not_allowed"), ("a/b.json", "nested"), ("x.py", "code")])
def test_a_manifest_with_other_files_is_a_problem(name: str, code: str) -> None:
    names = ["config.json", "tokenizer.json", "model.safetensors"]
    assert manifest_problems(names) == []
    assert [problem.code for problem in manifest_problems([*names, name])] == [code]

"""What may be in a model's folder, by name and kind."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.contents.allowed_files import Entry, Kind, missing_problems, refusal, select
from model_store.manifest import path_problem


def file(name: str) -> Entry:
    return Entry(name, Kind.FILE, 1)


def test_what_a_loader_reads_is_taken_and_the_rest_is_left_out_by_name() -> None:
    selection = select(
        [
            file("tokenizer.json"),
            file("config.json"),
            file("model.safetensors"),
            file("vocab.txt"),
            file("README.md"),
            file("trainer_state.json"),
            file(".gitattributes"),
            Entry("checkpoint-500", Kind.FOLDER),
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
    ("entry", "sentence"),
    [
        (file("pytorch_model.bin"), "may be a pickle.*save_pretrained"),
        (file("model.PT"), "may be a pickle"),
        (file("last.ckpt"), "may be a pickle"),
        (file("state.pkl"), "may be a pickle"),
        (file("training_args.bin"), "not needed to serve"),
        (file("modeling_custom.py"), "remote code never runs"),
        (file("native.so"), "remote code never runs"),
        (file("model (1).safetensors"), "no plain relative path"),
        (file("mödel.safetensors"), "no plain relative path"),
        (file("a\nb.json"), "no plain relative path"),
        (Entry("config.json", Kind.LINK), "is a link.*cp -rL"),
        (Entry("folder", Kind.LINK), "is a link"),
        (Entry("pipe", Kind.OTHER), "neither a file nor a folder"),
    ],
)
def test_pickles_code_links_and_odd_names_are_refused(entry: Entry, sentence: str) -> None:
    selection = select([entry, file("config.json")])
    assert len(selection.problems) == 1
    assert re.search(sentence, selection.problems[0])


@given(st.text(min_size=1, max_size=20), st.sampled_from(Kind))
def test_whatever_is_taken_may_stand_in_a_manifest(name: str, kind: Kind) -> None:
    for entry in select([Entry(name, kind)]).taken:
        assert path_problem(entry.name) is None
        assert refusal(entry) is None


def test_every_missing_file_is_named_with_the_way_to_make_it() -> None:
    problems = " ".join(missing_problems([]))
    assert "AutoTokenizer.from_pretrained" in problems
    assert "model.save_pretrained(folder)" in problems
    assert "safe_serialization=True" in problems


def test_an_adapter_without_its_base_is_explained() -> None:
    problems = missing_problems(["config.json", "tokenizer.json", "adapter_model.safetensors"])
    assert "merge_and_unload" in problems[0]


def test_weights_that_stand_there_twice_are_ambiguous() -> None:
    names = ["config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json"]
    assert "ambiguous" in missing_problems(names)[0]

"""Folders of layout models: which are served, what they need, and what is said of others."""

from __future__ import annotations

from typing import Any

import pytest

from model_store.families.layout import UNSERVED, LayoutFolder
from model_store.families.registry import owner

CONFIG: dict[str, Any] = {"model_type": "layoutlm", "id2label": {"0": "O", "1": "B-NAME"}}
BOXES = "tokens have boxes; needs pages"


def contents(kind: str, picture: dict[str, Any] | None = None, **config: Any) -> dict[str, dict[str, Any]]:
    files = {"config.json": {**CONFIG, "model_type": kind, **config}}
    return files if picture is None else {**files, "preprocessor_config.json": picture}


def codes(files: dict[str, dict[str, Any]]) -> list[str]:
    family = owner(files)
    assert isinstance(family, LayoutFolder)
    return [problem.code for problem in family.problems(files, files.keys())]


@pytest.mark.parametrize(
    ("files", "needs"),
    [
        (contents("layoutlm"), BOXES),
        (contents("lilt"), BOXES),
        (contents("bros"), BOXES),
        (contents("layoutlmv3"), f"{BOXES} and a picture of each page"),
        (contents("layoutlmv3", visual_embed=False), BOXES),
        (contents("lilt") | {"decoding.json": {"text_without_boxes": False}}, BOXES),
        (
            contents("lilt") | {"decoding.json": {"text_without_boxes": True}},
            "tokens have boxes; reads texts without pages as well",
        ),
    ],
)
def test_a_folder_says_what_its_documents_need(files: dict[str, dict[str, Any]], needs: str) -> None:
    assert codes(files) == []
    assert LayoutFolder().describe(files).needs == needs


@pytest.mark.parametrize("kind", ["lilt", "layoutlmv3"])
def test_positions_after_padding_are_no_tokens(kind: str) -> None:
    files = contents(kind, max_position_embeddings=514, pad_token_id=1)
    assert LayoutFolder().describe(files).max_tokens == 512


@pytest.mark.parametrize("kind", UNSERVED)
def test_kinds_that_read_pages_in_other_ways_are_refused_by_name(kind: str) -> None:
    (problem,) = LayoutFolder().problems(contents(kind), ())
    assert problem.code == "unserved_variant"
    assert problem.sentence.endswith(".")
    assert codes(contents(kind)) == ["unserved_variant"]


@pytest.mark.parametrize("head", ["BrosSpadeEEForTokenClassification", "BrosSpadeELForTokenClassification"])
def test_heads_for_relations_are_refused(head: str) -> None:
    assert codes(contents("bros", architectures=[head])) == ["unserved_variant"]
    assert codes(contents("bros", architectures=["BrosForTokenClassification"])) == []


@pytest.mark.parametrize(
    ("picture", "config", "problems"),
    [
        ({"size": {"height": 224, "width": 224}, "resample": 2}, {}, []),
        ({"size": 224, "resample": 3}, {"input_size": 224}, []),
        ({"size": {"height": 384, "width": 384}}, {"input_size": 384}, []),
        ({"size": {"height": 224, "width": 224}}, {"input_size": 384}, ["unserved_variant"]),
        ({"size": {"height": 224, "width": 448}}, {}, ["unserved_variant"]),
        ({"do_resize": False}, {}, ["unserved_variant"]),
        ({"resample": 9}, {}, ["unserved_variant"]),
        ({}, {"input_size": 100_000}, ["config"]),
        ({"size": 9}, {"visual_embed": False}, []),
    ],
)
def test_pictures_have_the_size_that_the_model_reads(
    picture: dict[str, Any], config: dict[str, Any], problems: list[str]
) -> None:
    assert codes(contents("layoutlmv3", picture, **config)) == problems


def test_what_a_token_classifier_lacks_is_a_problem_here_too() -> None:
    assert codes(contents("lilt", architectures=["LiltForSequenceClassification"])) == ["architecture"]
    assert codes(contents("layoutlm", max_2d_position_embeddings=512)) == ["config"]


@pytest.mark.parametrize(
    ("box", "found"),
    [
        (None, ["config"]),
        ([0, 1, 0, 1000], []),
        ([0, 0, 0, 1001], ["config"]),
        ([0, 2, 0, 1], ["config"]),
        ([-1, 0, 0, 0], ["config"]),
        ([0.0, 0, 0, 0], ["config"]),
        ([0, 0, 0], ["config"]),
        (0, ["config"]),
    ],
)
@pytest.mark.parametrize("name", ["cls_token_box", "sep_token_box", "pad_token_box"])
def test_boxes_of_special_tokens_lie_on_a_page(name: str, box: object, found: list[str]) -> None:
    assert codes(contents("bros") | {"tokenizer_config.json": {name: box}}) == found

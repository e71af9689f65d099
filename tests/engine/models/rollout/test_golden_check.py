"""Golden examples: exactly the entities that are wanted, and a sentence without the text where they are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from model_store.local.store import Store
from model_store.manifest import GoldenEntity, GoldenExample, Manifest
from model_store.transfer.publish import publish
from service.core.arrays import Logits, TokenIds
from service.core.errors import GleanerError, InternalError
from service.engine.encoder.encoder import load_encoder
from service.engine.models.rollout.golden_check import Infer, first_failure
from service.settings import Settings
from service.wire import ModelStatus
from tests.support.revisions import TEXTS, Made, make_revision

SETTINGS = Settings()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_revision(tmp_path_factory.mktemp("made") / "m", 0)


def judge_of(made: Made) -> Infer:
    encoder = load_encoder(made.folder, torch.device("cpu"), torch.float32)

    def infer(sequences: list[TokenIds]) -> list[Logits]:
        return encoder.forward([np.asarray(ids, dtype=np.int32) for ids in sequences])

    return infer


def status(made: Made) -> ModelStatus:
    labels = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-DATE", "I-DATE")
    return ModelStatus("m", "stable", "sha256:0", str(made.folder), labels, 512, True, 1)


def manifest(made: Made, tmp_path: Path, *examples: GoldenExample) -> Manifest:
    return publish(made.folder, "m", Store(tmp_path / "store"), golden=examples).revision.manifest


def example(made: Made, text: str) -> GoldenExample:
    return GoldenExample(text, tuple(GoldenEntity(*place) for place in made.found[text]))


def test_a_model_that_finds_what_is_wanted_passes(made: Made, tmp_path: Path) -> None:
    wanted = manifest(made, tmp_path, *(example(made, text) for text in TEXTS))
    assert first_failure(wanted, status(made), judge_of(made), SETTINGS) is None


def test_one_without_examples_passes(made: Made, tmp_path: Path) -> None:
    def infer(_sequences: list[TokenIds]) -> list[Logits]:
        raise AssertionError("nothing is to be judged")

    assert first_failure(manifest(made, tmp_path), status(made), infer, SETTINGS) is None


def test_the_first_failure_names_the_differing_entities_without_the_text(made: Made, tmp_path: Path) -> None:
    text = TEXTS[1]
    label, start, end = next(place for place in made.found[text] if place[2] - place[1] > 1)
    kept = [each for each in example(made, text).entities if each.start != start]
    other = GoldenExample(text, (*kept, GoldenEntity(label, start, end - 1)))
    wanted = manifest(made, tmp_path, example(made, TEXTS[0]), other)
    failure = first_failure(wanted, status(made), judge_of(made), SETTINGS)
    places = f"missing {label} {start}:{end - 1}; not wanted {label} {start}:{end}"
    assert failure == f"golden example 2 of 2 fails: {places}"


def test_an_example_that_cannot_be_judged_is_an_error(made: Made, tmp_path: Path) -> None:
    def infer(_sequences: list[TokenIds]) -> list[Logits]:
        raise InternalError("a bug")

    with pytest.raises(GleanerError):
        first_failure(manifest(made, tmp_path, example(made, TEXTS[0])), status(made), infer, SETTINGS)

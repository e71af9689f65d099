"""Bringing a revision up: its tokenizer's options and its golden examples."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from msgspec.structs import replace

from loadtest.bench.random_models import write_tokenizer
from model_store.local.store import Store
from model_store.manifest import GoldenEntity, GoldenExample, GoldenPage, GoldenWord, Manifest
from model_store.transfer.publish import publish
from service.core.arrays import Logits, TokenIds
from service.core.decoding.spans import Overlaps
from service.core.errors import GleanerError, InsufficientMemory, InternalError, ModelError
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import read_placed_pages
from service.engine.encoder.encoder import load_encoder
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.bring_up import BringUpTimeout, GoldenFailed, Rollout, Trial, time_limit
from service.engine.models.factory import ModelFactory
from service.engine.models.loaded_model import LoadedModel, ProfiledModel
from service.engine.models.profiling import ModelProfiler
from service.engine.models.repository import ModelRepository
from service.engine.models.tokenizer_check import refuse_other_tokens
from service.families.processor import Infer, WindowSizes, prepare
from service.families.registry import open_processor
from service.process import EXIT_BROKEN
from service.settings import Settings
from service.wire import ModelStatus
from tests.support.label_models import HOME, cases
from tests.support.revisions import TEXTS, Made, make_revision
from tests.support.tiny_models import LABELS, make_model


class Target:
    """Records what it is asked, in order; infers directly."""

    def __init__(self, *, has_room: bool = True) -> None:
        self.has_room = has_room
        self.steps: list[str] = []

    def make_room(self, revision: str, weight_bytes: int) -> None:
        assert weight_bytes > 0
        self.steps.append("room")
        if not self.has_room:
            raise InsufficientMemory("no room")

    def admit(self, candidate: ProfiledModel) -> None:
        assert candidate.memory.budget_tokens(1 << 40) > 0
        self.steps.append("admit")

    def infer(self, model: LoadedModel, sequences: list[TokenIds]) -> list[Logits]:
        self.steps.append("infer")
        outcomes = model.runner.launch(sequences).result()
        return [outcome for outcome in outcomes if not isinstance(outcome, GleanerError)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(model_store=tmp_path / "store", device="cpu", dtype="float32", threads=1)


@pytest.fixture
def rollout(settings: Settings) -> Iterator[Rollout]:
    with DeviceExecutor() as executor:
        factory = ModelFactory(settings, executor, lambda: None)
        profiler = ModelProfiler(settings, factory.device, executor)
        yield Rollout(ModelRepository(settings), factory, profiler, settings)


def put(settings: Settings, tmp_path: Path, *golden: GoldenExample) -> None:
    publish(make_model(tmp_path / "m", layers=1), "m", Store(settings.model_store), golden=golden)


def test_a_candidate_is_admitted_before_its_golden_examples_are_inferred(
    rollout: Rollout, settings: Settings, tmp_path: Path
) -> None:
    put(settings, tmp_path, GoldenExample("a text", (GoldenEntity("NO_LABEL_OF_IT", 0, 6),)))
    target = Target()
    with pytest.raises(GoldenFailed):
        rollout.bring_up(rollout.repository.obtain("m"), target)
    assert target.steps == ["room", "admit", "infer", "infer"]


def test_a_revision_without_examples_passes_profiled_and_timed(
    rollout: Rollout, settings: Settings, tmp_path: Path
) -> None:
    put(settings, tmp_path)
    revision = rollout.repository.obtain("m")
    candidate = rollout.bring_up(revision, Target())
    assert candidate.model.revision == revision.revision
    assert candidate.timed is not None


def test_without_room_a_model_is_not_built(rollout: Rollout, settings: Settings, tmp_path: Path) -> None:
    put(settings, tmp_path)
    target = Target(has_room=False)
    with pytest.raises(InsufficientMemory):
        rollout.bring_up(rollout.repository.obtain("m"), target)
    assert target.steps == ["room"]


def test_what_takes_too_long_is_ended_whatever_it_catches() -> None:
    """A hundred thousand layers were built for hours, and no later revision was taken meanwhile."""

    caught: list[BringUpTimeout] = []

    def stubborn() -> None:
        while len(caught) < 2:
            try:
                while True:
                    sum(range(1_000))
            except BringUpTimeout as error:
                caught.append(error)
        raise caught[-1]

    with pytest.raises(BringUpTimeout), time_limit(0.2):
        stubborn()
    assert len(caught) == 2


DELAYED = """
import ctypes, os, time
from service.engine.models.bring_up import time_limit

def spin():
    while True:
        sum(range(9))

libc = ctypes.CDLL(None)
for block, seconds in (libc.pause, 0.1), (lambda: libc.sleep(60), 0.1), (lambda: time.sleep(60), 0.1), (spin, 2.0):
    if not os.fork():
        with time_limit(seconds, 3 * seconds):
            block()
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


def test_a_block_stuck_in_one_call_of_c_ends_its_process_and_another_alone() -> None:
    """The last one is delayed by Python alone."""
    ended = subprocess.run([sys.executable, "-c", DELAYED], capture_output=True, text=True, timeout=200.0)
    assert ended.stdout.split() == [*[str(EXIT_BROKEN)] * 3, "1"], ended.stderr
    assert ended.stderr.endswith("BringUpTimeout\n")


def test_what_is_done_in_time_is_not_interrupted_afterwards() -> None:
    with time_limit(1.0):
        pass
    end = time.monotonic() + 1.3
    while time.monotonic() < end:
        sum(range(1_000))


SETTINGS = Settings()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_revision(tmp_path_factory.mktemp("made") / "m", 0)


def judge_of(made: Made) -> Infer:
    encoder = load_encoder(made.folder, torch.device("cpu"), torch.float32)

    def infer(sequences: list[TokenIds]) -> list[Logits]:
        return encoder.forward([np.asarray(ids, dtype=np.int32) for ids in sequences])

    return infer


def trial(made: Made, infer: Infer) -> Trial:
    labels = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-DATE", "I-DATE")
    status = ModelStatus("m", "stable", "sha256:0", str(made.folder), labels, 512, True, 1)
    return Trial(open_processor(made.folder), status, infer, SETTINGS)


def manifest(made: Made, tmp_path: Path, *examples: GoldenExample) -> Manifest:
    return publish(made.folder, "m", Store(tmp_path / "store"), golden=examples).revision.manifest


def example(made: Made, text: str) -> GoldenExample:
    return GoldenExample(text, tuple(GoldenEntity(*place) for place in made.found[text]))


def test_the_first_failure_names_the_differing_entities_without_the_text(made: Made, tmp_path: Path) -> None:
    text = TEXTS[1]
    label, start, end = next(place for place in made.found[text] if place[2] - place[1] > 1)
    kept = [each for each in example(made, text).entities if each.start != start]
    other = GoldenExample(text, (*kept, GoldenEntity(label, start, end - 1)))
    wanted = manifest(made, tmp_path, example(made, TEXTS[0]), other)
    failure = trial(made, judge_of(made)).first_failure(wanted)
    places = f"missing {label} {start}:{end - 1}; not wanted {label} {start}:{end}"
    assert failure == f"golden example 2 of 2 fails: {places}"


def test_examples_of_a_model_with_free_labels_have_labels(tmp_path: Path) -> None:
    folder = HOME / "uni-token-bert"
    encoder = load_encoder(folder, torch.device("cpu"), torch.float32)
    free = ModelStatus("m", "stable", "sha256:0", str(folder), (), 256, True, 1, free_labels=True)
    case = next(each for each in cases(folder.name) if each.entities and each.overlaps is Overlaps.FLAT)
    entities = tuple(GoldenEntity(label, start, end) for start, end, label, _ in case.entities)
    right = GoldenExample(case.text, entities, tuple(case.labels), case.threshold)
    wrong = GoldenExample(case.text, entities[1:], tuple(case.labels), case.threshold)
    wanted = publish(folder, "m", Store(tmp_path / "store"), golden=[right, wrong]).revision.manifest
    failure = Trial(open_processor(folder), free, encoder.forward, SETTINGS).first_failure(wanted)
    assert (
        failure == f"golden example 2 of 2 fails: not wanted {entities[0].label} {entities[0].start}:{entities[0].end}"
    )


def test_an_example_that_cannot_be_judged_is_an_error(made: Made, tmp_path: Path) -> None:
    def infer(_sequences: list[TokenIds]) -> list[Logits]:
        raise InternalError("a bug")

    with pytest.raises(GleanerError):
        trial(made, infer).first_failure(manifest(made, tmp_path, example(made, TEXTS[0])))


def test_a_revision_whose_options_change_its_tokens_is_not_brought_up(
    rollout: Rollout, settings: Settings, tmp_path: Path
) -> None:
    folder = make_model(tmp_path / "model")
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"split_special_tokens": True}))
    publish(folder, "documents", Store(settings.model_store))
    target = Target()
    with pytest.raises(ModelError, match="split_special_tokens"):
        rollout.bring_up(rollout.repository.obtain("documents"), target)
    assert target.steps == []


BERT, ROBERTA = {"tokenizer_class": "BertTokenizer"}, {"tokenizer_class": "RobertaTokenizer"}
ADDED = {"content": "berlin", "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}


def _folder(folder: Path, kind: str, options: dict[str, Any]) -> Path:
    make_model(folder, kind)
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | options))
    return folder


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bert", BERT | {"do_lower_case": False}),
        ("bert", BERT | {"strip_accents": False}),
        ("bert", BERT | {"tokenize_chinese_chars": False}),
        ("roberta", ROBERTA | {"add_prefix_space": False}),
        ("bert", {"additional_special_tokens": ["Jane"]}),
        ("bert", {"extra_special_tokens": ["zebra"]}),
        ("bert", {"added_tokens_decoder": {"900": ADDED}}),
        ("bert", {"split_special_tokens": True}),
        ("bert", {"cls_token": "[FIRST]"}),
    ],
    ids=lambda value: next(reversed(value)) if isinstance(value, dict) else value,
)
def test_an_option_that_changes_tokens_is_refused_by_name(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=f"by its option {next(reversed(options))}: "):
        refuse_other_tokens(_folder(tmp_path, kind, options))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bert", {}),
        ("bert", {"padding_side": "left", "unheard_of": 7}),
        ("bert", BERT | {"do_lower_case": True, "strip_accents": None}),
        ("bert", {"additional_special_tokens": ["[MASK]"], "split_special_tokens": False}),
        ("roberta", ROBERTA | {"add_prefix_space": True}),
        ("deberta-v2", {"bos_token": None}),
    ],
    ids=str,
)
def test_options_that_leave_the_tokens_pass(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    refuse_other_tokens(_folder(tmp_path, kind, options))


@pytest.mark.parametrize("content", [None, "{", "[]"])
def test_a_folder_without_options_passes(tmp_path: Path, content: str | None) -> None:
    make_model(tmp_path)
    (tmp_path / "tokenizer_config.json").unlink()
    if content is not None:
        (tmp_path / "tokenizer_config.json").write_text(content)
    refuse_other_tokens(tmp_path)


def test_models_of_the_benchmarks_may_be_published(tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    refuse_other_tokens(tmp_path)


def placed(shift: float = 0.0) -> GoldenExample:
    """Words on a page, of which nothing is expected."""
    text = "anna maria smith invoice number total paid by berlin"
    boxes = ((30.0 * at + shift, 20.0, 30.0 * at + shift + 25, 32.0) for at in range(9))
    words = tuple(map(GoldenWord, text.split(), boxes))
    return GoldenExample(text, (), pages=(GoldenPage(400.0, 200.0, words),))


@pytest.mark.parametrize("kind", ["layoutlm", "layoutlmv3"])
def test_examples_of_a_model_that_sees_pages_have_some(kind: str, tmp_path: Path) -> None:
    folder = make_model(tmp_path / "m", kind, seed=7)
    encoder = load_encoder(folder, torch.device("cpu"), torch.float32)
    status = ModelStatus("m", "stable", "sha256:0", str(folder), LABELS, 512, True, 1)
    processor = open_processor(folder)
    trial = Trial(processor, status, encoder.forward, SETTINGS)
    trial.try_text()
    page = read_placed_pages(msgspec.Raw(msgspec.json.encode(placed().pages)), DocumentLimits())
    prepared = prepare(processor.example((), None, status, WindowSizes(512, 64)), processor.readable(page))
    found = prepared.entities_in(encoder.forward(prepared.sequences))
    right = replace(placed(), entities=tuple(GoldenEntity(each.label, each.start, each.end) for each in found))

    def failure(example: GoldenExample) -> str | None:
        return trial.first_failure(publish(folder, "m", Store(tmp_path / "s"), golden=[example]).revision.manifest)

    assert found
    assert failure(right) is None
    moved = replace(right, pages=placed(shift=90.0).pages)
    assert "fails" in (failure(moved) or ""), "the boxes are those of the example"
    with pytest.raises(ModelError, match="not that of its pages"):
        failure(replace(placed(), text="anna"))


@pytest.mark.parametrize(("prefix_space", "refused"), [(True, False), (False, True)])
def test_a_tokenizer_that_reads_words_is_compared_word_by_word(
    prefix_space: bool, refused: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = make_model(tmp_path / "m", "layoutlmv3") / "tokenizer_config.json"
    options = {"tokenizer_class": "LayoutLMv3Tokenizer", "add_prefix_space": prefix_space}
    file.write_text(json.dumps(json.loads(file.read_text()) | options))
    with pytest.raises(ModelError, match="add_prefix_space") if refused else nullcontext():
        refuse_other_tokens(tmp_path / "m")
    assert not caplog.records

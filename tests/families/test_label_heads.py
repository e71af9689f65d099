"""Models with free labels by the encoder: the library's answers, alone and in company, whole and in windows."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from service.core.decoding.spans import MASKED, Overlaps
from service.core.errors import ModelError
from service.core.labels.label_set import Label, LabelSet, ScoreLimits
from service.engine.encoder.encoder import build_encoder, read_checkpoint, refuse_unloadable
from service.engine.execution.encoder_wrappers import DividedEncoder
from service.engine.execution.executor import DeviceTurns
from service.families.free_labels.decoding import decode_records, decode_spans
from service.families.free_labels.word_tokenizer import PreparedWords, WordTokenizer
from tests.support.label_models import (
    HOME,
    NAMES,
    SCORE_DIFFERENCE,
    WITH_RECORDS,
    Case,
    Found,
    RecordCase,
    RecordPlaces,
    assert_found,
    assert_records,
    cases,
    longest,
    prepare_words,
    record_cases,
    word_tokenizer,
)

CPU = torch.device("cpu")
TEXT = "Acme Tools GmbH sent invoice INV-2026-0417 to Jane Doe on 14 March 2026 for 1,250.00 EUR. "


@cache
def encoder(name: str) -> DividedEncoder:
    """A model that computes in units, as it is served: one group of all cases would keep a gigabyte."""
    return DividedEncoder(build_encoder(read_checkpoint(HOME / name, torch.float32), CPU, torch.float32), DeviceTurns())


@cache
def tokenizer(name: str) -> WordTokenizer:
    return word_tokenizer(HOME / name)


def whole(name: str, case: Case) -> tuple[PreparedWords, LabelSet]:
    labels = case.label_set
    return prepare_words(tokenizer(name), case.text, labels, longest=longest(name), overlap=0), labels


def found(name: str, prepared: Sequence[tuple[PreparedWords, LabelSet]]) -> list[Found]:
    """The entities of texts whose sequences are one batch."""
    sequences = [each for text, _ in prepared for each in text.sequences]
    scores = iter(encoder(name).forward(sequences) if sequences else [])
    answers = []
    for text, labels in prepared:
        parts = [tokenizer(name).config.condense(next(scores), labels.least_limit) for _ in text.sequences]
        answers.append(
            [(e.start, e.end, e.label, e.score) for e in decode_spans(text, parts, labels, tokenizer(name).config)]
        )
    return answers


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_of_all_cases_has_the_answers_of_the_library(name: str) -> None:
    known = cases(name)
    prepared = [
        (prepare_words(tokenizer(name), each.text, each.label_set, longest=longest(name), overlap=0), each.label_set)
        for each in known
    ]
    for case, answer in zip(known, found(name, prepared), strict=True):
        assert_found(answer, case.entities)


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_depends_on_batch_mates(name: str) -> None:
    known = random.Random(1).sample(cases(name), 12)
    prepared = [
        (prepare_words(tokenizer(name), each.text, each.label_set, longest=longest(name), overlap=0), each.label_set)
        for each in known
    ]
    for each, answer in zip(prepared, found(name, prepared), strict=True):
        assert_found(answer, found(name, [each])[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("overlaps", list(Overlaps))
def test_windows_find_nothing_twice_and_places_are_exact(name: str, overlaps: Overlaps) -> None:
    names = "person", "organization", "date", "invoice number", "location"
    labels = LabelSet.of([*map(Label, names)], ScoreLimits(0.3), overlaps)
    text = TEXT * 20
    prepared = prepare_words(tokenizer(name), text, labels, longest=96, overlap=24)
    assert len(prepared.windows) > 5
    (answer,) = found(name, [(prepared, labels)])
    assert answer
    assert len({each[:3] for each in answer}) == len(answer)
    assert all(text[start:end] == text[start:end].strip() for start, end, _, _ in answer)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_window_keeps_is_what_it_finds_alone(name: str) -> None:
    labels = LabelSet.of([Label("person"), Label("date")], ScoreLimits(0.6), Overlaps.PER_LABEL)
    prepared = prepare_words(tokenizer(name), TEXT * 8, labels, longest=96, overlap=24)
    config = tokenizer(name).config
    together = encoder(name).forward(prepared.sequences)
    for sequence, scores in zip(prepared.sequences, together, strict=True):
        (alone,) = encoder(name).forward([sequence])
        assert config.condense(alone, 0.6) == pytest.approx(config.condense(scores, 0.6), abs=SCORE_DIFFERENCE)


def test_each_window_of_a_span_model_says_for_itself_that_it_holds_nothing() -> None:
    name, labels = "gliner2-span", LabelSet.of([Label("person"), Label("date")], ScoreLimits(0.0), Overlaps.PER_LABEL)
    text = " ".join(dict.fromkeys(case.text for case in cases(name)))
    prepared = prepare_words(tokenizer(name), text, labels, longest=96, overlap=0)
    says_none = [bool((scores <= MASKED).all()) for scores in encoder(name).forward(prepared.sequences)]
    assert 0 < sum(says_none) < len(says_none)
    (answer,) = found(name, [(prepared, labels)])
    for window, none in zip(prepared.windows, says_none, strict=True):
        start, end = prepared.words[window.keep_start, 0], prepared.words[window.keep_stop - 1, 1]
        assert none is not any(start <= each[0] and each[1] <= end for each in answer)


def records(name: str, prepared: Sequence[tuple[PreparedWords, LabelSet]]) -> list[dict[str, RecordPlaces]]:
    """The records of texts whose sequences are one batch."""
    scores = iter(encoder(name).forward([each for text, _ in prepared for each in text.sequences]))
    answers = []
    for text, labels in prepared:
        parts = [tokenizer(name).config.condense(next(scores), labels.least_limit) for _ in text.sequences]
        answer: dict[str, RecordPlaces] = {kind.name: [] for kind in labels.records}
        for each in decode_records(text, parts, labels, tokenizer(name).config):
            fields = [[(e.start, e.end, e.label, e.score) for e in values] for values in each.fields]
            answer[each.kind].append((each.score, fields))
        answers.append(answer)
    return answers


def prepared_records(cases: Sequence[RecordCase]) -> list[tuple[PreparedWords, LabelSet]]:
    words = tokenizer(WITH_RECORDS)
    return [
        (prepare_words(words, each.text, each.label_set, longest=longest(WITH_RECORDS), overlap=0), each.label_set)
        for each in cases
    ]


def test_a_batch_of_schemas_and_labels_has_the_records_of_the_library() -> None:
    known = record_cases(WITH_RECORDS)
    mates = [whole(WITH_RECORDS, each) for each in cases(WITH_RECORDS) if each.text.strip()][:12]
    answers = records(WITH_RECORDS, prepared_records(known))
    assert sum(map(len, (found for each in known for found in each.records.values()))) > 100
    for case, answer in zip(known, answers, strict=True):
        assert_records(answer, case.records)
    mixed = [each for pair in zip(prepared_records(known[:12]), mates, strict=True) for each in pair]
    scores = encoder(WITH_RECORDS).forward([each for text, _ in mixed for each in text.sequences])
    for (text, _), found in zip(mixed, scores, strict=True):
        (alone,) = encoder(WITH_RECORDS).forward(text.sequences)
        assert found == pytest.approx(alone, abs=SCORE_DIFFERENCE)


def test_no_record_depends_on_batch_mates() -> None:
    each_alone = prepared_records(random.Random(1).sample(record_cases(WITH_RECORDS), 12))
    for alone, answer in zip(each_alone, records(WITH_RECORDS, each_alone), strict=True):
        assert_records(answer, records(WITH_RECORDS, [alone])[0])


def test_records_of_a_long_text_are_those_of_its_windows_once_each() -> None:
    case = record_cases(WITH_RECORDS)[0]
    labels, text = case.label_set, TEXT * 20
    prepared = prepare_words(tokenizer(WITH_RECORDS), text, labels, longest=96, overlap=40)
    assert len(prepared.windows) > 5
    (answer,) = records(WITH_RECORDS, [(prepared, labels)])
    for found in answer.values():
        for number in range(len(found[0][1])):
            values = [value[:2] for _, fields in found for value in fields[number]]
            assert values
            assert len(values) == len(set(values))
        firsts = [fields[0][0][:2] for _, fields in found]
        assert firsts == sorted(firsts)
    assert max(fields[0][0][1] for found in answer.values() for _, fields in found) > len(text) - 100


@pytest.mark.parametrize("change", ["missing", "unexpected", "of another shape"])
def test_a_folder_whose_weights_do_not_fit_is_refused(tmp_path: Path, change: str) -> None:
    source = HOME / "uni-token-bert"
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    if change == "missing":
        del weights["scorer.out_mlp.0.weight"]
    else:
        weights["scorer.new" if change == "unexpected" else "scorer.out_mlp.0.weight"] = torch.zeros(2, 2)
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="do not fit"):
        read_checkpoint(tmp_path, torch.float32)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_checked_by_the_names_and_shapes_of_its_weights(tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(HOME / name, tmp_path / name)
    files = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    refuse_unloadable(folder, files)
    weights = load_file(folder / "model.safetensors")
    lost = next(
        each
        for each in weights
        if each.endswith("attention.self.query_proj.weight") or "dense.weight" in each or ".Wqkv." in each
    )
    save_file({each: tensor for each, tensor in weights.items() if each != lost}, folder / "model.safetensors")
    with pytest.raises(ModelError, match=re.escape(lost.rpartition("layer")[2])):
        refuse_unloadable(folder, files)
    save_file(weights | {lost: weights[lost][:-1]}, folder / "model.safetensors")
    with pytest.raises(ModelError, match="another shape"):
        refuse_unloadable(folder, files)


def test_passes_of_a_bi_encoder_find_what_one_finds() -> None:
    """In other models a label is read beside the labels of its pass, which changes its scores."""
    words = tokenizer("bi-span-modernbert")
    labels = LabelSet.of([Label(f"thing {number}") for number in range(40)], ScoreLimits(0.5), Overlaps.PER_LABEL)
    one = prepare_words(words, "Jane Doe paid on 14 March 2026.", labels, longest=1_024, overlap=0)
    more = prepare_words(words, "Jane Doe paid on 14 March 2026.", labels, longest=128, overlap=0)
    assert [len(one.groups), len(one.windows), len(more.windows)] == [1, 1, 1]
    assert len(more.groups) > 3
    (answer,) = found("bi-span-modernbert", [(one, labels)])
    assert answer
    assert_found(found("bi-span-modernbert", [(more, labels)])[0], answer)


def test_more_labels_than_a_model_takes_go_in_groups() -> None:
    words = tokenizer("uni-span-deberta")
    labels = LabelSet.of([Label(f"thing {number}") for number in range(60)], ScoreLimits(0.9))
    prepared = prepare_words(words, TEXT, labels, longest=512, overlap=0)
    assert [len(group) for group in prepared.groups] == [25, 25, 10]
    (answer,) = found("uni-span-deberta", [(prepared, labels)])
    assert {label for *_, label, _ in answer} <= set(labels.names)

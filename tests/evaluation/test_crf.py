"""The CRF beside the model: its tags, what it learns, and what it is trained on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from service.evaluation.crf import LinearCrf, features, spans_of, split_words, tags
from service.evaluation.crf_beside import NoCrf, crf_rates
from service.evaluation.records import EvaluationSet, GoldDocument, LabelledSpan

NAMES = ("Anna", "Bert", "Cora", "Dora", "Emil", "Fred", "Gina", "Hans", "Ida", "Jens", "Karl", "Lena")


def document(number: int) -> GoldDocument:
    name = f"{NAMES[number % 12]} {NAMES[number // 12 % 12]}"
    text = f"Dear {name},\nplease pay {number} now"
    group = f"g{number % 6}"
    return GoldDocument(str(number), text, (LabelledSpan(5, 5 + len(name), "PERSON"),), group, "en", "letter", {})


DOCUMENTS = tuple(document(number) for number in range(36))
ALL = EvaluationSet("letters", DOCUMENTS, frozenset({"PERSON"}))


def test_words_and_their_tags_lead_back_to_the_spans() -> None:
    text = "Acme GmbH Acme-Bau, total"
    spans = [LabelledSpan(0, 9, "A"), LabelledSpan(10, 18, "A"), LabelledSpan(20, 25, "B")]
    words = split_words(text)
    path = tags(words, spans)
    assert path == ["B-A", "I-A", "B-A", "I-A", "I-A", "O", "B-B"]
    assert list(spans_of(words, path, [1.0] * len(path))) == spans
    halves = list(spans_of(words, ["I-A", "I-B", "O", "O", "O", "O", "O"], [0.5, 0.1] + [0.0] * 5))
    assert halves == [LabelledSpan(0, 4, "A", 0.5), LabelledSpan(5, 9, "B", 0.1)]


def test_a_word_has_features_of_its_own_and_of_its_neighbours() -> None:
    text = "INV-2093\nDue"
    own = features(text, split_words(text))
    assert {"0:w=inv", "0:shape=AAA", "0:runs=A", "0:gap=line", "1:w=-"} <= set(own[0])
    assert {"0:gap=none", "-1:w=inv", "1:w=2093"} <= set(own[1])
    assert "0:gap=line" in own[3]
    assert not any(feature.startswith("-1:") for feature in own[0])


def test_it_learns_what_stands_in_the_same_place(tmp_path: Path) -> None:
    crf = LinearCrf(tmp_path)
    crf.train(DOCUMENTS[:24], frozenset({"PERSON"}))
    (span,) = crf.find(document(31)).spans
    assert span[:3] == document(31).spans[0][:3]
    assert 0.5 < span.score <= 1.0
    assert crf.find(GoldDocument("", " ", (), "", "en", "letter", {})).spans == ()


def test_it_is_trained_on_documents_of_other_groups() -> None:
    scored = ALL.only(each for each in DOCUMENTS if each.group in ("g0", "g1"))
    found = crf_rates(scored, [ALL])
    assert found is not None
    assert found.trained == "on 24 documents of other groups"
    assert (found.rates.gold, found.rates.f1) == (12, 1.0)


def test_where_there_are_no_others_it_is_cross_validated_by_group() -> None:
    found = crf_rates(ALL, [ALL])
    assert found is not None
    assert found.trained == "5-fold cross-validation by group"
    assert (found.rates.gold, found.rates.f1) == (36, 1.0)


def test_without_groups_or_training_there_is_none() -> None:
    few = ALL.only(each for each in DOCUMENTS if each.group in ("g0", "g1"))
    assert crf_rates(few, [few]) is None
    assert crf_rates(ALL, []) is None


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    monkeypatch.delitem(sys.modules, "service.evaluation.crf")
    with pytest.raises(NoCrf, match="python-crfsuite"):
        crf_rates(ALL, [ALL])

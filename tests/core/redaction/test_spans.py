from __future__ import annotations

from service.core.redaction.spans import RedactedSpan, spans_to_redact

TEXT = "Jane Doe met Doe. JANE DOE left."


def found(label: str, words: str, score: float = 0.9) -> RedactedSpan:
    start = TEXT.index(words)
    return RedactedSpan(label, start, start + len(words), score)


def test_only_what_was_found_goes_without_repeats() -> None:
    spans = spans_to_redact(TEXT, [found("PERSON", "Jane Doe")], repeats=False)
    assert spans == [RedactedSpan("PERSON", 0, 8, 0.9)]
    assert not spans[0].is_repeat


def test_a_repeat_has_the_label_of_what_it_repeats_and_no_score() -> None:
    spans = spans_to_redact(TEXT, [found("PERSON", "Jane Doe")], repeats=True)
    assert spans == [RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("PERSON", 18, 26, None)]
    assert spans[1].is_repeat


def test_what_overlaps_goes_as_one_under_the_label_of_the_longest() -> None:
    chosen = [RedactedSpan("LAST", 5, 8, 0.4), RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("EVENT", 7, 12, 0.5)]
    assert spans_to_redact(TEXT, chosen, repeats=False) == [RedactedSpan("PERSON", 0, 12, 0.9)]


def test_a_repeat_around_an_entity_takes_all_of_it() -> None:
    chosen = [RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("LAST", 23, 26, 0.5)]
    assert spans_to_redact(TEXT, chosen, repeats=True)[1] == RedactedSpan("PERSON", 18, 26, 0.5)


def test_nothing_goes_of_nothing() -> None:
    assert spans_to_redact(TEXT, [], repeats=True) == []
    assert spans_to_redact(TEXT, [RedactedSpan("X", 3, 3, 0.1)], repeats=False) == []

"""Presidio adapter, by plain requests: findings, patterns with a limit of time, and texts without what was found."""

from __future__ import annotations

from typing import Any

from tests.support.adapter_clients import FREE, POOR, run_client
from tests.support.extraction import TEXT, random_texts
from tests.support.service import Service

NAMES = {"PER": "PERSON", "ORG": "ORGANIZATION", "DATE": "DATE_TIME"}
ZIP = {
    "name": "Zip code Recognizer",
    "supported_language": "en",
    "supported_entity": "ZIP",
    "patterns": [{"name": "zip code (weak)", "regex": "(\\b\\d{5}(?:\\-\\d{4})?\\b)", "score": 0.01}],
    "context": ["zip", "code"],
}


def case(path: str, body: Any = None, *, key: str = FREE) -> dict[str, Any]:
    return {"path": path, "body": body, "key": key}


def analyze(text: Any, *, key: str = FREE, **options: Any) -> dict[str, Any]:
    return case("/analyze", {"text": text, "language": "en", **options}, key=key)


def ask(service: Service, *cases: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_client("presidio", service.url, cases)
    return found


def places(results: list[dict[str, Any]]) -> set[tuple[str, int, int]]:
    return {(each["entity_type"], each["start"], each["end"]) for each in results}


def test_findings_are_the_service_s_own_for_texts_of_any_length(opened: Service) -> None:
    text = random_texts(1, seed=9, shortest=1_500, longest=1_500)[0]
    with opened.client() as client:
        answer = client.post("/extract", json={"text": text}, headers={"X-API-Key": FREE}).json()
    scores = sorted(each["score"] for each in answer["documents"][0]["entities"])
    one, two, only, sure = ask(
        opened,
        analyze(text),
        analyze([TEXT, text]),
        analyze(text, entities=["PERSON"]),
        analyze(text, score_threshold=scores[len(scores) // 2]),
    )
    theirs = {(NAMES[e["label"]], e["start"], e["end"]) for e in answer["documents"][0]["entities"]}
    assert places(one["body"]) == theirs
    assert max(each["end"] for each in one["body"]) > 0.9 * len(text)
    assert one["body"][0]["analysis_explanation"] is None
    assert one["revision"] == answer["model"]["revision"]
    assert [places(each) for each in two["body"]][1] == theirs
    assert places(only["body"]) == {each for each in theirs if each[0] == "PERSON"}
    assert sorted(each["score"] for each in sure["body"]) == scores[len(scores) - len(sure["body"]) :]
    assert 0 < len(sure["body"]) < len(one["body"])


def test_patterns_and_words_of_the_client_are_looked_for_too(opened: Service) -> None:
    text = "John Smith drivers license is AC432223 and the zip code is 12345"
    words = {"supported_entity": "TITLE", "deny_list": ["license", "code"]}
    both, kept, exact = ask(
        opened,
        analyze(text, ad_hoc_recognizers=[ZIP, words], entities=["ZIP", "TITLE"]),
        analyze(text, ad_hoc_recognizers=[ZIP], entities=["ZIP"], allow_list=["^1234\\d$"], allow_list_match="regex"),
        analyze(text, ad_hoc_recognizers=[ZIP], entities=["ZIP"], allow_list=["12345"]),
    )
    at = text.index("12345")
    assert {("ZIP", at, at + 5), ("TITLE", 19, 26), ("TITLE", 51, 55)} == places(both["body"])
    assert (kept["body"], exact["body"]) == ([], [])


def test_a_pattern_that_takes_too_long_or_is_none_is_refused(opened: Service) -> None:
    evil = {"supported_entity": "X", "patterns": [{"regex": "^(?:a|a|aa)+$", "score": 1}]}
    broken = {"supported_entity": "X", "patterns": [{"regex": "(", "score": 1}]}
    slow, none, flags, fine = ask(
        opened,
        analyze("a" * 5_000 + "b", ad_hoc_recognizers=[evil]),
        analyze(TEXT, ad_hoc_recognizers=[broken]),
        analyze(TEXT, allow_list=["0"], allow_list_match="regex", regex_flags=1 << 64),
        analyze(TEXT),
    )
    assert slow["status"] == 422, slow
    assert "2 s" in slow["body"]["error"]
    assert none["status"] == 422
    assert "no pattern" in none["body"]["error"]
    assert flags["status"] == 400
    assert "regex_flags" in flags["body"]["error"]
    assert fine["status"] == 200


def test_what_was_found_is_taken_out_of_the_text(opened: Service) -> None:
    results = [
        {"start": 0, "end": 10, "score": 0.9, "entity_type": "PERSON"},
        {"start": 33, "end": 39, "score": 0.9, "entity_type": "LOCATION"},
    ]
    plain, masked, secret, outside = ask(
        opened,
        case("/anonymize", {"text": TEXT, "analyzer_results": results}),
        case(
            "/anonymize",
            {
                "text": TEXT,
                "analyzer_results": results,
                "anonymizers": {
                    "DEFAULT": {"type": "replace", "new_value": "ANONYMIZED"},
                    "PERSON": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": True},
                },
            },
        ),
        case(
            "/anonymize",
            {"text": TEXT, "analyzer_results": results, "anonymizers": {"DEFAULT": {"type": "encrypt", "key": "k"}}},
        ),
        case("/anonymize", {"text": "short", "analyzer_results": results}),
    )
    assert plain["body"]["text"] == "<PERSON> paid the invoice 😀 in <LOCATION>"
    first = plain["body"]["items"][0]
    assert plain["body"]["text"][first["start"] : first["end"]] == first["text"] == "<LOCATION>"
    assert masked["body"]["text"] == "Anna S**** paid the invoice 😀 in ANONYMIZED"
    assert (secret["status"], outside["status"]) == (422, 400)


def test_the_lists_the_health_and_errors_with_their_hint(opened: Service) -> None:
    poor = analyze(TEXT, key=POOR)
    kinds, names, operators, health, bad, unknown, nobody, _, debt = ask(
        opened,
        case("/supportedentities?language=en"),
        case("/recognizers?language=en"),
        case("/anonymizers"),
        case("/health"),
        case("/analyze", {"words": TEXT}),
        analyze(TEXT, entities=["US_SSN"]),
        analyze(TEXT, key="guess"),
        poor,
        poor,
    )
    assert sorted(kinds["body"]) == sorted(NAMES.values())
    assert names["body"] == ["tiny", "other", "free", "free2"]
    assert "replace" in operators["body"]
    assert (health["status"], health["body"]) == (200, "Presidio Analyzer service is up")
    assert bad["status"] == 400
    assert set(bad["body"]) == {"error"}
    assert (unknown["status"], nobody["status"]) == (422, 401)
    assert debt["status"] == 429
    assert int(debt["retry"]) >= 1

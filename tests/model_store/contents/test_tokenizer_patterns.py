"""Regular expressions of a tokenizer: those that may backtrack without an end are told."""

from __future__ import annotations

import pytest

from model_store.contents.tokenizer_patterns import backtracks, regexes_in

GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
GPT_4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+"

POSSESSIVE = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s"
)
O200K = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}]*[\p{Ll}\p{Lm}]+(?i:'s|'t)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s+"


@pytest.mark.parametrize(
    "pattern",
    [GPT_2, GPT_4, POSSESSIVE, O200K, r"\s+", r"[(+*)]+", r"\(a+\)+", "(?:abc)+", "(?:a+)?b", "[]+(]+", "a)+", ""],
)
def test_patterns_of_known_tokenizers_come_to_an_end(pattern: str) -> None:
    assert not backtracks(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:x+x+)+y|\s",
        "(a|a)*b",
        "(a*)*b",
        "((a+)b?)+c",
        "(?:(?:a{1,}))+b",
        "(?<n>a+){2,}b",
        "(?:a|ab){20}c",
        "(?i:a+)*b",
    ],
)
def test_a_repeated_group_with_a_repeat_or_alternatives_is_told(pattern: str) -> None:
    assert backtracks(pattern)


@pytest.mark.parametrize(
    "pattern", ["x*x*x*y", "(x+)?(x+)?(x+)?y", "(?:x+|y)(?:x{10,}|z)x*?y", "a|b+c+d{,99}e", r"(?<x>a\g<x>?a?)b"]
)
def test_many_repeats_in_a_row_and_groups_that_call_themselves_are_told(pattern: str) -> None:
    assert backtracks(pattern)


def test_patterns_are_found_at_any_depth() -> None:
    split = {"type": "Split", "pattern": {"Regex": "a+"}}
    tokenizer = {"pre_tokenizer": {"pretokenizers": [split, {"pattern": {"String": "b"}}]}, "normalizer": split}
    assert list(regexes_in(tokenizer)) == ["a+", "a+"]
    assert list(regexes_in(None)) == list(regexes_in({"model": {"vocab": {"Regex": "x"}}})) == []

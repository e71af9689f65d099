from __future__ import annotations

import numpy as np
import pytest

from service.core.decoding import tag_scheme
from service.core.decoding.tag_scheme import Scheme


def scheme(*labels: str, inside_begins: bool = False) -> Scheme:
    return tag_scheme.read_scheme(dict(enumerate(labels)), inside_begins=inside_begins)


def followers(of: Scheme, label: str) -> set[str]:
    return {of.labels[i] for i in np.flatnonzero(of.allowed[of.labels.index(label)])}


def beginners(of: Scheme) -> set[str]:
    return {of.labels[i] for i in np.flatnonzero(of.may_begin)}


def enders(of: Scheme) -> set[str]:
    return {of.labels[i] for i in np.flatnonzero(of.may_end)}


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (["O", "B-A", "I-A"], "BIO"),
        (["O", "B-A", "B-C"], "BIO"),
        (["O", "I-A", "I-C"], "IO"),
        (["B-A", "I-A", "E-A", "S-A", "O"], "BIOES"),
        (["B-A", "I-A", "L-A", "U-A", "O"], "BILOU"),
        (["B-A", "M-A", "E-A", "S-A", "O"], "BMES"),
        (["O", "PERSON", "DATE"], "plain"),
        (["LABEL_0", "LABEL_1"], "plain"),
        (["O", "E-MAIL"], "plain"),
        (["O", "B-A", "I-A", "L-A", "E-A"], "plain"),
        (["B-A", "I-A", "E-A"], "plain"),
        (["O"], "plain"),
    ],
)
def test_the_scheme_is_read_from_the_letters_in_use(labels: list[str], name: str) -> None:
    assert scheme(*labels).name == name


def test_in_bio_an_entity_begins_with_b_and_goes_on_with_its_own_i() -> None:
    bio = scheme("O", "B-A", "I-A", "B-C", "I-C")
    assert bio.types == ("A", "C")
    assert bio.type_of.tolist() == [-1, 0, 0, 1, 1]
    assert beginners(bio) == {"O", "B-A", "B-C"}
    assert enders(bio) == set(bio.labels)
    assert followers(bio, "O") == {"O", "B-A", "B-C"}
    assert followers(bio, "B-A") == followers(bio, "I-A") == {"O", "B-A", "B-C", "I-A"}


@pytest.mark.parametrize("letters", ["BIES", "BILU", "BMES"])
def test_schemes_with_ends_must_close_what_they_open(letters: str) -> None:
    b, i, e, s = (f"{letter}-A" for letter in letters)
    closing = scheme("O", b, i, e, s)
    assert beginners(closing) == {"O", b, s}
    assert enders(closing) == {"O", e, s}
    assert followers(closing, b) == followers(closing, i) == {i, e}
    assert followers(closing, e) == followers(closing, s) == followers(closing, "O") == {"O", b, s}


def test_an_inside_tag_begins_where_its_type_has_no_other_beginning() -> None:
    assert "I-C" in beginners(scheme("O", "B-A", "I-A", "I-C"))
    assert beginners(scheme("O", "I-A", "I-C")) == {"O", "I-A", "I-C"}


def test_an_inside_tag_begins_anywhere_with_inside_begins() -> None:
    assert scheme("O", "B-A", "I-A", inside_begins=True).allowed.all()


@pytest.mark.parametrize("labels", [["O", "PERSON", "DATE"], ["LABEL_0", "LABEL_1"]])
def test_plain_labels_follow_each_other_freely(labels: list[str]) -> None:
    plain = scheme(*labels)
    assert plain.allowed.all()
    assert plain.types == tuple(label for label in labels if label != "O")


def test_a_type_may_hold_hyphens_and_a_prefixed_set_may_hold_plain_labels() -> None:
    mixed = scheme("O", "B-E-MAIL", "I-E-MAIL", "PHONE")
    assert mixed.types == ("E-MAIL", "PHONE")
    assert "PHONE" in followers(mixed, "PHONE")


def test_keys_may_be_strings_as_in_a_configuration_file() -> None:
    assert tag_scheme.read_scheme({"1": "B-A", "0": "O"}).labels == ("O", "B-A")  # type: ignore[dict-item]


def test_ids_with_gaps_are_a_broken_invariant() -> None:
    with pytest.raises(AssertionError, match="gaps"):
        tag_scheme.read_scheme({0: "O", 2: "B-A"})


@pytest.mark.parametrize("letters", ["B", "I", "BI", "BIES", "BIL", "BES", "IE", "BMS"])
def test_whatever_may_begin_may_follow_whatever_may_end(letters: str) -> None:
    any_scheme = scheme("O", *(f"{letter}-{kind}" for kind in "XY" for letter in letters))
    assert any_scheme.allowed[np.ix_(any_scheme.may_end, any_scheme.may_begin)].all()
    assert (any_scheme.may_begin & any_scheme.may_end).any()

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
        (["O", "B_TYPE"], "plain"),
        (["O", "I_D", "B_TYPE", "E_MAIL"], "plain"),
        (["O", "B_A", "I_A", "PHONE"], "plain"),
        (["O", "B_A", "i_A"], "plain"),
        (["O", "b_a", "m_a", "e_a", "s_a"], "BMES"),
    ],
)
def test_the_scheme_is_read_from_the_letters_in_use(labels: list[str], name: str) -> None:
    assert scheme(*labels).name == name


@pytest.mark.parametrize(
    "written",
    [
        ("O", "B_PER", "I_PER", "B_D", "I_D"),
        ("O", "b-PER", "i-PER", "b-D", "i-D"),
        ("O", "PER-B", "PER-I", "D-B", "D-I"),
        ("O", "PER_b", "PER_i", "D_b", "D_i"),
        ("o", "B:PER", "I:PER", "B:D", "I:D"),
        ("0", "B-PER", "I-PER", "B-D", "I-D"),
    ],
)
def test_tags_may_be_written_in_other_ways(written: tuple[str, ...]) -> None:
    usual, other = scheme("O", "B-PER", "I-PER", "B-D", "I-D"), scheme(*written)
    assert (other.name, other.types, other.labels) == ("BIO", ("PER", "D"), written)
    assert other.outside == written[0]
    assert np.array_equal(other.allowed, usual.allowed)
    assert np.array_equal(other.begins, usual.begins)
    assert other.is_unusual is (written[0] != "0")


@pytest.mark.parametrize(
    ("labels", "outside"),
    [(["O", "0", "A"], "O"), (["0", "PERSON"], "0"), (["0", "1"], None), (["0"], None), (["0", "o", "PERSON"], None)],
)
def test_a_nought_stands_for_o_among_words_alone(labels: list[str], outside: str | None) -> None:
    assert scheme(*labels).outside == outside


@pytest.mark.parametrize(
    ("labels", "unread"),
    [
        (["O", "B_A", "I_A", "PHONE"], ["B_A", "I_A"]),
        (["O", "A-B", "A-I", "C-E", "x"], ["A-B", "A-I", "C-E"]),
        (["O", "B_A", "I_A"], []),
        (["O", "B_TYPE", "I_D"], []),
        (["O", "B-PER", "I-PER", "B_ORG", "I_ORG"], ["B_ORG", "I_ORG"]),
        (["O", "I_PER", "I_ORG"], ["I_PER", "I_ORG"]),
        (["O", "I-PER", "I-ORG"], []),
        (["O", "B-I-A", "I-I-A"], []),
        (["PERSON", "DATE"], []),
        (["O", "I_D"], []),
    ],
)
def test_labels_that_look_like_tags_of_no_scheme_are_named(labels: list[str], unread: list[str]) -> None:
    assert tag_scheme.unread_tags(scheme(*labels)) == unread


def test_labels_leave_open_whether_they_are_bio_or_iob1() -> None:
    labels = ("O", "B-A", "I-A")
    assert scheme(*labels).may_be_iob1
    assert not scheme("O", "I-A", "B-C").may_be_iob1
    assert not scheme("O", "B-A", "I-A", "E-A", "S-A").may_be_iob1
    assert tag_scheme.scheme_named("BIO", labels).name == "BIO"
    iob1 = tag_scheme.scheme_named("IOB1", labels)
    assert (iob1.name, iob1.may_be_iob1, beginners(iob1)) == ("IOB1", False, set(labels))


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

"""Lines of the keys file: limits after the digest, of a client rather than of a key."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from service.api.http.api_keys import BadKeysFile, entries, limits_of, parse, read_text
from service.core.tenants import ClientQuota, RateLimits, Tenant


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def tenants(text: str) -> dict[str, Tenant]:
    return parse(entries(text, "keys"))


def test_a_line_of_client_and_digest_has_no_limits() -> None:
    tenant = tenants(f"alice {digest('a')}")[digest("a")]
    assert tenant == Tenant("alice")
    assert not tenant.rates
    assert limits_of(tenant) == {}


def test_limits_follow_the_digest_in_any_order() -> None:
    line = (
        f"bob {digest('b')} tokens_per_second=2e4 weight=2 documents_in_flight=20 queued_tokens=9000 bytes_per_second=1"
    )
    tenant = tenants(line)[digest("b")]
    assert tenant.quota == ClientQuota(weight=2.0, documents_in_flight=20, queued_tokens=9_000)
    assert tenant.rates == RateLimits(tokens_per_second=20_000.0, bytes_per_second=1.0)
    assert tenant.rates
    assert limits_of(tenant)["tokens_per_second"] == "20000"


def test_a_second_key_of_a_client_has_the_client_s_limits() -> None:
    found = tenants(f"bob {digest('old')} weight=2\nbob {digest('new')}\nbob {digest('newer')} documents_per_second=5")
    assert found[digest("old")] == found[digest("new")] == found[digest("newer")]
    assert limits_of(found[digest("new")]) == {"weight": "2", "documents_per_second": "5"}


def test_nobody_is_a_set_of_no_keys() -> None:
    assert tenants("# all revoked\nnobody\n") == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("weight", "each as `name=value`"),
        ("wieght=2", "weight, documents_in_flight"),
        ("weight=0", "weight must be a number above 0"),
        ("weight=nan", "weight must be"),
        ("weight=inf", "weight must be"),
        ("weight=1e9", "weight must be"),
        ("weight=", "weight must be"),
        ("documents_in_flight=1.5", "a whole number above 0"),
        ("queued_tokens=0", "a whole number above 0"),
        ("tokens_per_second=-1", "a number above 0"),
        ("tokens_per_second=many", "a number above 0"),
        ("weight=2 weight=3", "weight is 2 in an earlier line"),
    ],
)
def test_a_bad_limit_is_refused_with_its_place_and_no_digest(line: str, words: str) -> None:
    with pytest.raises(BadKeysFile, match=words) as caught:
        tenants(f"alice {digest('a')}\nbob {digest('b')} {line}")
    assert caught.value.detail.startswith("keys, entry 2: ")
    assert digest("b") not in caught.value.detail


def test_lines_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(BadKeysFile, match="entry 2: weight is 2"):
        tenants(f"bob {digest('a')} weight=2\nbob {digest('b')} weight=3")
    with pytest.raises(BadKeysFile, match="entry 2: this key belongs to another client"):
        tenants(f"alice {digest('a')}\nbob {digest('a').upper()}")


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "none"):
        with pytest.raises(BadKeysFile, match="cannot be read"):
            read_text(path)

"""IBANs with valid check digits, BICs, and the free-form numbers of invoices and articles."""

from random import Random
from typing import Final

from stdnum import iban as stdnum_iban

_BBAN: Final = dict(
    country.split(":")
    for country in (
        "DE:n18 AT:n16 FR:n23 ES:n20 IT:a1n22 NL:a4n10 BE:n12 PT:n21 GB:a4n14 CH:n17 PL:n24 DK:n14 SE:n20 "
        "FI:n14 RO:a4n16 CZ:n20 NO:n11 HR:n17 TR:n22 SA:n20"
    ).split()
)
"""Country → shape of the account part of its IBAN: n digits, a letters."""
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def digits(rng: Random, count: int) -> str:
    """`count` digits; the first is not zero."""
    return str(rng.randint(1, 9)) + "".join(rng.choices("0123456789", k=count - 1))


def letters(rng: Random, count: int) -> str:
    """`count` capitals."""
    return "".join(rng.choices(_LETTERS, k=count))


def iban(rng: Random, country: str) -> str:
    """An IBAN with valid check digits (ISO 13616, mod 97), in groups of four or together."""
    country = country if country in _BBAN else rng.choice(sorted(_BBAN))
    account = _shaped(rng, _BBAN[country])
    check = stdnum_iban.calc_check_digits(f"{country}00{account}")
    compact = f"{country}{check}{account}"
    if rng.random() < 0.3:
        return compact
    return " ".join(compact[start : start + 4] for start in range(0, len(compact), 4))


def bic(rng: Random, country: str) -> str:
    """Eight or eleven characters, ISO 9362."""
    return (
        letters(rng, 4) + country + letters(rng, 1) + rng.choice("2347M1") + rng.choice(("XXX", "", "", digits(rng, 3)))
    )


def document_number(
    rng: Random, *, year: int, prefixes: tuple[str, ...] = ("INV", "RE", "R", "FA", "F", "A", "SI")
) -> str:
    """An invoice number or the like, in one of many shapes."""
    prefix, short = rng.choice(prefixes), year % 100
    return rng.choice(
        (
            f"{prefix}-{digits(rng, rng.randint(3, 6))}",
            f"{prefix}-{year}-{rng.randint(1, 9999):04}",
            f"{year}-{rng.randint(1, 9999):0{rng.choice((3, 4, 5))}}",
            f"{prefix}{digits(rng, rng.randint(4, 9))}",
            f"{rng.randint(1, 999):03}/{year}",
            f"{year}/{rng.randint(1, 9999):04}",
            f"{short}{digits(rng, rng.randint(3, 6))}",
            digits(rng, rng.randint(4, 10)),
            f"{prefix}{year}{digits(rng, 4)}",
            f"#{digits(rng, rng.randint(3, 6))}",
            f"{digits(rng, 4)}/{digits(rng, 4)}/{digits(rng, 5)}",
            f"{letters(rng, 1)}{short}-{digits(rng, 5)}",
            f"{prefix}/{short}/{digits(rng, 4)}",
        )
    )


def article_number(rng: Random) -> str:
    """A short code such as TB100A4."""
    head = f"{letters(rng, rng.randint(1, 3))}{rng.choice(('', '-'))}"
    return f"{head}{digits(rng, rng.randint(2, 4))}{rng.choice(('', letters(rng, 1)))}"


def _shaped(rng: Random, shape: str) -> str:
    """Letters and digits of a shape such as a4n16: at most ten letters, then digits."""
    front, count = shape.split("n")
    return (letters(rng, int(front[1:])) if front else "") + "".join(rng.choices("0123456789", k=int(count)))

"""IBANs, BICs, tax numbers (with valid check digits) and the free-form numbers of invoices and customers."""

from collections.abc import Callable
from random import Random
from typing import Final

from stdnum import iban as stdnum_iban
from stdnum import luhn
from stdnum.at import uid
from stdnum.br import cnpj
from stdnum.de import vat as de_vat
from stdnum.es import cif
from stdnum.fr import siren
from stdnum.nl import bsn
from stdnum.pt import nif

# Length and shape of the account part: n digits, a letters.
_BBAN: Final = {
    "DE": "n18",
    "AT": "n16",
    "FR": "n23",
    "ES": "n20",
    "IT": "a1n22",
    "NL": "a4n10",
    "BE": "n12",
    "PT": "n21",
    "GB": "a4n14",
    "CH": "n17",
    "PL": "n24",
    "DK": "n14",
    "SE": "n20",
    "FI": "n14",
    "RO": "a4n16",
    "CZ": "n20",
    "NO": "n11",
    "HR": "n17",
    "TR": "n22",
    "SA": "n20",
}
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


def tax_id(rng: Random, country: str) -> str:
    """A VAT or tax number of the country; check digits are right where the country has them."""
    makers: dict[str, Callable[[Random], str]] = {
        "DE": _german_vat if rng.random() < 0.7 else _german_tax_number,
        "AT": lambda r: _checked(r, 7, uid.calc_check_digit, "ATU"),
        "FR": _french_vat,
        "ES": _spanish_cif,
        "IT": _italian_iva,
        "NL": _dutch_vat,
        "PT": lambda r: _checked(r, 8, nif.calc_check_digit, r.choice(("PT", ""))),
        "BR": _brazilian_cnpj,
        "GB": lambda r: f"GB{digits(r, 9)}" if r.random() < 0.5 else f"GB {digits(r, 3)} {digits(r, 4)} {digits(r, 2)}",
        "US": lambda r: f"{digits(r, 2)}-{digits(r, 7)}",
        "IN": lambda r: f"{digits(r, 2)}{letters(r, 5)}{digits(r, 4)}{letters(r, 1)}1Z{digits(r, 1)}",
        "CH": lambda r: f"CHE-{digits(r, 3)}.{digits(r, 3)}.{digits(r, 3)} MWST",
        "BE": lambda r: f"BE 0{digits(r, 3)}.{digits(r, 3)}.{digits(r, 3)}",
    }
    maker = makers.get(country)
    return maker(rng) if maker else f"{country}{digits(rng, rng.randint(8, 10))}"


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


def _checked(rng: Random, count: int, check: Callable[[str], object], prefix: str) -> str:
    body = digits(rng, count)
    return f"{prefix}{body}{check(body)}"


def _german_vat(rng: Random) -> str:
    body = digits(rng, 8)
    gap = rng.choice(("", "", " "))
    for check in range(10):
        if de_vat.is_valid(f"{body}{check}"):
            return f"DE{gap}{body}{check}"
    return _german_vat(rng)


def _german_tax_number(rng: Random) -> str:
    return rng.choice(
        (f"{digits(rng, 3)}/{digits(rng, 3)}/{digits(rng, 5)}", f"{digits(rng, 2)}/{digits(rng, 3)}/{digits(rng, 5)}")
    )


def _french_vat(rng: Random) -> str:
    body = digits(rng, 8)
    number = body + str(luhn.calc_check_digit(body))
    assert siren.is_valid(number)
    key = (12 + 3 * (int(number) % 97)) % 97
    return f"FR{key:02}{number}" if rng.random() < 0.6 else f"FR {key:02} {number[:3]} {number[3:6]} {number[6:]}"


def _spanish_cif(rng: Random) -> str:
    body = rng.choice("AB") + digits(rng, 7)
    return rng.choice(("ES", "", "")) + body + str(cif.calc_check_digits(body)[0])


def _italian_iva(rng: Random) -> str:
    body = f"{digits(rng, 7)}{rng.randint(1, 100):03}"  # the last three name the province of the tax office
    return f"{rng.choice(('IT', ''))}{body}{luhn.calc_check_digit(body)}"


def _dutch_vat(rng: Random) -> str:
    while True:
        body = digits(rng, 8)
        for check in range(10):
            if bsn.is_valid(f"{body}{check}"):
                return f"NL{body}{check}B{rng.randint(1, 99):02}"


def _brazilian_cnpj(rng: Random) -> str:
    body = digits(rng, 8) + "0001"
    return str(cnpj.format(body + cnpj.calc_check_digits(body)))

"""Contract fields: parties by what they are called, dates, periods, law, court and amounts, in five languages."""

from __future__ import annotations

import pytest

from service.core.fields.contract import BY_WORDS, CONTRACT_ROLES, find_contract
from service.core.fields.document_fields import find_fields
from service.core.fields.kinds import PaperKind
from service.core.fields.lines import TextLines
from tests.support.mentions import mentions_in

Found = tuple[str, str] | tuple[str, str, float]


def roles(text: str, *found: Found) -> dict[str, str]:
    """The values of a contract's roles."""
    fields = find_contract(TextLines(text), mentions_in(text, *found))
    assert all(text[each.best.start : each.best.end] == each.best.text for each in fields.roles.values())
    return {role: choice.best.value.text for role, choice in fields.roles.items()}


def parties(text: str, *found: Found) -> dict[str, str]:
    """What a contract calls its parties → their names."""
    fields = find_contract(TextLines(text), mentions_in(text, *found))
    assert all(text[each.name.start : each.name.end] == each.name.text for each in fields.parties)
    return {
        each.called.text if each.called else str(number): each.name.text for number, each in enumerate(fields.parties)
    }


def test_a_contract_has_fields_and_they_follow_the_order_of_roles() -> None:
    text = (
        "SERVICES AGREEMENT\nbetween Acme Ltd (the “Supplier”) and Bolt AG (the “Client”)\nEffective date: 1 May 2026\n"
    )
    text += "Fee: EUR 90.00 a month. Governed by the laws of Norway."
    fields = find_fields(text, mentions_in(text, ("DATE", "1 May 2026"), ("MONEY", "EUR 90.00")))
    assert fields is not None
    assert (fields.kind, [each.name.text for each in fields.parties]) == (PaperKind.CONTRACT, ["Acme Ltd", "Bolt AG"])
    assert list(fields.roles) == ["effective_date", "governing_law", "fee"]
    assert set(fields.roles) <= set(CONTRACT_ROLES)
    assert {role: choice.score for role, choice in fields.roles.items()} == {
        "effective_date": 0.9, "governing_law": BY_WORDS, "fee": 0.9,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'between Acme Ltd, a company of Leeds (the "Supplier"), and Bolt AG (hereinafter the Client)',
            {"Supplier": "Acme Ltd", "Client": "Bolt AG"},
        ),
        (
            "(1) Corvane Inc., of Delaware (“Licensor,” or “X”) and\n(2) Tamar & Co (Licensee)",
            {"Licensor": "Corvane Inc.", "Licensee": "Tamar & Co"},
        ),
        (
            "zwischen Frau Ina Tamm, Kiel\n– nachfolgend Vermieterin genannt –\nund Herrn Kemal Aydin\n– Mieter –",
            {"Vermieterin": "Ina Tamm", "Mieter": "Kemal Aydin"},
        ),
        (
            "Entre\nLa société Morvan SARL, ci-après « le Prestataire »\net Beaune SAS, ci-après « le Client »",
            {"Prestataire": "Morvan SARL", "Client": "Beaune SAS"},
        ),
        (
            'De una parte, Doña Ana Ruiz, en adelante "LA ARRENDADORA".\n'
            'De otra parte, Don Mateo Gil, en adelante "EL ARRENDATARIO".',
            {"ARRENDADORA": "Ana Ruiz", "ARRENDATARIO": "Mateo Gil"},
        ),
        (
            "tra Duranti S.p.A., di Modena, in qualità di Committente, e Studio Aldini, in qualità di Consulente",
            {"Committente": "Duranti S.p.A.", "Consulente": "Studio Aldini"},
        ),
        (
            "Landlord:\tOya Lane\nName of the Tenant: Juniper Dental, P.C.\nAddress: 4 Mill Street",
            {"Landlord": "Oya Lane", "Tenant": "Juniper Dental, P.C."},
        ),
        (
            "Verkäufer (privat)\nName: Hanne Pilz\nOrt: Jena\n\nKäufer\nName: Yusuf Emre",
            {"Verkäufer": "Hanne Pilz", "Käufer": "Yusuf Emre"},
        ),
        ("Vermieter: Krahl KG\nMieter:\nCafé Zeit UG, Leipzig", {"Vermieter": "Krahl KG", "Mieter": "Café Zeit UG"}),
        (
            "Acme Ltd (the “Supplier”) and others\nClient: Bolt AG\nSupplier: Acme Ltd",
            {"Supplier": "Acme Ltd", "Client": "Bolt AG"},
        ),
        (
            "Supplier: by ____\nClient: Name: __\nTenant: shall pay\nAgent: Tenant\nLandlord: Pays at once.",
            {},
        ),
        ("“Supplier” means Acme Ltd. It acts as agent, and _____ (the “Client”) as well", {}),
        ("", {}),
    ],
)
def test_parties_are_named_by_words_alone(text: str, expected: dict[str, str]) -> None:
    assert parties(text) == expected


def test_the_models_names_count_where_there_are_some() -> None:
    text = "between the firm Acme Ltd, represented by Jo Roth (the “Supplier”), and B. Olt, Inc. (the “Client”)"
    assert parties(text, ("PARTY", "Acme Ltd"), ("PERSON", "Jo Roth"), ("ORGANIZATION", "Olt")) == {
        "Supplier": "Acme Ltd",
        "Client": "Olt, Inc.",
    }
    assert parties("Tenant: Olt, Inc.\nAgent: Bo Ek", ("PARTY", "Olt"), ("PERSON", "Bo Ek")) == {
        "Tenant": "Olt, Inc.",
        "Agent": "Bo Ek",
    }


def shared(text: str, *found: Found) -> list[tuple[str, str]]:
    """The names of a contract's parties, and what it calls each."""
    fields = find_contract(TextLines(text), mentions_in(text, *found))
    return [(each.name.text, each.called.text if each.called else "") for each in fields.parties]


def test_a_party_may_be_called_by_a_part_of_its_own_name() -> None:
    text = (
        'This Sale Agreement ("Agreement")\n(1) Halverson Optics Ltd, of Leeds ("Halverson"), and\n\n'
        '(2) Ina Berg Works ("IBW")\n\nOrrin Ltd (the "Effective Date")'
    )
    found = [("PARTY", name) for name in ("Halverson Optics Ltd", "Ina Berg Works", "Orrin Ltd")]
    assert shared(text, *found) == [("Halverson Optics Ltd", "Halverson"), ("Ina Berg Works", "IBW")]


@pytest.mark.parametrize(
    ("called", "parties"),
    [
        ("General Contractor", [("Acme LLC", "General Contractor"), ("Bolt Inc", "Client")]),
        ("Museum", [("Bolt Inc", "Client")]),
    ],
)
def test_a_name_that_is_called_otherwise_is_no_other_party(called: str, parties: list[tuple[str, str]]) -> None:
    text = f"between Acme LLC (“{called}”) and Bolt Inc (“Client”)"
    assert shared(text, ("PARTY", "Acme LLC"), ("PARTY", "Bolt Inc")) == parties
    assert shared(text.replace("Bolt Inc", "we"), ("PARTY", "Acme LLC")) == parties[:-1]


@pytest.mark.parametrize(
    ("called", "names"),
    [
        ('(together the "Sellers")', ["Jo Roth", "Bo Ek"]),
        ('(each a "Seller")', ["Jo Roth", "Bo Ek"]),
        ('("Sellers")', ["Jo Roth", "Bo Ek"]),
        ('(the "Seller")', ["Bo Ek"]),
    ],
)
def test_joined_names_are_one_party_where_they_are_called_so_together(called: str, names: list[str]) -> None:
    text = f"between Jo Roth and Mr Bo Ek, Oslo {called} and Ed Ax (the “Buyer”)"
    found = [("PERSON", name) for name in ("Jo Roth", "Bo Ek", "Ed Ax")]
    assert [name for name, called in shared(text, *found) if called != "Buyer"] == names


def test_a_key_may_have_several_names() -> None:
    text = "Landlord: Oya Lane\nTenant: Jo Roth and Bo Ek"
    found = [("PERSON", name) for name in ("Oya Lane", "Jo Roth", "Bo Ek")]
    assert shared(text, *found) == [("Oya Lane", "Landlord"), ("Jo Roth", "Tenant"), ("Bo Ek", "Tenant")]


def test_who_acts_for_a_party_and_who_is_addressed_is_none() -> None:
    text = "De una parte, D. Ana Gil, en nombre y representación de Medina, S.L. (en adelante, el “Cliente”)"
    assert shared(text, ("PERSON", "D"), ("PERSON", "Ana Gil"), ("PARTY", "Medina, S.L.")) == [
        ("Medina, S.L.", "Cliente")
    ]
    text = "Dear Ms. Okafor,\n\nyou will work for Stanmore Ltd (“the Company”)."
    assert shared(text, ("PERSON", "Okafor"), ("ORGANIZATION", "Stanmore Ltd")) == [("Stanmore Ltd", "Company")]


def test_two_parties_that_are_called_nothing_stand_behind_between() -> None:
    text = "between us.\nThis agreement is between Skyline AS and Orrin Ltd. They talk."
    assert parties(text, ("PARTY", "Skyline AS"), ("PARTY", "Orrin Ltd")) == {"0": "Skyline AS", "1": "Orrin Ltd"}
    assert parties(text, ("PARTY", "Skyline AS")) == {}
    assert parties(text, ("PARTY", "Orrin Ltd")) == {}


@pytest.mark.parametrize(
    ("text", "date", "expected"),
    [
        ("This Agreement is effective as of 1 March 2026.", "1 March 2026", {"effective_date": "2026-03-01"}),
        ("made on 1 March 2026 (the “Effective Date”)", "1 March 2026", {"effective_date": "2026-03-01"}),
        ("Mietbeginn: 01.10.2026", "01.10.2026", {"effective_date": "2026-10-01"}),
        ("à compter du 4 mai 2026", "4 mai 2026", {"effective_date": "2026-05-04"}),
        ("surtirá efectos desde el 1 de julio de 2026", "1 de julio de 2026", {"effective_date": "2026-07-01"}),
        ("con decorrenza dal 1 ottobre 2026", "1 ottobre 2026", {"effective_date": "2026-10-01"}),
        ("This deed is made this 5th day of January 2026", "5th day of January 2026", {"signing_date": "2026-01-05"}),
        ("Kiel, den 12.08.2026", "12.08.2026", {"signing_date": "2026-08-12"}),
        ("Fait à Dijon, le 20 mars 2026", "20 mars 2026", {"signing_date": "2026-03-20"}),
        ("and shall expire on 31 January 2028", "31 January 2028", {"end_date": "2028-01-31"}),
        ("This lease stays in force until 31 January 2028", "31 January 2028", {"end_date": "2028-01-31"}),
        ("The offer is open until 31 January 2028", "31 January 2028", {}),
        ("The engagement shall continue until 30 June 2027", "30 June 2027", {"end_date": "2027-06-30"}),
        ("amends the Lease Agreement (“Lease”) dated 1 May 2022", "1 May 2022", {}),
        ("supplements the contract effective as of 1 May 2022", "1 May 2022", {}),
        ("born on 4 May 1995", "4 May 1995", {}),
        ("The term is 2026-01-01 to 2026-12-31", "2026-01-01 to 2026-12-31", {"term": "2026-01-01/2026-12-31"}),
        ("We read 2026-01-01 to 2026-12-31", "2026-01-01 to 2026-12-31", {}),
    ],
)
def test_words_before_a_date_say_what_it_is(text: str, date: str, expected: dict[str, str]) -> None:
    assert roles(text, ("DATE", date)) == expected


def test_a_date_that_the_model_labels_counts_where_no_words_name_one() -> None:
    text = "We open 1 May 2026 or 2 May 2026; effective date: 3 May 2026"
    found = (("EFFECTIVE_DATE", "1 May 2026"), ("EFFECTIVE_DATE", "2 May 2026", 0.4))
    assert roles(text, *found) == {"effective_date": "2026-05-01"}
    assert roles(text, *found, ("DATE", "3 May 2026")) == {"effective_date": "2026-05-03"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for an initial term of twenty-four (24) months.", {"term": "twenty-four (24) months"}),
        ("Die Laufzeit beträgt 24 Monate.", {"term": "24 Monate"}),
        ("pour une durée de trois ans", {"term": "trois ans"}),
        ("The payment term is 30 days", {}),
        ("within 30 days", {}),
        ("kept confidential for a period of five years", {}),
        ("The parties keep it secret for a term of five years", {}),
        ("renewed for a further term of one year", {}),
        ("se devolverá en el plazo de treinta días", {}),
        ("The notice period is 3 months.", {"notice_period": "3 months"}),
        ("Mängel sind innerhalb einer Frist von 14 Tagen zu rügen", {}),
        ("In der Probezeit kann mit einer Frist von zwei Wochen gekündigt werden", {}),
        ("Nach der Probezeit beträgt die Kündigungsfrist drei Monate", {"notice_period": "drei Monate"}),
        ("may terminate by giving ninety (90) days' written notice", {"notice_period": "ninety (90) days"}),
        ("may end it, terminating on three months’ notice", {"notice_period": "three months"}),
        ("kann mit einer Frist von drei Monaten gekündigt werden", {"notice_period": "drei Monaten"}),
        ("Die Kündigungsfrist beträgt vier Wochen.", {"notice_period": "vier Wochen"}),
        ("avec un préavis d'un mois", {"notice_period": "un mois"}),
        ("we announce works with two days' notice", {}),
    ],
)
def test_words_beside_a_period_say_what_it_is(text: str, expected: dict[str, str]) -> None:
    assert roles(text) == expected


@pytest.mark.parametrize(
    ("text", "law", "court"),
    [
        (
            "governed by, and construed in accordance with, the laws of England and Wales, and the courts of England "
            "and Wales shall",
            "the laws of England and Wales",
            "England and Wales",
        ),
        ("is governed exclusively by Dutch law, and", "Dutch law", None),
        ("governed by New York law.", "New York law", None),
        ("Der Vertrag untersteht schweizerischem Recht.", "schweizerischem Recht", None),
        ("governed by the laws of the State of Ohio without regard to it", "the laws of the State of Ohio", None),
        ("Governing law: Norway\nJurisdiction: Oslo District Court", "Norway", "Oslo District Court"),
        ("Applicable law: It is governed by the laws of Peru.", "the laws of Peru", None),
        (
            "Es gilt das Recht der Bundesrepublik Deutschland. Gerichtsstand ist Erfurt.",
            "Recht der Bundesrepublik Deutschland",
            "Erfurt",
        ),
        ("soumis au droit français. Litiges : Tribunal de commerce de Dijon.", "droit français", "Dijon"),
        ("se regirá por la legislación española. Juzgados y Tribunales de Sevilla.", "legislación española", "Sevilla"),
        ("regolato dalla legge italiana. Foro competente esclusivo è quello di Milano.", "legge italiana", "Milano"),
        ("a company incorporated under the laws of Canada", None, None),
        ("governed by the laws of  without regard", None, None),
    ],
)
def test_law_and_court_are_words_of_a_sentence(text: str, law: str | None, court: str | None) -> None:
    found = roles(text)
    assert (found.get("governing_law"), found.get("jurisdiction")) == (law, court)


def test_a_law_that_the_model_found_counts_where_no_words_state_one() -> None:
    assert roles("Delaware rules apply", ("GOVERNING_LAW", "Delaware", 0.6)) == {"governing_law": "Delaware"}
    assert roles("Delaware rules apply", ("GOVERNING_LAW", "Delaware", 0.3)) == {}


@pytest.mark.parametrize(
    ("text", "amount", "expected"),
    [
        ("a monthly rent of EUR 90.00", "EUR 90.00", {"rent": "90.00 EUR"}),
        ("Der Kaufpreis beträgt 14.900,00 EUR", "14.900,00 EUR", {"contract_value": "14900.00 EUR"}),
        ("un salaire brut de 2 950,00 EUR", "2 950,00 EUR", {"salary": "2950.00 EUR"}),
        ("i compensi sono esclusi; il compenso di 80,00 EUR", "80,00 EUR", {"fee": "80.00 EUR"}),
        ("An arrangement fee of EUR 90.00 is due", "EUR 90.00", {}),
        ("The rent is low. A deposit of EUR 90.00", "EUR 90.00", {}),
        ("the rent, and liability up to EUR 90.00", "EUR 90.00", {}),
        ("a monthly rent of 90.00", "90.00", {}),
        ("paid EUR 90.00", "EUR 90.00", {}),
    ],
)
def test_the_nearest_words_before_an_amount_say_what_it_is(text: str, amount: str, expected: dict[str, str]) -> None:
    assert roles(text, ("MONEY", amount)) == expected


def test_of_several_values_of_one_role_the_first_counts() -> None:
    text = "The rent is EUR 1.00. The rent is EUR 2.00. The rent is EUR 2.00. The rent is EUR 1.00."
    rent = find_contract(TextLines(text), mentions_in(text, *[("MONEY", f"EUR {n}.00") for n in (1, 2, 2, 1)])).roles[
        "rent"
    ]
    assert (rent.best.text, [each.text for each in rent.alternatives]) == ("EUR 1.00", ["EUR 2.00"])

"""Running text: templates with names for entities, filled consistently, and set to a width."""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from random import Random
from string import Formatter

from model_store.builtin.training.pages import identifiers, names
from model_store.builtin.training.pages.facts import Party, Trade, bank_account, tax_number
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.names import slug
from model_store.builtin.training.pages.sheet import Block, Piece, Row, row, width_of
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

Makers = Mapping[str, Callable[[], Piece | str]]


def filled(template: str, makers: Makers) -> Row:
    """The template with each of its {names} made anew."""
    parts: list[str | Piece] = []
    for text, name, _, _ in Formatter().parse(template):
        parts.append(text)
        if name:
            parts.append(makers[name]())
    return row(*(part for part in parts if part))


def of_trade(trade: Trade) -> dict[str, Callable[[], Piece | str]]:
    """Makers for sentences about a sale."""
    style = trade.style
    return {
        "number": lambda: Piece(trade.number, "INVOICE_ID"),
        "supplier": lambda: trade.supplier.entity("SUPPLIER_NAME"),
        "receiver": lambda: trade.receiver.entity("RECEIVER_NAME"),
        "date": lambda: Piece(style.day(trade.issued), "INVOICE_DATE"),
        "due": lambda: Piece(style.day(trade.due), "DUE_DATE"),
        "total": lambda: Piece(_with_currency(style, trade.total), "TOTAL_AMOUNT"),
        "net": lambda: Piece(_with_currency(style, trade.net), "NET_AMOUNT"),
        "tax": lambda: Piece(_with_currency(style, trade.tax), "TAX_AMOUNT"),
        "order": lambda: Piece(trade.order, "PURCHASE_ORDER"),
        "iban": lambda: trade.supplier.account,
        "item": lambda: Piece(trade.positions[0].name, "COMMERCIAL_ITEM"),
        "bic": lambda: Piece(trade.supplier.bic, "BIC"),
        "tax_id": lambda: Piece(trade.supplier.tax_id, "TAX_ID"),
    }


def of_world(rng: Random, lexicon: Lexicon, style: WritingStyle | None = None) -> dict[str, Callable[[], Piece | str]]:
    """Makers for sentences about people, companies, places and figures."""
    style = style or choose_style(rng, lexicon)
    say = lexicon.say

    def amount() -> Piece:
        return Piece(_with_currency(style, style.rounded(Decimal(rng.randint(2, 900) * 500))), "MONEY")

    return {
        "person": lambda: Piece(names.full_name(rng, lexicon), "PERSON"),
        "name": lambda: Piece(names.full_name(rng, lexicon), "PERSON"),
        "first": lambda: Piece(names.first_and_last(rng, lexicon)[0], "PERSON"),
        "last": lambda: Piece(names.surname(rng, lexicon), "PERSON"),
        "courtesy": lambda: say(rng, "courtesy"),
        "organization": lambda: Piece(names.company(rng, lexicon), "ORGANIZATION"),
        "employer": lambda: Piece(names.company(rng, lexicon), "EMPLOYER"),
        "party": lambda: Piece(names.company(rng, lexicon), "PARTY"),
        "job": lambda: Piece(say(rng, "jobs"), "JOB_TITLE"),
        "city": lambda: Piece(say(rng, "cities"), "LOCATION"),
        "country": lambda: Piece(rng.choice(list(lexicon.countries.values())), "LOCATION"),
        "law": lambda: Piece(say(rng, "jurisdictions"), "GOVERNING_LAW"),
        "year": lambda: Piece(str(rng.randint(1985, 2028)), "DATE"),
        "day": lambda: Piece(style.day(some_day(rng)), "DATE"),
        "percent": lambda: Piece(style.rate(Decimal(rng.randint(2, 60))), "PERCENT"),
        "money": amount,
        "quantity": lambda: Piece(say(rng, "periods").format(n=rng.choice((2, 3, 6, 10, 14, 30))), "QUANTITY"),
        "count": lambda: Piece(str(rng.randint(2, 90)), "QUANTITY"),
        "quantity_kg": lambda: Piece(f"{rng.randint(2, 90)} {lexicon.words.get('kg', ['kg'])[0]}", "QUANTITY"),
        "school": lambda: Piece(names.school(rng, lexicon), "SCHOOL"),
        "degree": lambda: Piece(say(rng, "degrees"), "DEGREE"),
        "skill": lambda: Piece(say(rng, "skills"), "SKILL"),
        "tongue": lambda: Piece(rng.choice(list(lexicon.languages.values())), "LANGUAGE"),
        "phone": lambda: Piece(names.phone(rng, lexicon), "PHONE"),
        "email": lambda: Piece(names.email(rng, names.full_name(rng, lexicon), names.company(rng, lexicon)), "EMAIL"),
        "url": lambda: Piece(names.url(rng, names.company(rng, lexicon)), "URL"),
        "idn": lambda: Piece(names.number_of(rng), "ID_NUMBER"),
        "order": lambda: Piece(identifiers.document_number(rng, year=2024), "PURCHASE_ORDER"),
        "item": lambda: Piece(say(rng, "products"), "COMMERCIAL_ITEM"),
        "field": lambda: say(rng, "fields"),
        "effective": lambda: Piece(style.day(some_day(rng)), "EFFECTIVE_DATE"),
        "address": lambda: Piece(", ".join(names.address(rng, lexicon)), "ADDRESS"),
        "iban": lambda: bank_account(rng, lexicon),
        "bic": lambda: Piece(identifiers.bic(rng, lexicon.locale.country), "BIC"),
        "tax_id": lambda: Piece(tax_number(rng, lexicon.locale.country), "TAX_ID"),
        "n": lambda: str(rng.randint(2, 40)),
    }


def of_party(party: Party) -> dict[str, Callable[[], Piece | str]]:
    """Makers for sentences that an organization says of itself."""
    return {
        "employer": lambda: party.entity("EMPLOYER"),
        "person": lambda: Piece(party.contact, "PERSON"),
        "email": lambda: Piece(party.email, "EMAIL"),
        "phone": lambda: Piece(party.phone, "PHONE"),
        "url": lambda: Piece(party.url, "URL"),
    }


def filler(rng: Random, lexicon: Lexicon) -> Row:
    return row(lexicon.say(rng, "filler"))


def bulleted(rng: Random, sentence: Row) -> Row:
    """The sentence as a point of a list."""
    return row(rng.choice(("• ", "- ", "* ", "1) ", "– ")), *sentence)


def run_on(rows: Iterable[Row], *, dense: bool) -> Row:
    """Sentences one after the other."""
    pieces: list[Piece] = []
    for line in rows:
        pieces += [Piece("" if dense else " ")] * bool(pieces) + list(line)
    return tuple(pieces)


def set_to(width: int, paragraph: Row, *, dense: bool) -> Block:
    """The paragraph in lines of a width, broken also within entities."""
    pieces: list[Piece] = []
    column = 0
    for piece in paragraph:
        text: list[str] = []
        words = [piece.text] if dense and slug(piece.text) == "" else piece.text.split(" ")
        for number, word in enumerate(words):
            if number and column + width_of(word) + 1 > width:
                text.append("\n")
                column = 0
            elif number:
                text.append(" ")
                column += 1
            if dense and width_of(word) > len(word):
                word, column = _broken(word, column, width)
            else:
                column += width_of(word)
            text.append(word)
        pieces.append(Piece("".join(text), piece.label))
    return [tuple(pieces)]


def _broken(word: str, column: int, width: int) -> tuple[str, int]:
    """Text without spaces, broken wherever the line is full, but not before a closing mark."""
    text: list[str] = []
    for letter in word:
        wide = width_of(letter)
        if column + wide > width and letter not in "、。，．！？）」』：；":
            text.append("\n")
            column = 0
        text.append(letter)
        column += wide
    return "".join(text), column


def _with_currency(style: WritingStyle, value: Decimal) -> str:
    """An amount that has its currency, as in sentences."""
    text = style.money(value)
    return text if any(not (c.isdigit() or c in ".,-()− ") for c in text) else f"{text} {style.lexicon.locale.currency}"

"""Dates, amounts, rates and quantities as one document writes them."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Final

from model_store.builtin.training.pages.lexicon import Lexicon

_PLACES: Final = {"JPY": 0, "KRW": 0, "IDR": 0}
_MONEY: Final[dict[str, tuple[str, ...]]] = {
    "EUR": ("{} €", "{} EUR", "€ {}", "EUR {}", "€{}", "{}€"),
    "USD": ("${}", "${}", "$ {}", "USD {}", "{} USD", "US${}"),
    "GBP": ("£{}", "£{}", "£ {}", "GBP {}", "{} GBP"),
    "CHF": ("CHF {}", "{} CHF", "Fr. {}"),
    "BRL": ("R$ {}", "R${}"),
    "MXN": ("${}", "$ {} MXN", "MXN {}"),
    "JPY": ("¥{}", "￥{}", "{}円", "{} 円", "¥{}-", "金{}円", "JPY {}"),
    "CNY": ("¥{}", "￥{}", "{}元", "{} 元", "人民币{}元", "RMB {}", "CNY {}"),
    "KRW": ("{}원", "₩{}", "￦{}", "{} 원", "KRW {}"),
    "SAR": ("{} ر.س", "{} ريال", "SAR {}", "{} ريال سعودي"),
    "EGP": ("{} ج.م", "{} جنيه", "EGP {}"),
    "INR": ("₹{}", "₹ {}", "रु. {}", "{} रुपये", "Rs. {}", "INR {}"),
    "PLN": ("{} zł", "{} PLN", "{} zł"),
    "RUB": ("{} руб.", "{} ₽", "{} RUB", "{} рублей"),
    "TRY": ("{} TL", "₺{}", "{} ₺", "{} TRY"),
    "SEK": ("{} kr", "{} SEK", "SEK {}", "{}:-"),
    "DKK": ("{} kr.", "DKK {}", "{} DKK", "kr. {}"),
    "CZK": ("{} Kč", "{} CZK", "CZK {}"),
    "RON": ("{} lei", "{} RON", "{} Lei"),
}
_INDIC: Final = {"ar": str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"), "hi": str.maketrans("0123456789", "०१२३४५६७८९")}


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """The notation of figures in one document; the same all through it."""

    lexicon: Lexicon
    date_pattern: str
    money_template: str
    table_template: str
    decimals: int
    percent: str
    negative: str
    native_digits: bool

    def day(self, day: date) -> str:
        """A date, e.g. 3. März 2026."""
        return self._own(_filled(self.date_pattern, self.lexicon, day))

    def month(self, rng: Random, day: date) -> str:
        """A month of a year."""
        return self._own(_filled(self.lexicon.say(rng, "month_year"), self.lexicon, day))

    def number(self, value: Decimal | int, *, decimals: int | None = None) -> str:
        """A number with the language's separators; the minus sign in front."""
        places = (self.decimals if decimals is None else decimals) if isinstance(value, Decimal) else 0
        text = f"{abs(value):,.{places}f}"
        marks = str.maketrans({",": self.lexicon.group_mark, ".": self.lexicon.decimal_mark})
        return self._own(("-" if value < 0 else "") + text.translate(marks))

    def money(self, value: Decimal, *, in_table: bool = False) -> str:
        """An amount with its currency; in tables as the document's tables have it."""
        template = self.table_template if in_table else self.money_template
        text = template.format(self.number(abs(value)))
        return self.negative.format(text) if value < 0 else text

    def rate(self, value: Decimal) -> str:
        whole = value == value.to_integral_value()
        return self.percent.format(self.number(value, decimals=0 if whole else 1))

    def rounded(self, value: Decimal) -> Decimal:
        """An amount in whole smallest units of the currency, halves up."""
        return value.quantize(Decimal(1).scaleb(-_PLACES.get(self.lexicon.locale.currency, 2)), rounding=ROUND_HALF_UP)

    def _own(self, text: str) -> str:
        return text.translate(_INDIC[self.lexicon.language]) if self.native_digits else text


def choose_style(rng: Random, lexicon: Lexicon) -> WritingStyle:
    """A notation of the language."""
    currency = lexicon.locale.currency
    native_digits = lexicon.language in _INDIC and rng.random() < 0.12
    template = rng.choice([form for form in _MONEY[currency] if not (native_digits and form.isascii())])
    return WritingStyle(
        lexicon=lexicon,
        date_pattern=lexicon.say(rng, "dates"),
        money_template=template,
        table_template=rng.choice((template, "{}", "{}")),
        decimals=_PLACES.get(currency, 2),
        percent=rng.choice(lexicon.words.get("percents", ["{}%", "{}%", "{} %"])),
        negative=rng.choice(("-{}", "-{}", "({})", "{}-", "- {}", "−{}")),
        native_digits=native_digits,
    )


def some_day(rng: Random, first: int = 2008, last: int = 2029) -> date:
    """Any day of the years."""
    return date(first, 1, 1) + timedelta(days=rng.randrange((last - first + 1) * 365))


def _filled(pattern: str, lexicon: Lexicon, day: date) -> str:
    return pattern.format(
        d=day.day, dd=f"{day.day:02}", m=day.month, mm=f"{day.month:02}", yyyy=day.year, yy=f"{day.year % 100:02}",
        month=lexicon.months[day.month - 1], mon=lexicon.short_months[day.month - 1],
        era=day.year - 2018 if day.year > 2018 else day.year - 1988,
    )  # fmt: skip

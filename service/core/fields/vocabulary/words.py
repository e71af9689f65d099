"""What one language calls the parts of a bill: the form of the data in this folder.

Notation: phrases are parted by spaces. Within one, `_` is a space, a hyphen or nothing, `.` a full stop or nothing, and
`*` any letters. Case, accents and full-width forms do not count. The longest phrase at a place wins.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BillWords:
    """The phrases of one language; what it shares with English need not be repeated.

    Amounts:
        total: all together, tax or not.
        gross: all together with tax, whatever else is beside it.
        to_pay: what is left to be paid.
        rounded: a total that was rounded for payment.
        net, subtotal: before tax; a sum of rows, which may be it.
        net_or_total: before tax in one country, to be paid in another.
        tax: a tax's name.
        sums: any sum; a total only beside `including` and a tax.
        including, excluding: before a tax's name, what a sum is with or without.
        rounding: what rounding adds, or comes to.
        paid, change: what the buyer handed over, and got back.
        no_sum: makes a line none of these, whatever else it says: counts, discounts, deposits, prices of one.
    Dates:
        due, dated: the day to pay by; the bill's own.
        another_day: neither.
    Numbers:
        bill, order: what the number is of; `number`: "no.", "code", which may stand between.
        another_bill: one that this bill speaks of.
    Parties:
        seller, buyer: the words before a name.
        to: names the buyer where it is alone on its line.
    """

    total: str = ""
    gross: str = ""
    to_pay: str = ""
    rounded: str = ""
    net: str = ""
    net_or_total: str = ""
    subtotal: str = ""
    tax: str = ""
    sums: str = ""
    including: str = ""
    excluding: str = ""
    paid: str = ""
    change: str = ""
    rounding: str = ""
    no_sum: str = ""
    due: str = ""
    dated: str = ""
    another_day: str = ""
    bill: str = ""
    order: str = ""
    another_bill: str = ""
    number: str = ""
    seller: str = ""
    buyer: str = ""
    to: str = ""

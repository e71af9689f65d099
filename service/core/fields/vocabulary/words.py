"""Bill vocabulary of one language: the phrases before amounts, dates, numbers and parties.

Notation: phrases are separated by spaces. In a phrase `_` is a space, a hyphen or nothing, `.` a full stop or nothing,
`*` any letters. Case, accents and full-width forms do not count. The longest phrase at a place wins.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BillWords:
    """Phrases of one language; phrases that it shares with another one need not be repeated.

    Amounts:
        total: the sum of the bill, with or without tax.
        gross: the sum with tax, whatever other words are near.
        to_pay: the amount left to pay.
        rounded: a total that was rounded for payment.
        net, subtotal: before tax; a sum of rows, which may be it.
        net_or_total: before tax in one country, to be paid in another.
        tax: a tax's name.
        tax_base: before the amount that a rate is taken of.
        exempt: a supply without tax, and why.
        sums: any sum; a total only beside `including` and a tax.
        including, excluding: before a tax's name, what a sum is with or without.
        rounding: the amount added by rounding, or rounded to.
        paid, change: the payment, and the money given back.
        untaxed, tip, service_charge, shipping: added to the taxed supplies: city tax, deposits of bottles, …
        discount: taken off before tax.
        withholding: taken off for the tax office, or kept back.
        early_payment: taken off a payment before a day.
        prepaid: paid before the bill: deposits, instalments.
        brought_forward: still owed from an earlier bill.
        no_sum: excludes a line from all of these: counts, unit prices, rates of exchange.
    Dates:
        due, dated: the due date; the bill's own date.
        supply: the day or period of supply, or the period that is billed.
        discount_until: the day until which a smaller amount is enough.
        another_day: any other date: that of a payment made, of the next bill, an expiry, a reading.
    Numbers:
        bill, order: the document that a number belongs to; `number`: "no.", "code", which may stand between.
        bill_number: names of a bill's number that no paper has as its heading.
        your_order: an order by its buyer's number; `order` may be its seller's.
        another_bill: a bill that this one refers to; `deposit`: one that asked for a part before.
        another_number: a customer, a contract, a meter, and what else has a number.
        reference: the text to be stated with a payment.
        credit, correction: the name of a credit note; of a correction, which charges or credits.
    Parties:
        seller, buyer: the words before a name.
        tax_number: the words before a taxpayer's number; `your`: make it the receiver's.
        representative: a tax representative, whose number is neither party's.
        other_number: the words before a number of another kind: of a device, an account, a register.
        debit, transfer: the account near them is debited, the payer's; is paid to.
        currency: the words before a currency's code.
        carried: a sum that is carried over from the page before.
        to, by: mark the buyer, the seller, if they are alone on their line.
    """

    total: str = ""
    gross: str = ""
    to_pay: str = ""
    rounded: str = ""
    net: str = ""
    net_or_total: str = ""
    subtotal: str = ""
    tax: str = ""
    tax_base: str = ""
    exempt: str = ""
    sums: str = ""
    including: str = ""
    excluding: str = ""
    paid: str = ""
    change: str = ""
    rounding: str = ""
    untaxed: str = ""
    tip: str = ""
    service_charge: str = ""
    shipping: str = ""
    discount: str = ""
    withholding: str = ""
    early_payment: str = ""
    prepaid: str = ""
    brought_forward: str = ""
    no_sum: str = ""
    due: str = ""
    dated: str = ""
    supply: str = ""
    discount_until: str = ""
    another_day: str = ""
    bill: str = ""
    bill_number: str = ""
    order: str = ""
    your_order: str = ""
    another_bill: str = ""
    deposit: str = ""
    carried: str = ""
    another_number: str = ""
    credit: str = ""
    correction: str = ""
    number: str = ""
    reference: str = ""
    seller: str = ""
    buyer: str = ""
    tax_number: str = ""
    your: str = ""
    representative: str = ""
    other_number: str = ""
    debit: str = ""
    transfer: str = ""
    to: str = ""
    by: str = ""
    currency: str = ""

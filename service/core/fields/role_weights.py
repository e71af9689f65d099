"""Weights of the evidence for roles (`role_scores`), by `model_store.builtin.training.role_fitting`."""

from __future__ import annotations

from collections.abc import Mapping

FITTED_ON = "receipt_sroie_en 542, invoice_zugferd_de_fr 467, given 131, generated 1824"
"""Sets of documents, and the number of values in each, that the weights were fitted on."""
WEIGHTS: Mapping[str, float] = {
    "ACCOUNT": 1.737,
    "NAMED": 0.626,
    "PARTY": 0.964,
    "SUM": -0.079,
    "TAX_NUMBER": 1.966,
    "BIC": 0.054,
    "DUE_DATE": 0.199,
    "IBAN": 0.062,
    "INVOICE_DATE": 0.225,
    "INVOICE_ID": 0.047,
    "NET_AMOUNT": 0.61,
    "PURCHASE_ORDER": -0.429,
    "RECEIVER_NAME": 0.081,
    "RECEIVER_TAX_ID": -0.104,
    "SUPPLIER_NAME": -0.016,
    "TAX_AMOUNT": -0.921,
    "TAX_ID": 0.235,
    "TOTAL_AMOUNT": 0.306,
    "adds up": 1.005,
    "amounts missing": 0.308,
    "another tax number": 0.23,
    "another value with words": 0.901,
    "does not add up": 0.634,
    "doubted by its rule": 1.028,
    "due before bill": 2.0,
    "label": 2.438,
    "largest sum": 1.546,
    "lead": 2.248,
    "neither label nor words": 0.545,
    "no heading of a bill": 0.362,
    "no label": 1.037,
    "not read": 2.039,
    "not the largest sum": 0.627,
    "party unsure": 1.986,
    "repeated": 1.128,
    "tax out of range": 0.122,
    "value of two roles": 0.334,
    "words": 0.316,
    "words NAMED": 1.085,
    "words PARTY": 0.057,
    "wrong checksum": 1.637,
}

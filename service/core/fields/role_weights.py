"""Weights of the evidence for roles (`role_scores`), by `model_store.builtin.training.role_fitting`."""

from __future__ import annotations

from collections.abc import Mapping

FITTED_ON = "receipt_sroie_en 542, invoice_zugferd_de_fr 469, given 131, generated 1824"
"""Sets of documents, and the number of values in each, that the weights were fitted on."""
WEIGHTS: Mapping[str, float] = {
    "ACCOUNT": 0.871,
    "NAMED": 0.577,
    "PARTY": 0.989,
    "SUM": 0.146,
    "TAX_NUMBER": 0.719,
    "BIC": 0.119,
    "DUE_DATE": 0.223,
    "IBAN": -0.061,
    "INVOICE_DATE": 0.206,
    "INVOICE_ID": -0.046,
    "NET_AMOUNT": 0.314,
    "PURCHASE_ORDER": -0.345,
    "RECEIVER_NAME": 0.102,
    "RECEIVER_TAX_ID": -0.174,
    "SUPPLIER_NAME": -0.036,
    "TAX_AMOUNT": -0.489,
    "TAX_ID": 0.222,
    "TOTAL_AMOUNT": 0.186,
    "adds up": 1.648,
    "amounts missing": 0.545,
    "another value with words": 0.833,
    "does not add up": 0.666,
    "doubted by its rule": 1.322,
    "due before bill": 2.109,
    "label": 2.299,
    "largest sum": 1.352,
    "lead": 2.237,
    "neither label nor words": 0.213,
    "no label": 1.14,
    "not read": 1.973,
    "not the largest sum": 0.795,
    "other label": 0.185,
    "repeated": 1.097,
    "tax out of range": 0.282,
    "value of two roles": 0.38,
    "words": 0.501,
    "words NAMED": 0.778,
    "words SUM": 0.032,
    "wrong checksum": 0.169,
}

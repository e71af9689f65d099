"""Weights of the evidence for roles (`role_scores`), by `model_store.builtin.training.role_fitting`."""

from __future__ import annotations

from collections.abc import Mapping

FITTED_ON = "receipt_sroie_en 542, invoice_zugferd_de_fr 469, given 131, generated 1742"
"""Sets of documents, and the number of values in each, that the weights were fitted on."""
WEIGHTS: Mapping[str, float] = {
    "ACCOUNT": 0.851,
    "NAMED": 0.774,
    "PARTY": 1.221,
    "SUM": -0.197,
    "TAX_NUMBER": 0.617,
    "BIC": 0.174,
    "DUE_DATE": 0.113,
    "IBAN": -0.117,
    "INVOICE_DATE": 0.326,
    "INVOICE_ID": -0.016,
    "NET_AMOUNT": 0.021,
    "PURCHASE_ORDER": -0.371,
    "RECEIVER_NAME": 0.168,
    "RECEIVER_TAX_ID": -0.135,
    "SUPPLIER_NAME": -0.087,
    "TAX_AMOUNT": -0.358,
    "TAX_ID": 0.177,
    "TOTAL_AMOUNT": 0.323,
    "adds up": 1.721,
    "amounts missing": 0.641,
    "another value with words": 0.836,
    "does not add up": 0.812,
    "doubted by its rule": 1.562,
    "due before bill": 1.915,
    "label": 2.022,
    "largest sum": 1.636,
    "lead": 2.146,
    "neither label nor words": 0.415,
    "no heading of a bill": 0.538,
    "no label": 1.228,
    "not read": 1.48,
    "not the largest sum": 0.666,
    "other label": 0.015,
    "party unsure": 0.234,
    "repeated": 1.009,
    "tax out of range": 0.022,
    "value of two roles": 0.217,
    "words": 0.554,
    "words NAMED": 0.833,
    "words SUM": 0.223,
}

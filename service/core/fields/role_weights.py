"""Weights of the evidence for roles (`role_scores`): written by `model_store.builtin.training.role_fitting`."""

from __future__ import annotations

from collections.abc import Mapping

FITTED_ON = ""
WEIGHTS: Mapping[str, float] = {
    "NAMED": -0.461,
    "PARTY": 0.013,
    "SUM": -0.356,
    "ACCOUNT": 0.221,
    "TAX_NUMBER": 0.869,
    "INVOICE_ID": 0.055,
    "INVOICE_DATE": 0.703,
    "DUE_DATE": -0.367,
    "PURCHASE_ORDER": -0.422,
    "SUPPLIER_NAME": -0.158,
    "RECEIVER_NAME": 0.159,
    "NET_AMOUNT": 0.425,
    "TAX_AMOUNT": -0.991,
    "TOTAL_AMOUNT": 0.543,
    "IBAN": -0.501,
    "BIC": 0.516,
    "TAX_ID": 0.058,
    "adds up": 1.512,
    "amounts missing": 1.331,
    "another value with words": 1.099,
    "checksum": 0.646,
    "digits in name": 0.086,
    "does not add up": 1.013,
    "due before bill": 1.723,
    "label": 1.081,
    "largest sum": 2.468,
    "lead": 3.048,
    "neither label nor words": 0.726,
    "not read": 2.269,
    "not the largest sum": 0.839,
    "other words": 0.021,
    "repeated": 0.291,
    "tax at rate": 1.937,
    "tax out of range": 0.699,
    "value of two roles": 1.15,
    "words NAMED": 2.183,
    "words PARTY": 0.969,
    "words SUM": 1.034,
    "wrong checksum": 1.438,
}

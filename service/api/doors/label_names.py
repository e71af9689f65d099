"""Labels of models as other protocols name the same thing; a label that has no other name there stays as it is."""

from __future__ import annotations

from collections.abc import Mapping

COMPREHEND: Mapping[str, str] = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANIZATION"}
"""Comprehend's entity types, for models with CoNLL's labels."""
COMPREHEND_PII: Mapping[str, str] = {
    "PER": "NAME",
    "PERSON": "NAME",
    "PARTY": "NAME",
    "RECEIVER_NAME": "NAME",
    "SUPPLIER_NAME": "NAME",
    "DATE": "DATE_TIME",
    "IBAN": "INTERNATIONAL_BANK_ACCOUNT_NUMBER",
    "BIC": "SWIFT_CODE",
    **{
        label: label
        for label in (
            "ADDRESS AGE AWS_ACCESS_KEY AWS_SECRET_KEY BANK_ACCOUNT_NUMBER BANK_ROUTING CREDIT_DEBIT_CVV "
            "CREDIT_DEBIT_EXPIRY CREDIT_DEBIT_NUMBER DATE_TIME DRIVER_ID EMAIL ID_NUMBER IP_ADDRESS LICENSE_PLATE "
            "MAC_ADDRESS NAME PASSPORT_NUMBER PASSWORD PHONE PIN SSN TAX_ID URL USERNAME "
            "VEHICLE_IDENTIFICATION_NUMBER"
        ).split()
    },
}
"""Comprehend's types of personal data; what is not here is none. `ID_NUMBER` and `TAX_ID` are of no one country."""
PRESIDIO: Mapping[str, str] = {
    "PER": "PERSON",
    "LOC": "LOCATION",
    "ADDRESS": "LOCATION",
    "ORG": "ORGANIZATION",
    "DATE": "DATE_TIME",
    "EMAIL": "EMAIL_ADDRESS",
    "PHONE": "PHONE_NUMBER",
    "IBAN": "IBAN_CODE",
}
"""Presidio's entity types."""

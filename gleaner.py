"""The Python client of a Gleaner service: `from gleaner import Client`, or `AsyncClient`.

with Client("http://127.0.0.1:8080") as client:
    for entity in client.extract("Invoice INV-20931 from Acme GmbH").entities:
        print(entity.label, entity.text)
"""

from service.client.answers import (
    ExtractedDocument,
    Extraction,
    FoundEntity,
    RedactedDocument,
    RedactedPart,
    RedactionAnswer,
    RemoteProblem,
    StreamedDocument,
)
from service.client.clients import AsyncClient, Client
from service.client.requests import FileSource, RetryBudget, TextSource
from service.core.errors import GleanerError, Overloaded, RequestError, ServiceError

__all__ = [
    "AsyncClient",
    "Client",
    "ExtractedDocument",
    "Extraction",
    "FileSource",
    "FoundEntity",
    "GleanerError",
    "Overloaded",
    "RedactedDocument",
    "RedactedPart",
    "RedactionAnswer",
    "RemoteProblem",
    "RequestError",
    "RetryBudget",
    "ServiceError",
    "StreamedDocument",
    "TextSource",
]

"""The Python client of a Gleaner service: `from gleaner import Client`, or `AsyncClient`.

with Client("http://127.0.0.1:8080") as client:
    for entity in client.extract("Invoice INV-20931 from Acme GmbH").entities:
        print(entity.label, entity.text)

The package `gleaner` of the distribution gleaner-client has these files, and so has the service, as `service.client`:
imports among them are relative, and lead to nothing else of the service.
"""

from .answers import (
    ExtractedDocument,
    Extraction,
    RedactedDocument,
    RedactedPart,
    RedactionAnswer,
    RemoteProblem,
    StreamedDocument,
)
from .clients import AsyncClient, Client
from .entities import (
    ContractParty,
    DocumentFields,
    Education,
    FieldEntity,
    FoundEntity,
    Job,
    LineItem,
    Paper,
    SumCheck,
    Tax,
)
from .errors import GleanerError, Overloaded, RequestError, ServiceError, Unreachable
from .requests import (
    BoxedWord,
    ExtractOptions,
    FileSource,
    PageOfWords,
    PagesSource,
    RedactOptions,
    RetryBudget,
    TextSource,
    Timeouts,
)

__all__ = [
    "AsyncClient",
    "BoxedWord",
    "Client",
    "ContractParty",
    "DocumentFields",
    "Education",
    "ExtractOptions",
    "ExtractedDocument",
    "Extraction",
    "FieldEntity",
    "FileSource",
    "FoundEntity",
    "GleanerError",
    "Job",
    "LineItem",
    "Overloaded",
    "PageOfWords",
    "PagesSource",
    "Paper",
    "RedactOptions",
    "RedactedDocument",
    "RedactedPart",
    "RedactionAnswer",
    "RemoteProblem",
    "RequestError",
    "RetryBudget",
    "ServiceError",
    "StreamedDocument",
    "SumCheck",
    "Tax",
    "TextSource",
    "Timeouts",
    "Unreachable",
]

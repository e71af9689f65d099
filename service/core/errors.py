"""Errors that a caller may see, as one tree; the branch says whose fault it is.

    GleanerError
    ├── RequestError            the client can mend it
    │   ├── MalformedRequest
    │   ├── Unauthenticated
    │   ├── Forbidden
    │   ├── ForeignHost
    │   ├── UnknownModel
    │   ├── UnknownRoute
    │   ├── WrongMethod
    │   ├── TooSlow
    │   ├── DocumentTooLarge
    │   ├── TargetTooLong
    │   ├── HeadersTooLarge
    │   ├── UnsupportedFormat
    │   ├── InvalidOptions
    │   ├── UnreadableDocument
    │   ├── UnredactableDocument
    │   └── TooLongForDeadline
    ├── Overloaded              too much work, or none yet; try again later
    │   ├── QueueFull
    │   ├── RateLimited
    │   ├── DeadlineExceeded
    │   ├── CapacityExceeded
    │   ├── NotReady
    │   ├── Draining
    │   └── EngineRestarting
    └── ServiceError            the service's or the machine's
        ├── InsufficientMemory
        ├── PoisonDocument
        ├── ModelError          a model folder, a manifest or a store is damaged or inconsistent
        └── InternalError

`code` is stable: in problem documents, on the wire, in metrics. `service/api/problems.py` maps it to an HTTP status.
"""

from __future__ import annotations

from typing import ClassVar


class GleanerError(Exception):
    """A typed failure with one helpful sentence (`detail`) and, where waiting helps, for how long."""

    code: ClassVar[str] = "internal_error"
    title: ClassVar[str] = "Something failed inside the service"

    def __init__(self, detail: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after_seconds = retry_after_seconds


class RequestError(GleanerError):
    """The client can mend it; sending the same again gives the same answer."""


class MalformedRequest(RequestError):
    code = "malformed_request"
    title = "The request or its body is malformed"


class Unauthenticated(RequestError):
    code = "unauthenticated"
    title = "An API key is needed"


class Forbidden(RequestError):
    code = "forbidden"
    title = "The API key is not known"


class ForeignHost(RequestError):
    code = "foreign_host"
    title = "The service does not answer under this name"


class UnknownModel(RequestError):
    code = "unknown_model"
    title = "No such model is served here"


class UnknownRoute(RequestError):
    code = "unknown_route"
    title = "There is nothing at this path"


class WrongMethod(RequestError):
    code = "wrong_method"
    title = "The path does not take this method"


class TooSlow(RequestError):
    code = "too_slow"
    title = "The request did not arrive in time"


class TargetTooLong(RequestError):
    code = "target_too_long"
    title = "The path and query are over a limit"


class HeadersTooLarge(RequestError):
    code = "headers_too_large"
    title = "The headers are over a limit"


class DocumentTooLarge(RequestError):
    code = "document_too_large"
    title = "The document is over a limit"


class UnsupportedFormat(RequestError):
    code = "unsupported_format"
    title = "The document's format is not supported"


class InvalidOptions(RequestError):
    code = "invalid_options"
    title = "An option has a bad value"


class UnreadableDocument(RequestError):
    code = "unreadable_document"
    title = "No text can be read from the document"


class UnredactableDocument(RequestError):
    code = "unredactable_document"
    title = "It cannot be made sure that nothing is left in the document"


class TooLongForDeadline(RequestError):
    code = "too_long_for_deadline"
    title = "The document needs more time than its deadline leaves, on an idle service too"


class Overloaded(GleanerError):
    """Nobody's fault: the same request may succeed later, after `retry_after_seconds`."""


class QueueFull(Overloaded):
    code = "queue_full"
    title = "The queue is full"


class RateLimited(Overloaded):
    code = "rate_limited"
    title = "A rate limit is reached"


class DeadlineExceeded(Overloaded):
    code = "deadline_exceeded"
    title = "The deadline cannot be met"


class CapacityExceeded(Overloaded):
    code = "too_much_at_once"
    title = "Too many connections are open, or too many bytes of bodies and answers held"


class NotReady(Overloaded):
    code = "not_ready"
    title = "The service is not ready yet"


class Draining(Overloaded):
    code = "draining"
    title = "The service is shutting down"


class EngineRestarting(Overloaded):
    code = "engine_restarting"
    title = "The engine is restarting"


class ServiceError(GleanerError):
    """The service's own fault, or the machine's."""


class InsufficientMemory(ServiceError):
    code = "insufficient_memory"
    title = "One sequence or document alone does not fit the memory"


class PoisonDocument(ServiceError):
    code = "poison_document"
    title = "The engine died twice while it worked on this document"


class ModelError(ServiceError):
    code = "model_error"
    title = "The model cannot be used"


class InternalError(ServiceError):
    code = "internal_error"
    title = "Something failed inside the service"


def _leaves(root: type[GleanerError]) -> list[type[GleanerError]]:
    below = [leaf for child in root.__subclasses__() for leaf in _leaves(child)]
    return below or [root]


BY_CODE: dict[str, type[GleanerError]] = {leaf.code: leaf for leaf in _leaves(GleanerError)}
"""Code → class, so that an error crosses the wire as its code and comes back as itself."""


def is_server_error(code: str) -> bool:
    """True where the service failed a request, which calls somebody and rolls a release back.

    A refusal is none, whatever its status: for load, before the start, at the end. But where the engine died, the
    service refuses what it should answer.
    """
    return issubclass(BY_CODE.get(code, RequestError), (ServiceError, EngineRestarting))


def is_clients_to_mend(code: str) -> bool:
    """True for the code of a request's own error: no load, and no task more would have it answered."""
    return issubclass(BY_CODE.get(code, InternalError), RequestError)

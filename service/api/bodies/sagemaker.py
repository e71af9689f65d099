"""What SageMaker's container looks for in a body before it decides whose it is."""

from __future__ import annotations

import msgspec

from service.api.bodies.door_json import decode_json

_ABSENT = msgspec.Raw(b"")


class _Probe(msgspec.Struct):
    inputs: msgspec.Raw = _ABSENT


def has_inputs(data: bytes, most_documents: int) -> bool:
    """Whether an object has `inputs`, whatever they are; raises as `decode_json` does."""
    return decode_json(data, _Probe, most_documents).inputs is not _ABSENT

"""The Open Inference Protocol's gRPC messages, built from their fields' numbers, so that no generated code is kept.

Source: the specification (`open_inference_grpc.proto`). Only what the six methods here need; protobuf keeps, and
ignores, fields of requests that are not named.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE, SERVICE = "inference", "inference.GRPCInferenceService"
_TYPES = {"double": 1, "int64": 3, "uint64": 4, "bool": 8, "string": 9, "message": 11, "bytes": 12}
_TENSOR = "name:1:string datatype:2:string shape:3:*int64 parameters:4:%InferParameter contents:5:InferTensorContents"
_METADATA = "name:1:string datatype:2:string shape:3:*int64"
_MESSAGES = {
    "ServerLiveRequest": "",
    "ServerLiveResponse": "live:1:bool",
    "ServerReadyRequest": "",
    "ServerReadyResponse": "ready:1:bool",
    "ModelReadyRequest": "name:1:string version:2:string",
    "ModelReadyResponse": "ready:1:bool",
    "ServerMetadataRequest": "",
    "ServerMetadataResponse": "name:1:string version:2:string extensions:3:*string",
    "ModelMetadataRequest": "name:1:string version:2:string",
    "TensorMetadata": _METADATA,
    "ModelMetadataResponse": "name:1:string versions:2:*string platform:3:string inputs:4:*TensorMetadata "
    "outputs:5:*TensorMetadata",
    "InferParameter": "bool_param:1:|bool int64_param:2:|int64 string_param:3:|string double_param:4:|double "
    "uint64_param:5:|uint64",
    "InferTensorContents": "bytes_contents:8:*bytes",
    "InferInputTensor": _TENSOR,
    "InferRequestedOutputTensor": "name:1:string parameters:2:%InferParameter",
    "InferOutputTensor": _TENSOR,
    "ModelInferRequest": "model_name:1:string model_version:2:string id:3:string parameters:4:%InferParameter "
    "inputs:5:*InferInputTensor outputs:6:*InferRequestedOutputTensor raw_input_contents:7:*bytes",
    "ModelInferResponse": "model_name:1:string model_version:2:string id:3:string parameters:4:%InferParameter "
    "outputs:5:*InferOutputTensor raw_output_contents:6:*bytes",
}
"""`name:number:type` of each field; `*` repeats it, `%` maps strings to it, `|` puts it into the one choice."""


def message_classes() -> dict[str, Any]:
    """The class of each message, in a pool of its own."""
    file = descriptor_pb2.FileDescriptorProto(name="open_inference.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        _describe(file.message_type.add(name=name), name, fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _MESSAGES
    }


def _describe(message: Any, name: str, fields: str) -> None:
    for described in fields.split():
        field, number, kind = described.split(":")
        mark, kind = (kind[0], kind[1:]) if kind[0] in "*%|" else ("", kind)
        added = message.field.add(name=field, number=int(number), label=3 if mark in ("*", "%") else 1)
        if mark == "%":
            entry = message.nested_type.add(name=f"{field.title()}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, label=1, type=_TYPES["string"])
            _typed(entry.field.add(name="value", number=2, label=1), f".{PACKAGE}.{kind}")
            kind = f"{name}.{entry.name}"
        if mark == "|":
            if not message.oneof_decl:
                message.oneof_decl.add(name="parameter_choice")
            added.oneof_index = 0
        _typed(added, kind if kind in _TYPES else f".{PACKAGE}.{kind}")


def _typed(field: Any, kind: str) -> None:
    field.type = _TYPES.get(kind, _TYPES["message"])
    if kind not in _TYPES:
        field.type_name = kind

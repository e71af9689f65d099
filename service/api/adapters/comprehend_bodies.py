"""Bodies of Amazon Comprehend's operations, as botocore writes them (`comprehend/2017-11-27`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import msgspec

from service.api.bodies.kinds import Content

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class TextRequest(msgspec.Struct, frozen=True):
    """The body of the operations on one text."""

    Text: _Text
    LanguageCode: str = ""

    def contents(self) -> list[Content]:
        return [self.Text]

    def filled(self, contents: Sequence[Content]) -> Self:
        return msgspec.structs.replace(self, Text=contents[0])


class EntitiesRequest(msgspec.Struct, frozen=True):
    """The body of DetectEntities: a text, or a file as base64."""

    Text: _Text | None = None
    Bytes: bytes | None = None
    LanguageCode: str = ""
    EndpointArn: str = ""

    def contents(self) -> list[Content]:
        return [each for each in (self.Text, self.Bytes) if each is not None]

    def filled(self, contents: Sequence[Content]) -> Self:
        found: dict[str, Any] = {"Bytes" if isinstance(each, bytes) else "Text": each for each in contents}
        return msgspec.structs.replace(self, **found)


class BatchRequest(msgspec.Struct, frozen=True):
    """The body of BatchDetectEntities."""

    TextList: Annotated[list[_Text], msgspec.Meta(min_length=1)]
    LanguageCode: str = ""

    def contents(self) -> list[Content]:
        return [*self.TextList]

    def filled(self, contents: Sequence[Content]) -> Self:
        return msgspec.structs.replace(self, TextList=list(contents))

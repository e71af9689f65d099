"""Page at /docs: renders the OpenAPI document as HTML, without a script and without anything from another host."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from starlette.responses import Response

from service.api.json_schemas import Schema
from service.api.problems import STATUS
from service.core.errors import BY_CODE, Overloaded

_PAGE = (Path(__file__).parent / "docs.html").read_text()
_STYLE = hashlib.sha256(_PAGE.partition("<style>")[2].partition("</style>")[0].encode()).digest()
CONTENT_SECURITY_POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(_STYLE).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The style by its digest (CSP3, section 2.3.1: `hash-source`)."""
_ORIGIN = "http://origin.invalid"
"""Stands for the service's own address in the rendered page."""
_MEMBER = re.compile(r"^ *`?(\w+)`?: (.+(?:\n(?! *`?\w+`?: ).+)*)", re.MULTILINE)
"""What a type's description says of one member: lines of `name`: text."""


def docs_page(rendered: str, origin: str) -> Response:
    """The response with a rendered page, whose requests go to the service at `origin`."""
    body = rendered.replace(_ORIGIN, escape(origin.rstrip("/")))
    return Response(body, headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY}, media_type="text/html")


def rendered_docs(api: Mapping[str, Any]) -> str:
    """The page of an OpenAPI document: its routes by tag, then the errors."""
    groups: dict[str, list[_Operation]] = {}
    for path, methods in api["paths"].items():
        for method, spec in methods.items():
            groups.setdefault(spec["tags"][0], []).append(_Operation(method, path, spec, api["components"]))
    info = api["info"]
    return Template(_PAGE).substitute(
        title=escape(f"{info['title']} {info['version']}"),
        about=_paragraphs(info["description"]),
        navigation="".join(_links(tag, operations) for tag, operations in groups.items()),
        routes="".join(
            f'<h2 id="{_slug(tag)}">{escape(tag)}</h2>{"".join(each.html() for each in operations)}'
            for tag, operations in groups.items()
        ),
        errors=_errors(),
    )


def _links(tag: str, operations: Sequence[_Operation]) -> str:
    items = "".join(
        f'<li><a href="#{each.id}"><b>{each.method.upper()}</b> {_breakable(each.path)}</a>' for each in operations
    )
    return f'<li><a class="tag" href="#{_slug(tag)}">{escape(tag)}</a><ul>{items}</ul>'


def _slug(name: str) -> str:
    return re.sub(r"\W+", "-", name.lower()).strip("-")


def _breakable(path: str) -> str:
    """A path that may be broken before each slash."""
    return escape(path).replace("/", "<wbr>/")


def _inline(text: str) -> str:
    """Text as HTML, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{_inline(part)}</p>" for part in text.split("\n\n") if part.strip())


def _fold(title: str, content: str, anchor: str = "") -> str:
    return f"<details{anchor}><summary>{title}</summary>{content}</details>"


def _source(name: str, text: str) -> str:
    """Source that scrolls; it takes the keyboard's focus, so that keys can scroll it."""
    return f'<pre tabindex="0" role="region" aria-label="{escape(name)}">{escape(text, quote=False)}</pre>'


def _table(heads: Sequence[str], rows: str) -> str:
    cells = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table>"


def _row(name: str, *cells: str, note: str = "") -> str:
    small = f" <small>{note}</small>" if note else ""
    others = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr><th scope="row"><code>{escape(name)}</code>{small}</th>{others}</tr>'


def _errors() -> str:
    """A table of all error codes, by status."""
    rows = "".join(
        _row(
            code,
            str(status),
            escape(BY_CODE[code].title),
            "yes, after <code>Retry-After</code>" if issubclass(BY_CODE[code], Overloaded) else "no",
        )
        for code, status in sorted(STATUS.items(), key=lambda each: each[1])
    )
    return _table(("code", "status", "meaning", "may the same succeed later?"), rows)


@dataclass(frozen=True, slots=True)
class _Operation:
    """One route of the page. A named type is shown in it once, which also ends types that contain themselves.

    Attributes:
        components: OpenAPI's shared schemas and responses.
        shown: names of the types shown so far.
    """

    method: str
    path: str
    spec: Mapping[str, Any]
    components: Mapping[str, Mapping[str, Any]]
    shown: set[str] = field(default_factory=set)

    @property
    def id(self) -> str:
        return _slug(f"route {self.method} {self.path}")

    def html(self) -> str:
        """The route's section."""
        self.shown.clear()
        spec = self.spec
        return (
            f'<section id="{self.id}"><h3><span class="{self.method}">{self.method.upper()}</span> '
            f"<code>{_breakable(self.path)}</code></h3>"
            f'<p class="summary">{_inline(spec["summary"])}</p>{_paragraphs(spec.get("description", ""))}'
            f"{self._parameters()}{self._body()}{self._answers()}{self._example()}</section>"
        )

    def _parameters(self) -> str:
        parameters: list[Schema] = self.spec.get("parameters", [])
        rows = "".join(
            _row(
                each["name"],
                self._type(each["schema"]),
                f"<code>{escape(_text(each['schema']['default']))}</code>" if "default" in each["schema"] else "",
                _inline(each.get("description", "Part of the path.")),
            )
            for each in parameters
        )
        if not rows:
            return ""
        title = "Options" if parameters[0]["in"] == "query" else "Parameters"
        return f"<h4>{title}</h4>" + _table(("name", "type", "default", "what it sets"), rows)

    def _body(self) -> str:
        content = self.spec.get("requestBody", {}).get("content", {})
        return f"<h4>Body</h4>{self._content(content)}" if content else ""

    def _content(self, content: Mapping[str, Any]) -> str:
        """Media types with their members; those without any in one line."""
        whole = {name: self._types(each.get("schema", {})) for name, each in content.items()}
        plain = ", ".join(f"<code>{escape(name)}</code>" for name, members in whole.items() if not members)
        folds = "".join(
            _fold(f"<code>{escape(name)}</code>: its members", members) for name, members in whole.items() if members
        )
        return folds + (f"<p>{'Or' if folds else 'As'} {plain}.</p>" if plain else "")

    def _answers(self) -> str:
        found, refused = "", []
        for status, answer in self.spec["responses"].items():
            if "$ref" in answer:
                refused.append(status)
            elif not status.startswith(("4", "5")) or status == "503":
                content = self._content(answer.get("content", {}))
                found += f"<p><b>{status}</b> {_inline(answer['description'])}</p>{content}"
            else:
                found += f"<p><b>{status}</b> {_inline(answer['description'])}</p>"
        others = f'<p>Errors: {", ".join(refused)}; <a href="#errors">their codes</a>.</p>' if refused else ""
        return f"<h4>Answers</h4>{found}{others}"

    def _example(self) -> str:
        """A request for curl, and the answer to it where there is one."""
        asked = self.spec.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        content = self.spec["responses"].get("200", {}).get("content", {}).get("application/json", {})
        if self.method != "get" and asked is None:
            return ""
        key = ' \\\n  -H "Authorization: Bearer $KEY"' if self.spec.get("security") else ""
        data = json.dumps(asked, ensure_ascii=False).replace("'", "'\\''") if asked else ""
        sent = f" \\\n  -H 'Content-Type: application/json' \\\n  -d '{data}'" if asked else ""
        request = _source(f"Request to {self.path}", f"curl {_ORIGIN}{self.path}{key}{sent}")
        answer = ""
        if "example" in content:
            text = json.dumps(content["example"], ensure_ascii=False, indent=1)
            answer = _fold("Its answer", _source(f"Answer of {self.path}", text))
        return f"<h4>Example</h4>{request}{answer}"

    def _resolved(self, schema: Schema) -> tuple[str, Schema]:
        """A type's name, if it has one, and its schema without a pointer."""
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        return (name, self.components["schemas"][name]) if name else (str(schema.get("title", "")), schema)

    def _objects(self, schema: Schema, within: tuple[str, ...] = ()) -> Iterator[tuple[str, Schema]]:
        """The types with members that a value may have, or its elements."""
        name, schema = self._resolved(schema)
        if name and name in within:
            return
        if "properties" in schema:
            yield name, schema
            return
        for each in (*_choices(schema), schema.get("items"), schema.get("additionalProperties")):
            if isinstance(each, dict):
                yield from self._objects(each, (*within, name))

    def _types(self, schema: Schema) -> str:
        """The members of each type in a schema, as tables."""
        found = ""
        for name, each in self._objects(schema):
            anchor = f"{self.id}-{name.lower()}"
            if name in self.shown:
                found += f'<p class="seen">Members: see <a href="#{anchor}">{escape(name)}</a>.</p>'
                continue
            if name:
                self.shown.add(name)
            title = f"Members of {escape(name)}" if name else "Members"
            found += _fold(title, self._members(each), f' id="{anchor}"' if name else "")
        return found

    def _members(self, schema: Schema) -> str:
        """A table of a type's members, with those of their own types folded below each."""
        text = str(schema.get("description", "")).replace("Attributes:", "")
        properties: dict[str, Schema] = schema["properties"]
        said = {name: words for name, words in _MEMBER.findall(text) if name in properties}
        about = _MEMBER.sub(lambda found: "" if found[1] in properties else found[0], text)
        rows = ""
        for name, each in properties.items():
            words = each.get("description") or said.get(name) or self._resolved(each)[1].get("description", "")
            note = "" if name in schema.get("required", ()) else "optional"
            rows += _row(name, self._type(each), _inline(str(words).partition("\n\n")[0]), note=note)
            if nested := self._types(each):
                rows += f'<tr class="nested"><td colspan="3">{nested}</td></tr>'
        return _paragraphs(about) + _table(("member", "type", "meaning"), rows)

    def _type(self, schema: Schema, within: tuple[str, ...] = ()) -> str:
        """A type in words."""
        name, schema = self._resolved(schema)
        if "properties" in schema or (name and name in within):
            return escape(name or "object")
        inside = (*within, name)
        if values := schema.get("enum"):
            return " or ".join(f"<code>{escape(_text(each))}</code>" for each in values)
        if choices := _choices(schema):
            return " or ".join(dict.fromkeys(self._type(each, inside) for each in choices))
        kind = schema.get("type", "any value")
        elements, by_name = schema.get("items"), schema.get("additionalProperties")
        if kind == "array":
            of = self._type(elements, inside) if elements else f"{schema.get('minItems', '')} numbers"
            return f"list of {of}"
        if kind == "object" and isinstance(by_name, dict):
            return f"{self._type(by_name, inside)} by name"
        kinds = " or ".join(kind) if isinstance(kind, list) else str(kind)
        if "minimum" in schema:
            kinds += (
                f" {schema['minimum']} to {schema['maximum']}" if "maximum" in schema else f" ≥ {schema['minimum']}"
            )
        return "file" if schema.get("format") == "binary" else escape(kinds)


def _choices(schema: Schema) -> list[Schema]:
    return [*schema.get("anyOf", ()), *schema.get("oneOf", ())]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)

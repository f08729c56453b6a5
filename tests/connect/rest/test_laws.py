"""What a server reads that knows the specification and nothing of us is what was given: any value, any style."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from rest_decoding import read_header, read_path, read_query
from rest_documents import body, document, operation
from rest_recorder import Recorded, Recorder, recording

from wieldy.connect import openapi
from wieldy.connect.rest.client import NO_SECRETS, ServiceClient
from wieldy.core.errors import ArgumentsError
from wieldy.core.json import canonical_json

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = TEXTS | st.integers(-(2**60), 2**60) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
LISTS = st.lists(SCALARS, min_size=1, max_size=4)
OBJECTS = st.dictionaries(TEXTS.filter(bool), SCALARS, min_size=1, max_size=4)
NAMES = st.text("abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-.", min_size=1, max_size=10)
JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
WAYS = [
    *(("path", style, explode) for style in ("simple", "label", "matrix") for explode in (False, True)),
    *(("query", "form", explode) for explode in (False, True)),
    ("query", "spaceDelimited", False),
    ("query", "pipeDelimited", False),
    *(("header", "simple", explode) for explode in (False, True)),
]


class Wire:
    """One connection to the recording server for all examples."""

    def __init__(self, recorder: Recorder, runner: asyncio.Runner, client: ServiceClient) -> None:
        self.recorder, self._runner, self._client = recorder, runner, client

    def sent_for(self, paths: dict[str, Any], arguments: dict[str, Any]) -> Recorded:
        """The request that a call of the only operation is, as it arrived."""
        before = len(self.recorder.requests)
        request = openapi(document(self.recorder.url, paths)).request("do", arguments)
        self._runner.run(self._client.send(request, NO_SECRETS))
        assert len(self.recorder.requests) == before + 1
        return self.recorder.last


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    client = ServiceClient(timeout_s=60.0, max_bytes=1000)
    with recording() as running, asyncio.Runner() as runner:
        held = client.hold()
        runner.run(held.__aenter__())  # one loop for all examples, which no block can span
        yield Wire(running, runner, client)
        runner.run(held.__aexit__(None, None, None))


@pytest.mark.parametrize(("place", "style", "explode"), WAYS)
@settings(max_examples=30)
@example(name="q", value={"a|b c": ""})
@example(name="q", value={",": ""})
@given(name=NAMES, value=SCALARS | LISTS | OBJECTS)
def test_a_value_comes_through_in_every_style_or_is_refused(
    wire: Wire, place: str, style: str, explode: bool, name: str, value: Any
) -> None:
    name = f"X-{name}" if place == "header" else f"a{name}a"
    parameter = {"name": name, "in": place, "required": True, "style": style, "explode": explode, "schema": {}}
    path = f"/before/{{{name}}}/after" if place == "path" else "/things"
    try:
        sent = wire.sent_for(operation(path=path, parameters=[parameter]), {name.rstrip("_"): value})
    except ArgumentsError:
        assert cannot_be_carried(place, style, value)
        return
    kind = {list: "array", dict: "object"}.get(type(value), "text")
    if place == "path":
        assert sent.target.count("/") == 3
        read = read_path(sent.target.split("/")[2], name=name, style=style, explode=explode, kind=kind)
    elif place == "query":
        read = read_query(sent.query, name=name, style=style, explode=explode, kind=kind)
    else:
        read = read_header(sent.header(name) or "", explode=explode, kind=kind)
    assert read == as_text(value)


@settings(max_examples=60)
@given(value=st.dictionaries(TEXTS.filter(lambda text: bool(text) and not set(text) & set("[]")), JSON, max_size=3))
def test_an_object_comes_through_a_query_at_every_depth(wire: Wire, value: Any) -> None:
    parameter = {"name": "filter", "in": "query", "style": "deepObject", "explode": True, "schema": {"type": "object"}}
    sent = wire.sent_for(operation(parameters=[parameter]), {"filter": value})
    pairs = parse_qsl(sent.query, keep_blank_values=True, strict_parsing=bool(sent.query))
    assert pairs == [(f"filter{way}", text) for way, text in leaves(value)]


@settings(max_examples=60)
@given(value=st.dictionaries(st.sampled_from(["a", "b", "c d", "ü"]), JSON, min_size=1))
def test_a_json_body_is_what_was_given(wire: Wire, value: Any) -> None:
    schema = {"type": "object", "properties": {"a": {}}, "additionalProperties": True}
    assert json.loads(wire.sent_for(operation("post", **body(schema)), value).body) == value


@settings(max_examples=60)
@given(
    value=st.dictionaries(
        st.sampled_from(["a", "b", "c"]), SCALARS | LISTS | st.dictionaries(NAMES, SCALARS, min_size=1), min_size=1
    )
)
def test_a_form_is_what_was_given(wire: Wire, value: Any) -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}
    sent = wire.sent_for(operation("post", **body(schema, "application/x-www-form-urlencoded")), value)
    read: dict[str, list[str]] = {}
    nested: list[tuple[str, str]] = []
    for key, text in parse_qsl(sent.body.decode(), keep_blank_values=True):
        if "[" in key:
            nested.append((key, text))
        else:
            read.setdefault(key, []).append(text)
    plain = {key: texts if isinstance(value[key], list) else texts[0] for key, texts in read.items()}
    deep = {name: value_of(nested, name) for name in value if isinstance(value[name], dict)}
    assert {**plain, **deep} == {key: as_text(part) for key, part in value.items()}


@settings(max_examples=60)
@given(fields=st.dictionaries(NAMES.map(lambda text: f"f{text}f"), SCALARS, max_size=3), file=TEXTS)
def test_the_parts_of_a_form_are_what_was_given(wire: Wire, fields: dict[str, Any], file: str) -> None:
    assume(file[:5].lower() != "data:")
    properties = {name: {} for name in fields} | {"file": {"type": "string", "format": "binary"}}
    schema = {"type": "object", "properties": properties}
    sent = wire.sent_for(operation("post", **body(schema, "multipart/form-data")), fields | {"file": file})
    assert dict(parts_of(sent)) == {name: str(as_text(part)).encode() for name, part in fields.items()} | {
        "file": file.encode()
    }


def parts_of(sent: Recorded) -> list[tuple[str, bytes]]:
    """The parts of a form, cut at its boundary as RFC 2046 says."""
    content_type = sent.header("content-type") or ""
    boundary = content_type.partition("boundary=")[2].encode()
    first, *parts, last = sent.body.split(b"--" + boundary)
    assert (first, last) == (b"", b"--\r\n")
    found: list[tuple[str, bytes]] = []
    for part in parts:
        assert part.startswith(b"\r\n")
        assert part.endswith(b"\r\n")
        head, _, content = part[2:-2].partition(b"\r\n\r\n")
        name = re.search(rb'form-data; name="([^"]*)"', head)
        assert name is not None
        found.append((name[1].decode(), content))
    return found


def value_of(pairs: list[tuple[str, str]], name: str) -> Any:
    return {key[len(name) + 1 : -1]: text for key, text in pairs if key.startswith(f"{name}[")}


def as_text(value: Any) -> Any:
    match value:
        case str():
            return value
        case list():
            return [as_text(item) for item in value]
        case dict():
            return {key: as_text(part) for key, part in value.items()}
        case None:
            return ""
        case _:
            return canonical_json(value)


def leaves(value: Any, way: str = "") -> list[tuple[str, str]]:
    match value:
        case dict():
            return [leaf for key, part in value.items() for leaf in leaves(part, f"{way}[{key}]")]
        case list():
            return [leaf for index, part in enumerate(value) for leaf in leaves(part, f"{way}[{index}]")]
        case _:
            return [(way, as_text(value))]


def cannot_be_carried(place: str, style: str, value: Any) -> bool:
    """Whether the specification leaves no way to write this value so that it could be read back."""
    texts = flat_texts(value)
    if place == "path":
        return any(text in {"", ".", ".."} for text in [",".join(texts), *texts])
    if place == "header":
        return any(has_control(text) or text != text.strip() or "," in text or "=" in text for text in texts)
    return any({"spaceDelimited": " ", "pipeDelimited": "|"}.get(style, "\0") in text for text in texts)


def flat_texts(value: Any) -> list[str]:
    match value:
        case dict():
            return [text for key, part in value.items() for text in (key, as_text(part))]
        case list():
            return [as_text(part) for part in value]
        case _:
            return [as_text(value)]


def has_control(text: str) -> bool:
    return any(ord(character) < 32 or ord(character) == 127 for character in text)

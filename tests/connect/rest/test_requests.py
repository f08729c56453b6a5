"""What is sent, as it arrives at a server that keeps every byte: the rows on which clients are usually wrong."""

from __future__ import annotations

import base64
import email.policy
import json
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from rest_documents import body, call, document, operation, query, send
from rest_recorder import Answer, Recorder, as_json

from wieldy import FilePart, ImagePart, Presented, UsageError
from wieldy.connect import openapi
from wieldy.core.errors import ArgumentsError

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


async def test_null_in_a_patch_is_sent_and_what_is_left_out_is_not(recorder: Recorder) -> None:
    schema = {
        "type": "object",
        "properties": {"due": {"type": "string", "nullable": True}, "title": {"type": "string"}},
    }
    await send(document(recorder.url, operation("patch", **body(schema))), {"due": None})
    assert recorder.last.body == b'{"due":null}'
    assert recorder.last.header("content-type") == "application/json"


async def test_null_is_allowed_where_it_is_said_beside_a_reference(recorder: Recorder) -> None:
    schema = {
        "type": "object",
        "properties": {"owner": {"nullable": True, "allOf": [{"$ref": "#/components/schemas/A"}]}},
    }
    components = {"schemas": {"A": {"type": "object", "properties": {"id": {"type": "integer"}}}}}
    await send(document(recorder.url, operation("patch", **body(schema)), components=components), {"owner": None})
    assert json.loads(recorder.last.body) == {"owner": None}


async def test_deep_objects_are_written_in_brackets_at_every_depth(recorder: Recorder) -> None:
    parameter = query("filter", {"type": "object"}, style="deepObject", explode=True)
    source = document(recorder.url, operation(parameters=[parameter]))
    await send(source, {"filter": {"a": {"b": "c d"}, "list": [1, {"x": True}]}})
    pairs = parse_qsl(recorder.last.query)
    assert pairs == [("filter[a][b]", "c d"), ("filter[list][0]", "1"), ("filter[list][1][x]", "true")]


async def test_nested_values_of_a_form_are_written_in_brackets(recorder: Recorder) -> None:
    schema = {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "string"}}}},
            "metadata": {"type": "object"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
    }
    source = document(recorder.url, operation("post", **body(schema, "application/x-www-form-urlencoded")))
    await send(source, {"items": [{"price": "p 1"}, {"price": "ü&="}], "metadata": {"k": None}, "tags": ["a", "b"]})
    assert recorder.last.header("content-type") == "application/x-www-form-urlencoded"
    assert parse_qsl(recorder.last.body.decode(), keep_blank_values=True) == [
        ("items[0][price]", "p 1"),
        ("items[1][price]", "ü&="),
        ("metadata[k]", ""),
        ("tags", "a"),
        ("tags", "b"),
    ]


async def test_files_and_json_are_parts_of_their_own_kind(recorder: Recorder) -> None:
    schema = {
        "type": "object",
        "properties": {
            "picture": {"type": "string", "format": "binary"},
            "notes": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "about": {"type": "object"},
            "title": {"type": "string"},
        },
    }
    source = document(recorder.url, operation("post", **body(schema, "multipart/form-data")))
    picture = f"data:image/png;name=a%20b.png;base64,{base64.b64encode(PNG).decode()}"
    await send(source, {"picture": picture, "notes": ["one", "two"], "about": {"a": [1, None]}, "title": 'T "1"'})
    parts = parts_of(recorder)
    assert [(part.get_param("name", header="content-disposition"), part.get_filename()) for part in parts] == [
        ("picture", "a b.png"),
        ("notes", "notes.txt"),
        ("notes", "notes.txt"),
        ("about", None),
        ("title", None),
    ]
    assert [part.get_content_type() for part in parts[:4]] == [
        "image/png",
        "text/plain",
        "text/plain",
        "application/json",
    ]
    assert [part.get_payload(decode=True) for part in parts] == [PNG, b"one", b"two", b'{"a":[1,null]}', b'T "1"']


async def test_json_is_preferred_wherever_it_stands(recorder: Recorder) -> None:
    content = {
        "application/xml": {"schema": {"type": "string"}},
        "text/plain": {},
        "application/json": {"schema": A_TO_B},
    }
    source = document(recorder.url, operation("post", requestBody={"content": content}))
    await send(source, {"a": 1})
    assert (recorder.last.header("content-type"), recorder.last.body) == ("application/json", b'{"a":1}')


A_TO_B: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}


async def test_the_properties_of_every_alternative_of_a_body_are_arguments(recorder: Recorder) -> None:
    cat = {"type": "object", "required": ["kind", "lives"], "properties": {"kind": {"enum": ["cat"]}, "lives": {}}}
    dog = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": ["dog"]}, "bark": {"type": "boolean"}},
    }
    source = document(recorder.url, operation("post", **body({"oneOf": [cat, dog]})))
    tool = openapi(source).tools[0]
    assert set(tool.definition.input_schema["properties"]) == {"kind", "lives", "bark"}  # type: ignore[arg-type]
    assert tool.definition.input_schema["required"] == ["kind"]
    assert "kind, lives; or kind, bark" in tool.definition.description
    await send(source, {"kind": "dog", "bark": True})
    assert json.loads(recorder.last.body) == {"kind": "dog", "bark": True}


async def test_arguments_that_nobody_knows_are_refused_and_nothing_is_sent(recorder: Recorder) -> None:
    source = document(recorder.url, operation("post", parameters=[query("q", {"type": "string"})], **body(A_TO_B)))
    with pytest.raises(ArgumentsError, match="qq"):
        await send(source, {"qq": "x", "a": 1})
    assert recorder.requests == []


async def test_what_only_comes_back_is_no_argument_and_what_is_required_stays_so(recorder: Recorder) -> None:
    schema = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": {"type": "string", "readOnly": True},
            "name": {"type": "string"},
            "note": {"type": "string"},
        },
    }
    tool = openapi(document(recorder.url, operation("post", **body(schema)))).tools[0]
    assert tool.definition.input_schema["required"] == ["name"]
    assert "id" not in tool.definition.input_schema["properties"]  # type: ignore[operator]


@pytest.mark.parametrize("place", ["operation", "path"])
async def test_servers_of_operations_and_paths_count_more_than_the_document_s(recorder: Recorder, place: str) -> None:
    servers = [
        {"url": f"{recorder.url}/{{version}}", "variables": {"version": {"default": "v2", "enum": ["v1", "v2"]}}}
    ]
    paths = operation()
    (paths["/things"]["get"] if place == "operation" else paths["/things"])["servers"] = servers  # type: ignore[assignment]
    source = document("http://127.0.0.1:9/wrong", paths)
    await send(source, {})
    await send(source, {}, variables={"version": "v7"})
    assert [request.path for request in recorder.requests] == ["/v2/things", "/v7/things"]


async def test_a_variable_of_an_address_is_a_text_or_a_whole_number(recorder: Recorder) -> None:
    source = document(recorder.url.rsplit(":", 1)[0] + ":{port}", operation())
    await send(source, {}, variables={"port": int(recorder.url.rsplit(":", 1)[1])})
    assert [request.path for request in recorder.requests] == ["/things"]
    for wrong in (None, True, 1.5, ["80"], {"a": 1}):
        with pytest.raises(UsageError, match=r"Expected variables= to give texts or whole numbers, found .* 'port'"):
            openapi(source, variables={"port": wrong})  # type: ignore[dict-item]


@pytest.mark.parametrize(("place", "other"), [("header", "x-KEY"), ("query", "X-Key"), ("cookie", "X-Key")])
async def test_a_parameter_whose_place_a_credential_takes_is_no_argument(
    recorder: Recorder, place: str, other: str
) -> None:
    parameters = [{"name": name, "in": place, "required": True, "schema": {"type": "string"}} for name in (other, "q")]
    source = document(recorder.url, operation(parameters=parameters), security=[{"key": []}])
    source["components"] = {"securitySchemes": {"key": {"type": "apiKey", "in": place, "name": "X-Key"}}}
    tool = openapi(source, credentials={"key": "canary"}).tools[0]
    assert [*tool.definition.input_schema["properties"]] == ["q"]  # type: ignore[misc]
    await send(source, {"q": "x"}, credentials={"key": "canary"})
    (request,) = recorder.requests
    said = [request.target, *(value for _, value in request.headers)]
    assert sum("canary" in text for text in said) == 1


@pytest.mark.parametrize(
    ("scheme", "secret", "expected"),
    [
        ({"type": "apiKey", "in": "header", "name": "X-Key"}, "canary", ("x-key", "canary")),
        ({"type": "apiKey", "in": "cookie", "name": "session"}, "canary", ("cookie", "session=canary")),
        ({"type": "http", "scheme": "bearer"}, "canary", ("authorization", "Bearer canary")),
        ({"type": "oauth2", "flows": {}}, "canary", ("authorization", "Bearer canary")),
        ({"type": "openIdConnect", "openIdConnectUrl": "https://x"}, "canary", ("authorization", "Bearer canary")),
        ({"type": "http", "scheme": "Token"}, "canary", ("authorization", "Token canary")),
        (
            {"type": "http", "scheme": "basic"},
            "u:canary",
            ("authorization", "Basic " + base64.b64encode(b"u:canary").decode()),
        ),
        (
            {"type": "http", "scheme": "basic"},
            {"username": "u", "password": "canary"},
            ("authorization", "Basic " + base64.b64encode(b"u:canary").decode()),
        ),
    ],
)
async def test_security_schemes_are_answered_by_named_credentials(
    recorder: Recorder, scheme: dict[str, Any], secret: Any, expected: tuple[str, str]
) -> None:
    source = document(
        recorder.url, operation(), components={"securitySchemes": {"own": scheme}}, security=[{"own": []}]
    )
    await send(source, {}, credentials={"own": secret})
    assert recorder.last.header(expected[0]) == expected[1]


async def test_a_key_in_the_query_is_added_to_the_query(recorder: Recorder) -> None:
    scheme = {"type": "apiKey", "in": "query", "name": "api key"}
    source = document(
        recorder.url,
        operation(parameters=[query("q", {"type": "string"})], security=[{"own": []}]),
        components={"securitySchemes": {"own": scheme}},
    )
    await send(source, {"q": "a&b"}, credentials={"own": "ca&nary"})
    assert recorder.last.query == "q=a%26b&api%20key=ca%26nary"


async def test_files_that_come_back_are_files(recorder: Recorder) -> None:
    pdf = b"%PDF-1.7\n" + bytes(range(256))
    recorder.answers = [
        Answer(
            content=pdf,
            headers=(("Content-Type", "application/pdf"), ("Content-Disposition", 'inline; filename="r.pdf"')),
        ),
        Answer(content=PNG, headers=(("Content-Type", "image/png"),)),
        Answer(content=b"\xff\x00\xfe", headers=(("Content-Type", "application/octet-stream"),)),
    ]
    source = document(recorder.url, operation(path="/files/raw.bin"))
    assert await send(source, {}) == FilePart.from_bytes(pdf, name="r.pdf", media_type="application/pdf")
    assert await send(source, {}) == ImagePart.from_bytes(PNG)
    assert await send(source, {}) == FilePart.from_bytes(b"\xff\x00\xfe", name="raw.bin")


async def test_a_clash_of_names_is_told_apart_by_where_the_parameter_goes(recorder: Recorder) -> None:
    parameters = [
        {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "v", "in": "query", "schema": {"type": "string"}},
        {"name": "v", "in": "header", "schema": {"type": "string"}},
    ]
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    source = document(recorder.url, operation("put", "/things/{id}", parameters=parameters, **body(schema)))
    await send(source, {"id__path": "1", "id": "2", "v__query": "q", "v__header": "h"})
    assert (recorder.last.target, recorder.last.header("v")) == ("/things/1?v=q", "h")
    assert json.loads(recorder.last.body) == {"id": "2"}


@pytest.mark.parametrize("value", ["..", ".", ""])
async def test_a_value_in_a_path_never_changes_which_path_it_is(recorder: Recorder, value: str) -> None:
    source = document(recorder.url, operation(path="/things/{id}/parts", parameters=[ID]))
    with pytest.raises(ArgumentsError):
        await send(source, {"id": value})
    assert recorder.requests == []


ID: dict[str, Any] = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


@pytest.mark.parametrize("value", ["a/b", "../x", "a?b#c", "%2e%2e", "ü ;=", "a\\b"])
async def test_what_has_a_meaning_in_addresses_is_escaped_in_a_path(recorder: Recorder, value: str) -> None:
    source = document(recorder.url, operation(path="/things/{id}/parts", parameters=[ID]))
    await send(source, {"id": value})
    segments = recorder.last.target.split("/")
    assert (len(segments), unquote(segments[2])) == (4, value)


async def test_a_header_cannot_bring_another_header(recorder: Recorder) -> None:
    parameter = {"name": "X-Note", "in": "header", "schema": {"type": "string"}}
    source = document(recorder.url, operation(parameters=[parameter]))
    with pytest.raises(ArgumentsError, match="line breaks"):
        await send(source, {"X-Note": "a\r\nX-Admin: 1"})
    await send(source, {"X-Note": "grüße"})
    assert recorder.last.header("x-note") == "grüße"


async def test_cookies_are_parameters_beside_a_key_in_a_cookie(recorder: Recorder) -> None:
    parameters = [{"name": name, "in": "cookie", "schema": {}} for name in ("a", "list")]
    scheme = {"own": {"type": "apiKey", "in": "cookie", "name": "session"}}
    source = document(
        recorder.url, operation(parameters=parameters, security=[{"own": []}]), components={"securitySchemes": scheme}
    )
    await send(source, {"a": "x;y", "list": [1, 2]}, credentials={"own": "canary"})
    assert recorder.last.header("cookie") == "a=x%3By; list=1; list=2; session=canary"


async def test_the_idempotency_key_is_the_call_s_and_no_argument(recorder: Recorder) -> None:
    parameter = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": {"type": "string"}}
    source = document(recorder.url, operation("post", parameters=[parameter], **body(A_TO_B)))
    tool = openapi(source).tools[0]
    assert (tool.effect, set(tool.definition.input_schema["properties"])) == ("keyed", {"a", "b"})  # type: ignore[arg-type]
    await send(source, {"a": 1})
    assert recorder.last.header("idempotency-key") == "key-of-the-call"


@pytest.mark.parametrize(
    ("method", "effect", "destructive"),
    [
        ("get", "read", False),
        ("head", "read", False),
        ("options", "read", False),
        ("put", "idempotent", True),
        ("delete", "idempotent", True),
        ("post", "unsafe", None),
        ("patch", "unsafe", None),
    ],
)
def test_effects_follow_from_methods(method: str, effect: str, destructive: bool | None) -> None:
    tool = openapi(document("https://example.com", operation(method))).tools[0]
    assert (tool.effect, tool.definition.annotations.destructive) == (effect, destructive)
    assert (
        openapi(document("https://example.com", operation(method)), effects={"d*": "keyed"}).tools[0].effect == "keyed"
    )


async def test_bodies_that_are_no_objects_are_one_argument(recorder: Recorder) -> None:
    paths = {
        **operation("post", "/list", name="list", **body({"type": "array", "items": {"type": "integer"}})),
        **operation("post", "/text", name="text", **body({"type": "string"}, "text/plain")),
        **operation("post", "/xml", name="xml", **body({"type": "object", "properties": {"a": {}}}, "application/xml")),
        **operation("put", "/bytes", name="bytes", **body({}, "application/octet-stream")),
        **operation("post", "/free", name="free", **body({"type": "object"})),
    }
    async with openapi(document(recorder.url, paths)) as toolset:
        await call(toolset, {"body": [1, 2]}, name="list")
        await call(toolset, {"body": "ü"}, name="text")
        await call(toolset, {"body": "<a/>"}, name="xml")
        await call(toolset, {"body": f"data:;base64,{base64.b64encode(PNG).decode()}"}, name="bytes")
        await call(toolset, {"body": {"any": {"thing": None}}}, name="free")
    assert [request.body for request in recorder.requests] == [
        b"[1,2]",
        "ü".encode(),
        b"<a/>",
        PNG,
        b'{"any":{"thing":null}}',
    ]
    assert [request.header("content-type") for request in recorder.requests] == [
        "application/json",
        "text/plain; charset=utf-8",
        "application/xml; charset=utf-8",
        "application/octet-stream",
        "application/json",
    ]


@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_a_body_of_no_properties_takes_none_and_one_of_any_takes_any(recorder: Recorder, media_type: str) -> None:
    paths = {
        **operation("get", "/none", name="none", **body({"type": "object", "properties": {}}, media_type)),
        **operation("post", "/any", name="any", **body({"type": "object"}, media_type)),
    }
    async with openapi(document(recorder.url, paths)) as toolset:
        with pytest.raises(ArgumentsError, match="typo"):
            await call(toolset, {"typo": 1}, name="none")
        await call(toolset, {}, name="none")
        assert (recorder.last.body, recorder.last.header("content-type")) == (b"", None)
        await call(toolset, {"body": {"name": "x"}}, name="any")
        assert b"name" in recorder.last.body
        assert (recorder.last.header("content-type") or "").startswith(media_type)


async def test_version_2_is_read_as_it_is_meant(recorder: Recorder) -> None:
    host = recorder.url.removeprefix("http://")
    source: dict[str, Any] = {
        "swagger": "2.0",
        "host": host,
        "basePath": "/api/",
        "schemes": ["http"],
        "consumes": ["application/xml", "application/json"],
        "securityDefinitions": {"own": {"type": "apiKey", "in": "header", "name": "X-Key"}},
        "security": [{"own": []}],
        "paths": {
            "/things/{id}": {
                "parameters": [{"name": "id", "in": "path", "type": "integer", "required": True}],
                "post": {
                    "operationId": "do",
                    "parameters": [
                        {"name": "ids", "in": "query", "type": "array", "items": {"type": "integer"}},
                        {
                            "name": "tags",
                            "in": "query",
                            "type": "array",
                            "items": {"type": "string"},
                            "collectionFormat": "multi",
                        },
                        {"name": "pipes", "in": "query", "type": "array", "collectionFormat": "pipes"},
                        {"name": "thing", "in": "body", "schema": {"$ref": "#/definitions/Thing"}},
                    ],
                },
                "put": {
                    "operationId": "upload",
                    "parameters": [
                        {"name": "file", "in": "formData", "type": "file", "required": True},
                        {"name": "note", "in": "formData", "type": "string"},
                    ],
                },
            }
        },
        "definitions": {"Thing": A_TO_B},
    }
    async with openapi(source, credentials={"own": "canary"}) as toolset:
        await call(toolset, {"id": 7, "ids": [1, 2], "tags": ["a", "b"], "pipes": ["x", "y"], "a": 1})
        await call(toolset, {"id": 7, "file": "text", "note": "n"}, name="upload")
    first = recorder.requests[0]
    assert first.target == "/api/things/7?ids=1,2&tags=a&tags=b&pipes=x%7Cy"
    assert (first.body, first.header("content-type"), first.header("x-key")) == (
        b'{"a":1}',
        "application/json",
        "canary",
    )
    assert [part.get_payload(decode=True) for part in parts_of(recorder)] == [b"text", b"n"]


async def test_further_pages_are_told_and_can_be_followed(recorder: Recorder) -> None:
    parameters = [query("page", {"type": "integer"}), query("q", {"type": "string"})]
    source = document(recorder.url, operation(parameters=parameters))

    def answer(request: Any) -> Answer:
        page = dict(parse_qsl(request.query)).get("page", "1")
        link = (
            f'<{recorder.url}/things?q=x&page={int(page) + 1}>; rel="next", <{recorder.url}/things?page=1>; rel="first"'
        )
        return as_json([int(page)], **({"Link": link} if page != "3" else {}))

    recorder.answer = answer
    async with openapi(source) as toolset:
        first = await call(toolset, {"q": "x"})
        assert isinstance(first, Presented)
        assert (first.structured, first.note) == (
            [1],
            'There is more: for the next page call `do` with {"page":2,"q":"x"}.',
        )
        assert [page async for page in toolset.pages("do", {"q": "x"})] == [[1], [2], [3]]


@pytest.mark.parametrize(
    ("parameter", "answers"),
    [
        ("pageToken", [{"items": [1], "nextPageToken": "t2"}, {"items": [2]}]),
        (
            "cursor",
            [{"items": [1], "response_metadata": {"next_cursor": "t2"}}, {"response_metadata": {"next_cursor": ""}}],
        ),
        ("starting_after", [{"data": [{"id": "t2"}], "has_more": True}, {"data": [], "has_more": False}]),
        ("$skip", [{"@odata.nextLink": "?$skip=t2"}, {"value": []}]),
        ("after", [{"paging": {"cursors": {"after": "t2"}}}, {"paging": {}}]),
    ],
)
async def test_common_fields_say_where_a_list_goes_on(recorder: Recorder, parameter: str, answers: list[Any]) -> None:
    recorder.answers = [as_json(each) for each in answers]
    source = document(recorder.url, operation(parameters=[query(parameter, {"type": "string"})]))
    async with openapi(source) as toolset:
        assert [page async for page in toolset.pages("do", {})] == answers
    assert parse_qsl(recorder.last.query) == [(parameter, "t2")]


def parts_of(recorder: Recorder) -> list[Any]:
    head = f"Content-Type: {recorder.last.header('content-type')}\r\n\r\n".encode()
    message = email.message_from_bytes(head + recorder.last.body, policy=email.policy.HTTP)
    return list(message.iter_parts())  # type: ignore[attr-defined]

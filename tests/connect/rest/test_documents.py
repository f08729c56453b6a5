"""Documents as they are found: of every version, in many files, with circles and mistakes, large and behind URLs."""

from __future__ import annotations

import contextlib
import json
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rest_documents import body, call, document, operation, query
from rest_recorder import Answer, Recorder, as_json, recording

from wieldy import Toolset
from wieldy.connect import openapi
from wieldy.connect.rest.naming import argument_name, tool_names
from wieldy.connect.rest.schemas import DEFAULT_CHARACTERS
from wieldy.core.errors import ArgumentsError, ToolError, UsageError
from wieldy.core.json import canonical_json
from wieldy.schema import CompiledSchema

SERVER = "https://example.com"


def test_one_bad_operation_is_a_diagnostic_and_the_others_are_tools() -> None:
    bad_reference = body({"$ref": "#/components/schemas/Nobody"})
    paths = {
        **operation("post", "/a", name="bad_reference", **bad_reference),
        **operation("get", "/b", name="bad_parameter", parameters=[{"in": "query"}]),
        **operation("get", "/c", name="no_object", parameters=[{"$ref": "#/components/parameters/Round"}]),
        "/d": {"get": "text"},
        "/e": {"$ref": "#/nowhere"},
        **operation(
            "get", "/good", name="good", parameters=[query("enum", {"enum": []}), query("odd", {"type": "any"})]
        ),
        "x-own": "anything",
    }
    components = {"parameters": {"Round": {"$ref": "#/components/parameters/Round"}}}
    toolset = openapi(document(SERVER, paths, components=components))
    assert [tool.name for tool in toolset.tools] == ["good"]
    found = {each.place: each.reason for each in toolset.diagnostics}
    assert set(found) == {"POST /a", "GET /b", "GET /c", "GET /d", "/e"}
    assert "there is no 'schemas'" in found["POST /a"]
    assert "in a circle" in found["GET /c"]


def test_nothing_is_looked_into_before_its_tool_is_asked_for() -> None:
    paths = {
        **operation("post", "/a", name="bad", **body({"$ref": "#/components/schemas/Nobody"})),
        **operation("get", "/b", name="good"),
    }
    toolset = openapi(document(SERVER, paths))
    assert [each.name for each in toolset.operations] == ["bad", "good"]
    assert toolset.get("good") is toolset.get("good")
    assert toolset.diagnostics == ()
    assert toolset.get("bad") is None
    assert [each.place for each in toolset.diagnostics] == ["POST /a"]


@pytest.mark.anyio
async def test_without_a_server_tools_can_be_shown_and_their_calls_say_what_is_missing() -> None:
    source = document("/api", operation() | operation("get", "/others", name="others"))
    toolset = openapi(source)
    assert len(toolset.tools) == 2
    (diagnostic,) = toolset.diagnostics
    assert "server=" in str(diagnostic)
    with pytest.raises(ToolError, match="server="):
        await call(toolset, {})


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([], "found list"),
        ("{", "neither"),
        ({"info": {}}, "2.0, 3.0 or 3.1"),
        ({"openapi": "4.0.0", "paths": {}}, "4.0.0"),
        ({"openapi": "3.0.0", "paths": []}, "`paths`"),
    ],
)
def test_what_is_no_document_is_refused_with_the_reason(tmp_path: Path, written: Any, expected: str) -> None:
    path = tmp_path / "service.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written), encoding="utf-8")
    with pytest.raises(UsageError, match=expected):
        openapi(path)


def test_a_document_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        openapi(tmp_path / "nothing.json")


def test_yaml_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "service.yaml"
    text = """
        openapi: 3.1.0
        servers: [{url: https://example.com}]
        paths:
          /things/{on}:
            get:
              operationId: find
              parameters:
                - {name: on, in: path, required: true, schema: {type: string, enum: [yes, no, 2024-01-01]}}
                - {name: country, in: query, schema: &text {type: [string, "null"], enum: [NO, SE]}}
                - {name: other, in: query, schema: {<<: *text, description: merged}}
              responses: {200: {description: good, content: {application/json: {schema: {type: integer}}}}}
    """
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    toolset = openapi(path)
    properties: Any = toolset.tools[0].definition.input_schema["properties"]
    assert properties["on"]["enum"] == ["yes", "no", "2024-01-01"]
    assert properties["country"]["enum"] == ["NO", "SE"]
    assert properties["other"] == {"type": ["string", "null"], "description": "merged", "enum": ["NO", "SE"]}
    assert toolset.output_schema("find") == {"type": "integer"}


def write_many_files(folder: Path, url: str) -> Path:
    folder.joinpath("paths").mkdir(parents=True)
    files: dict[str, Any] = {
        "root.json": {
            "openapi": "3.0.0",
            "servers": [{"url": url}],
            "paths": {"/orders": {"$ref": "paths/orders.yaml#/orders"}, "/gone": {"$ref": "paths/gone.json"}},
            "components": {"schemas": {"Id": {"type": "integer"}}},
        },
        "paths/orders.yaml": {
            "orders": {
                "post": {
                    "operationId": "order",
                    "parameters": [{"$ref": "../parameters.json#/Since"}],
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "../order.json"}}}},
                }
            }
        },
        "parameters.json": {
            "Since": {"name": "since", "in": "query", "schema": {"$ref": "root.json#/components/schemas/Id"}}
        },
        "order.json": {
            "type": "object",
            "required": ["lines"],
            "properties": {
                "lines": {"type": "array", "items": {"$ref": "#/definitions/Line"}},
                "of": {"$ref": "order.json"},
            },
            "definitions": {
                "Line": {
                    "type": "object",
                    "properties": {"order": {"$ref": "order.json"}, "count": {"type": "integer"}},
                }
            },
        },
    }
    for name, value in files.items():
        folder.joinpath(name).write_text(json.dumps(value), encoding="utf-8")
    return folder / "root.json"


def check_many_files(toolset: Any) -> None:
    schema = toolset.get("order").definition.input_schema
    assert schema["properties"]["since"] == {"type": "integer"}
    assert schema["properties"]["lines"]["items"]["properties"]["count"] == {"type": "integer"}
    assert schema["properties"]["of"]["type"] == "object"
    assert [each.place for each in toolset.diagnostics] == ["/gone"]


def test_references_lead_through_files_and_in_circles(tmp_path: Path) -> None:
    check_many_files(openapi(write_many_files(tmp_path / "service", SERVER)))


@pytest.mark.anyio
async def test_references_lead_through_urls_and_everything_is_fetched_once(tmp_path: Path, recorder: Recorder) -> None:
    folder = write_many_files(tmp_path / "service", "/api").parent

    def answer(request: Any) -> Answer:
        file = folder / request.path.lstrip("/")
        return Answer(content=file.read_bytes()) if file.is_file() else as_json({}, 404)

    recorder.answer = answer
    toolset = openapi(f"{recorder.url}/root.json")
    assert toolset.tools == ()
    async with Toolset([toolset]) as around:
        assert [tool.name for tool in around.tools] == ["order"]
        check_many_files(toolset)
        paths = [request.path for request in recorder.requests]
        assert sorted(paths) == [
            "/order.json",
            "/parameters.json",
            "/paths/gone.json",
            "/paths/orders.yaml",
            "/root.json",
        ]
        recorder.answer = None
        await call(toolset, {"lines": []}, name="order")
        assert recorder.last.target == "/api/orders"  # a server without a host is where the document is


@pytest.mark.anyio
@pytest.mark.parametrize("answers", [[as_json({}, 500)], [Answer(content=b"{")], [as_json({"a": 1})]])
async def test_a_document_that_cannot_be_had_is_an_error_when_it_is_opened(
    recorder: Recorder, answers: list[Answer]
) -> None:
    recorder.answers = answers
    with pytest.raises(UsageError):
        async with openapi(f"{recorder.url}/root.json"):
            pass


@pytest.mark.anyio
async def test_a_document_that_could_not_be_had_is_fetched_when_the_set_is_opened_again(recorder: Recorder) -> None:
    recorder.answers = [as_json({}, 503), as_json(document("/api", operation()))]
    toolset = openapi(f"{recorder.url}/root.json")
    with pytest.raises(UsageError, match="503"):
        async with toolset:
            pass
    async with toolset:
        assert await call(toolset, {}) == {}
    async with toolset:
        assert [request.path for request in recorder.requests] == ["/root.json", "/root.json", "/api/things"]


def test_a_file_outside_the_document_s_folder_is_not_read(tmp_path: Path) -> None:
    tmp_path.joinpath("secret.json").write_text('{"type": "string", "description": "canary"}', encoding="utf-8")
    folder = tmp_path / "service"
    folder.mkdir()
    folder.joinpath("link.json").symlink_to(tmp_path / "secret.json")
    for reference in ("../secret.json", "link.json", (tmp_path / "secret.json").as_uri()):
        path = folder / "root.json"
        path.write_text(json.dumps(document(SERVER, operation("post", **body({"$ref": reference})))), encoding="utf-8")
        toolset = openapi(path)
        assert toolset.tools == ()
        assert "outside the folder" in toolset.diagnostics[0].reason


@pytest.mark.anyio
async def test_a_document_from_the_network_leads_to_no_file_and_to_no_other_server(
    tmp_path: Path, recorder: Recorder
) -> None:
    file = tmp_path / "secret.json"
    file.write_text('{"type": "string"}', encoding="utf-8")
    with recording() as other:
        paths = {
            **operation("post", "/a", name="file", **body({"$ref": file.as_uri()})),
            **operation("post", "/b", name="other", **body({"$ref": f"{other.url}/x.json"})),
        }
        recorder.answer = lambda _: as_json(document(recorder.url, paths))
        async with openapi(f"{recorder.url}/root.json") as toolset:
            assert toolset.tools == ()
            assert len(toolset.diagnostics) == 2
        assert other.requests == []


def test_a_schema_within_itself_is_open_where_it_begins_again() -> None:
    node = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}},
        },
    }
    paths = operation("post", **body({"type": "object", "properties": {"root": {"$ref": "#/components/schemas/Node"}}}))
    tool = openapi(document(SERVER, paths, components={"schemas": {"Node": node}})).tools[0]
    deep: Any = {"root": {"name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}]}}
    assert tool.validate(deep).json == deep


def test_a_schema_costs_no_more_than_it_may_and_refuses_nothing_that_fits() -> None:
    wide = {f"field_{index}": {"type": "string", "description": "words " * 50} for index in range(60)}
    deep: dict[str, Any] = {
        "type": "object",
        "required": ["field_1"],
        "properties": wide | {"more": {"$ref": "#/components/schemas/Deep"}},
    }
    schema = {
        "type": "object",
        "properties": {f"part_{index}": {"$ref": "#/components/schemas/Deep"} for index in range(9)},
    }
    toolset = openapi(document(SERVER, operation("post", **body(schema)), components={"schemas": {"Deep": deep}}))
    tool = toolset.tools[0]
    assert len(canonical_json(tool.definition.input_schema)) < DEFAULT_CHARACTERS * 1.2
    plan = toolset.plan("do")
    assert plan is not None
    assert plan.is_cut
    value: Any = {f"part_{index}": {"field_1": "x", "more": {"field_1": "y"}} for index in range(9)}
    assert tool.validate(value).json == value


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_alternatives_that_overlap_are_not_refused(keyword: str) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {keyword: [{"type": "integer"}, {"type": "number"}, {"nullable": True, "type": "string"}]}},
    }
    tool = openapi(document(SERVER, operation("post", **body(schema)))).tools[0]
    for value in (1, 1.5, "x", None):
        assert tool.validate({"a": value}).json == {"a": value}


def test_all_of_is_put_together() -> None:
    schemas = {
        "Base": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
        "Thing": {
            "allOf": [
                {"$ref": "#/components/schemas/Base"},
                {"required": ["name"], "properties": {"name": {"type": "string"}}},
            ]
        },
    }
    paths = operation("post", **body({"$ref": "#/components/schemas/Thing"}))
    schema = openapi(document(SERVER, paths, components={"schemas": schemas})).tools[0].definition.input_schema
    assert (set(schema["properties"]), set(schema["required"])) == ({"id", "name"}, {"id", "name"})  # type: ignore[arg-type]


def test_descriptions_are_one_line_without_layout() -> None:
    text = "<p>Find <b>things</b>\n by <name>.</p>"
    described = operation("get", summary="Find", description=text, parameters=[query("q", {}, description=text)])
    definition = openapi(document(SERVER, described)).tools[0].definition
    assert definition.description == "Find things by <name>."
    assert definition.input_schema["properties"]["q"]["description"] == "Find things by <name>."  # type: ignore[index,call-overload]


def test_names_are_valid_different_and_lead_back() -> None:
    long = "operation/" + "x" * 80
    paths = {
        **operation("get", "/a", name="pets/list all"),
        **operation("get", "/b", name="pets list/all"),
        **operation("get", "/c", name=long),
        **operation("get", "/d", name=long + "y"),
        "/e/{id}": {"get": {"parameters": []}},
    }
    toolset = openapi(document(SERVER, paths))
    names = [tool.name for tool in toolset.tools]
    assert len(set(names)) == 5
    assert names[4] == "get_e_id"
    assert all(name.startswith("pets_list_all_") for name in names[:2])
    assert [toolset.operation(name).path for name in names] == ["/a", "/b", "/c", "/d", "/e/{id}"]  # type: ignore[union-attr]


def test_addresses_that_are_none_are_diagnostics() -> None:
    bad = {**operation("get", "/a", name="a", servers=[{"url": "//["}]), **operation("get", "/b", name="b")}
    bad["/c"] = {"$ref": "//["}
    toolset = openapi(document(SERVER, bad))
    assert [tool.name for tool in toolset.tools] == ["a", "b"]
    assert any("'//['" in each.reason and "cannot be read" in each.reason for each in toolset.diagnostics)
    assert any(each.place == "/c" and "no address" in each.reason for each in toolset.diagnostics)
    version_2 = {"swagger": "2.0", "host": "[", "paths": operation("get", "/a", name="a")}
    (tool,) = openapi(version_2).tools
    assert tool.name == "a"


@pytest.mark.parametrize("reference", ["\0", "", "#", "#/info", 5, None, ["#"]])
def test_a_path_whose_reference_leads_to_no_operations_is_a_diagnostic(reference: Any) -> None:
    source = document(SERVER, operation())
    source["paths"]["/lost"] = {"$ref": reference}
    toolset = openapi(source)
    assert len(toolset.tools) == 1
    assert [each.place for each in toolset.diagnostics] == ["/lost"]


def test_a_prefix_stands_before_every_name_and_leads_back_too() -> None:
    paths = {
        **operation("get", "/a", name="list_pets"),
        **operation("post", "/b", name="x" * 60),
        **operation("get", "/c", name="hidden"),
    }
    toolset = openapi(document(SERVER, paths), prefix="shop__", only=["list_*", "x*"], effects={"x*": "read"})
    names = [tool.name for tool in toolset.tools]
    assert names[0] == "shop__list_pets"
    assert names[1].startswith("shop__xxx")
    assert len(names[1]) == 64
    assert [toolset.operation(name).path for name in names] == ["/a", "/b"]  # type: ignore[union-attr]
    assert [tool.effect for tool in toolset.tools] == ["read", "read"]
    with pytest.raises(UsageError, match="prefix of at most 32"):
        openapi(document(SERVER, paths), prefix="a.b")


def test_a_name_that_was_cut_has_no_end_of_a_prefix_in_it() -> None:
    paths = operation("get", "/a", name=f"{'x' * 53}_/{'y' * 40}")
    (tool,) = openapi(document(SERVER, paths)).tools
    assert "__" not in tool.name


@given(
    st.lists(st.tuples(st.text(max_size=70), st.text(min_size=1)), unique_by=lambda pair: pair[1], max_size=6),
    st.from_regex(r"[A-Za-z_-]{0,32}", fullmatch=True),
)
def test_tool_names_are_what_every_provider_takes_and_do_not_depend_on_the_order(
    wanted: list[tuple[str, str]], prefix: str
) -> None:
    names = tool_names(wanted, prefix=prefix)
    assert len(set(names)) == len(names)
    assert all(len(prefix) < len(name) <= 64 and name.isascii() and name.startswith(prefix) for name in names)
    assert tool_names(wanted[::-1], prefix=prefix) == names[::-1]
    assert all(0 < len(argument_name(name)) <= 64 for name, _ in wanted)


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["object", "string", "array", "#", "$ref"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "enum",
                    "allOf",
                    "oneOf",
                    "$ref",
                    "required",
                    "format",
                    "pattern",
                    "minimum",
                    "exclusiveMinimum",
                    "nullable",
                    "default",
                    "additionalProperties",
                    "in",
                    "name",
                    "schema",
                    "content",
                    "style",
                    "description",
                    "maxLength",
                    "const",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@example(schema={"format": {}}, parameter=None)
@given(schema=ODD, parameter=ODD)
def test_whatever_a_document_holds_it_is_a_tool_or_a_diagnostic(schema: Any, parameter: Any) -> None:
    paths = {
        **operation("post", "/a", name="a", **body(schema)),
        **operation("get", "/b", name="b", parameters=[query("q", schema), parameter]),
        **operation("put", "/c", name="c", **body(schema, "multipart/form-data")),
        "/d": parameter,
    }
    toolset = openapi(document(SERVER, paths))
    assert len(toolset.tools) + len(toolset.diagnostics) >= 3
    for tool in toolset.tools:
        CompiledSchema(tool.definition.input_schema)


@given(odd=st.lists(ODD, min_size=12, max_size=12))
def test_whatever_stands_around_the_operations_nothing_breaks(odd: list[Any]) -> None:
    own = {
        "operationId": odd[0],
        "summary": odd[1],
        "tags": odd[2],
        "responses": odd[3],
        "servers": odd[4],
        "security": odd[5],
    }
    item = {
        "post": {**own, "requestBody": odd[6]},
        "servers": odd[7],
        "get": {"responses": {"200": {"content": odd[8]}}},
    }
    schemes = {"securitySchemes": {"own": odd[9]}}
    source: dict[str, Any] = {"openapi": "3.1.0", "paths": {"/a/{b}": item}, "servers": odd[10], "components": schemes}
    for written in (
        source,
        {**source, "openapi": None, "swagger": "2.0", "securityDefinitions": odd[9], "host": odd[11]},
    ):
        toolset = openapi(written)
        for tool in toolset.tools:
            toolset.output_schema(tool.name)
            assert isinstance(toolset.scheme_names, tuple)
            with contextlib.suppress(ArgumentsError, UsageError):
                toolset.request(tool.name, {"b": "x"})


@pytest.mark.parametrize("used", ["{/a: {get: {operationId: *a39, responses: {}}}}", "*a39", "{}"])
@pytest.mark.parametrize("first", ["[1, 1]", "[*a0]"])
def test_aliases_that_stand_for_more_than_can_be_read_are_refused(tmp_path: Path, first: str, used: str) -> None:
    pytest.importorskip("yaml")
    levels = "".join(f"x-{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    path = tmp_path / "service.yaml"
    path.write_text(f"openapi: 3.0.3\nx-0: &a0 {first}\n{levels}paths: {used}\n")
    with pytest.raises(UsageError, match="found more once its aliases are written out"):
        openapi(path)

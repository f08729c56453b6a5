"""A toolset as an HTTP service with a document, read back by the reader of documents, and asked by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="starlette is not installed")
sys.path.insert(0, str(Path(__file__).parents[1] / "mcp" / "server"))  # the tools are the same as there

from tools_program import POLICY, TOOLS

from wieldy import ToolResult, UsageError
from wieldy.connect import asgi, rest_app
from wieldy.connect.rest.in_process import started
from wieldy.connect.serving.calls import CallRules
from wieldy.connect.serving.document import OUTPUT, document_of
from wieldy.connect.serving.offering import About, Offered, ToolsetOffering
from wieldy.connect.serving.rest import unguarded_application
from wieldy.core.json import JsonObject
from wieldy.schema import CompiledSchema

pytestmark = pytest.mark.anyio
KEY = "anna-anna-anna-anna"


@asynccontextmanager
async def served(**more: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    app = rest_app(TOOLS, name="tests", rules=CallRules(policy=POLICY), **more)
    async with (
        started(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as http,
    ):
        yield http


def document() -> JsonObject:
    offered = [Offered(tool=tool) for tool in TOOLS.tools]
    return document_of(About(name="tests", version="1"), offered, has_keys=False)


async def test_the_document_has_the_schemas_of_the_tools() -> None:
    async with served() as http:
        found = (await http.get("/openapi.json")).json()
    schemas = found["components"]["schemas"]
    for tool in TOOLS.tools:
        assert found["paths"][f"/tools/{tool.name}"]["post"]["operationId"] == tool.name
        if "$defs" not in tool.definition.input_schema:
            assert json.dumps(schemas[tool.name]) == json.dumps(tool.definition.input_schema)


async def test_a_tool_is_the_same_in_this_process_and_read_back_from_its_service(call: Any) -> None:
    async with asgi(rest_app(TOOLS, rules=CallRules(policy=POLICY)), document=document()) as toolset:
        assert [tool.name for tool in toolset.tools] == [tool.name for tool in TOOLS.tools]
        for ours, read in zip(TOOLS.tools, toolset.tools, strict=True):
            if "$defs" not in ours.definition.input_schema:
                assert read.definition.input_schema == ours.definition.input_schema
        assert (await call(toolset, "add", a=2, b=3)).structured_content == 5
        kept: ToolResult = await call(toolset, "keep", point={"x": 1, "below": [{"x": 2}]})
        assert kept.structured_content == {"x": 1, "below": [{"x": 2, "below": []}]}
        wrong = await call(toolset, "fail")
        assert wrong.is_error
        assert "There is no order 17" in wrong.content


points = st.recursive(
    st.fixed_dictionaries({"x": st.integers(-5, 5)}),
    lambda inner: st.fixed_dictionaries({"x": st.integers(-5, 5), "below": st.lists(inner, max_size=2)}),
    max_leaves=4,
)


@settings(max_examples=50)
@given(point=points | st.dictionaries(st.sampled_from(["x", "below"]), st.integers() | st.text(max_size=2), max_size=2))
def test_references_mean_the_same_where_they_have_been_moved_to(point: JsonObject) -> None:
    ours = TOOLS.get("keep")
    assert ours is not None
    whole = document()
    moved: Any = {"$ref": "#/components/schemas/keep", **whole}
    assert CompiledSchema(moved).accepts({"point": point}) == ours.schema.accepts({"point": point})


async def test_an_output_schema_stands_in_the_document_under_a_name_of_its_own() -> None:
    schemas: Any = document()["components"]
    assert schemas["schemas"][f"add{OUTPUT}"] == {"type": "integer"}


@pytest.mark.parametrize(
    ("name", "body", "status", "kind"),
    [
        ("add", '{"a": 1}', 422, "arguments"),
        ("ad", '{"a": 1, "b": 2}', 404, "arguments"),
        ("add", "[1, 2]", 400, "content"),
        ("add", '{"a": 1, "a": 2, "b": 3}', 400, "content"),
        ("add", "no json", 400, "content"),
        ("denied", "{}", 403, "denied"),
        ("fail", "{}", 422, "tool"),
        ("crash", "{}", 500, "crashed"),
        ("add", "", 422, "arguments"),
    ],
)
async def test_what_goes_wrong_has_a_status_a_kind_and_a_sentence(name: str, body: str, status: int, kind: str) -> None:
    async with served() as http:
        answer = await http.post(f"/tools/{name}", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status
    assert answer.json()["error"]["kind"] == kind
    assert "ZeroDivisionError" not in answer.text


@pytest.mark.parametrize(
    ("method", "path", "status", "kind"),
    [
        ("GET", "/", 404, "path"),
        ("POST", "/tools", 404, "path"),
        ("POST", "/tools/add/more", 404, "path"),
        ("GET", "/tools/add", 405, "method"),
        ("DELETE", "/openapi.json", 405, "method"),
    ],
)
async def test_what_is_not_there_is_said_in_the_same_form(method: str, path: str, status: int, kind: str) -> None:
    async with served() as http:
        answer = await http.request(method, path)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, kind)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost:80:80", "a@localhost", "localhost/x"]
)
async def test_other_hosts_and_faults_are_said_in_the_same_form(host: str) -> None:
    class Broken(ToolsetOffering):
        def offered_to(self, principal: Any) -> Any:
            raise RuntimeError("a fault with canary-9")

    app = unguarded_application(
        Broken(TOOLS, CallRules(), About(name="tests", version="1")), has_keys=False, hosts=("localhost", "::1")
    )
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:7") as http:
        refused = await http.get("/openapi.json", headers={"Host": host})
        assert (refused.status_code, refused.json()["error"]["kind"]) == (400, "host")
        for known in ("localhost", "localhost:8765", "[::1]:8765"):
            broken = await http.get("/openapi.json", headers={"Host": known})
            assert (broken.status_code, broken.json()["error"]["kind"]) == (500, "crashed")
            assert "canary" not in broken.text


@pytest.mark.parametrize(
    ("more", "host", "status"),
    [
        ({}, "evil.example:8911", 400),
        ({}, "localhost.evil.example", 400),
        ({}, "127.0.0.1:8911", 200),
        ({"host": "0.0.0.0"}, "service.example", 200),
        ({"keys": {"anna": KEY}}, "service.example", 200),
    ],
)
async def test_without_keys_no_page_reaches_it_by_having_its_own_name_lead_here(
    more: dict[str, Any], host: str, status: int
) -> None:
    headers = {"Host": host, "Origin": f"http://{host}", "Authorization": f"Bearer {KEY}"}
    async with served(**more) as http:
        answer = await http.post("/tools/picture", json={}, headers=headers)
    assert answer.status_code == status
    assert status == 200 or answer.json()["error"]["kind"] == "host"


async def test_a_form_of_a_web_page_cannot_call() -> None:
    async with served() as http:
        answer = await http.post("/tools/add", content='{"a": 1, "b": 2}', headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize(("origin", "status"), [("http://evil.example", 403), ("null", 403), ("http://localhost", 200)])
async def test_a_page_of_another_site_cannot_call(origin: str, status: int) -> None:
    async with served() as http:
        answer = await http.post("/tools/picture", headers={"Origin": origin})
    assert answer.status_code == status


async def test_too_many_arguments_are_refused() -> None:
    async with served() as http:
        answer = await http.post("/tools/add", json={"a": "x" * 9_000_000})
    assert answer.status_code == 413


async def test_answers_are_data_text_or_parts() -> None:
    async with served() as http:
        assert (await http.post("/tools/add", json={"a": 2, "b": 3})).json() == 5
        shown = (await http.post("/tools/picture", json={})).json()
    assert shown["parts"][0]["media_type"] == "image/png"


async def test_with_keys_the_document_says_so_and_nobody_calls_without() -> None:
    async with served(keys={"anna": KEY}) as http:
        assert (await http.get("/openapi.json")).status_code == 401
        known = {"Authorization": f"Bearer {KEY}"}
        assert (await http.get("/openapi.json", headers=known)).json()["security"] == [{"key": []}]
        assert (await http.post("/tools/add", json={"a": 2, "b": 3}, headers=known)).text == "5"


async def test_an_application_that_cannot_start_says_why() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    with pytest.raises(UsageError, match="cannot be started: no database"):
        async with started(app):
            pass


async def test_an_application_that_knows_no_lifespan_starts_all_the_same() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise NotImplementedError

    async with started(app):
        pass


def test_an_application_without_a_document_is_refused() -> None:
    with pytest.raises(UsageError, match="Expected an application that has an OpenAPI document"):
        asgi(object())

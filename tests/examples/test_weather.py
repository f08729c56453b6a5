"""The way from a function to services: one schema everywhere, and each key goes only as far as it has to."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import httpx2
import pytest

pytest.importorskip("mcp_types", reason="version 2 of the MCP library is not installed")
pytest.importorskip("fastapi", reason="fastapi is not installed")

from wieldy import Agent
from wieldy.connect import mcp, openapi
from wieldy.core.json import canonical_json
from wieldy.run.journal import MemoryJournal
from wieldy.testing import ScriptedModel, call, text

pytestmark = pytest.mark.anyio
FILE = Path(__file__).parents[2] / "examples" / "weather" / "weather.py"


@pytest.fixture(scope="module")
def weather() -> Any:
    spec = importlib.util.spec_from_file_location("weather_example", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["weather_example"] = module  # annotations are resolved there
    spec.loader.exec_module(module)
    return module


async def test_the_whole_way(weather: Any, capsys: pytest.CaptureFixture[str]) -> None:
    async with weather.serving() as url:
        headers = {"Authorization": f"Bearer {weather.ASSISTANT_KEY}"}
        journal = MemoryJournal()
        model = ScriptedModel(
            [[call("forecast", {"city": "Oslo"})], [call("forecast", {"city": "Bergen"})], [text("4")]]
        )
        result = await Agent(model, tools=[mcp({"url": url, "headers": headers})], journal=journal).run("go")
        missing, found = (message.text for message in result.messages if message.role == "tool")
        assert "404" in missing
        assert "there are Bergen, Lisbon" in missing
        assert '{"city": "Bergen", "celsius": [4]}' in found
        async with mcp({"url": url, "headers": headers}) as over_mcp, weather.service as in_process:
            (remote,), (local,) = over_mcp.tools, in_process.tools
            assert remote.definition.input_schema == local.definition.input_schema
            assert remote.definition.output_schema == local.definition.output_schema
            assert remote.definition.name == local.definition.name == "forecast"
        async with openapi(weather.app.openapi(), server=url, output_schemas=True) as over_http:
            (described,) = over_http.tools
            assert described.definition == local.definition
        async with httpx2.AsyncClient() as http:
            assert (await http.post(url, json={})).status_code == 401
            assert (await http.post(url, json={}, headers={"X-Weather-Key": weather.SERVICE_KEY})).status_code == 401
    everything = canonical_json([[entry.kind, entry.data] for entry in journal.read(result.run_id)])
    said = everything + str(result) + "".join(capsys.readouterr())
    assert weather.SERVICE_KEY not in said
    assert weather.ASSISTANT_KEY not in said


async def test_the_service_wants_its_own_key(weather: Any) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(weather.app), base_url="http://app") as http:
        refused = await http.get("/forecast/Bergen", headers={"Authorization": f"Bearer {weather.ASSISTANT_KEY}"})
        assert refused.status_code in (401, 403)
        answered = await http.get("/forecast/Bergen", headers={"X-Weather-Key": weather.SERVICE_KEY})
        assert answered.json() == {"city": "Bergen", "celsius": [4]}


def test_the_function_is_a_tool_as_it_is(weather: Any) -> None:
    assert weather.as_tool.definition.input_schema["required"] == ["city"]
    assert weather.as_tool(city="Bergen", days=2) == weather.forecast("Bergen", 2)

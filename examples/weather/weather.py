"""From a function to services: one forecast as a function, an HTTP service with a key, and an MCP server with its own.

Needs the extra `mcp` and fastapi. `python examples/weather/weather.py` goes the whole way on this machine.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import anyio
import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Query
from fastapi.security import APIKeyHeader
from pydantic import BaseModel

from wieldy import Agent, tool
from wieldy.connect import asgi, mcp, mcp_server
from wieldy.connect.serving.listening import listening
from wieldy.testing import ScriptedModel, call, text

SERVICE_KEY = "service-key-0123456789"
ASSISTANT_KEY = "assistant-key-0123456789"
TEMPERATURES = {"Bergen": [4, 6, 5], "Lisbon": [17, 18, 16]}


class Forecast(BaseModel):
    """Of one city."""

    city: str
    celsius: list[int]


# 1. A typed function.


def forecast(city: str, days: int = 1) -> Forecast:
    """The highest temperatures of the next days.

    Args:
        city: Where, such as Bergen.
        days: How many days, from 1 to 3.
    """
    if city not in TEMPERATURES:
        raise LookupError(f"No forecast for {city!r}; there are {', '.join(TEMPERATURES)}.")
    return Forecast(city=city, celsius=TEMPERATURES[city][:days])


as_tool = tool(effect="read")(forecast)  # enough where everything is in one program


# 2. The function as an HTTP service that wants a key.

key_of_caller = APIKeyHeader(name="X-Weather-Key")
app = FastAPI(title="weather", version="1")


def check(key: Annotated[str, Depends(key_of_caller)]) -> None:
    if key != SERVICE_KEY:
        raise HTTPException(status_code=403, detail="This key opens nothing.")


@app.get("/forecast/{city}", operation_id="forecast", dependencies=[Depends(check)])
def read_forecast(city: str, days: Annotated[int, Query(ge=1, le=3)] = 1) -> Forecast:
    """The highest temperatures of the next days."""
    try:
        return forecast(city, days)
    except LookupError as error:
        raise HTTPException(status_code=404, detail=str(error)) from error


# 3. The service as tools, through its own OpenAPI document. The key is added on the way and shown to nobody.

service = asgi(app, credentials={"APIKeyHeader": SERVICE_KEY})


# 4. These tools as an MCP server with a key of its own. Who has it never sees the service's.

server = mcp_server(service, name="weather", keys={"assistant": ASSISTANT_KEY})


@asynccontextmanager
async def serving() -> AsyncGenerator[str]:
    """The MCP server's URL, for as long as it listens on the loopback."""
    with listening() as place:
        running = uvicorn.Server(uvicorn.Config(server.asgi(), log_level="error", access_log=False))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(running.serve, [place])
            yield f"http://127.0.0.1:{place.getsockname()[1]}/mcp"
            running.should_exit = True


async def main() -> None:
    print(forecast("Bergen", 2))
    async with serving() as url:
        tools = mcp({"url": url, "headers": {"Authorization": f"Bearer {ASSISTANT_KEY}"}}, trusted=True)
        model = ScriptedModel([[call("forecast", {"city": "Bergen", "days": 2})], [text("Wear a coat.")]])
        result = await Agent(model, tools=[tools]).run("What will the weather in Bergen be?")
    print(result.messages[-2].text)
    print(result.text)


if __name__ == "__main__":
    anyio.run(main)

"""The last answer beyond a limit, asked of servers that never answer, begin and stop, or fail: it is asked for once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from wieldy.agent import Agent
from wieldy.connect.models.openai import OpenAIModel
from wieldy.connect.models.retries import NO_RETRIES, Timeouts
from wieldy.core.errors import ModelUnreachableError, ProviderError
from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.run.journal import MemoryJournal, kinds, read_run
from wieldy.run.loop import run
from wieldy.run.prices import Price
from wieldy.run.request import RunRequest
from wieldy.testing import FakeClock
from wieldy.tools import Toolset, tool

pytestmark = pytest.mark.anyio

REACHED = {  # by a model that asks twice for the same
    "turn_limit": Limits(turns=2),
    "call_limit": Limits(calls=2),
    "output_token_limit": Limits(output_tokens=17),
    "total_token_limit": Limits(total_tokens=16),
    "cost_limit": Limits(cost_usd=2e-5),
    "repeated_call": Limits(repeats=1),
}
PRICES = {"m": Price(input_usd_per_million=0.0, output_usd_per_million=1.5)}
SILENT = ("never answers", "never ends its answer")


@tool(effect="read")
def look(place: str) -> str:
    """What there is."""
    return f"nothing in the {place}"


def calling(server: Any) -> Any:
    """An answer that asks for a call and was worth eight tokens."""
    part = {"index": 0, "id": "x", "type": "function", "function": {"name": "look", "arguments": '{"place": "attic"}'}}
    used = {"prompt_tokens": 1, "completion_tokens": 8, "total_tokens": 9}
    chunks = server.chunk({"tool_calls": [part]}), server.chunk({}, "tool_calls"), server.chunk(usage=used)
    return server.events(*chunks, "[DONE]")


def behaving(server: Any, how: str) -> Any:
    match how:
        case "never answers":
            return server.raw(then="hang")
        case "never ends its answer":
            return server.events(server.chunk({"role": "assistant", "content": "As far"}), then="hang")
        case "breaks off":
            return server.raw(then="abort")
        case _:
            return server.json({"error": {"message": "overloaded"}}, status=500)


def model_of(server: Any, *, read_s: float = 600.0) -> OpenAIModel:
    timeouts = Timeouts(read_s=read_s)
    return OpenAIModel("m", base_url=f"{server.url}/v1", name="m", timeouts=timeouts, retries=NO_RETRIES)


def agent_of(server: Any, journal: MemoryJournal, limits: Limits, *, read_s: float = 600.0) -> Agent:
    return Agent(model_of(server, read_s=read_s), [look], limits=limits, journal=journal, prices=PRICES)


def kinds_of(journal: MemoryJournal) -> list[str]:
    return [entry.kind for run in journal.run_ids() for entry in read_run(journal, run)]


@pytest.mark.parametrize("how", SILENT)
@pytest.mark.parametrize("wall_time_s", [0, 0.25])
async def test_a_wall_time_limit_ends_a_run_whose_server_never_comes_to_an_end(
    server: Any, how: str, wall_time_s: float
) -> None:
    server.will(*[behaving(server, how) for _ in range(8)])
    journal = MemoryJournal()
    result = await agent_of(server, journal, Limits(wall_time_s=wall_time_s)).run("What is there?")
    assert (result.stop_reason, result.text) == ("wall_time_limit", "")
    assert kinds_of(journal).count(kinds.LIMIT_REACHED) == 1
    assert kinds_of(journal).count(kinds.TURN_STARTED) <= 2
    assert len(server.requests) <= 2


@pytest.mark.parametrize("reason", [each for each in REACHED if each != "repeated_call"])  # time is over before
async def test_a_last_answer_that_does_not_come_in_time_is_not_asked_for_again(server: Any, reason: str) -> None:
    server.will(calling(server), calling(server), *[behaving(server, "never answers") for _ in range(8)])
    journal, clock = MemoryJournal(), FakeClock()

    @tool(name="look", effect="read")
    def look_long(place: str) -> str:
        """What there is, after almost all of the time."""
        clock.advance(4)
        return f"nothing in the {place}"

    request = RunRequest(
        model=model_of(server),
        toolset=Toolset([look_long]),
        messages=(Message.user("What is there?"),),
        journal=journal,
        limits=replace(REACHED[reason], wall_time_s=6.0),
        prices=PRICES,
        clock=clock,
    )
    result = await run(request)
    assert (result.stop_reason, result.text) == (reason, "")
    assert kinds_of(journal).count(kinds.TURN_STARTED) == len(server.requests) == 3


@pytest.mark.parametrize(
    ("reason", "how"),
    [*(("turn_limit", how) for how in SILENT), *product(REACHED, ("breaks off", "fails"))],
)
async def test_a_last_answer_for_which_there_is_time_fails_as_its_server_does_and_is_asked_for_when_it_is_resumed(
    server: Any, reason: str, how: str
) -> None:
    server.will(calling(server), calling(server), behaving(server, how), server.saying("As far as I got."))
    journal = MemoryJournal()
    agent = agent_of(server, journal, REACHED[reason], read_s=1.0)
    with pytest.raises((ProviderError, ModelUnreachableError)):
        await agent.run("What is there?")
    assert kinds_of(journal)[-1] == kinds.RUN_FAILED
    assert len(server.requests) == 3
    (run_id,) = journal.run_ids()
    result = await agent.resume(run_id)
    assert result.text == "As far as I got."
    assert len(server.requests) == 4

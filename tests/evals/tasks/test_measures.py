"""What a journal says in numbers: of calls, of what failed on their way, and of what a person approved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from wieldy import Agent, Approval, ApprovalRequest, ToolError, TransientToolError, tool
from wieldy.core.ports import Entry
from wieldy.evals.tasks.measures import MEASURES, behaviour_of, measured
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Allow, Ask, Deny, Proposal
from wieldy.run.searching import ToolSearch
from wieldy.testing import ScriptedModel, call, text


@tool(effect="read")
def look(at: int) -> int:
    """Look."""
    return at


@tool(effect="read", retries=0)
def refuse(at: int) -> int:
    """Say no."""
    raise ToolError(f"There is no {at}.")


@tool(effect="unsafe")
def change(at: int) -> int:
    """Change something."""
    return at


@tool(effect="read", timeout_s=0.01, retries=0)
async def wait() -> None:
    """Take too long."""
    await anyio.sleep_forever()


def policy(proposal: Proposal) -> Any:
    at = proposal.call.arguments.get("at")
    return {7: Deny(reason="no"), 8: Ask(reason="sure?"), 9: Ask(reason="sure?")}.get(at, Allow())  # type: ignore[arg-type]


async def entries_of(*turns: Sequence[Any], tools: Sequence[Any] = (look, refuse, change, wait)) -> list[Entry]:
    journal = MemoryJournal()

    async def approve(request: ApprovalRequest) -> Approval:
        return request.approve(by="Ada") if request.arguments["at"] == 8 else request.deny(by="Ada")

    model = ScriptedModel([*turns, [text("Done.")]])
    agent = Agent(model, tools, journal=journal, policy=policy, approver=approve)
    return list(journal.read((await agent.run("Go.")).run_id))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ([call("look", {"at": 1})], {"calls_started": 1}),
        ([call("look", {"at": 1, "more": 2})], {"calls_with_undeclared_parameters": 1}),
        ([call("fly", {})], {"calls_of_undeclared_tools": 1}),
        ([call("look", '{"at": ')], {"calls_malformed": 1}),
        ([call("refuse", {"at": 1})], {"calls_started": 1, "calls_failed": 1}),
        ([call("wait", {})], {"calls_started": 1, "calls_failed": 1, "timeouts": 1}),
        ([call("change", {"at": 1})], {"calls_started": 1, "consequential": 1, "consequential_unapproved": 1}),
        ([call("change", {"at": 7})], {"denied": 1}),
        ([call("change", {"at": 8})], {"calls_started": 1, "consequential": 1, "asked": 1}),
        ([call("change", {"at": 9})], {"denied": 1, "asked": 1, "asked_not_started": 1}),
    ],
)
async def test_each_call_counts_for_what_it_was(made: list[Any], expected: dict[str, int]) -> None:
    found = measured([await entries_of(made)])
    assert found == {"calls_written": 1, **expected}
    assert found.keys() <= MEASURES.keys()


@pytest.mark.anyio
async def test_attempts_that_were_followed_by_another_count_apart() -> None:
    tries = list[int]()

    @tool(effect="read", retries=2)
    def flaky() -> str:
        """Fail once."""
        tries.append(1)
        if len(tries) == 1:
            raise TransientToolError("not now", retry_after_s=0.0)
        return "now"

    found = measured([await entries_of([call("flaky", {})], tools=[flaky])])
    assert found == {"calls_written": 1, "calls_started": 1, "attempts_failed": 1}


@pytest.mark.anyio
async def test_runs_add_up_and_behaviour_is_what_was_carried_out() -> None:
    one, other = await entries_of([call("look", {"at": 1})]), await entries_of([call("look", {"at": 2})])
    denied = await entries_of([call("change", {"at": 7})], [call("look", {"at": 1})])
    assert measured([one, other]) == {"calls_written": 2, "calls_started": 2}
    assert measured([[*one, *other]]) == measured([one, other])
    assert behaviour_of([one]) != behaviour_of([other])
    assert behaviour_of([one]) == behaviour_of([denied])
    assert measured([]) == measured([[]]) == {}


@pytest.mark.anyio
async def test_searching_for_a_tool_is_no_call_and_what_was_found_no_invention() -> None:
    journal = MemoryJournal()
    turns = [[call("search_tools", {"queries": ["look"]})], [call("look", {"at": 1})], [text("Done.")]]
    agent = Agent(ScriptedModel(turns), [look, change], journal=journal, search=ToolSearch(above_tokens=0))
    found = list(journal.read((await agent.run("Go.")).run_id))
    assert measured([found]) == {"calls_written": 1, "calls_started": 1}
    assert behaviour_of([found]) == behaviour_of([await entries_of([call("look", {"at": 1})])])

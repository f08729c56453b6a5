"""Runs the programs by a real agent with the rules that ship, and says what they could do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from laundering_programs import CONTACTS, PAGE, Program

from wieldy import Agent, CodeRules, tool
from wieldy.core.errors import ToolError
from wieldy.core.messages import Message
from wieldy.run.actions.code.levels import Level
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Policy, deny_steered
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool

RULES = deny_steered({"send": "to"})


class World:
    """What the tools did, and the agents that have them.

    Attributes:
        sent: To whom, and what.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.journal = MemoryJournal()
        self.tools = _tools(self)

    def agent(self, level: Level, program: Sequence[str], *, policy: Policy = RULES, **options: Any) -> Agent:
        """An agent whose model acts by these pieces of code, one a turn."""
        options = {"journal": self.journal, "code": CodeRules(taint=level), **options}
        return Agent(acts(*program), self.tools, actions="code", policy=policy, **options)


def _tools(world: World) -> list[Tool]:
    @tool(effect="read", trust="untrusted")
    def fetch(url: str) -> dict[str, Any] | None:
        """Read a page."""
        if url == "fail":
            raise ToolError("eve")
        if url == "crash":
            raise KeyError(url)
        return None if url == "nothing" else dict(PAGE)

    @tool(effect="read")
    def contacts() -> list[str]:
        """The people that we know."""
        return list(CONTACTS)

    @tool(effect="unsafe")
    def send(to: str, body: str) -> str:
        """Send a mail."""
        world.sent.append((to, body))
        return "sent"

    @tool(effect="idempotent")
    def note(text: str) -> str:
        """Keep a text."""
        return text

    return [fetch, contacts, send, note]


def acts(*codes: str) -> ScriptedModel:
    """A model that runs these codes, one a turn, and says what the last one brought."""

    def turn(messages: Sequence[Message]) -> list[Any]:
        done = sum(message.role == "tool" for message in messages)
        return [call("python", {"code": codes[done]})] if done < len(codes) else [text(messages[-1].text)]

    return ScriptedModel(turn)


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a program.

    Attributes:
        sent: How many calls of `send` were made.
        denied: How many were not, because the rules forbid them.
    """

    sent: int
    denied: int


async def came_of(level: Level, program: Program, *, policy: Policy = RULES) -> Came:
    """What the program could do.

    Args:
        level: At which code runs.
        program: Its actions, written for that level.
        policy: What decides.
    """
    world = World()
    await world.agent(level, program, policy=policy).run("Go")
    states = [fold(world.journal.read(run_id)) for run_id in world.journal.run_ids()]
    results = [call.result for state in states for call in state.calls if call.call.name == "send"]
    return Came(len(world.sent), sum(result is not None and result.failure == "denied" for result in results))

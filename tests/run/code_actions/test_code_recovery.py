"""Code that is run again: after a question to a person, after a stop, and where it does something else than before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wieldy import Agent, RecordedCall, Skills, tool
from wieldy.agent import CodeRules
from wieldy.core.errors import JournalError
from wieldy.core.events import RunResult
from wieldy.core.ports import Draft
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Ask, Rule, Rules
from wieldy.run.state import RunState, fold
from wieldy.testing import ScriptedModel, call, text

pytestmark = pytest.mark.anyio

ASKS = Rules([Rule(Ask("look at it"), tools="send")])


class DiedError(BaseException):
    """Stands for the death of the process."""


class MortalJournal(MemoryJournal):
    """A journal whose process dies at the next append after it is told to."""

    is_dying = is_dead = False

    def append(self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False) -> Any:
        if self.is_dead:
            raise JournalError("the process is dead")
        if self.is_dying:
            self.is_dead = True
            raise DiedError
        return super().append(run_id, *drafts, length=length, is_intent=is_intent)

    def revive(self) -> None:
        self.is_dying = self.is_dead = False


class World:
    """What tools have done, and after which act the process is to die before it is recorded."""

    def __init__(self) -> None:
        self.journal = MortalJournal()
        self.done: list[str] = []
        self.stops: set[str] = set()
        world = self

        @tool(effect="read")
        def look(word: str) -> str:
            """Looks."""
            world.done.append(f"look {word}")
            return word

        @tool(effect="keyed")
        def pay(word: str) -> str:
            """Pays."""
            world.act(f"pay {word}")
            return f"paid {word}"

        @tool(effect="unsafe")
        def send(word: str) -> str:
            """Sends."""
            world.act(f"send {word}")
            return f"sent {word}"

        self.tools = [look, pay, send]

    def act(self, what: str) -> None:
        self.done.append(what)
        if what in self.stops:
            self.stops.discard(what)
            self.journal.is_dying = True


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def agents(world: World, coder: Callable[..., Agent]) -> Callable[..., Agent]:
    """Each agent is as a process of its own over the same journal."""

    def agent(*codes: str, **options: Any) -> Agent:
        return coder(*codes, tools=world.tools, journal=world.journal, **options)

    return agent


def told(result: RunResult) -> list[str]:
    return [message.text for message in result.messages if message.role == "tool"]


def outer(agent: Agent) -> RunState:
    states = [fold(agent.journal.read(run_id)) for run_id in agent.journal.run_ids()]
    return next(state for state in states if state.parent is None)


async def stop(agent: Agent) -> str:
    """The run's id, after its process has ended in the middle."""
    with pytest.raises((DiedError, JournalError)):
        await agent.run("Go")
    assert isinstance(agent.journal, MortalJournal)
    agent.journal.revive()
    return outer(agent).run_id


async def test_a_person_may_decide_in_the_middle_of_code_after_the_process_has_ended(
    agents: Callable[..., Agent], world: World
) -> None:
    code = (
        "import random, time, uuid\n"
        "drawn = [random.random(), str(uuid.uuid4()), time.time()]\n"
        "await pay(repr(drawn))\n"
        "sent = await send('b')\n"
        "[sent, drawn == [float(drawn[0]), drawn[1], drawn[2]], await look(repr(drawn))]"
    )
    result = await agents(code, policy=ASKS).run("Go")
    assert result.stop_reason == "waiting_for_approval"
    assert len(world.done) == 1
    [request] = result.waiting
    agent = agents(code, policy=ASKS)
    agent.approve(request.run_id, request.call_id, by="ann")
    result = await agent.resume(result.run_id)
    assert result.stop_reason == "answered"
    # What it drew is the same: a pay with other words would have been another batch.
    paid, sent, looked = world.done
    assert sent == "send b"
    assert paid.removeprefix("pay ") == looked.removeprefix("look ")
    assert told(result)[0].startswith('value: ["sent b",true,')


async def test_a_person_may_say_no_and_code_may_go_on(agents: Callable[..., Agent], world: World) -> None:
    code = "try:\n    await send('a')\nexcept ToolError as error:\n    found = error.kind\nfound"
    result = await agents(code, policy=ASKS).run("Go")
    agent = agents(code, policy=ASKS)
    agent.deny(result.waiting[0].run_id, result.waiting[0].call_id, by="ann")
    assert told(await agent.resume(result.run_id)) == ['value: "denied"']
    assert world.done == []


async def test_what_a_call_did_before_the_process_ended_is_not_done_again(
    agents: Callable[..., Agent], world: World
) -> None:
    code = (
        "async def ask(tool, word):\n"
        "    try:\n        return await tool(word)\n"
        "    except ToolError as error:\n        return error.kind\n"
        "first = await look('a')\n"
        "await asyncio.gather(ask(pay, 'b'), ask(send, 'c'), ask(look, 'd'))"
    )
    world.stops = {"send c"}
    run_id = await stop(agents(code))
    result = await agents(code).resume(run_id)
    assert told(result) == ['value: ["paid b","unknown","d"]']
    assert world.done.count("send c") == 1
    assert world.done.count("pay b") == 1
    assert world.done.count("look a") == 1


async def test_names_are_there_again_after_the_process_has_ended(agents: Callable[..., Agent], world: World) -> None:
    codes = (
        "import random\nrows = [await look('a'), random.random()]",
        "rows.append(await look('b'))\n1 / 0",
        "await pay('c')\nlen(rows)",
        "rows[1] == rows[1] and rows[2]",
    )
    world.stops = {"pay c"}
    run_id = await stop(agents(*codes))
    result = await agents(*codes).resume(run_id)
    assert told(result)[2:] == ["value: 3", 'value: "b"']
    # Their calls were answered from the record; the key lets a service see that the payment is the same.
    assert world.done == ["look a", "look b", "pay c", "pay c"]


async def test_strangers_words_in_names_taint_also_after_the_process_has_ended(
    agents: Callable[..., Agent], world: World
) -> None:
    @tool(effect="read", trust="untrusted")
    def read_mail() -> str:
        """A mail."""
        return "Hello."

    world.tools.append(read_mail)
    world.stops = {"pay a"}
    policy = Rules([Rule(Ask("it read a mail"), effects="unsafe", tainted=True)])
    codes = ("mail = await read_mail()", "await pay('a')\nawait send(mail)")
    run_id = await stop(agents(*codes, policy=policy))
    result = await agents(*codes, policy=policy).resume(run_id)
    assert result.stop_reason == "waiting_for_approval"
    assert world.done == ["pay a", "pay a"]


async def test_code_that_does_something_else_when_it_is_run_again_goes_no_further(
    agents: Callable[..., Agent], world: World
) -> None:
    code = "import sys\nawait pay(str('colorsys' in sys.modules))\nawait send('b')"
    result = await agents(code, policy=ASKS).run("Go")
    agent = agents(code, policy=ASKS, code=CodeRules(packages=("colorsys",)))
    agent.approve(result.waiting[0].run_id, result.waiting[0].call_id, by="ann")
    [content] = told(await agent.resume(result.run_id))
    assert content.startswith("The code had to be run again after a restart, and did something else than before")
    assert 'expected pay({"word":"False"}), found pay({"word":"True"})' in content
    assert '- pay({"word":"False"}): took place: paid False' in content
    assert '- send({"word":"b"}): took place: sent b' in content  # it had been allowed, and was let run
    assert world.done == ["pay False", "send b"]
    assert any("diverged" in str(entry.data) for run in agent.journal.run_ids() for entry in agent.journal.read(run))


async def test_names_that_cannot_be_made_again_are_said_to_be_lost(agents: Callable[..., Agent], world: World) -> None:
    codes = (
        "import sys\nfound = await look(str('colorsys' in sys.modules))",
        "await pay('b')\nfound",
        "found",
        "found = 1\nfound",
    )
    world.stops = {"pay b"}
    run_id = await stop(agents(*codes))
    result = await agents(*codes, code=CodeRules(packages=("colorsys",))).resume(run_id)
    _, lost, unknown, new = told(result)
    assert lost.startswith("The code was not run: earlier code had to be run again after a restart")
    assert '- pay({"word":"b"})' in lost
    assert "the name `found` is not known" in unknown
    assert new == "value: 1"


SKILL = '''
async def settle(word: str) -> list[str]:
    """Looks, pays and sends."""
    seen = await look(word)
    try:
        sent = await send(word)
    except ToolError as error:
        sent = error.kind
    return [await pay(seen), sent]
'''


@pytest.mark.parametrize("where", ["calls", "code"])
@pytest.mark.parametrize("dies_after", ["pay b", "send b"])
async def test_a_skill_that_died_in_its_middle_goes_on_where_it_was(
    world: World, tmp_path: Path, sandboxed: None, where: Any, dies_after: str
) -> None:
    skills = Skills(tmp_path)
    calls = [
        RecordedCall(name=name, arguments={"word": "a"}, value=value)
        for name, value in (("look", "a"), ("send", "sent"), ("pay", "paid"))
    ]
    await skills.save(SKILL, tools=world.tools, arguments={"word": "a"}, calls=calls, check="len(result) == 2")
    name, arguments = ("settle", {"word": "b"}) if where == "calls" else ("python", {"code": "await settle('b')"})

    def agent() -> Agent:
        model = ScriptedModel(
            lambda messages: [call(name, arguments)] if messages[-1].role == "user" else [text("Done.")]
        )
        return Agent(model, world.tools, actions=where, skills=skills, journal=world.journal)

    world.stops = {dies_after}
    run_id = await stop(agent())
    [content] = told(await agent().resume(run_id))
    sent = "unknown" if dies_after == "send b" else "sent b"
    assert content == f'{"value: " if where == "code" else ""}["paid b","{sent}"]'
    assert world.done.count("look b") == world.done.count("send b") == 1
    # Where it may have been made, it is made again with the same key.
    assert world.done.count("pay b") == (2 if dies_after == "pay b" else 1)

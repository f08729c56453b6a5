"""Code that is tracked: what rules, people and the model learn of whose data is whose, and what of other code."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import settings
from laundering_runs import World

from wieldy import Agent, CodeRules, Context, tool
from wieldy.core.errors import JournalError
from wieldy.core.events import RunResult
from wieldy.core.influence import Influence
from wieldy.core.ports import Draft
from wieldy.run.journal import MemoryJournal
from wieldy.run.policy import Allow, Ask, Decision, Deny, Proposal, Rule, Rules
from wieldy.run.state import RunState, fold
from wieldy.sandbox import SandboxLimits
from wieldy.testing import ScriptedModel, call, text

pytestmark = pytest.mark.usefixtures("sandboxed")

WEB = ("fetch",)
MAIL = "p = await fetch('u')\nc = await contacts()\nawait send(c[0], p.title)"


def told(result: RunResult) -> list[str]:
    return [message.text for message in result.messages if message.role == "tool"]


def trusts(result: RunResult) -> list[tuple[str, tuple[str, ...]]]:
    results = [message.result for message in result.messages if message.result is not None]
    return [(each.trust, each.tainted_by) for each in results]


def code_runs(world: World) -> list[RunState]:
    states = [fold(world.journal.read(run_id)) for run_id in world.journal.run_ids()][::-1]
    return [state for state in states if state.parent is not None]


def influences(world: World) -> list[tuple[str, Influence | None]]:
    return [(call.call.name or "", call.call.influence) for state in code_runs(world) for call in state.calls]


def test_a_call_says_in_the_journal_who_had_a_part_in_which_argument() -> None:
    world = World()
    result = world.agent("tracked", [MAIL]).run_sync("Go")
    clean = Influence()
    body = Influence(arguments={"body": WEB}, survived=WEB)
    assert influences(world) == [("fetch", clean), ("contacts", clean), ("send", body)]
    assert trusts(result) == [("untrusted", WEB)]  # what a call says that had a stranger's words is theirs
    [state] = code_runs(world)
    assert state.model == "code:tracked"


def test_only_what_strangers_had_a_part_in_taints_the_run_around() -> None:
    world = World()
    result = world.agent("tracked", ["p = await fetch('u')\nlen(await contacts())", "p.title"]).run_sync("Go")
    assert trusts(result) == [("trusted", ()), ("untrusted", WEB)]
    assert told(result)[0] == "value: 2"


def test_what_was_printed_counts() -> None:
    result = World().agent("tracked", ["p = await fetch('u')\nprint(p.title)\n1"]).run_sync("Go")
    assert trusts(result) == [("untrusted", WEB)]


def test_after_the_model_has_read_a_stranger_all_that_its_code_does_is_the_strangers() -> None:
    seen: list[Influence] = []

    def watch(proposal: Proposal) -> Decision:
        seen.append(proposal.influence)
        return Allow()

    other = World()
    codes = ["(await fetch('u')).title", "await note('x')"]
    other.agent("tracked", codes, policy=watch).run_sync("Go")
    assert seen == [Influence(), Influence.everywhere(WEB)]


def test_code_that_cannot_be_tracked_runs_all_the_same_and_is_said_to() -> None:
    world = World()
    code = "class Point: pass\np = await fetch('u')\nawait send('bob', 'x')"
    result = world.agent("tracked", [code]).run_sync("Go")
    assert world.sent == []
    [content] = told(result)
    assert "This code was not tracked" in content
    assert "Line 1: `class` cannot be tracked" in content
    [state] = code_runs(world)
    assert state.model == "code:python"
    assert "`class` cannot be tracked" in str(state.metadata["not_tracked"])


def test_names_are_found_where_they_were_left_and_nowhere_else() -> None:
    world = World()
    codes = [
        "import statistics\nmean = statistics.mean([1, 2])",  # in the sandbox
        "x = 1",  # tracked
        "mean * 2",  # in the sandbox, because of the name
        "mean + x",  # nowhere
        "mean = 5\nmean + x",  # tracked: it gives the name another value first
        "mean",
        "x += mean\nx",
    ]
    found = told(world.agent("tracked", codes).run_sync("Go"))
    assert found[2].startswith("value: 3.0\nThis code was not tracked")
    assert found[3].startswith("The code was not run. It cannot be tracked (`mean` was left by code that ran in the")
    assert found[4:] == ["value: 6", "value: 5", "value: 6"]
    assert [state.model for state in code_runs(world)] == [
        f"code:{level}" for level in ("python", "tracked", "python", "tracked", "tracked", "tracked")
    ]


def test_code_that_goes_beyond_a_limit_leaves_nothing() -> None:
    world = World()
    codes = ["x = [1]", "x.append(2)\nwhile True:\n    pass", "x"]
    found = told(world.agent("tracked", codes).run_sync("Go"))
    assert "it reached a limit of tracked code" in found[1]
    assert "more than 1000000 steps" in found[1]
    assert found[2] == "value: [1]"


def test_limits_of_calls_are_those_of_code() -> None:
    rules = CodeRules(taint="tracked", limits=SandboxLimits(calls=5))
    agent = World().agent("tracked", ["for n in range(9):\n    await contacts()"], code=rules)
    assert "more than 5 calls" in told(agent.run_sync("Go"))[0]


def test_a_tool_learns_who_had_a_part_in_its_call_and_so_does_a_run_that_it_starts() -> None:
    world = World()
    seen: list[tuple[str, ...]] = []

    @tool(effect="read")
    def look(at: str, ctx: Context) -> str:
        """Look."""
        seen.append(ctx.tainted_by)
        return at

    helper = Agent(ScriptedModel([[call("look", {"at": "x"})], [text("done")]] * 2), [look])
    world.tools += [look, helper.as_tool("assist", "Assists.")]
    calls = ["look('x')", "look(p.title)", "assist('x')", "assist(p.title)"]
    code = "\n".join(["p = await fetch('u')", *(f"await {each}" for each in calls)])
    world.agent("tracked", [code]).run_sync("Go")
    assert seen == [(), WEB, (), WEB]


def test_arguments_that_are_none_are_left_out_where_that_is_what_none_means() -> None:
    @tool(effect="read")
    def look(at: str, depth: int = 3, tag: str | None = "t") -> list[Any]:
        """Look."""
        return [at, depth, tag]

    world = World()
    world.tools.append(look)
    assert told(world.agent("tracked", ["await look('a', depth=None, tag=None)"]).run_sync("Go")) == [
        'value: ["a",3,null]'
    ]


@pytest.mark.parametrize(
    "value", ["x" * 2_000_000, [0] * 600_000, functools.reduce(lambda inner, _: [inner], range(70), 0)]
)
def test_a_result_that_tracked_code_cannot_take_is_a_failure_that_it_can_catch(value: Any) -> None:
    @tool(effect="read")
    def much() -> Any:
        """A lot."""
        return value

    world = World()
    world.tools.append(much)
    code = "try:\n    await much()\nexcept ToolError as e:\n    found = e.kind"
    assert told(world.agent("tracked", [code]).run_sync("Go")) == ['value: "too_large"']


# People.

ASKS = Rules([Rule(Ask("a person looks at mails"), tools="send")])


def test_a_person_is_told_who_had_a_part_in_the_call_and_again_in_another_process() -> None:
    world = World()
    codes = [
        "p = await fetch('u')\nc = await contacts()\nNone",
        "if p.n > 2:\n    await send(c[0], p.title)",
        "await note(p.title)",
    ]
    paused = world.agent("tracked", codes, policy=ASKS).run_sync("Go")
    [request] = paused.waiting
    assert request.reason == "a person looks at mails ('body' from 'fetch', made because of 'fetch')"
    # Another agent is as another process: it has the journal only, and runs the code again.
    other = world.agent("tracked", codes, policy=ASKS)
    [pending] = other.pending(paused.run_id)
    assert pending.digest == request.digest
    other.approve(request.run_id, request.call_id, by="ann")
    result = other.resume_sync(paused.run_id)
    assert (result.stop_reason, world.sent) == ("answered", [("bob", "Hi")])
    send = Influence(arguments={"body": WEB}, decided_by=WEB, survived=WEB)
    assert dict(influences(world))["send"] == send
    note = dict(influences(world))["note"]
    assert note is not None
    assert note.arguments == {"text": WEB}


def test_what_is_told_of_lost_names_is_a_strangers_where_it_shows_his_words() -> None:
    world = World()
    codes = ["p = await fetch('u')\nawait note(p.title)\nNone", "await send('bob', 'x')"]
    paused = world.agent("tracked", codes, policy=ASKS).run_sync("Go")
    [request] = paused.waiting

    @tool(name="note", effect="idempotent")
    def note(words: str) -> str:
        """Keep a text: in another version of the program."""
        return words

    world.tools = [each for each in world.tools if each.name != "note"] + [note]
    other = world.agent("tracked", codes, policy=ASKS)
    other.approve(request.run_id, request.call_id, by="ann")
    result = other.resume_sync(paused.run_id)
    assert "The names of all earlier actions are lost" in told(result)[1]
    assert '"words":"Hi"' in told(result)[1]
    assert trusts(result)[1] == ("untrusted", WEB)


# A process that dies.


class DiedError(BaseException):
    """Stands for the death of the process."""


class MortalJournal(MemoryJournal):
    """A journal whose process dies at one of its entries, before it is written or (the odd ones) after."""

    def __init__(self, at: int | None) -> None:
        super().__init__()
        self.at = at
        self.count = 0
        self.is_dead = False

    def revive(self) -> None:
        """Another process has it."""
        assert self.is_dead
        self.is_dead, self.at = False, None

    def append(self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False) -> Any:
        if self.is_dead:
            raise JournalError("the process is dead")
        self.count += 1
        self.is_dead = self.count == self.at
        if not self.is_dead:
            return super().append(run_id, *drafts, length=length, is_intent=is_intent)
        if self.count % 2:
            super().append(run_id, *drafts, length=length, is_intent=is_intent)
        raise DiedError


GUARDED = Rules(
    [
        Rule(Deny("no"), tools="send", influenced="to"),
        Rule(Deny("no"), tools="send", decided=True),
        Rule(Allow(), tools="*"),
    ]
)
LONG = [
    "p = await fetch('u')\nc = await contacts()\nasync def mail(to):\n    await send(to, p.title)\nNone",
    "await asyncio.gather(note(p.title), note('mine'))\nawait note(p.lines[0])\nNone",
    "await mail(c[0])\nfound = []\ntry:\n    await mail(p.to)\nexcept ToolError as e:\n    found.append(e.kind)\nNone",
]


EXHAUSTIVE = settings.get_current_profile_name() == "long"
"""Whether the process dies at every entry of the journal, and not at some; of these every second is written."""


@pytest.mark.parametrize(("level", "step"), [("tracked", 1 if EXHAUSTIVE else 3), ("handles", 1 if EXHAUSTIVE else 5)])
def test_wherever_the_process_dies_the_labels_and_what_follows_from_them_are_the_same(level: Any, step: int) -> None:
    def live(at: int | None) -> tuple[World, str]:
        world = World()
        journal = world.journal = MortalJournal(at)
        try:
            return world, world.agent(level, LONG, policy=GUARDED).run_sync("Go").run_id
        except (DiedError, JournalError):
            journal.revive()
        runs = [run_id for run_id in journal.run_ids() if fold(journal.read(run_id)).parent is None]
        if runs:
            world.agent(level, LONG, policy=GUARDED).resume_sync(runs[0])
        return world, runs[0] if runs else ""

    reference, _ = live(None)
    assert reference.sent == [("bob", "Hi")]
    labels = influences(reference)
    assert [influence.arguments for name, influence in labels if name == "send" and influence] == [
        {"body": WEB},
        {"to": WEB, "body": WEB},
    ]
    for at in range(1, reference.journal.count + 1, step):  # type: ignore[attr-defined]
        world, run_id = live(at)
        if not run_id:
            continue  # nothing was written: there is no run
        state, made = fold(world.journal.read(run_id)), influences(world)
        assert state.status == "finished"
        # A mail of which nobody knows whether it was sent is not sent again, and the code is told.
        is_unknown = "outcome unknown" in str(state.messages)
        assert made == labels or (is_unknown and made == labels[:-1]), at
        assert is_unknown or world.sent == [("bob", "Hi")], at

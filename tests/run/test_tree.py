"""What is in doubt in a run is in doubt in all runs around it and within it, whatever dies when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.agent import Agent
from wieldy.core.approvals import ApprovalRequest
from wieldy.core.context import Context
from wieldy.core.errors import JournalError, RunBusyError, ToolError
from wieldy.core.messages import Message
from wieldy.core.ports import Draft, Entry
from wieldy.run.journal import MemoryJournal, kinds
from wieldy.run.policy import Allow, Decision, Deny, Proposal
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool, Toolset, tool

pytestmark = pytest.mark.anyio


@dataclass
class World:
    """What happened outside, and which acts are not heard of."""

    lost: set[int] = field(default_factory=lambda: {1})
    acts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    asked: list[str] = field(default_factory=list[str])

    def act(self, amount: int, ctx: Context) -> str:
        self.acts.append((amount, ctx.idempotency_key))
        if len(self.acts) in self.lost:
            raise ConnectionError("no answer came")
        return f"done {amount}"

    def happened(self, ctx: Context) -> str | None:
        self.asked.append(ctx.idempotency_key)
        return "it was done" if any(key == ctx.idempotency_key for _, key in self.acts) else None

    @property
    def keys(self) -> list[str]:
        return [key for _, key in self.acts]


WORLD = World()


def act(amount: int, ctx: Context) -> str:
    """Acts; a function that is all there is to its code."""
    return WORLD.act(amount, ctx)


def happened(ctx: Context) -> str | None:
    return WORLD.happened(ctx)


@pytest.fixture(autouse=True)
def world() -> World:
    WORLD.__init__()  # type: ignore[misc]
    return WORLD


def acting(effect: str, name: str = "act") -> Tool:
    if effect == "reconcile":
        return tool(name=name, reconcile=happened, retries=0)(act)
    return tool(name=name, effect=effect, retries=0)(act)  # type: ignore[call-overload,no-any-return]


ACTS = (acting("unsafe", "send"), acting("keyed", "pay"), acting("keyed", "wire"))


def follows(*turns: list[Any]) -> ScriptedModel:
    """A model that says these turns, in every run that it is asked in."""

    def say(messages: Sequence[Message]) -> list[Any]:
        said = sum(message.role == "assistant" for message in messages)
        return turns[said] if said < len(turns) else [text("done")]

    return ScriptedModel(say)


def expert(tools: Iterable[Tool], *turns: list[Any], name: str = "ask", **options: Any) -> Tool:
    return Agent(follows(*turns), tools, **options).as_tool(name, "Asks an expert.")


def ask(prompt: str, name: str = "ask") -> Any:
    return call(name, {"prompt": prompt})


ACT = call("act", {"amount": 1})


def reasons(result: Any) -> list[str]:
    return [request.reason for request in result.waiting]


async def consented(agent: Agent, run_id: str) -> Any:
    for request in agent.pending(run_id):
        agent.approve(request.run_id, request.call_id, by="ada", digest=request.digest)
    return await agent.resume(run_id)


async def test_a_later_nested_run_does_not_repeat_what_an_earlier_one_left_in_doubt(world: World) -> None:
    agent = Agent(follows([ask("a")], [ask("b")], [ask("c")]), [expert([acting("unsafe")], [ACT])])
    result = await agent.run("Go")
    assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)
    first = next(run for run in agent.journal.run_ids() if "a" in fold(agent.journal.read(run)).prompt)
    assert reasons(result) == [
        f"the same call ({first}/c1) was started before and its outcome is unknown; this may do it twice"
    ]
    end = await consented(agent, result.run_id)
    # What somebody has consented to was done: asking for it once more is a new wish.
    assert (end.text, len(world.acts), len(set(world.keys))) == ("done", 3, 2)
    assert world.keys[0] == world.keys[1]


@pytest.mark.parametrize("effect", ["keyed", "reconcile"])
async def test_a_later_nested_run_has_the_key_of_an_earlier_one(world: World, effect: str) -> None:
    agent = Agent(follows([ask("a")], [ask("b")], [ask("c")]), [expert([acting(effect)], [ACT])])
    result = await agent.run("Go")
    assert result.text == "done"
    if effect == "keyed":
        assert (len(world.acts), world.keys[0] == world.keys[1], world.keys[2] == world.keys[0]) == (3, True, False)
    else:
        assert (len(world.acts), world.asked) == (2, world.keys[:1])


@pytest.mark.parametrize(
    ("outer", "inner", "name"),
    [
        ([[ask("a")], [ACT]], [ACT], "act"),  # from within to the outer run
        ([[ACT], [ask("a")]], [ACT], "act"),  # and the other way
        ([[ask("a")], [call("do", {"amount": 1})]], [ACT], "do"),  # under another name
        ([[call("do", {"amount": 1})], [ask("a")]], [ACT], "do"),
        ([[ask("a")], [ask("a", "tell")]], [ACT], "act"),  # from one expert to another
    ],
)
async def test_a_doubt_reaches_every_run_of_the_tree(
    world: World, outer: list[Any], inner: list[Any], name: str
) -> None:
    for effect in ("unsafe", "keyed"):
        world.__init__()  # type: ignore[misc]
        experts = [expert([acting(effect)], inner, name=asked) for asked in ("ask", "tell")]
        agent = Agent(follows(*outer), [acting(effect, name), *experts])
        result = await agent.run("Go")
        if effect == "unsafe":
            assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)
            result = await consented(agent, result.run_id)
        assert (result.text, len(world.acts)) == ("done", 2)
        assert world.keys[0] == world.keys[1]


async def test_a_doubt_passes_through_every_level(world: World) -> None:
    inner = expert([acting("unsafe")], [ACT])
    middle = expert([inner], [ask("b")])
    agent = Agent(follows([ask("a")], [ask("c")]), [middle])
    result = await agent.run("Go")
    assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)
    assert (await consented(agent, result.run_id)).text == "done"
    assert len(world.acts) == 2


async def test_the_function_of_one_object_is_not_taken_for_that_of_another_and_a_person_is_asked(world: World) -> None:
    class Account:
        def act(self, amount: int, ctx: Context) -> str:
            """Acts on one account."""
            return world.act(amount, ctx)

    mine, yours = (Toolset([tool(effect="keyed", retries=0)(Account().act)]).prefixed(p) for p in ("my_", "your_"))
    turns = [[call("my_act", {"amount": 1})], [call("your_act", {"amount": 1})]]
    agent = Agent(follows(*turns), [mine, yours])
    result = await agent.run("Go")
    assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)
    await consented(agent, result.run_id)
    assert len(set(world.keys)) == 2


@pytest.mark.parametrize("effect", ["unsafe", "keyed"])
async def test_a_second_name_in_one_run_is_the_same_tool(world: World, effect: str) -> None:
    agent = Agent(follows([ACT], [call("do", {"amount": 1})]), [acting(effect), acting(effect, "do")])
    result = await agent.run("Go")
    if effect == "unsafe":
        assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)
    else:
        assert (result.text, world.keys[0] == world.keys[1]) == ("done", True)


async def test_other_arguments_are_another_effect(world: World) -> None:
    tools = [acting("unsafe"), expert([acting("unsafe")], [call("act", {"amount": 2})])]
    result = await Agent(follows([ACT], [ask("a")]), tools).run("Go")
    assert (result.text, [amount for amount, _ in world.acts]) == ("done", [1, 2])


async def test_a_repeat_that_fails_settles_nothing(world: World) -> None:
    world.lost = set()

    @tool(effect="unsafe", retries=0)
    def pay(amount: int) -> str:
        """Pays."""
        world.acts.append((amount, ""))
        raise {1: ConnectionError("lost"), 2: ToolError("the bank is closed")}[len(world.acts)]

    agent = Agent(follows(*([call("pay", {"amount": 1})] for _ in range(3))), [pay])
    result = await agent.run("Go")
    result = await consented(agent, result.run_id)
    assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 2)


async def test_one_success_settles_all_that_it_repeats(world: World) -> None:
    world.lost = {1, 2}
    agent = Agent(follows([ACT], [ACT], [ACT], [ACT]), [acting("keyed")])
    assert (await agent.run("Go")).text == "done"
    assert [world.keys.count(key) for key in dict.fromkeys(world.keys)] == [3, 1]


# Where processes die


class DiedError(BaseException):
    """Stands for the death of the process."""


class MortalJournal(MemoryJournal):
    """A journal whose process dies at an append, before or after it takes effect."""

    def __init__(self, *, dies_at: int = 10**9, after: bool = False) -> None:
        super().__init__()
        self.written: list[Entry | None] = []  # None: a death
        self._left, self._after, self._is_dead = dies_at, after, False

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        if self._is_dead:
            raise JournalError("the process is dead")
        self._left -= 1
        self._is_dead = self._left == 0
        entries: Sequence[Entry] = ()
        if not self._is_dead or self._after:
            entries = super().append(run_id, *drafts, length=length, is_intent=is_intent)
            self.written += entries
        if self._is_dead:
            raise DiedError
        return entries

    def revive(self, *, dies_at: int = 10**9) -> None:
        self._is_dead, self._left = False, dies_at
        self.written.append(None)


async def test_what_a_nested_run_left_is_known_though_nobody_goes_on_with_it(world: World) -> None:
    world.lost = set()

    def not_any_more(proposal: Proposal) -> Decision:
        return Deny("not any more") if proposal.call.name == "ask" else Allow()

    def agent(journal: MortalJournal, **options: Any) -> Agent:
        tools = [expert([acting("unsafe")], [ACT]), acting("unsafe", "do")]
        return Agent(follows([ask("a")], [call("do", {"amount": 1})]), tools, journal=journal, **options)

    for dies_at in range(1, 40):
        journal = MortalJournal(dies_at=dies_at)
        world.__init__()  # type: ignore[misc]
        world.lost = set()
        try:
            await agent(journal).run("Go")
        except (DiedError, JournalError):
            journal.revive()
        else:
            return
        runs = [*journal.run_ids()]
        if not runs:
            continue
        result = await agent(journal, policy=not_any_more).resume(runs[-1])
        in_doubt = any(
            call.attempts and (call.result is None or call.is_unknown)
            for run in runs[:-1]
            for call in fold(journal.read(run)).calls
        )
        assert (result.stop_reason == "waiting_for_approval") is in_doubt
        assert len(world.acts) <= 1 or not in_doubt
    pytest.fail("it never ended")


async def test_a_nested_run_that_is_resumed_by_itself_knows_what_the_run_around_it_does_not(world: World) -> None:
    journal = MortalJournal(dies_at=11)

    def agent(**options: Any) -> Agent:
        return Agent(follows([ACT], [ask("a")]), [acting("unsafe"), inner.as_tool("ask", "Asks.")], journal=journal)

    inner = Agent(follows([ACT]), [acting("unsafe")], journal=journal)
    with pytest.raises((DiedError, JournalError)):
        await agent().run("Go")
    journal.revive()
    nested = next(iter(journal.run_ids()))
    assert fold(journal.read(nested)).parent is not None
    result = await inner.resume(nested)
    assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)


async def test_siblings_that_run_at_once_see_one_anothers_doubts(world: World) -> None:
    both = anyio.Event()

    @tool(effect="read")
    async def meet() -> str:
        """Waits until the other one is in doubt."""
        with anyio.fail_after(60):
            await both.wait()
        return "met"

    @tool(effect="read")
    async def tell() -> str:
        """Lets the other one go on."""
        both.set()
        return "told"

    experts = [
        replace(expert([acting("unsafe"), meet, tell], *turns, name=name), writes=(name,))
        for name, turns in {"one": [[ACT], [call("tell")]], "two": [[call("meet")], [ACT]]}.items()
    ]
    agent = Agent(follows([ask("a", "one"), ask("b", "two")]), experts)
    result = await agent.run("Go")
    assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)


async def test_a_nested_run_that_a_repeat_goes_on_with_waits_for_people_under_the_repeat(world: World) -> None:
    """The first call is given up, the second has its key and so its run."""

    def not_the_first(proposal: Proposal) -> Decision:
        return Deny("not this time") if proposal.call.id == "c1" and None in journal.written else Allow()

    def agent() -> Agent:
        tools = [expert([acting("unsafe")], [ACT], [ACT])]
        return Agent(follows([ask("a")], [ask("a")]), tools, journal=journal, policy=not_the_first)

    journal = MortalJournal(dies_at=8)  # before the outcome of the act
    with pytest.raises((DiedError, JournalError)):
        await agent().run("Go")
    journal.revive()
    nested, outer = journal.run_ids()
    assert [len(fold(journal.read(run)).calls) for run in (nested, outer)] == [1, 1]
    result = await agent().resume(outer)
    assert (result.stop_reason, len(world.acts), len([*journal.run_ids()])) == ("waiting_for_approval", 1, 2)
    assert agent().pending(outer) == result.waiting
    end = await consented(agent(), outer)
    assert (end.text, len(world.acts)) == ("done", 2)


Script = tuple[Any, ...]
"""Turns of one item each: an amount, or a script for a run within."""


acts = st.tuples(st.sampled_from(["send", "pay", "wire"]), st.sampled_from([1, 1, 2]))


def scripts(depth: int) -> st.SearchStrategy[Script]:
    within = st.tuples(st.sampled_from(["ask", "tell"]), scripts(depth - 1)) if depth else acts
    return st.lists(st.one_of(within, acts), min_size=1, max_size=3).map(tuple)


class Follower:
    """An agent whose model follows the script that its prompt names, and experts beside it that do the same."""

    def __init__(self, script: Script, journal: MortalJournal, *, may_ask: bool) -> None:
        self._may_ask = may_ask
        self._scripts: dict[str, Script] = {}
        self._journal = journal
        self.prompt = self._named(script)
        self.agent = self._agent(2)

    def _named(self, script: Script) -> str:
        # Two of the same script are told apart: the model means each anew.
        turns = tuple((name, self._named(item)) if isinstance(item, tuple) else (name, item) for name, item in script)
        name = f"script {len(self._scripts)}"
        self._scripts[name] = turns
        return name

    def _agent(self, depth: int) -> Agent:
        tools = list(ACTS)
        if depth:
            within = self._agent(depth - 1)
            tools += [within.as_tool(name, "Asks an expert.") for name in ("ask", "tell")]
        return Agent(
            ScriptedModel(self._say), tools, journal=self._journal, policy=self._decide, approver=self._approve
        )

    def _say(self, messages: Sequence[Message]) -> list[Any]:
        script = self._scripts[next(message.text for message in messages if message.role == "user")]
        said = sum(message.role == "assistant" for message in messages)
        if said == len(script):
            return [text("done")]
        name, item = script[said]
        return [call(name, {"prompt" if isinstance(item, str) else "amount": item})]

    def _decide(self, proposal: Proposal) -> Decision:
        return Allow() if self._may_ask or "prompt" not in proposal.call.arguments else Deny("not any more")

    def _approve(self, request: ApprovalRequest) -> Any:
        return request.approve(by="ada")


def blind(written: Sequence[Entry | None]) -> list[str]:
    """Repeats of what nobody knew, that neither a person had consented to nor a key made harmless."""
    found: list[str] = []
    started: dict[tuple[str, str], Any] = {}
    doubts: dict[Any, list[tuple[str, tuple[str, str]]]] = {}

    def doubt(run_call: tuple[str, str]) -> None:
        data = started.pop(run_call)
        doubts.setdefault(data["arguments"]["amount"], []).append((data["idempotency_key"], run_call))

    for entry in written:
        if entry is None:
            for run_call in list(started):
                doubt(run_call)
            continue
        data: Any = entry.data
        if entry.kind == kinds.CALL_STARTED and "amount" in data["arguments"]:
            run_call = (entry.run_id, data["call_id"])
            others = [key for key, owner in doubts.get(data["arguments"]["amount"], ()) if owner != run_call]
            is_same = data["effect"] != "unsafe" and all(key == data["idempotency_key"] for key in others)
            if others and not is_same and "approved_by" not in data:
                found.append(f"{entry.run_id} {data}")
            started[run_call] = data
        elif entry.kind == kinds.CALL_FINISHED:
            run_call = (entry.run_id, data["result"]["tool_call_id"])
            if run_call in started and data.get("is_unknown"):
                doubt(run_call)
            elif run_call in started and not data["result"].get("is_error"):
                doubts.pop(started.pop(run_call)["arguments"]["amount"], None)
            else:
                started.pop(run_call, None)
    return found


async def carry_out(script: Script, journal: MortalJournal, deaths: Sequence[int], *, goes_on: bool) -> Any:
    left = list(deaths)
    while True:
        follower = Follower(script, journal, may_ask=goes_on or None not in journal.written)
        runs = [*journal.run_ids()]
        outer = next((run for run in runs if fold(journal.read(run)).parent is None), None)
        try:
            return await (follower.agent.run(follower.prompt) if outer is None else follower.agent.resume(outer))
        except (DiedError, JournalError):
            journal.revive(dies_at=left.pop() if left else 10**9)


@settings(deadline=None, max_examples=40)
@given(
    script=scripts(2),
    lost=st.sets(st.integers(1, 4), max_size=4),
    deaths=st.lists(st.integers(1, 20), max_size=3),
    after=st.booleans(),
    goes_on=st.booleans(),
)
def test_whatever_dies_when_no_run_of_a_tree_repeats_blindly(
    script: Script, lost: set[int], deaths: list[int], after: bool, goes_on: bool
) -> None:
    """Nested runs are gone on with, or left as they are because policy does not allow their calls any more."""
    WORLD.__init__(lost=set(lost))  # type: ignore[misc]
    journal = MortalJournal(dies_at=deaths[0] if deaths else 10**9, after=after)
    result = anyio.run(partial(carry_out, goes_on=goes_on), script, journal, deaths[1:])
    assert result.stop_reason == "answered"
    assert blind(journal.written) == []


SEND, PAY = ("send", 1), ("pay", 1)


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize(
    ("script", "lost"),
    [
        ((("ask", (SEND,)), ("ask", (SEND,)), SEND), {1}),
        ((("ask", (("tell", (SEND, PAY)),)), PAY, ("tell", (SEND,))), set[int]()),
    ],
)
def test_a_process_may_die_before_any_entry_of_a_tree(script: Script, lost: set[int], goes_on: bool) -> None:
    for dies_at in range(1, 100):
        WORLD.__init__(lost=lost)  # type: ignore[misc]
        journal = MortalJournal(dies_at=dies_at)
        result = anyio.run(partial(carry_out, goes_on=goes_on), script, journal, ())
        assert result.stop_reason == "answered"
        assert blind(journal.written) == []
        if None not in journal.written:
            return
    pytest.fail("it never ended")


# Odd records, and two at once


@pytest.mark.parametrize(
    "left",
    [
        *(5, [], {}, {"doubts": [], "settled": None}, {"doubts": [{}], "settled": []}, {"settled": []}),
        {"doubts": [{"ref": 1, "names": [], "origins": [], "arguments": {}, "idempotency_key": ""}], "settled": []},
    ],
)
async def test_a_damaged_record_of_what_was_left_is_said_to_be_one(left: Any) -> None:
    agent = Agent(follows([ask("a")]), [expert([acting("unsafe")], [ACT])])
    run_id = (await agent.run("Go")).run_id
    entries = [
        entry._replace(data={**entry.data, "left": left}) if entry.kind == kinds.CALL_FINISHED else entry
        for entry in agent.journal.read(run_id)
    ]
    with pytest.raises(JournalError, match="call_finished"):
        fold(entries)


async def test_runs_that_claim_to_have_started_one_another_come_to_an_end(world: World) -> None:
    journal = MortalJournal(dies_at=11)
    inner = Agent(follows([ACT]), [acting("unsafe")], journal=journal)
    with pytest.raises((DiedError, JournalError)):
        await Agent(follows([ACT], [ask("a")]), [acting("unsafe"), inner.as_tool("ask", "Asks.")], journal=journal).run(
            "Go"
        )
    journal.revive()
    nested, outer = journal.run_ids()
    journal.append(outer, Draft(kinds.RUN_RESUMED, {"by": None, "parent": {"run_id": nested, "call_id": "c1"}}))
    assert (await inner.resume(nested)).stop_reason == "waiting_for_approval"
    assert len(world.acts) == 1


async def test_a_nested_run_that_another_is_at_work_on_is_left_and_its_doubts_are_kept(world: World) -> None:
    journal = MortalJournal()

    def agent() -> Agent:
        turns = [ask("a")], [call("do", {"amount": 1})]
        return Agent(follows(*turns), [expert([acting("unsafe")], [ACT]), acting("unsafe", "do")], journal=journal)

    starts = 0
    original = journal.append

    def dies_in_the_effect(run_id: str, *drafts: Draft, **options: Any) -> Sequence[Entry]:
        nonlocal starts
        starts += drafts[0].kind == kinds.CALL_STARTED
        if starts == 2 and drafts[0].kind != kinds.CALL_STARTED:
            raise DiedError
        return original(run_id, *drafts, **options)

    journal.append = dies_in_the_effect  # type: ignore[method-assign]
    with pytest.raises(DiedError):
        await agent().run("Go")
    journal.append = original  # type: ignore[method-assign]
    nested, outer = journal.run_ids()
    lease = journal.lease(nested)
    result = await agent().resume(outer)
    lease.release()
    assert (result.stop_reason, len(world.acts)) == ("waiting_for_approval", 1)
    told = next(message.text for message in result.messages if message.role == "tool")
    assert "is at work on it" in told or "could not go on" in told


async def test_of_two_that_resume_at_once_one_goes_on(world: World) -> None:
    journal = MortalJournal()

    def agent() -> Agent:
        return Agent(follows([ask("a")], [ask("b")]), [expert([acting("unsafe")], [ACT])], journal=journal)

    first = agent()
    result = await first.run("Go")
    for request in first.pending(result.run_id):
        first.approve(request.run_id, request.call_id, by="ada")
    ended: list[Any] = []

    async def resume() -> None:
        try:
            ended.append((await agent().resume(result.run_id)).text)
        except RunBusyError as error:
            ended.append(error)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(resume)
    assert "done" in ended
    assert len(world.acts) == 2


async def test_what_is_left_holds_no_secret_of_any_run() -> None:
    @tool(effect="unsafe", retries=0)
    def log_in(key: str, other: str) -> str:
        """Logs in."""
        raise ConnectionError("lost")

    turn = [call("log_in", {"key": "inner-1234", "other": "outer-5678"})]
    inner = expert([log_in], turn, secrets={"inner": "inner-1234"})
    agent = Agent(follows([ask("a")], [ask("b")]), [inner], secrets={"outer": "outer-5678"})
    result = await agent.run("Go")
    assert result.stop_reason == "waiting_for_approval"  # though nobody may say what it was about
    record = repr([agent.journal.read(run) for run in agent.journal.run_ids()])
    assert "left" in record
    assert "inner-1234" not in record
    assert "outer-5678" not in record

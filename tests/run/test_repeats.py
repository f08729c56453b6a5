"""A call that may have been done already is not done again unknowingly, however it is asked for."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest

from wieldy.agent import Agent
from wieldy.core.calls import Effect
from wieldy.core.context import Context
from wieldy.core.errors import JournalError
from wieldy.core.messages import Message
from wieldy.core.ports import Draft, Entry
from wieldy.core.principals import Principal
from wieldy.run.journal import MemoryJournal, kinds
from wieldy.run.policy import Allow, Decision, Deny, Proposal, ask_when_tainted
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Tool, tool

pytestmark = pytest.mark.anyio


class Post:
    """Sends, and gives no answer the first time."""

    def __init__(self) -> None:
        self.sent: list[float] = []
        self.keys: list[str] = []

    def send(self, effect: Any) -> Tool:
        @tool(effect=effect, timeout_s=0.02)
        async def send(amount: float, note: str | None = None, *, ctx: Context) -> str:
            """Sends."""
            self.sent.append(amount)
            self.keys.append(ctx.idempotency_key)
            if len(self.sent) == 1:
                await anyio.sleep_forever()
            return f"sent {amount}"

        return send


def one_by_one(*turns: list[Any]) -> Any:
    def script(messages: Sequence[Message]) -> list[Any]:
        asked = sum(1 for message in messages if message.role == "assistant")
        return turns[asked] if asked < len(turns) else [text("done")]

    return ScriptedModel(script)


@pytest.mark.parametrize(
    "again", [{"amount": 1}, {"amount": 1.0}, {"amount": 1, "note": None}, {"note": None, "amount": "1"}]
)
async def test_another_spelling_of_the_same_is_the_same(again: dict[str, Any]) -> None:
    post = Post()
    model = one_by_one([call("send", {"amount": 1})], [call("send", again)])
    result = await Agent(model, [post.send("unsafe")]).run("Go")
    assert (result.stop_reason, post.sent) == ("waiting_for_approval", [1.0])

    post = Post()
    model = one_by_one([call("send", {"amount": 1})], [call("send", again)])
    await Agent(model, [post.send("keyed")]).run("Go")
    assert (post.sent, post.keys[0] == post.keys[1]) == ([1.0, 1.0], True)


async def test_a_repeat_within_the_turn_waits_for_consent_too() -> None:
    post = Post()
    turn = [call("send", {"amount": 1}), call("send", {"amount": 1}), call("send", {"amount": 2})]
    agent = Agent(one_by_one(turn), [post.send("unsafe")])
    result = await agent.run("Go")
    assert (result.stop_reason, post.sent) == ("waiting_for_approval", [1.0])
    agent.approve(result.run_id, "c2", by="ada")
    assert (await agent.resume(result.run_id)).text == "done"
    assert post.sent == [1.0, 1.0, 2.0]


class DiedError(BaseException):
    """Stands for the death of the process."""


class DyingJournal(MemoryJournal):
    """A journal whose process dies when an entry of a kind is to be written."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind: str | None = kind
        self.is_dead = False

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        if self.is_dead:
            raise JournalError("the process is dead")
        if any(draft.kind == self.kind for draft in drafts):
            self.is_dead = True
            raise DiedError
        return super().append(run_id, *drafts, length=length, is_intent=is_intent)

    def revive(self) -> None:
        self.is_dead, self.kind = False, None


def payment(effect: Effect, paid: list[str], **declared: Any) -> Tool:
    def pay(amount: int, ctx: Context) -> str:
        """Pays."""
        paid.append(ctx.idempotency_key)
        if len(paid) == 1 and declared:
            raise ConnectionError("not now")
        return "paid"

    return tool(effect=effect, **declared)(pay)  # type: ignore[call-overload,no-any-return]


def deny(proposal: Proposal) -> Decision:
    return Deny("not today") if proposal.call.name == "pay" else Allow()


async def died(journal: DyingJournal, tools: list[Tool], **options: Any) -> str:
    with pytest.raises((DiedError, JournalError)):
        await Agent(one_by_one([call("pay", {"amount": 5})]), tools, journal=journal, **options).run("Go")
    journal.revive()
    return next(iter(journal.run_ids()))


async def resumed(journal: DyingJournal, run_id: str, tools: list[Tool], **options: Any) -> str:
    agent = Agent(one_by_one([call("pay", {"amount": 5})]), tools, journal=journal, **options)
    result = await agent.resume(run_id)
    return next(message.text for message in result.messages if message.role == "tool")


async def test_what_is_not_allowed_any_more_is_not_tried_again_and_its_outcome_is_unknown() -> None:
    journal, paid = DyingJournal(kinds.CALL_FINISHED), list[str]()
    run_id = await died(journal, [payment("keyed", paid)])
    told = await resumed(journal, run_id, [payment("keyed", paid)], policy=deny)
    assert len(paid) == 1
    assert "outcome unknown" in told
    assert "not today" in told


async def test_what_needs_a_permission_needs_it_for_a_further_attempt_too() -> None:
    ada = Principal(name="ada", permissions=frozenset({"money"}))
    journal, paid = DyingJournal(kinds.CALL_FINISHED), list[str]()
    pay = replace(payment("keyed", paid), permission="money")
    run_id = await died(journal, [pay], principal=ada)
    assert "outcome unknown" in await resumed(journal, run_id, [pay])
    assert len(paid) == 1


@pytest.mark.parametrize("now", ["unsafe", "denied", "gone"])
async def test_an_attempt_that_failed_and_may_have_had_an_effect_is_not_forgotten(now: str) -> None:
    class DiesInTheWait(DyingJournal):
        def append(self, run_id: str, *drafts: Draft, **options: Any) -> Sequence[Entry]:
            if any(draft.kind == kinds.CALL_STARTED and draft.data["attempt"] == 2 for draft in drafts) and self.kind:
                self.is_dead = True
                raise DiedError
            return super().append(run_id, *drafts, **options)

    journal, paid = DiesInTheWait("none"), list[str]()
    run_id = await died(journal, [payment("keyed", paid, retries=1)])
    assert fold(journal.read(run_id)).calls[0].is_in_doubt
    tools = {"unsafe": [payment("unsafe", paid)], "denied": [payment("keyed", paid)], "gone": list[Tool]()}[now]
    told = await resumed(journal, run_id, tools, policy=deny if now == "denied" else None)
    assert "outcome unknown" in told
    assert len(paid) == 1


# What comes late


class Slow:
    """A tool in a thread that gives no answer in time, and a way to wait until its late end is on record."""

    def __init__(self, effect: Any, *, trust: Any = "trusted") -> None:
        self.done: list[str] = []
        self.stored = "old"
        self._release = threading.Event()
        self.agent: Agent | None = None

        # Time enough for a thread to begin, also on a machine that is busy.
        @tool(effect=effect, trust=trust, timeout_s=0.3)
        def put(value: str) -> str:
            """Stores a value."""
            if not self.done:
                self._release.wait(60)
            self.done.append(value)
            self.stored = value
            return f"stored {value}"

        @tool(effect="read")
        def get() -> str:
            """Gives what is stored."""
            return self.stored

        @tool(effect="read")
        async def wait() -> str:
            """Waits until what is late has come."""
            await self.come()
            return "waited"

        self.tools = [put, get, wait]

    async def come(self) -> None:
        """The late end is on record."""
        self._release.set()
        assert self.agent is not None
        journal = self.agent.journal
        with anyio.fail_after(60):
            while not any(entry.kind == kinds.CALL_CAME_LATE for entry in journal.read(next(iter(journal.run_ids())))):
                await anyio.lowlevel.checkpoint()

    async def run(self, *turns: list[Any], before: int | None = None, **options: Any) -> tuple[Any, list[str]]:
        """The result, and what the model read.

        Args:
            *turns: What the model asks for.
            before: The turn, from 0, before which what is late has come, though nobody has told the model.
            **options: Of the agent.
        """
        slow = self

        class Model(ScriptedModel):
            async def stream(self, request: Any) -> Any:
                if len(self.requests) == before:
                    await slow.come()
                async for event in super().stream(request):
                    yield event

        self.agent = Agent(Model([*turns, [text("done")]]), self.tools, **options)
        result = await self.agent.run("Go")
        return result, [message.text for message in result.messages if message.role == "tool"]


PUT, GET, WAIT = call("put", {"value": "new"}), call("get"), call("wait")


@pytest.mark.parametrize("effect", ["idempotent", "keyed", "unsafe"])
async def test_a_repeat_by_a_model_that_was_not_told_is_answered_with_what_came_late(effect: str) -> None:
    slow = Slow(effect)
    result, told = await slow.run([PUT], [PUT], before=1)
    assert (result.text, slow.done) == ("done", ["new"])
    assert told[1].startswith("stored new")
    assert "not run again" in told[1]


async def test_a_repeat_by_a_model_that_was_told_is_a_new_wish() -> None:
    slow = Slow("idempotent")
    _, told = await slow.run([PUT], [WAIT], [call("put", {"value": "other"})], [PUT])
    assert "Meanwhile your earlier call of `put`" in told[1]
    assert (slow.done, told[3]) == (["new", "other", "new"], "stored new")


async def test_what_came_late_does_not_answer_a_repeat_behind_another_effect() -> None:
    slow = Slow("unsafe")
    result, _ = await slow.run([PUT], [call("put", {"value": "other"}), PUT], before=1)
    assert (result.stop_reason, slow.done) == ("waiting_for_approval", ["new", "other"])
    assert "come to an end" in result.waiting[0].reason


async def test_nothing_is_read_from_the_record_while_a_call_is_in_doubt() -> None:
    slow = Slow("unsafe")
    _, told = await slow.run([PUT], [GET], [WAIT], [GET])
    assert (told[1], told[3]) == ("old", "new")


async def test_the_words_of_strangers_that_come_late_taint_what_follows() -> None:
    slow = Slow("read", trust="untrusted")
    paid: list[int] = []

    @tool(effect="unsafe")
    def pay(amount: int) -> str:
        """Pays."""
        paid.append(amount)
        return "paid"

    slow.tools.append(pay)
    result, told = await slow.run([PUT], [WAIT], [call("pay", {"amount": 5})], policy=ask_when_tainted())
    assert "<untrusted" in told[1]
    assert (result.stop_reason, result.is_tainted, paid) == ("waiting_for_approval", True, [])

"""A call that waits for a person: the run rests, survives, and goes on with exactly what was shown."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wieldy.agent import Agent
from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.errors import ApprovalError, JournalTamperedError, UsageError
from wieldy.core.events import CallWaiting
from wieldy.core.history import check_history
from wieldy.core.limits import Limits
from wieldy.core.messages import Message
from wieldy.core.ports import Draft, Entry
from wieldy.run.consent import Consent
from wieldy.run.journal import MemoryJournal, SqliteJournal, kinds
from wieldy.run.loop import resume, run
from wieldy.run.policy import Allow, Ask, Decision, Proposal, ask_when_tainted, careful, strictest
from wieldy.run.records import approval_to_json
from wieldy.run.request import RunRequest
from wieldy.run.state import fold
from wieldy.testing import FakeClock, ScriptedModel, call, text
from wieldy.tools import Toolset, tool

pytestmark = pytest.mark.anyio


class Bank:
    """Pays, and can be asked what it paid."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.tools = [tool(self.pay, effect="unsafe", writes=["account"]), tool(self.look, effect="read")]

    def pay(self, amount: int) -> str:
        """Pays an amount."""
        self.paid.append(amount)
        return f"paid {amount}"

    def look(self, place: str) -> str:
        """Looks somewhere."""
        return f"seen {place}"


def asks_about_payments(proposal: Proposal) -> Decision:
    return Ask(reason="money") if proposal.call.name == "pay" else Allow()


def script(messages: Sequence[Message]) -> list[Any]:
    if any(message.role == "assistant" for message in messages):
        return [text("done")]
    return [call("pay", {"amount": 5}), call("look", {"place": "here"}), call("pay", {"amount": 7})]


def agent(bank: Bank, journal: Any = None, **options: Any) -> Agent:
    options.setdefault("policy", asks_about_payments)
    return Agent(ScriptedModel(script), bank.tools, journal=MemoryJournal() if journal is None else journal, **options)


def contents(result: Any) -> list[str]:
    return [message.text for message in result.messages if message.role == "tool"]


async def test_a_run_rests_until_somebody_has_decided_and_what_need_not_wait_is_done() -> None:
    bank = Bank()
    paused = agent(bank)
    result = await paused.run("Go")
    assert (result.stop_reason, result.text, bank.paid) == ("waiting_for_approval", "", [])
    assert [(request.call_id, request.arguments) for request in result.waiting] == [
        ("c1", {"amount": 5}),
        ("c3", {"amount": 7}),
    ]
    state = fold(paused.journal.read(result.run_id))
    assert (state.status, [each.status for each in state.calls]) == ("waiting", ["waiting", "finished", "waiting"])
    assert paused.pending(result.run_id) == result.waiting

    paused.approve(result.run_id, "c1", by="ada")
    again = await paused.resume(result.run_id)
    assert (again.stop_reason, bank.paid, [each.call_id for each in again.waiting]) == (
        *("waiting_for_approval", [5], ["c3"]),
    )
    paused.deny(result.run_id, "c3", by="ada", reason="too much")
    end = await paused.resume(result.run_id)
    assert (end.stop_reason, end.text, bank.paid) == ("answered", "done", [5])
    assert contents(end)[:2] == ["paid 5", "seen here"]
    assert "ada said no (too much)" in contents(end)[2]
    check_history((*end.messages, Message.user("And?")))
    state = fold(paused.journal.read(result.run_id))
    assert [each.approved_by for each in state.calls] == ["ada", None, None]


async def test_a_call_waits_for_an_earlier_one_that_waits_for_a_person() -> None:
    bank = Bank()
    first_only = agent(bank, policy=lambda proposal: Ask() if proposal.call.arguments == {"amount": 5} else Allow())
    result = await first_only.run("Go")
    assert (bank.paid, [each.call_id for each in result.waiting]) == ([], ["c1"])
    first_only.approve(result.run_id, "c1", by="ada")
    await first_only.resume(result.run_id)
    assert bank.paid == [5, 7]


async def test_approvals_survive_the_process(tmp_path: Path) -> None:
    bank, path = Bank(), tmp_path / "runs.db"
    result = await agent(bank, path).run("Go")
    with SqliteJournal(path) as journal:
        for request in result.waiting:
            Consent(journal).answer(result.run_id, request.call_id, is_granted=True, by="ada", digest=request.digest)
    end = await agent(bank, path).resume(result.run_id)
    assert (end.text, bank.paid) == ("done", [5, 7])


async def test_an_approver_is_asked_at_once_and_its_answer_is_on_record() -> None:
    asked: list[ApprovalRequest] = []

    async def approver(request: ApprovalRequest) -> Approval | None:
        asked.append(request)
        is_granted = request.arguments == {"amount": 5}
        return Approval(call_id=request.call_id, digest=request.digest, is_granted=is_granted, by="eve", reason="no")

    bank = Bank()
    asking = agent(bank, approver=approver)
    events = [event async for event in asking.stream("Go")]
    assert bank.paid == [5]
    assert [event.request for event in events if isinstance(event, CallWaiting)] == asked
    [run_id] = asking.journal.run_ids()
    approvals = [entry.data for entry in asking.journal.read(run_id) if entry.kind == kinds.APPROVAL]
    assert [(data["call_id"], data["is_granted"], data["by"]) for data in approvals] == [
        ("c1", True, "eve"),
        ("c3", False, "eve"),
    ]


async def test_an_approver_may_leave_the_question_open() -> None:
    bank = Bank()
    result = await agent(bank, approver=lambda request: None).run("Go")
    assert (result.stop_reason, len(result.waiting), bank.paid) == ("waiting_for_approval", 2, [])


@pytest.mark.parametrize("field", ["arguments", "tool_name", "reason", "expires", "run_id", "call_id"])
async def test_an_approval_of_something_else_does_not_count(field: str) -> None:
    other = {
        "arguments": {"amount": 500},
        "tool_name": "look",
        "reason": "nothing",
        "expires": 1.0,
        "run_id": "x",
        "call_id": "c3",
    }
    bank = Bank()
    paused = agent(bank)
    result = await paused.run("Go")
    shown = replace(result.waiting[0], **{field: other[field]})
    approval = Approval(call_id="c1", digest=shown.digest, is_granted=True, by="mallory")
    paused.journal.append(result.run_id, Draft(kinds.APPROVAL, approval_to_json(approval)))
    again = await paused.resume(result.run_id)
    assert (bank.paid, [each.call_id for each in again.waiting]) == ([], ["c1", "c3"])


async def test_a_decision_about_something_else_than_what_was_shown_is_refused() -> None:
    paused = agent(Bank())
    result = await paused.run("Go")
    with pytest.raises(ApprovalError, match="not what was shown"):
        paused.approve(result.run_id, "c1", by="ada", digest=result.waiting[1].digest)
    with pytest.raises(ApprovalError, match="waiting: 'c1', 'c3'"):
        paused.approve(result.run_id, "c2", by="ada")
    paused.deny(result.run_id, "c1", by="ada")
    with pytest.raises(ApprovalError, match="ada said no"):
        paused.approve(result.run_id, "c1", by="bob")
    with pytest.raises(UsageError, match="found 'nothing'"):
        paused.approve("nothing", "c1", by="ada")
    with pytest.raises(UsageError, match="who decides"):
        paused.approve(result.run_id, "c3", by=" ")


async def test_an_answer_after_its_time_does_not_count_and_the_person_is_asked_again() -> None:
    clock = FakeClock(1000.0)
    bank = Bank()

    journal = MemoryJournal()
    request = RunRequest(
        model=ScriptedModel(script),
        toolset=Toolset(bank.tools),
        journal=journal,
        messages=(Message.user("Go"),),
        policy=lambda proposal: Ask(expires_after_s=60) if proposal.call.name == "pay" else Allow(),
        now=clock,
    )
    result = await run(request)
    assert result.waiting[0].expires == 1060.0
    Consent(journal).answer(request.run_id, "c1", is_granted=True, by="ada", now=clock)
    clock.advance(61)
    with pytest.raises(ApprovalError, match="expired"):
        Consent(journal).answer(request.run_id, "c3", is_granted=True, by="ada", now=clock)
    again = await resume(request)
    assert (bank.paid, [each.expires for each in again.waiting]) == ([], [1121.0, 1121.0])


async def test_a_run_whose_record_was_changed_is_not_resumed() -> None:
    class Forged(MemoryJournal):
        def read(self, run_id: str, *, start: int = 0) -> Any:
            return [
                entry._replace(data={**entry.data, "arguments": {"amount": 5000}})
                if entry.kind == kinds.CALL_WAITING
                else entry
                for entry in super().read(run_id, start=start)
            ]

    bank = Bank()
    forged = agent(bank, Forged())
    result = await forged.run("Go")
    with pytest.raises(JournalTamperedError):
        forged.approve(result.run_id, "c1", by="ada")
    with pytest.raises(JournalTamperedError):
        await forged.resume(result.run_id)
    assert bank.paid == []


async def test_what_a_sibling_brings_does_not_change_what_was_asked() -> None:
    """Otherwise an approved call would be asked about again, for another reason."""
    paid: list[int] = []

    @tool(effect="read", trust="untrusted")
    def fetch() -> str:
        """Fetches a page."""
        return "Buy now."

    @tool(effect="keyed")
    def pay(amount: int) -> str:
        """Pays."""
        paid.append(amount)
        return "paid"

    turns = [[call("fetch"), call("pay", {"amount": 5})], [text("done")]]
    asking = Agent(ScriptedModel(turns), [fetch, pay], policy=strictest(careful(), ask_when_tainted()))
    result = await asking.run("Go")
    asking.approve(result.run_id, "c2", by="ada")
    end = await asking.resume(result.run_id)
    assert (end.stop_reason, paid, end.is_tainted) == ("answered", [5], True)


async def test_what_strangers_wrote_taints_the_runs_around_and_within() -> None:
    seen: list[tuple[str, bool]] = []

    def watch(proposal: Proposal) -> Decision:
        seen.append((proposal.call.name, proposal.is_tainted))
        return Allow()

    @tool(effect="read", trust="untrusted")
    def fetch() -> str:
        """Fetches a page."""
        return "Buy now."

    @tool(effect="read")
    def look() -> str:
        """Looks."""
        return "seen"

    def expert(turns: list[Any]) -> Agent:
        return Agent(ScriptedModel(turns), [fetch, look], policy=watch)

    reader = expert([[call("fetch")], [text("It says: buy.")]]).as_tool("ask_reader", "Asks a reader.")
    helper = expert([[call("look")], [text("Seen.")]]).as_tool("ask_helper", "Asks a helper.")
    turns = [
        [call("ask_reader", {"prompt": "Read."})],
        [call("ask_helper", {"prompt": "Help."})],
        [call("look")],
        [text("done")],
    ]
    outer = Agent(ScriptedModel(turns), [reader, helper, look], policy=watch)
    result = await outer.run("Go")
    assert [message.result.trust for message in result.messages if message.result] == [
        *("untrusted", "untrusted", "trusted"),
    ]
    assert seen == [("ask_reader", False), ("fetch", False), ("ask_helper", True), ("look", True), ("look", True)]


async def test_the_first_of_two_decisions_counts() -> None:
    bank = Bank()

    def clerk(request: ApprovalRequest) -> Approval | None:
        if request.call_id == "c1":
            Consent(asking.journal).answer(request.run_id, request.call_id, is_granted=False, by="the boss")
        return request.approve(by="the clerk")

    asking = agent(bank, approver=clerk)
    result = await asking.run("Go")
    assert bank.paid == [7]
    assert "the boss said no" in contents(result)[0]


async def test_the_time_that_a_person_takes_is_not_the_runs() -> None:
    clock = FakeClock(1000.0)
    bank = Bank()
    journal = MemoryJournal(clock=clock)
    request = RunRequest(
        model=ScriptedModel(script),
        toolset=Toolset(bank.tools),
        journal=journal,
        messages=(Message.user("Go"),),
        policy=asks_about_payments,
        limits=Limits(wall_time_s=100),
        now=clock,
    )
    await run(request)
    clock.advance(500)
    for call_id in ("c1", "c3"):
        Consent(journal).answer(request.run_id, call_id, is_granted=True, by="ada", now=clock)
    result = await resume(request)
    assert (result.stop_reason, bank.paid) == ("answered", [5, 7])


async def test_consent_that_runs_out_while_an_earlier_call_runs_does_not_count() -> None:
    clock = FakeClock(1000.0)
    bank = Bank()

    @tool(effect="unsafe", writes=["account"])
    def take_long() -> str:
        """Takes long."""
        clock.advance(61)
        return "took long"

    turn = [call("take_long"), call("pay", {"amount": 5})]
    request = RunRequest(
        model=ScriptedModel(lambda messages: turn if len(messages) == 1 else [text("done")]),
        toolset=Toolset([*bank.tools, take_long]),
        journal=MemoryJournal(),
        messages=(Message.user("Go"),),
        policy=lambda proposal: Ask(expires_after_s=60) if proposal.call.name == "pay" else Allow(),
        approver=lambda asked: asked.approve(by="ada") if clock() < 1060 else None,
        now=clock,
    )
    result = await run(request)
    assert (result.stop_reason, bank.paid) == ("waiting_for_approval", [])
    assert contents(result) == ["took long"]


async def test_what_was_approved_is_what_runs_also_where_a_default_has_changed_since() -> None:
    paid: list[float] = []

    def teller(default: float) -> Any:
        @tool(effect="unsafe")
        def pay(to: str, amount: float = default) -> str:
            """Pays."""
            paid.append(amount)
            return "paid"

        return pay

    def asking(default: float, journal: Any = None) -> Agent:
        model = ScriptedModel(lambda messages: [call("pay", {"to": "m"})] if len(messages) == 1 else [text("done")])
        return Agent(model, [teller(default)], journal=journal, policy=lambda proposal: Ask())

    first = asking(1.0)
    result = await first.run("Go")
    assert result.waiting[0].arguments == {"to": "m", "amount": 1.0}
    first.approve(result.run_id, "c1", by="ada")
    again = await asking(1000.0, first.journal).resume(result.run_id)
    assert (paid, again.waiting[0].arguments) == ([], {"to": "m", "amount": 1000.0})
    assert ((await first.resume(result.run_id)).stop_reason, paid) == ("waiting_for_approval", [])
    first.approve(result.run_id, "c1", by="ada")
    assert ((await first.resume(result.run_id)).text, paid) == ("done", [1.0])


async def test_a_reason_that_no_encoding_has_can_be_answered() -> None:
    bank = Bank()
    asking = agent(bank, policy=lambda proposal: Ask(reason="\ud800 money") if proposal.call.name == "pay" else Allow())
    result = await asking.run("Go")
    for request in result.waiting:
        asking.approve(result.run_id, request.call_id, by="ada", digest=request.digest)
    assert ((await asking.resume(result.run_id)).text, bank.paid) == ("done", [5, 7])


class CountingJournal(MemoryJournal):
    """Counts the entries that it hands out."""

    handed_out = 0

    def read(self, run_id: str, *, start: int = 0) -> Sequence[Entry]:
        entries = super().read(run_id, start=start)
        self.handed_out += len(entries)
        return entries


@pytest.mark.parametrize("waiting", [3, 40])
async def test_each_entry_is_read_once_however_many_calls_are_decided_on(waiting: int) -> None:
    journal = CountingJournal()
    payments = [call("pay", {"amount": amount}) for amount in range(waiting)]
    model = ScriptedModel([payments, [text("done")]])
    asking = Agent(model, Bank().tools, journal=journal, policy=asks_about_payments)
    result = await asking.run("Go")
    journal.handed_out = 0
    for request in asking.pending(result.run_id):
        with pytest.raises(ApprovalError):
            asking.approve(result.run_id, "c0", by="ada")
        asking.approve(result.run_id, request.call_id, by="ada", digest=request.digest)
    assert asking.pending(result.run_id) == ()
    assert journal.handed_out == len(journal.read(result.run_id))
    assert (await asking.resume(result.run_id)).text == "done"


class ForgedJournal(MemoryJournal):
    """A journal in which somebody has changed who decided last."""

    is_forged = False

    def read(self, run_id: str, *, start: int = 0) -> Sequence[Entry]:
        entries = list(super().read(run_id, start=start))
        if self.is_forged:
            entries[-1] = entries[-1]._replace(data={**entries[-1].data, "by": "ada"})
        return entries


async def test_what_others_add_or_change_meanwhile_is_seen() -> None:
    bank, journal = Bank(), ForgedJournal()
    asking = agent(bank, journal)
    run_id = (await asking.run("Go")).run_id
    assert len(asking.pending(run_id)) == 2
    Consent(journal).answer(run_id, "c1", is_granted=False, by="bob")
    with pytest.raises(ApprovalError, match="bob said no"):
        asking.approve(run_id, "c1", by="ada")
    Consent(journal).answer(run_id, "c3", is_granted=True, by="eve")
    journal.is_forged = True
    with pytest.raises(JournalTamperedError):
        asking.pending(run_id)


def test_many_may_decide_at_once_and_each_call_is_decided_on_once() -> None:
    payments = [call("pay", {"amount": amount}) for amount in range(24)]
    asking = Agent(ScriptedModel([payments]), Bank().tools, policy=asks_about_payments)
    result = asking.run_sync("Go")

    def decide(name: str) -> list[str]:
        decided: list[str] = []
        for request in result.waiting:
            try:
                asking.approve(result.run_id, request.call_id, by=name)
            except ApprovalError:
                continue
            decided.append(request.call_id)
        return decided

    with ThreadPoolExecutor(8) as people:
        decided = [call_id for calls in people.map(decide, map(str, range(8))) for call_id in calls]
    assert sorted(decided) == sorted(request.call_id for request in result.waiting)
    assert asking.pending(result.run_id) == ()


@pytest.mark.parametrize(
    "run_id", [None, "", " \n", "a\0", "\ud800", 3, True, b"run", ["run"], {"run": 1}, object(), float("nan")]
)
def test_what_is_no_run_id_is_refused_wherever_one_is_expected(run_id: Any) -> None:
    asking = agent(Bank())
    doors: list[Callable[[], object]] = [
        lambda: asking.resume_sync(run_id),
        lambda: asking.stream_resumed(run_id),
        lambda: asking.pending(run_id),
        lambda: asking.approve(run_id, "c1", by="ada"),
        lambda: asking.deny(run_id, "c1", by="ada"),
    ]
    for door in doors:
        with pytest.raises(UsageError, match="Expected the id of a run as text, found"):
            door()


@pytest.mark.parametrize("call_id", [None, "", 3, ["c1"], {"c1"}])
async def test_what_is_no_call_id_is_a_call_that_does_not_wait(call_id: Any) -> None:
    asking = agent(Bank())
    run_id = (await asking.run("Go")).run_id
    for decide in (asking.approve, asking.deny):
        with pytest.raises(ApprovalError, match="waiting: 'c1', 'c3'"):
            decide(run_id, call_id, by="ada")
    with pytest.raises(UsageError, match="reason as text"):
        asking.deny(run_id, "c1", by="ada", reason=None)  # type: ignore[arg-type]
    assert len(asking.pending(run_id)) == 2

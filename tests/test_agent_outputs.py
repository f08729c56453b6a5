"""Agents whose answers must be something: typed, corrected where nothing held the model, and never more than that."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from wieldy import (
    Agent,
    BudgetError,
    Incomplete,
    JsonOutput,
    LimitReached,
    Limits,
    MemoryJournal,
    Message,
    Model,
    ModelReply,
    ModelRequest,
    OutputDelta,
    OutputRefused,
    RunFinished,
    RunResult,
    ToolCall,
    UsageError,
    tool,
)
from wieldy.core.history import check_history
from wieldy.core.ports import Draft, ModelEvent
from wieldy.run.journal import kinds
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text

pytestmark = pytest.mark.anyio


class Invoice(BaseModel):
    number: str
    total: float


GOOD = '{"number": "R-7", "total": 12.5}'
INVOICE = Invoice(number="R-7", total=12.5)
BAD = ('{"number": "R-7"}', "The total is 12.5.", '{"number": "R-7", "total": "a lot"}')

paid: list[str] = []


@tool(effect="read")
def look_up(number: str) -> str:
    """Look up an invoice."""
    return f"{number} is over 12.50"


@tool(effect="unsafe")
def pay(number: str, note: str = "") -> str:
    """Pay an invoice."""
    paid.append(number + note)
    return "paid"


@pytest.fixture(autouse=True)
def nothing_paid() -> None:
    paid.clear()


def says(*turns: str | Sequence[Any]) -> ScriptedModel:
    return ScriptedModel([[text(turn)] if isinstance(turn, str) else turn for turn in turns])


class Altered:
    """A model whose replies are changed before they are given, as a model that a budget or a mask holds would."""

    def __init__(self, model: Model, change: Callable[[ModelRequest, ModelReply], ModelReply]) -> None:
        self._model = model
        self._change = change

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        async for event in self._model.stream(request):
            yield self._change(request, event) if isinstance(event, ModelReply) else event


class Least:
    """A model that writes no reply with fewer tokens than it says, and refuses at once what is less."""

    def __init__(self, model: Model, *minima: int) -> None:
        self._model = model
        self._minima = list(minima)
        self.budgets: list[int | None] = []

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        budget = request.max_output_tokens
        self.budgets.append(budget)
        minimum = self._minima.pop(0) if len(self._minima) > 1 else self._minima[0]
        if budget is not None and budget < minimum:
            raise BudgetError(f"At least {minimum} tokens are needed.", minimum=minimum, budget=budget)
        async for event in self._model.stream(request):
            yield event


# What the answer becomes


@pytest.mark.parametrize(
    ("spec", "answer", "output"),
    [
        (Invoice, GOOD, INVOICE),
        (list[Invoice], f"[{GOOD}]", [INVOICE]),
        ({"type": "object", "required": ["a"]}, '{"a": 1}', {"a": 1}),
        (["yes", "no"], "yes", "yes"),
        (Literal["yes", "no"], "no", "no"),
        (re.compile(r"\d+"), "17", "17"),
    ],
)
async def test_the_answer_is_the_value_that_was_wanted(spec: Any, answer: str, output: object) -> None:
    with says([call("look_up", {"number": "R-7"})], answer) as model:
        result = await Agent(model, tools=[look_up], output=spec).run("What does R-7 say?")

    assert (result.output, result.text, result.stop_reason) == (output, answer, "answered")
    assert (result.closed_by_budget, result.forced) == (False, ())
    assert model.requests[0].output is not None
    assert model.requests[1].output == model.requests[0].output


async def test_without_an_output_any_text_is_an_answer_and_none_is_typed() -> None:
    with says(GOOD) as model:
        result = await Agent(model).run("?")

    assert (result.output, result.text) == (None, GOOD)
    assert model.requests[0].output is None


async def test_a_run_that_waits_for_a_person_has_no_output_yet() -> None:
    from wieldy import Ask

    with says([call("pay", {"number": "R-7"})], GOOD) as model:
        agent = Agent(model, tools=[pay], output=Invoice, policy=lambda proposal: Ask(reason="money"))
        result = await agent.run("Pay R-7")
        assert (result.stop_reason, result.output) == ("waiting_for_approval", None)
        agent.approve(result.run_id, result.waiting[0].call_id, by="Ada")
        result = await agent.resume(result.run_id)

    assert (result.output, paid) == (INVOICE, ["R-7"])


@pytest.mark.parametrize("spec", ["yes", [], 7, {"type": "nonsense"}, re.compile("a", re.IGNORECASE)])
def test_what_cannot_be_wanted_is_said_when_the_agent_is_made(spec: Any) -> None:
    with pytest.raises(UsageError):
        Agent(says(), output=spec)


# Answers that were cut off


def cut_off(request: ModelRequest, reply: ModelReply) -> ModelReply:
    del request
    return replace(reply, finish="length")


@pytest.mark.parametrize(
    ("spec", "answer", "partial"),
    [
        (int, "12", None),
        (list[int], "[1, 12", [1]),
        (Invoice, '{"number": "R-7", "total": 12', {"number": "R-7"}),
        (["12", "1250"], "12", None),
        (Literal["yes", "no"], "yes", None),
        (re.compile(r"\d+"), "17", None),
        (bool, "true", None),
    ],
)
async def test_the_beginning_of_an_answer_is_no_answer(spec: Any, answer: str, partial: object) -> None:
    agent = Agent(Altered(says(answer), cut_off), output=spec)
    events = [event async for event in agent.stream("?")]
    result = events[-1].result

    assert isinstance(result.output, Incomplete)
    assert (result.output.text, result.output.partial, result.stop_reason) == (answer, partial, "output_token_limit")
    assert "cut off by the limit" in result.output.error
    assert ([event.value for event in events if isinstance(event, OutputDelta)] or [None])[-1] == partial
    assert fold(agent.journal.read(result.run_id)).is_cut


async def test_an_answer_that_nothing_could_follow_was_not_cut_off() -> None:
    for answer in (GOOD, f"```json\n{GOOD}"):
        result = await Agent(Altered(says(answer), cut_off), output=Invoice).run("?")

        assert (result.output, result.stop_reason) == (INVOICE, "output_token_limit")


# Corrections


async def test_an_answer_that_does_not_fit_is_told_so_and_asked_for_again() -> None:
    with says(BAD[0], BAD[1], GOOD) as model:
        agent = Agent(model, output=Invoice)
        events = [event async for event in agent.stream("?")]

    finished = events[-1]
    assert isinstance(finished, RunFinished)
    result = finished.result
    assert (result.output, result.stop_reason, result.usage.requests) == (INVOICE, "answered", 3)
    check_history(result.messages[:-1])
    assert [message.role for message in result.messages] == ["user", "assistant"] * 3
    told = [request.messages[-1].text for request in model.requests[1:]]
    assert "`total` is missing" in told[0]
    assert "is not JSON" in told[1]
    refused = [event.error for event in events if isinstance(event, OutputRefused)]
    assert [error in words for error, words in zip(refused, told, strict=True)] == [True, True]
    written = [entry.kind for entry in agent.journal.read(result.run_id)]
    assert written.count(kinds.CORRECTION) == 2
    state = fold(agent.journal.read(result.run_id))
    assert (state.corrections, state.turns, state.messages) == (2, 3, result.messages)
    assert state.output == {"type": "json", "name": "Invoice", "schema": model.requests[0].output.schema}  # type: ignore[union-attr]


@pytest.mark.parametrize("corrections", [0, 1, 2, 5])
async def test_a_model_that_never_fits_is_asked_no_more_often_than_is_said(corrections: int) -> None:
    model = ScriptedModel(lambda messages: [text(BAD[len(messages) % 3])])
    result = await Agent(model, output=Invoice, limits=Limits(corrections=corrections)).run("?")

    assert (result.stop_reason, result.usage.requests) == ("incomplete_output", corrections + 1)
    assert isinstance(result.output, Incomplete)
    assert result.output.text == result.text == result.messages[-1].text
    assert result.output.error


@given(
    answers=st.lists(st.sampled_from([GOOD, *BAD]), min_size=1, max_size=6),
    corrections=st.integers(0, 4),
    turns=st.integers(0, 6),
)
async def test_the_first_answer_that_fits_within_the_limits_is_the_output(
    answers: list[str], corrections: int, turns: int
) -> None:
    said = iter([*answers, *[BAD[0]] * 9])
    model = ScriptedModel(lambda messages: [text(next(said))])
    agent = Agent(model, output=Invoice, limits=Limits(corrections=corrections, turns=turns))

    result = await agent.run("?")

    first = answers.index(GOOD) if GOOD in answers else 99
    asked = min(first, corrections, turns) + 1
    assert result.usage.requests == asked
    assert result.output == INVOICE if first < asked else isinstance(result.output, Incomplete)
    reason = "turn_limit" if asked > turns else "answered" if first < asked else "incomplete_output"
    assert result.stop_reason == reason
    assert fold(agent.journal.read(result.run_id)).messages == result.messages


async def test_corrections_that_are_no_number_are_refused() -> None:
    with pytest.raises(UsageError, match="corrections"):
        Agent(says(), output=Invoice, limits=Limits(corrections=-1))


async def test_an_answer_that_a_limit_cut_is_not_corrected() -> None:
    with says(GOOD + " " * 400 + "x") as model:
        result = await Agent(model, output=Invoice, limits=Limits(output_tokens=4)).run("?")

    assert result.stop_reason == "output_token_limit"
    assert isinstance(result.output, Incomplete)
    assert (result.output.text, result.output.partial) == ('{"number": "R-7"', {"number": "R-7"})


async def test_the_last_answer_beyond_a_limit_must_fit_too() -> None:
    with says([call("look_up", {"number": "R-7"})], GOOD) as model:
        agent = Agent(model, tools=[look_up], output=Invoice, limits=Limits(turns=1))
        events = [event async for event in agent.stream("?")]

    assert any(isinstance(event, LimitReached) for event in events)
    assert events[-1].result.output == INVOICE  # type: ignore[union-attr]
    assert (model.requests[1].tool_choice.mode, model.requests[1].output) == ("none", model.requests[0].output)


async def test_an_answer_that_something_hard_held_is_recorded_as_such() -> None:
    model = Altered(says(GOOD), lambda request, reply: replace(reply, held=True))
    agent = Agent(model, output=Invoice)
    result = await agent.run("?")

    (entry,) = [entry for entry in agent.journal.read(result.run_id) if entry.kind == kinds.REPLY]
    assert entry.data["held"] is True
    assert "forced" not in entry.data


# A run that goes on


def _agent(journal: MemoryJournal, **settings: Any) -> Agent:
    """Calls a tool, answers wrongly, then rightly: as its history says."""

    def turn(messages: Sequence[Message]) -> list[Any]:
        if not any(message.role == "tool" for message in messages):
            return [call("look_up", {"number": "R-7"})]
        corrections = sum(message.role == "user" for message in messages) - 1
        return [text([*BAD, GOOD][corrections])]

    limits = Limits(corrections=3)
    return Agent(ScriptedModel(turn), tools=[look_up], output=Invoice, journal=journal, limits=limits, **settings)


async def test_a_run_that_stopped_anywhere_goes_on_to_the_same_output() -> None:
    whole = MemoryJournal()
    result = await _agent(whole).run("What does R-7 say?")
    assert result.output == INVOICE
    entries = whole.read(result.run_id)

    for length in range(1, len(entries) + 1):
        journal = MemoryJournal()
        journal.append("r", *[Draft(entry.kind, entry.data) for entry in entries[:length]])
        resumed = await _agent(journal).resume("r")
        assert (resumed.output, resumed.messages, resumed.stop_reason) == (
            result.output,
            result.messages,
            result.stop_reason,
        ), f"after {length} entries"


async def test_a_finished_run_is_read_again_as_what_the_agent_wants_now() -> None:
    journal = MemoryJournal()
    result = await _agent(journal).run("?")

    again = await Agent(says(), output={"type": "object"}, journal=journal).resume(result.run_id)
    as_text = await Agent(says(), journal=journal).resume(result.run_id)

    assert (again.output, as_text.output) == ({"number": "R-7", "total": 12.5}, None)


async def test_a_record_of_an_older_version_is_read_as_before() -> None:
    journal = MemoryJournal()
    result = await Agent(says(GOOD), journal=journal).run("?")

    for entry in journal.read(result.run_id):
        assert not {"output", "held", "forced", "answer"} & entry.data.keys()
        assert "corrections" not in entry.data.get("limits", {})  # type: ignore[operator]
    state = fold(journal.read(result.run_id))
    assert (state.output, state.forced, state.is_closed_by_budget, state.corrections) == (None, (), False, 0)


# Ending by a call


@pytest.mark.parametrize(
    ("spec", "wrong", "right", "output"),
    [
        (Invoice, {"number": "R-7"}, {"number": "R-7", "total": 12.5}, INVOICE),
        (["yes", "no"], "maybe", "yes", "yes"),
        (re.compile(r"R-\d"), "R-77", "R-7", "R-7"),
        (re.compile(r"(?P<a>x)(?P=a)\Z"), "xy", "xx", "xx"),
        (str, 7, "seven", "seven"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer"}}}, "1", 1, 1),
        ({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]}, 1, [[None]], [[None]]),
        (None, 7, "it is done", None),
    ],
)
async def test_a_run_may_be_ended_by_a_call_whose_argument_is_the_output(
    spec: Any, wrong: Any, right: Any, output: object
) -> None:
    with says([call("finish", {"answer": wrong})], [call("finish", {"answer": right})]) as model:
        agent = Agent(model, output=spec, finish=True)
        result = await agent.run("?")

    assert (result.output, result.stop_reason) == (output, "finished")
    told = model.requests[1].messages[-1].result
    assert told is not None
    assert told.is_error
    again = await Agent(says(), output=spec, finish=True, journal=agent.journal).resume(result.run_id)
    assert (again.output, again.text) == (output, result.text)


# Runs within runs


def asking(expert: Agent) -> tuple[Agent, ScriptedModel]:
    model = says([call("ask", {"prompt": "R-7?"})], "done")
    return Agent(model, tools=[expert.as_tool("ask", "Asks an expert.")]), model


async def test_what_an_agent_gives_as_a_tool_is_its_output() -> None:
    agent, _ = asking(Agent(says("```json\n" + GOOD + "\n```"), output=Invoice))
    result = await agent.run("?")

    told = result.messages[-2].result
    assert told is not None
    assert (told.structured_content, told.is_error) == ({"number": "R-7", "total": 12.5}, False)
    assert Invoice.model_validate_json(told.content) == INVOICE


async def test_an_agent_that_gives_no_output_is_a_tool_that_failed() -> None:
    agent, _ = asking(Agent(says(*BAD), output=Invoice))
    result = await agent.run("?")

    told = result.messages[-2].result
    assert told is not None
    assert told.is_error
    assert "incomplete_output" in told.content


async def test_a_budget_that_is_too_small_for_a_run_within_is_told_to_the_model() -> None:
    expert = Agent(Least(says(), 50), output=Invoice, limits=Limits(output_tokens=20))
    result = await asking(expert)[0].run("?")

    told = result.messages[-2].result
    assert told is not None
    assert (told.is_error, told.layer) == (True, "harness")
    assert "At least 50 tokens" in told.content


# Budgets


async def test_too_small_a_budget_is_said_before_anything_is_generated() -> None:
    model = says()
    agent = Agent(Least(model, 50), output=Invoice, limits=Limits(output_tokens=49))

    with pytest.raises(BudgetError) as caught:
        await agent.run("?")

    assert (caught.value.minimum, caught.value.budget) == (50, 49)
    assert model.requests == []


async def test_a_budget_of_exactly_the_minimum_is_enough() -> None:
    with says(GOOD) as model:
        least = Least(model, 50)
        result = await Agent(least, output=Invoice, limits=Limits(output_tokens=50)).run("?")

    assert (result.output, least.budgets) == (INVOICE, [50])


async def test_what_only_the_reserve_for_the_last_answer_can_hold_is_the_last_answer() -> None:
    with says(GOOD) as model:
        least = Least(model, 50)
        result = await Agent(least, tools=[look_up], output=Invoice, limits=Limits(output_tokens=50)).run("?")

    assert (result.output, result.stop_reason) == (INVOICE, "output_token_limit")
    assert least.budgets == [44, 50]
    assert model.requests[0].tool_choice.mode == "none"


async def test_a_budget_that_becomes_too_small_in_the_course_of_a_run_is_a_limit() -> None:
    with says([call("look_up", {"number": "R-7"})]) as model:
        least = Least(model, 1, 2000)
        agent = Agent(least, tools=[look_up], output=Invoice, limits=Limits(output_tokens=1000))
        result = await agent.run("?")
        resumed = await agent.resume(result.run_id)

    assert result.stop_reason == "output_token_limit"
    assert isinstance(result.output, Incomplete)
    assert result.output.text == ""
    assert resumed == result


async def test_a_budget_that_is_too_small_for_a_correction_is_a_limit() -> None:
    with says(BAD[0]) as model:
        result = await Agent(Least(model, 1, 2000), output=Invoice, limits=Limits(output_tokens=1000)).run("?")

    assert result.stop_reason == "output_token_limit"
    assert isinstance(result.output, Incomplete)


async def test_a_value_that_the_budget_closed_says_so() -> None:
    model = Altered(
        says(GOOD), lambda request, reply: replace(reply, finish="closed_by_budget", forced=("/total",), held=True)
    )
    agent = Agent(model, output=Invoice)
    result = await agent.run("?")
    resumed = await agent.resume(result.run_id)

    for each in (result, resumed):
        assert (each.output, each.stop_reason) == (INVOICE, "answered")
        assert (each.closed_by_budget, each.forced) == (True, ("/total",))


# Calls that the budget forced


def forced(*pointers: str) -> Callable[[ModelRequest, ModelReply], ModelReply]:
    """The first reply's calls were decided by the budget."""

    def change(request: ModelRequest, reply: ModelReply) -> ModelReply:
        if len(request.messages) > 1:
            return reply
        parts = tuple(
            replace(part, forced=pointers) if isinstance(part, ToolCall) else part for part in reply.message.parts
        )
        return replace(reply, message=replace(reply.message, parts=parts))

    return change


@pytest.mark.parametrize("name", ["pay", "look_up"])
async def test_a_call_that_the_budget_decided_is_not_run_and_the_model_is_told_what_to_do(name: str) -> None:
    with says([call(name, {"number": "R-7"})], [call(name, {"number": "R-8"})], "done") as model:
        agent = Agent(Altered(model, forced("/number")), tools=[pay, look_up])
        result = await agent.run("Pay R-7")

    refused, second = [message.result for message in result.messages if message.result]
    assert refused is not None
    assert second is not None
    assert (refused.is_error, refused.layer) == (True, "harness")
    assert "`/number`" in refused.content
    assert "Call it again with less text" in refused.content
    assert not second.is_error
    assert paid == (["R-8"] if name == "pay" else [])
    state = fold(agent.journal.read(result.run_id))
    assert isinstance(state.calls[0].call, ToolCall)
    assert (state.calls[0].attempts, state.calls[0].call.forced) == (0, ("/number",))


async def test_a_program_may_let_such_calls_run() -> None:
    with says([call("pay", {"number": "R-7", "note": "!"})], "done") as model:
        await Agent(Altered(model, forced("/note")), tools=[pay], forced_calls="run").run("Pay R-7")

    assert paid == ["R-7!"]


async def test_what_was_let_run_before_a_crash_is_not_called_undone_afterwards() -> None:
    journal = MemoryJournal()
    model = Altered(says([call("pay", {"number": "R-7"})], "done"), forced("/number"))
    result = await Agent(model, tools=[pay], forced_calls="run", journal=journal).run("Pay R-7")
    entries = journal.read(result.run_id)
    started = next(index for index, entry in enumerate(entries) if entry.kind == kinds.CALL_STARTED)
    cut = MemoryJournal()
    cut.append("r", *[Draft(entry.kind, entry.data) for entry in entries[: started + 1]])

    resumed = await Agent(says("done"), tools=[pay], journal=cut).resume("r")

    told = resumed.messages[-2].result
    assert told is not None
    assert "outcome unknown" in told.content
    assert paid == ["R-7"]


def test_what_becomes_of_forced_calls_is_one_of_two() -> None:
    with pytest.raises(UsageError, match="forced_calls"):
        Agent(says(), forced_calls="maybe")  # type: ignore[arg-type]


async def test_a_call_that_a_limit_cut_in_two_is_never_run() -> None:
    with says([call("pay", {"number": "R-7", "note": "x" * 900})], "done") as model:
        result = await Agent(
            model, tools=[pay], output=re.compile("done"), limits=Limits(output_tokens=100), forced_calls="run"
        ).run("Pay R-7")

    assert paid == []
    assert result.stop_reason == "output_token_limit"


# Watching


def _partials(events: Sequence[Any]) -> list[list[Any]]:
    """The partial outputs of each turn."""
    turns: list[list[Any]] = []
    for event in events:
        if type(event).__name__ == "TurnStarted":
            turns.append([])
        if isinstance(event, OutputDelta):
            turns[-1].append(event.value)
    return turns


async def test_whoever_watches_sees_the_output_grow_until_it_is_whole() -> None:
    with says([text("Let me see."), call("look_up", {"number": "R-7"})], BAD[0], f"```json\n{GOOD}\n```") as model:
        events = [event async for event in Agent(model, tools=[look_up], output=Invoice).stream("?")]

    first, second, third = _partials(events)
    assert first == []
    assert second[-1] == {"number": "R-7"}
    assert third[-1] == {"number": "R-7", "total": 12.5}
    assert Invoice.model_validate(third[-1]) == events[-1].result.output


async def test_of_a_choice_only_the_text_is_streamed() -> None:
    with says("yes") as model:
        events = [event async for event in Agent(model, output=["yes", "no"]).stream("?")]

    assert _partials(events) == [[]]


# Secrets


async def test_an_output_must_not_hold_a_secret() -> None:
    agent = Agent(says(), output=["yes", "hunter22"], secrets={"password": "hunter22"})

    with pytest.raises(UsageError, match="holds no secret"):
        await agent.run("?")


async def test_a_check_that_fails_ends_no_run_and_its_crash_is_for_the_operator_alone() -> None:
    class Total(BaseModel):
        total: int

        @field_validator("total")
        @classmethod
        def checked(cls, total: int) -> int:
            if total:
                raise KeyError("hunter22")
            return total

    with says('{"total": 1}', '{"total": 0}') as model:
        agent = Agent(model, output=Total, secrets={"password": "hunter22"})
        events = [event async for event in agent.stream("?")]

    result = events[-1].result
    assert (result.output, result.stop_reason) == (Total(total=0), "answered")
    assert "internal error" in model.requests[1].messages[-1].text
    (corrected,) = (entry for entry in agent.journal.read(result.run_id) if entry.kind == kinds.CORRECTION)
    assert "KeyError" in str(corrected.data["detail"])
    assert "KeyError" not in repr(model.requests)
    assert "hunter22" not in repr([events, corrected])

    with says(*['{"total": 1}'] * 3) as model:
        result = await Agent(model, output=Total, secrets={"password": "hunter22"}).run("?")

    assert isinstance(result.output, Incomplete)
    assert "KeyError" in (result.output.detail or "")
    assert "hunter22" not in repr(result)


async def test_a_check_that_fails_on_the_argument_of_finish_is_told_there() -> None:
    class Total(BaseModel):
        total: int

        @field_validator("total")
        @classmethod
        def checked(cls, total: int) -> int:
            return 1 // total

    with says([call("finish", {"answer": {"total": 0}})], [call("finish", {"answer": {"total": 1}})]) as model:
        agent = Agent(model, output=Total, finish=True)
        result = await agent.run("?")

    assert (result.output, result.stop_reason) == (Total(total=1), "finished")
    (refused,) = (
        call for call in fold(agent.journal.read(result.run_id)).calls if call.result and call.result.is_error
    )
    assert refused.result is not None
    assert "internal error" in refused.result.content
    assert "ZeroDivisionError" in (refused.detail or "")


async def test_no_secret_is_in_what_watchers_see_nor_in_what_a_model_is_told_of_its_answer() -> None:
    with says('{"a": "hunter22", "b": 1}', '{"a": "hunter22"}') as model:
        agent = Agent(model, output={"maxProperties": 1}, secrets={"password": "hunter22"})
        events = [event async for event in agent.stream("?")]

    assert "hunter22" not in repr(events)
    assert "hunter22" not in repr(agent.journal.read(events[-1].result.run_id))
    assert events[-1].result.output == {"a": "[secret password]"} == _partials(events)[-1][-1]


# Other ways to act


@pytest.mark.parametrize(
    ("actions", "turns"),
    [
        ("react", ('Thought: I look.\nAction: look_up\nAction Input: {"number": "R-7"}', f"Final Answer: {GOOD}")),
        ("json", ('{"tool_calls": [{"name": "look_up", "arguments": {"number": "R-7"}}]}', None)),
    ],
)
async def test_a_model_that_acts_in_text_is_told_what_its_answer_must_be(
    actions: Any, turns: tuple[str, str | None]
) -> None:
    from wieldy import formats

    answer = turns[1] or formats.get("json").render_reply(Message.assistant(GOOD))
    with says(turns[0], answer) as model:
        result = await Agent(model, tools=[look_up], actions=actions, output=Invoice).run("?")

    assert (result.output, result.stop_reason) == (INVOICE, "answered")
    for request in model.requests:
        assert "Your final answer must be JSON" in request.messages[-1].text
        assert request.output is None


async def test_without_tools_a_model_that_acts_in_text_is_held_to_the_output_itself() -> None:
    with says(GOOD) as model:
        result = await Agent(model, actions="react", output=Invoice).run("?")

    assert result.output == INVOICE
    assert isinstance(model.requests[0].output, JsonOutput)


def test_a_result_is_a_record_that_programs_can_compare() -> None:
    with says(GOOD) as model:
        result = Agent(model, output=Invoice).run_sync("?")
    assert isinstance(result, RunResult)
    assert replace(result, output=INVOICE) == result

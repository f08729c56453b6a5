"""The laws of a run: every call ends once, in order, on record, and whatever happens is told truthfully."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolResult
from wieldy.core.errors import JournalError, ProviderError, ToolError, UsageError
from wieldy.core.events import CallFinished, CallStarted, LimitReached, RunEvent, RunFinished, RunResult, RunStarted
from wieldy.core.history import check_history
from wieldy.core.json import JsonObject
from wieldy.core.limits import Limits, Usage
from wieldy.core.messages import Message, TextPart
from wieldy.core.ports import Draft, Entry, ModelReply, ModelRequest
from wieldy.run.journal import MemoryJournal
from wieldy.run.loop import run
from wieldy.run.policy import Allow, Decision, Deny, Proposal
from wieldy.run.request import RunRequest
from wieldy.run.state import fold
from wieldy.testing import FakeClock, ScriptedModel, call, text
from wieldy.tools import Toolset, tool

pytestmark = pytest.mark.anyio


@tool(effect="read")
def echo(word: str) -> str:
    """Says the word again."""
    return word


@tool(effect="unsafe")
def break_down(word: str = "") -> str:
    """Fails in a way that nobody foresaw."""
    raise ZeroDivisionError(f"a secret: {word}")


@tool(effect="read")
def refuse(word: str = "") -> str:
    """Fails and says why."""
    raise ToolError(f"There is no {word!r} here; ask for 'bread'.")


class Watched:
    """A run with everything that can be seen of it."""

    def __init__(self, model: Any, tools: Sequence[Any] = (), **options: Any) -> None:
        self.events: list[RunEvent] = []
        self.journal = options.pop("journal", MemoryJournal())
        messages = options.pop("messages", (Message.user("Go"),))
        self.request = RunRequest(
            model=ScriptedModel(model) if isinstance(model, list) or callable(model) else model,
            toolset=Toolset(tools),
            messages=messages,
            journal=self.journal,
            **options,
        )

    async def run(self) -> RunResult:
        return await run(self.request, self.events.append)

    @property
    def entries(self) -> list[Entry]:
        return list(self.journal.read(self.request.run_id))

    @property
    def results(self) -> list[ToolResult]:
        return [message.result for message in fold(self.entries).messages if message.result is not None]


async def finish(model: Any, tools: Sequence[Any] = (), **options: Any) -> tuple[RunResult, Watched]:
    watched = Watched(model, tools, **options)
    return await watched.run(), watched


# What every run obeys

items = st.one_of(
    st.builds(text, st.text(max_size=3)),
    st.builds(
        call,
        st.sampled_from(["echo", "break_down", "refuse", "no_such_tool", ""]),
        st.sampled_from([{"word": "a"}, {"word": "b"}, {"word": 1}, {"wrong": "a"}, {}, "{", "[]", ""]),
        id=st.sampled_from(["", "same", "c1", "c2", None]),
    ),
)
scripts = st.lists(st.lists(items, max_size=5), min_size=1, max_size=5)


@given(
    script=scripts, turns=st.integers(0, 4), calls=st.none() | st.integers(0, 6), tokens=st.none() | st.integers(1, 40)
)
@settings(deadline=None)
async def test_every_call_ends_exactly_once_in_order_with_a_history_that_strict_providers_take(
    script: list[list[Any]], turns: int, calls: int | None, tokens: int | None
) -> None:
    # Beyond its script the model goes on with text, so that a run always ends.
    turn = iter(script)
    model = ScriptedModel(lambda messages: next(turn, [text("done")]))
    limits = Limits(turns=turns, calls=calls, output_tokens=tokens)
    result, watched = await finish(model, [echo, break_down, refuse], limits=limits)

    asked = [asked for message in result.messages for asked in message.calls]
    answered = [message.result.tool_call_id for message in result.messages if message.result is not None]
    assert answered == [each.id for each in asked]
    assert len(set(answered)) == len(answered)
    check_history((*result.messages, Message.user("And then?")))

    finished = [event.call.id for event in watched.events if isinstance(event, CallFinished)]
    started = [event.call.id for event in watched.events if isinstance(event, CallStarted)]
    assert sorted(finished) == sorted(answered) == sorted(started)
    assert watched.events[0] == RunStarted(run_id=result.run_id, model="scripted")
    assert watched.events[-1] == RunFinished(result=result)

    state = fold(watched.entries)
    assert (state.messages, state.text, state.usage) == (result.messages, result.text, result.usage)
    assert (state.status, state.stop_reason) == ("finished", result.stop_reason)
    assert len(model.requests) <= turns + 1
    if calls is not None:
        assert sum(each.started is not None for each in state.calls) <= calls
    if tokens is not None:
        assert result.usage.output_tokens <= tokens
    for length in range(1, len(watched.entries)):
        fold(watched.entries[:length])


async def test_the_answer_of_a_model_without_calls_is_the_result() -> None:
    result, watched = await finish([[text("Hello.")]])
    assert (result.text, result.stop_reason, result.usage.requests) == ("Hello.", "answered", 1)
    assert [type(event).__name__ for event in watched.events][:2] == ["RunStarted", "TurnStarted"]
    assert "".join(event.text for event in watched.events if hasattr(event, "text")) == "Hello."


async def test_events_and_entries_of_a_call_stand_in_the_order_in_which_things_happened() -> None:
    _, watched = await finish([[call("echo", {"word": "a"})], [text("a")]], [echo])
    assert [entry.kind for entry in watched.entries] == [
        *("run_started", "turn_started", "reply", "call_started", "call_finished"),
        *("turn_started", "reply", "run_finished"),
    ]
    kinds = [type(event).__name__ for event in watched.events if not hasattr(event, "text")]
    assert kinds == [
        *("RunStarted", "TurnStarted", "CallStarted", "CallRunning", "CallFinished"),
        *("TurnStarted", "RunFinished"),
    ]


async def test_an_entry_holds_only_what_is_new() -> None:
    script = [*([call("echo", {"word": f"{turn:04}"})] for turn in range(60)), [text("done")]]
    _, watched = await finish(script, [echo], limits=Limits(turns=None))
    sizes = [len(str(entry.data)) for entry in watched.entries if entry.kind == "reply"][:-1]
    assert max(sizes) - min(sizes) <= 8


# Order and concurrency


@pytest.mark.parametrize("keys", [{}, {"writes": ["counter"]}])
async def test_twenty_increments_in_one_turn_give_twenty(keys: JsonObject) -> None:
    counter = 0

    @tool(effect="unsafe", **keys)  # type: ignore[arg-type]
    async def increment() -> int:
        """Adds one, slowly."""
        nonlocal counter
        seen = counter
        await anyio.lowlevel.checkpoint()
        counter = seen + 1
        return counter

    result, _ = await finish([[call("increment")] * 20, [text("done")]], [increment])
    assert counter == 20
    assert [message.text for message in result.messages if message.role == "tool"] == [str(n) for n in range(1, 21)]


async def test_a_read_after_a_write_of_the_same_key_sees_the_new_value() -> None:
    store: dict[str, str] = {}

    @tool(effect="idempotent", writes=["key:{key}"])
    async def write(key: str, value: str) -> str:
        """Keeps a value."""
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        store[key] = value
        return "kept"

    @tool(effect="read", reads=["key:{key}"])
    async def read(key: str) -> str:
        """The value that is kept."""
        return store.get(key, "nothing")

    turn = [call("read", {"key": "k"}), call("write", {"key": "k", "value": "new"}), call("read", {"key": "k"})]
    _, watched = await finish([turn, [text("done")]], [write, read])
    assert [result.content for result in watched.results] == ["nothing", "kept", "new"]


async def test_calls_that_cannot_disturb_one_another_run_at_once() -> None:
    arrived: list[str] = []
    everybody_is_here = anyio.Event()

    async def meet(name: str) -> str:
        arrived.append(name)
        if len(arrived) == 3:
            everybody_is_here.set()
        with anyio.fail_after(60):
            await everybody_is_here.wait()
        return name

    @tool(effect="read", reads=["place"])
    async def look(name: str) -> str:
        """Reads the place."""
        return await meet(name)

    @tool(effect="unsafe", writes=["other/{name}"])
    async def change(name: str) -> str:
        """Writes another place."""
        return await meet(name)

    turn = [call("look", {"name": "a"}), call("look", {"name": "b"}), call("change", {"name": "c"})]
    _, watched = await finish([turn, [text("done")]], [look, change])
    assert [(result.content, result.is_error) for result in watched.results] == [
        ("a", False),
        ("b", False),
        ("c", False),
    ]


async def test_siblings_of_a_call_that_fails_keep_their_results() -> None:
    turn = [call("echo", {"word": "a"}), call("break_down", {"word": "x"}), call("echo", {"word": "b"})]
    result, watched = await finish([turn, [text("done")]], [echo, break_down])
    first, failure, second = watched.results
    assert (first.content, second.content) == ("a", "b")
    assert (failure.is_error, failure.layer) == (True, "tool")
    assert "secret" not in failure.content
    [crashed] = [entry.data for entry in watched.entries if "detail" in entry.data]
    assert "ZeroDivisionError: a secret: x" in str(crashed["detail"])
    assert result.stop_reason == "answered"


# What models get wrong


@pytest.mark.parametrize(
    ("wrong", "words", "layer"),
    [
        (call("ecoh", {"word": "a"}), "There is no tool `ecoh`. Did you mean `echo`?", "model"),
        (call("Echo", {"word": "a"}), "Did you mean `echo`?", "model"),
        (call("zzz", {}), "There is no tool `zzz`. The tools are `echo`, `refuse`.", "model"),
        (call("echo", '{"word": '), "Expected one JSON object", "model"),
        (call("echo", {"word": ["a"]}), "word", "model"),
        (call("echo", {}), "word", "model"),
        (call("refuse", {"word": "cake"}), "There is no 'cake' here; ask for 'bread'.", "tool"),
    ],
)
async def test_a_wrong_call_is_answered_with_what_to_do(wrong: Any, words: str, layer: str) -> None:
    result, watched = await finish([[wrong], [text("done")]], [echo, refuse])
    [answer] = watched.results
    assert words in answer.content
    assert (answer.is_error, answer.layer, result.text) == (True, layer, "done")


async def test_ids_that_are_empty_or_used_twice_do_no_harm_and_are_kept_apart() -> None:
    turn = [
        call("echo", {"word": "a"}, id=""),
        call("echo", {"word": "b"}, id="x"),
        call("echo", {"word": "c"}, id="x"),
    ]
    result, watched = await finish([turn, [call("echo", {"word": "d"}, id="x")], [text("done")]], [echo])
    asked = [asked for message in result.messages for asked in message.calls]
    assert [(each.id, each.provider_id) for each in asked] == [("c1", ""), ("c2", "x"), ("c3", "x"), ("c4", "x")]
    assert [answer.content for answer in watched.results] == ["a", "b", "c", "d"]


async def test_a_continued_conversation_keeps_its_ids_and_new_calls_get_others() -> None:
    first, _ = await finish([[call("echo", {"word": "a"})], [text("a")]], [echo])
    messages = (*first.messages, Message.user("Again, another"))
    second, _ = await finish([[call("echo", {"word": "b"})], [text("b")]], [echo], messages=messages)
    assert [each.id for message in second.messages for each in message.calls] == ["c1", "c2"]
    assert second.messages[: len(messages)] == messages


async def test_arguments_that_were_changed_to_fit_are_used_and_the_model_is_told() -> None:
    @tool(effect="read")
    def double(number: int) -> int:
        """Twice the number."""
        return number * 2

    _, watched = await finish([[call("double", {"number": "21"})], [text("42")]], [double])
    [answer] = watched.results
    assert answer.content.startswith("42\n\n[Your arguments were changed to fit: ")
    [state] = fold(watched.entries).calls
    assert (state.arguments, state.call.arguments) == ({"number": 21}, {"number": "21"})


@pytest.mark.parametrize("depth", [65, 400])
async def test_arguments_nested_beyond_reason_are_refused(depth: int) -> None:
    @tool(effect="read")
    def take(value: Any) -> str:
        """Takes anything."""
        return "taken"

    nested: Any = "x"
    for _ in range(depth):
        nested = [nested]
    _, watched = await finish([[call("take", {"value": nested}), call("take", {"value": 1})], [text("done")]], [take])
    assert [result.is_error for result in watched.results] == [True, False]
    assert "deep" in watched.results[0].content


async def test_text_that_no_encoding_has_is_replaced_and_the_run_goes_on() -> None:
    result, _ = await finish([[call("echo", {"word": "!"})], [text("\ud83d")]], [echo])
    assert [message.text for message in result.messages] == ["Go", "", "!", "\ufffd"]


@pytest.mark.parametrize("arguments", ['{"word": "\\ud800!"}', '{"word": "\ud800!"}', '{"word": "a", "word": "b"}'])
async def test_a_call_of_which_something_would_be_lost_is_not_run_and_the_run_goes_on(arguments: str) -> None:
    said: list[str] = []

    @tool(effect="read")
    def say(word: str) -> str:
        """Says a word."""
        said.append(word)
        return word

    result, watched = await finish([[call("say", arguments)], [text("Well.")]], [say])
    assert (said, result.text) == ([], "Well.")
    assert [(refused.is_error, refused.layer) for refused in watched.results] == [(True, "model")]
    assert "could not be read" in watched.results[0].content


async def test_a_tool_that_changes_what_it_is_given_does_not_change_the_history() -> None:
    @tool(effect="read")
    def grow(items: list[Any]) -> int:
        """Counts the items."""
        items[0].append("more")
        return len(items)

    result, _ = await finish([[call("grow", {"items": [[1]]})], [text("2")]], [grow])
    [asked] = result.messages[1].calls
    assert not isinstance(asked, InvalidToolCall)
    assert asked.arguments == {"items": [[1]]}


# Policy


async def test_a_denied_call_does_not_run_and_the_model_is_told_why() -> None:
    def forbid(proposal: Proposal) -> Decision:
        assert proposal.tool.name == proposal.call.name
        return Deny("the shop is closed") if proposal.call.arguments == {"word": "b"} else Allow()

    turn = [call("echo", {"word": "a"}), call("echo", {"word": "b"})]
    _, watched = await finish([turn, [text("done")]], [echo], policy=forbid)
    allowed, denied = watched.results
    assert (allowed.content, allowed.is_error) == ("a", False)
    assert "the shop is closed" in denied.content
    assert (denied.is_error, denied.layer) == (True, "policy")
    assert [state.started is None for state in fold(watched.entries).calls] == [False, True]


async def test_a_policy_may_wait_and_is_asked_in_the_models_order_before_anything_runs() -> None:
    asked_about: list[str] = []
    ran: list[str] = []

    @tool(effect="unsafe")
    def act(name: str) -> str:
        """Does it."""
        ran.append(name)
        return name

    async def ask(proposal: Proposal) -> Decision:
        await anyio.lowlevel.checkpoint()
        assert not ran
        asked_about.append(str(proposal.call.arguments["name"]))
        return Allow()

    await finish([[call("act", {"name": "a"}), call("act", {"name": "b"})], [text("done")]], [act], policy=ask)
    assert (asked_about, ran) == (["a", "b"], ["a", "b"])


async def test_a_policy_that_answers_something_else_stops_the_run_before_anything_runs() -> None:
    watched = Watched([[call("echo", {"word": "a"})]], [echo], policy=lambda proposal: True)
    with pytest.raises(UsageError, match=r"expected the policy|Expected the policy"):
        await watched.run()
    assert fold(watched.entries).status == "failed"
    assert not [entry for entry in watched.entries if entry.kind == "call_started"]


# Limits


def forever(messages: Sequence[Message]) -> list[Any]:
    """Asks for something new in every turn, and answers only when it must."""
    return [call("echo", {"word": str(len(messages))})]


async def test_the_turn_limit_leads_to_one_answer_without_tools() -> None:
    model = ScriptedModel([[call("echo", {"word": "a"})], [call("echo", {"word": "b"})], [text("As far as I got.")]])
    result, watched = await finish(model, [echo], limits=Limits(turns=2))
    assert (result.text, result.stop_reason) == ("As far as I got.", "turn_limit")
    assert [request.tool_choice.mode for request in model.requests] == ["auto", "auto", "none"]
    assert [tool.name for tool in model.requests[-1].tools] == ["echo"]
    assert [event for event in watched.events if isinstance(event, LimitReached)] == [LimitReached(reason="turn_limit")]


async def test_calls_of_the_last_turn_are_not_run_but_answered_and_the_text_is_kept() -> None:
    script = [[call("echo", {"word": "a"})], [text("Well: "), call("echo", {"word": "b"})]]
    result, watched = await finish(script, [echo], limits=Limits(turns=1))
    assert (result.text, result.stop_reason) == ("Well: ", "turn_limit")
    assert [answer.is_error for answer in watched.results] == [False, True]
    assert "not run" in watched.results[-1].content
    check_history((*result.messages, Message.user("Go on")))


async def test_no_turn_at_all_is_one_answer_without_tools() -> None:
    model = ScriptedModel([[text("Straight away.")]])
    result, _ = await finish(model, [echo], limits=Limits(turns=0))
    assert (result.text, result.stop_reason, model.requests[0].tool_choice.mode) == (
        *("Straight away.", "turn_limit", "none"),
    )


async def test_calls_beyond_the_call_limit_are_not_run() -> None:
    ran: list[int] = []

    @tool(effect="unsafe")
    def act(number: int) -> str:
        """Does it."""
        ran.append(number)
        return "done"

    script = [
        [call("act", {"number": 0})],
        [call("act", {"number": number}) for number in range(1, 6)],
        [text("enough")],
    ]
    result, watched = await finish(script, [act], limits=Limits(calls=3))
    assert ran == [0, 1, 2]
    assert [answer.is_error for answer in watched.results] == [False, False, False, True, True, True]
    assert (result.stop_reason, result.text) == ("call_limit", "enough")


async def test_some_output_tokens_are_kept_back_for_the_last_answer() -> None:
    script = [[call("echo", {"word": "x" * 300})], [text("short")]]
    model = ScriptedModel(script)
    result, _ = await finish(model, [echo], limits=Limits(output_tokens=80))
    assert (result.stop_reason, result.text) == ("output_token_limit", "short")
    first, last = (request.max_output_tokens or 0 for request in model.requests)
    assert first == 70
    assert 0 < last <= 10
    assert result.usage.output_tokens <= 80


async def test_an_answer_that_is_cut_off_is_given_as_far_as_it_goes() -> None:
    result, watched = await finish([[text("x" * 1000)]], limits=Limits(output_tokens=8))
    assert (result.stop_reason, set(result.text)) == ("output_token_limit", {"x"})
    assert LimitReached(reason="output_token_limit") in watched.events


async def test_no_request_is_made_once_all_output_tokens_are_used() -> None:
    class Wasteful:
        name = "wasteful"

        async def stream(self, request: ModelRequest) -> Any:
            message = Message.assistant(calls=(InvalidToolCall(id="", name="echo", text="", error="No."),))
            yield ModelReply(message=message, usage=Usage(output_tokens=500))

    result, watched = await finish(Wasteful(), [echo], limits=Limits(output_tokens=100))
    assert (result.text, result.stop_reason, result.usage.requests) == ("", "output_token_limit", 1)
    assert isinstance(watched.events[-1], RunFinished)


async def test_the_wall_time_limit_is_measured_by_the_clock_it_is_given() -> None:
    clock = FakeClock()

    @tool(effect="read")
    def work(number: int) -> str:
        """Takes four seconds."""
        clock.advance(4)
        return str(number)

    script = [[call("work", {"number": number})] for number in range(3)]
    result, watched = await finish([*script, [text("late")]], [work], limits=Limits(wall_time_s=10), clock=clock)
    assert (result.stop_reason, result.text) == ("wall_time_limit", "late")
    assert [event.duration_s for event in watched.events if isinstance(event, CallFinished)] == [4, 4, 4]


async def test_limits_that_cannot_be_kept_are_refused_before_the_run_starts() -> None:
    for limits in (Limits(turns=-1), Limits(calls=True), Limits(output_tokens=0), Limits(wall_time_s=float("nan"))):
        watched = Watched([], limits=limits)
        with pytest.raises(UsageError, match="Expected Limits"):
            await watched.run()
        assert watched.entries == []
    with pytest.raises(UsageError, match="repeats"):
        await Watched([], limits=Limits(repeats=0)).run()


# Going in circles


async def test_four_hundred_identical_reads_stop_early_with_an_answer() -> None:
    asked = 0

    @tool(effect="read")
    def look(where: str) -> str:
        """Looks there."""
        nonlocal asked
        asked += 1
        return f"nothing in {where}"

    script = [*[[call("look", {"where": "here"})]] * 400]
    replies = iter(script)
    requests: list[ModelRequest] = []

    class Stubborn(ScriptedModel):
        async def stream(self, request: ModelRequest) -> Any:
            requests.append(request)
            async for event in super().stream(request):
                yield event

    def answer(messages: Sequence[Message]) -> list[Any]:
        return next(replies) if requests[-1].tool_choice.mode == "auto" else [text("There is nothing.")]

    result, watched = await finish(Stubborn(answer), [look], limits=Limits(turns=None))
    assert (result.stop_reason, result.text) == ("repeated_call", "There is nothing.")
    assert (asked, len(requests)) == (1, 5)
    contents = [each.content for each in watched.results]
    assert contents[0] == "nothing in here"
    assert all(content.startswith("nothing in here\n\n[You asked exactly this before") for content in contents[1:])
    assert [state.recorded_as for state in fold(watched.entries).calls] == [None, "c1", "c1", "c1"]


async def test_identical_calls_within_one_turn_all_run_and_are_not_counted() -> None:
    result, watched = await finish([[call("echo", {"word": "a"})] * 10, [text("done")]], [echo])
    assert [answer.content for answer in watched.results] == ["a"] * 10
    assert result.stop_reason == "answered"


async def test_a_read_is_made_anew_after_anything_with_an_effect() -> None:
    store = ["old"]

    @tool(effect="read")
    def read() -> str:
        """What is kept."""
        return store[-1]

    @tool(effect="unsafe")
    def write(value: str) -> str:
        """Keeps it."""
        store.append(value)
        return "kept"

    script = [
        [call("read")],
        [call("write", {"value": "new"}), call("read")],
        [call("read"), call("write", {"value": "newest"})],
        [call("read")],
        [text("done")],
    ]
    _, watched = await finish(script, [read, write])
    contents = [result.content for result in watched.results]
    assert contents[:3] == ["old", "kept", "new"]
    assert contents[3].startswith("new\n\n[You asked exactly this before")
    assert contents[4:] == ["kept", "newest"]


async def test_a_read_that_failed_and_a_call_with_an_effect_are_never_answered_from_the_record() -> None:
    ran: list[str] = []

    @tool(effect="read")
    def shaky() -> str:
        """Fails the first time."""
        ran.append("shaky")
        if len(ran) == 1:
            raise ToolError("Not now.")
        return "now"

    @tool(effect="idempotent", writes=["x"])
    def act() -> str:
        """Does it."""
        ran.append("act")
        return "done"

    await finish([[call("shaky")], [call("shaky")], [call("act")], [call("act")], [text("done")]], [shaky, act])
    assert ran == ["shaky", "shaky", "act", "act"]


async def test_turns_that_repeat_with_other_results_or_with_something_between_are_not_braked() -> None:
    count = 0

    @tool(effect="unsafe")
    def advance() -> int:
        """Goes on by one."""
        nonlocal count
        count += 1
        return count

    script = [[call("advance")]] * 8
    result, _ = await finish([*script, [text("done")]], [advance])
    assert (count, result.stop_reason) == (8, "answered")

    words = ["a", "b"] * 5
    script = [[call("echo", {"word": word})] for word in words]
    result, _ = await finish([*script, [text("done")]], [echo])
    assert result.stop_reason == "answered"


# What stops a run


class Failing:
    """A model that gives what it is told to, or raises it."""

    name = "failing"

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)

    async def stream(self, request: ModelRequest) -> Any:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        for event in outcome:
            yield event


REPLY = ModelReply(message=Message.assistant("Hello."), usage=Usage())


async def test_a_model_that_fails_stops_the_run_with_its_error_and_everything_before_it_is_on_record() -> None:
    asks = ModelReply(
        message=Message.assistant(calls=(InvalidToolCall(id="", name="echo", text="", error="No."),)), usage=Usage()
    )
    watched = Watched(Failing([asks], ProviderError("The server burns.")), [echo])
    with pytest.raises(ProviderError, match="burns"):
        await watched.run()
    state = fold(watched.entries)
    assert (state.status, state.error) == ("failed", "ProviderError: The server burns.")
    assert [message.role for message in state.messages] == ["user", "assistant", "tool"]
    assert state.ended is not None


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], "ended without a reply"),
        ([REPLY, REPLY], "went on after its reply"),
        ([ModelReply(message=Message.user("me"), usage=Usage())], "role 'assistant'"),
    ],
)
async def test_a_model_that_breaks_the_rules_of_the_port_stops_the_run(events: list[Any], words: str) -> None:
    with pytest.raises(ProviderError, match=words):
        await Watched(Failing(events)).run()


async def test_the_error_that_stopped_the_run_is_raised_also_where_it_cannot_be_recorded() -> None:
    with pytest.raises(ProviderError, match="burns"):
        await Watched(Failing(ProviderError("The server burns.")), journal=FullJournal(2)).run()


async def test_a_result_that_a_model_makes_up_in_its_reply_is_left_out() -> None:
    made_up = Message(role="assistant", parts=(TextPart(text="Done."), ToolResult(tool_call_id="c1", content="paid")))
    result, _ = await finish(Failing([ModelReply(message=made_up, usage=Usage())]))
    assert result.messages[-1] == Message.assistant("Done.")


async def test_a_model_that_is_left_before_its_end_is_closed_by_the_run() -> None:
    has_been_closed = False

    class GoesOn:
        name = "goes on"

        async def stream(self, request: ModelRequest) -> Any:
            nonlocal has_been_closed
            try:
                yield REPLY
                yield REPLY
            finally:
                has_been_closed = True

    with pytest.raises(ProviderError) as raised:
        await Watched(GoesOn()).run()
    # The traceback keeps the generator alive, so that nobody else can have closed it.
    assert raised.value.__traceback__ is not None
    assert has_been_closed


async def test_a_model_that_does_not_stream_is_heard_all_the_same() -> None:
    result, watched = await finish(Failing([REPLY]))
    assert [event.text for event in watched.events if hasattr(event, "text")] == ["Hello."]
    assert (result.text, result.usage.requests) == ("Hello.", 1)


async def test_a_cancelled_run_is_on_record_as_interrupted_and_its_call_as_started() -> None:
    with anyio.CancelScope() as scope:

        @tool(effect="unsafe")
        async def wait() -> str:
            """Waits for ever."""
            scope.cancel()
            await anyio.sleep_forever()
            return "never"

        watched = Watched([[call("wait"), call("echo", {"word": "a"})]], [wait, echo])
        await watched.run()
    assert scope.cancelled_caught
    state = fold(watched.entries)
    assert (state.status, state.error) == ("interrupted", "CancelledError")
    assert [(each.status, each.result) for each in state.calls] == [("started", None), ("asked", None)]


class FullJournal(MemoryJournal):
    """A journal that takes so many entries and no more."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def append(
        self, run_id: str, *drafts: Draft, length: int | None = None, is_intent: bool = False
    ) -> Sequence[Entry]:
        self.room -= len(drafts)
        if self.room < 0:
            raise JournalError("The disk is full.")
        return super().append(run_id, *drafts, length=length, is_intent=is_intent)


@pytest.mark.parametrize("room", range(12))
async def test_a_journal_that_cannot_be_written_stops_the_run_before_the_effect(room: int) -> None:
    ran: list[str] = []

    @tool(effect="unsafe", writes=["{name}"])
    async def act(name: str) -> str:
        """Does it."""
        ran.append(name)
        return name

    watched = Watched(
        [[call("act", {"name": "a"}), call("act", {"name": "b"})], [text("done")]], [act], journal=FullJournal(room)
    )
    if room >= 10:
        await watched.run()
    else:
        with pytest.raises(JournalError, match="disk is full"):
            await watched.run()
    intents = [entry for entry in watched.entries if entry.kind == "call_started"]
    assert set(ran) <= {entry.data["arguments"]["name"] for entry in intents}  # type: ignore[index,call-overload]
    assert len(set(ran)) == len(ran)


async def test_a_run_id_that_is_taken_is_refused() -> None:
    journal = MemoryJournal()
    await finish([[text("first")]], journal=journal, run_id="r1")
    with pytest.raises(UsageError, match="has entries already"):
        await finish([[text("second")]], journal=journal, run_id="r1")


# Size


async def test_a_result_of_five_megabytes_is_shown_capped_and_kept_whole() -> None:
    @tool(effect="read")
    def big() -> str:
        """Gives too much."""
        return "start" + "x" * 5_000_000 + "end"

    _, watched = await finish([[call("big")], [text("done")]], [big])
    [answer] = watched.results
    assert len(answer.content.encode()) < 17_000
    assert answer.content.startswith("start")
    assert answer.content.endswith("end")
    assert "of 5000008 are left out" in answer.content
    [state] = fold(watched.entries).calls
    assert state.whole is not None
    assert len(state.whole) == 5_000_008


def test_the_history_that_a_model_gets_costs_nothing_to_take_and_does_not_change_later() -> None:
    seen: list[Sequence[Message]] = []

    def look(messages: Sequence[Message]) -> list[Any]:
        seen.append(messages)
        return forever(messages) if len(seen) < 3 else [text("done")]

    result: list[RunResult] = []

    async def go() -> None:
        result.append((await finish(look, [echo]))[0])

    anyio.run(go)
    assert [len(messages) for messages in seen] == [1, 3, 5]
    assert all(tuple(messages) == result[0].messages[: len(messages)] for messages in seen)
    assert seen[1][-1] == seen[1][2]
    assert seen[1][:1] == result[0].messages[:1]
    with pytest.raises(IndexError):
        _ = seen[0][1]

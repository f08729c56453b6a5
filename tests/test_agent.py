"""An agent as programs use it."""

import functools
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from wieldy import (
    Agent,
    Deny,
    HistoryError,
    JournalError,
    Limits,
    MemoryJournal,
    Message,
    SqliteJournal,
    Toolset,
    Usage,
    UsageError,
    fold,
    tool,
)
from wieldy.run.guided import Completion, Weighed
from wieldy.testing import ScriptedModel, call, text

anyio_test = pytest.mark.anyio


@tool(effect="read")
def echo(word: str) -> str:
    """Says the word again."""
    return word


def shout(word: str) -> str:
    """Says the word loudly."""
    return word.upper()


SCRIPT = [[call("echo", {"word": "a"}), call("shout", {"word": "b"})], [text("a and B")]]


def test_an_agent_answers_with_tools_functions_and_toolsets() -> None:
    with ScriptedModel(SCRIPT) as model:
        result = Agent(model, tools=[Toolset([echo]), shout], instructions="Be brief.").run_sync("Go")
    assert (result.text, result.stop_reason, result.usage.requests) == ("a and B", "answered", 2)
    assert [message.role for message in result.messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert [message.text for message in result.messages if message.role == "tool"] == ["a", "B"]


@anyio_test
async def test_the_three_ways_of_running_give_the_same() -> None:
    ran = await Agent(ScriptedModel(SCRIPT), [echo, shout]).run("Go")
    *_, last = [event async for event in Agent(ScriptedModel(SCRIPT), [echo, shout]).stream("Go")]
    in_thread = functools.partial(Agent(ScriptedModel(SCRIPT), [echo, shout]).run_sync, "Go")
    synchronous = await anyio.to_thread.run_sync(in_thread)
    assert last.result.messages == ran.messages == synchronous.messages  # type: ignore[union-attr]


def test_run_sync_may_be_called_again_and_again() -> None:
    agent = Agent(ScriptedModel([[text(str(number))] for number in range(3)]))
    assert [agent.run_sync("Go").text for _ in range(3)] == ["0", "1", "2"]


@anyio_test
async def test_run_sync_inside_an_event_loop_says_what_to_use() -> None:
    with pytest.raises(UsageError, match=r"await agent\.run"):
        Agent(ScriptedModel([])).run_sync("Go")


@anyio_test
async def test_one_agent_runs_many_prompts_at_once_and_keeps_them_apart(tmp_path: Path) -> None:
    def script(messages: Sequence[Message]) -> list[Any]:
        asked = messages[0].text
        return [text(f"{asked}!")] if messages[-1].role == "tool" else [call("echo", {"word": asked})]

    with SqliteJournal(tmp_path / "runs.db") as journal:
        agent = Agent(ScriptedModel(script), [echo], journal=journal)
        results: dict[str, str] = {}

        async def ask(prompt: str) -> None:
            result = await agent.run(prompt)
            results[prompt] = result.text
            assert fold(journal.read(result.run_id)).prompt == prompt

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(ask, str(number))
        assert results == {str(number): f"{number}!" for number in range(20)}
        assert len(journal.run_ids()) == 20


def test_a_journal_is_kept_in_memory_in_a_file_or_where_the_program_says(tmp_path: Path) -> None:
    in_memory = Agent(ScriptedModel([[text("done")]]))
    run_id = in_memory.run_sync("Go").run_id
    assert list(in_memory.journal.run_ids()) == [run_id]

    path = tmp_path / "new" / "runs.db"
    run_ids = [Agent(ScriptedModel([[text("done")]]), journal=str(path)).run_sync("Go").run_id for _ in range(2)]
    with SqliteJournal(path, read_only=True) as journal:
        assert list(journal.run_ids()) == run_ids[::-1]

    own = MemoryJournal()
    assert Agent(ScriptedModel([]), journal=own).journal is own
    with pytest.raises(JournalError, match="Name a file"):
        Agent(ScriptedModel([]), journal=tmp_path)
    with pytest.raises(UsageError, match="a URL or a journal"):
        Agent(ScriptedModel([]), journal=17)  # type: ignore[arg-type]


def test_a_conversation_is_continued_from_the_messages_of_a_result() -> None:
    agent = Agent(ScriptedModel([*SCRIPT, [text("Again B")]]), [echo, shout], instructions="Be brief.")
    first = agent.run_sync("Go")
    second = agent.run_sync([*first.messages, {"role": "user", "content": "And now?"}])
    assert second.messages[: len(first.messages)] == first.messages
    assert [message.role for message in second.messages].count("system") == 1


def test_messages_may_be_dictionaries_and_their_own_system_message_is_kept() -> None:
    messages = [{"role": "system", "content": "Be loud."}, {"role": "user", "content": "Go"}]
    result = Agent(ScriptedModel([[text("GO")]]), instructions="Be brief.").run_sync(messages)
    assert [message.text for message in result.messages] == ["Be loud.", "Go", "GO"]


@pytest.mark.parametrize(
    ("prompt", "error"),
    [
        ("", HistoryError),
        ([], HistoryError),
        ([Message.user("Go"), Message.assistant("Gone")], HistoryError),
        ([{"role": "user"}], HistoryError),
        ([{"role": "wizard", "content": "Go"}], UsageError),
        (["Go"], UsageError),
        ({"role": "user", "content": "Go"}, UsageError),
        (17, UsageError),
        (None, UsageError),
        (Message.user("Go"), UsageError),
    ],
)
def test_a_prompt_that_cannot_be_answered_is_refused_before_anything_runs(prompt: Any, error: type[Exception]) -> None:
    agent = Agent(ScriptedModel([[text("done")]]))
    with pytest.raises(error):
        agent.run_sync(prompt)
    with pytest.raises(error):
        agent.stream(prompt)
    assert list(agent.journal.run_ids()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"model": "no-such-model"},
        {"model": 17},
        {"tools": [17]},
        {"tools": [echo, echo]},
        {"tools": "echo"},
        {"limits": Limits(turns=-1)},
        {"limits": Limits(repeats=0)},
        {"strategy": "clever"},
        {"strategy": "guided"},
    ],
)
def test_what_cannot_be_used_is_refused_when_the_agent_is_made(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Agent(**{"model": ScriptedModel([]), **options})


class Leadable(ScriptedModel):
    """A model that offers what a guided one must, and says what it was asked."""

    async def chat_prompt(self, messages: Sequence[Message]) -> str:
        return "Q: "

    async def weigh(self, prompt: str, options: Sequence[str]) -> Weighed:
        return Weighed(logprobs=dict.fromkeys(options, -1.0), usage=Usage())

    async def write(self, prompt: str, **_: Any) -> AsyncIterator[str | Completion]:
        yield Completion(text="guided", tokens=(), usage=Usage())


@pytest.mark.parametrize(("strategy", "answer"), [(None, "guided"), ("guided", "guided"), ("native", "native")])
def test_a_model_that_can_be_guided_is_unless_the_program_says_otherwise(strategy: Any, answer: str) -> None:
    assert Agent(Leadable([[text("native")]]), strategy=strategy).run_sync("Go").text == answer


def test_limits_and_policy_are_the_agents() -> None:
    model = ScriptedModel([[call("echo", {"word": "a"})], [text("enough")]])
    agent = Agent(model, [echo], limits=Limits(turns=1), policy=lambda proposal: Deny("not today"))
    result = agent.run_sync("Go")
    assert (result.stop_reason, result.text) == ("turn_limit", "enough")
    assert "not today" in result.messages[2].text


class Shop(Toolset):
    """A toolset that is open only while it is entered."""

    def __init__(self) -> None:
        super().__init__([self.buy])
        self.opened = 0
        self.is_open = False

    def buy(self, item: str) -> str:
        """Buys something."""
        assert self.is_open
        return item

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        self.opened += 1
        self.is_open = True
        try:
            yield
        finally:
            self.is_open = False


@anyio_test
@pytest.mark.parametrize("first_out", ["a", "b"])
async def test_runs_at_once_share_an_open_toolset_until_the_last_of_them_ends(first_out: str) -> None:
    shop = Shop()
    inside = {"a": anyio.Event(), "b": anyio.Event()}
    leave = {"a": anyio.Event(), "b": anyio.Event()}

    @tool(effect="read")
    async def wait(name: str) -> str:
        """Waits until this run may go on."""
        inside[name].set()
        await leave[name].wait()
        return name

    def script(messages: Sequence[Message]) -> list[Any]:
        name = messages[0].text
        turns = [call("wait", {"name": name})], [call("buy", {"item": name})], [text(f"bought {name}")]
        return turns[sum(message.role == "tool" for message in messages)]

    agent = Agent(ScriptedModel(script), [shop, wait])
    bought: list[str] = []

    async def go(name: str) -> None:
        bought.append((await agent.run(name)).text)
        leave["b" if name == "a" else "a"].set()

    async with anyio.create_task_group() as group:
        for name in ("a", "b"):
            group.start_soon(go, name)
            await inside[name].wait()
        leave[first_out].set()
    assert sorted(bought) == ["bought a", "bought b"]
    assert bought[0] == f"bought {first_out}"
    assert (shop.opened, shop.is_open) == (1, False)


def test_a_toolset_that_was_not_entered_is_opened_for_the_run_and_closed_after_it() -> None:
    shop = Shop()
    script = [[call("buy", {"item": "bread"})], [text("bought")]]
    agent = Agent(ScriptedModel([*script, *script]), [shop, echo])
    for _ in range(2):
        assert agent.run_sync("Go").messages[2].text == "bread"
        assert not shop.is_open
    assert shop.opened == 2


def test_a_model_that_keeps_connections_is_opened_once_per_run_and_closed_after_it() -> None:
    steps: list[str] = []

    class Connected(ScriptedModel):
        async def __aenter__(self) -> "Connected":
            steps.append("open")
            return self

        async def __aexit__(self, *_: object) -> None:
            steps.append("close")

    Agent(Connected(SCRIPT), [echo, shout]).run_sync("Go")
    assert steps == ["open", "close"]


def test_a_toolset_is_closed_also_when_the_run_fails() -> None:
    shop = Shop()
    with pytest.raises(UsageError, match="The script has 0 turns"):
        Agent(ScriptedModel([]), [shop]).run_sync("Go")
    assert (shop.opened, shop.is_open) == (1, False)

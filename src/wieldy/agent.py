"""An agent: a model, tools and rules, ready to be run as often and as concurrently as one likes.

This is assembly only: it turns what a program says into a `RunRequest` and opens what the run needs. What happens in a
run is in `run.loop`. Deliberately not here: anything that a run remembers; that is in the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import anyio

from wieldy.core.errors import UsageError
from wieldy.core.history import check_history
from wieldy.core.limits import Limits
from wieldy.core.messages import Message, messages_from
from wieldy.run.budget import check_limits
from wieldy.run.events import events_of
from wieldy.run.guided import Guided, GuidedModel
from wieldy.run.journal import MemoryJournal, SqliteJournal
from wieldy.run.loop import Emit, RunRequest, nothing, run
from wieldy.run.policy import Policy, allow_all
from wieldy.tools import Tool, Toolset, tools_from

if TYPE_CHECKING:
    from wieldy.core.events import RunEvent, RunResult
    from wieldy.core.ports import Journal, Model

Prompt: TypeAlias = str | Iterable[Message | Mapping[str, Any]]
"""What a run starts from: the user's words, or a conversation as `Message`s or OpenAI-style dictionaries."""

Strategy: TypeAlias = Literal["guided", "native"]

_DEFAULT_LIMITS = Limits()


class Agent:
    """A model that may use tools.

    An agent holds no state of its runs and may run several at once.

    Args:
        model: A model, or a string that names one, such as `local` or `openai:NAME`.
        tools: Functions, `Tool`s and `Toolset`s. What a toolset holds open is opened for each run and closed after it.
        instructions: The system message. A conversation that brings its own keeps it instead.
        journal: Where runs are recorded: a journal, or the path of a file; without one they are kept in memory, in
            `agent.journal`, for as long as the agent lives.
        limits: How far a run may go.
        policy: Asked before every call; without one every call is allowed.
        strategy: How the model is led: `guided` asks a local model one small question after the other, `native` lets
            the model say everything itself. Without one: `guided` where the model can be, else `native`.

    Raises:
        UsageError: One of these cannot be used.
        JournalError: The file cannot be used as a journal.
    """

    def __init__(
        self,
        model: Model | str,
        tools: Iterable[Tool | Toolset | Callable[..., object]] = (),
        *,
        instructions: str | None = None,
        journal: Journal | Path | str | None = None,
        limits: Limits = _DEFAULT_LIMITS,
        policy: Policy | None = None,
        strategy: Strategy | None = None,
    ) -> None:
        check_limits(limits)
        self.toolset = tools_from(tools)
        self._connected = _resolved(model)
        self.model = _led(self._connected, strategy)
        self.journal = _journal(journal)
        self.limits = limits
        self._instructions = instructions
        self._policy = allow_all if policy is None else policy

    async def run(self, prompt: Prompt) -> RunResult:
        """The model's answer, after as many calls as it took.

        Raises:
            UsageError: The prompt is no prompt and no history that can be answered.
            RunError: The model could not answer, or the journal could not be written.
        """
        return await self._run(self._messages(prompt), nothing)

    def stream(self, prompt: Prompt) -> AsyncGenerator[RunEvent]:
        """What happens, as it happens; the last event, `RunFinished`, carries the result.

        Leaving the iteration early ends the run.

        Raises:
            UsageError: The prompt is no prompt and no history that can be answered.
            RunError: While iterating: the model could not answer, or the journal could not be written.
        """
        messages = self._messages(prompt)
        return events_of(lambda emit: self._run(messages, emit))

    def run_sync(self, prompt: Prompt) -> RunResult:
        """`run` for programs that are not asynchronous.

        Raises:
            UsageError: As `run`; also where an event loop is running already.
            RunError: As `run`.
        """
        if _is_in_event_loop():
            raise UsageError("`run_sync` was called inside a running event loop. Use `await agent.run(...)` there.")
        return anyio.run(self.run, prompt)

    async def _run(self, messages: tuple[Message, ...], emit: Emit) -> RunResult:
        async with AsyncExitStack() as opened:
            # Connections that a model or a toolset keeps are opened once for the whole run.
            for resource in (self._connected, self.toolset):
                if isinstance(resource, AbstractAsyncContextManager):
                    await opened.enter_async_context(resource)
            request = RunRequest(
                model=self.model,
                toolset=self.toolset,
                messages=messages,
                journal=self.journal,
                limits=self.limits,
                policy=self._policy,
            )
            return await run(request, emit)

    def _messages(self, prompt: Prompt) -> tuple[Message, ...]:
        # Not every program is checked for its types.
        if not isinstance(prompt, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Expected a prompt as text or as a list of messages, found {type(prompt).__name__}.")
        messages = messages_from(prompt)
        if self._instructions and not any(message.role == "system" for message in messages[:1]):
            messages = (Message.system(self._instructions), *messages)
        check_history(messages)
        return messages


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _resolved(model: Model | str) -> Model:
    # Imported here because it is needed only once a model is named.
    from wieldy.connect.models.resolve import resolve  # noqa: PLC0415

    return resolve(model)


def _journal(journal: Journal | Path | str | None) -> Journal:
    if journal is None:
        return MemoryJournal()
    if isinstance(journal, str | Path):
        return SqliteJournal(journal)
    if not callable(getattr(journal, "append", None)) or not callable(getattr(journal, "read", None)):
        raise UsageError(f"Expected `journal` to be a path or a journal, found {journal!r}.")
    return journal


def _led(model: Model, strategy: Strategy | None) -> Model:
    if strategy not in (None, "guided", "native"):
        raise UsageError(f"Expected `strategy` to be 'guided', 'native' or None, found {strategy!r}.")
    if strategy == "native":
        return model
    if isinstance(model, GuidedModel):
        return Guided(model)
    if strategy == "guided":
        raise UsageError(
            f"The model {model.name!r} cannot be guided: only a model whose likelihoods can be asked for, such as a "
            "local one, can be. Leave `strategy` out, or use 'native'."
        )
    return model

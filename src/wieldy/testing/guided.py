r"""A model whose likelihoods and words are known, for whatever leads a model by questions (`run.guided`).

    ScriptedGuidedModel(weighed=[{" add(": -0.1, " answer()": -3.0}], written=['{"a": 1, "b": 2})\n', "3"])

Laws: a question that the script has no answer for is refused; what the script writes under a grammar is text of that
grammar, so that no test passes with words that a constrained model could never write; an answer never has more tokens
than were asked for. Deliberately not here: answering messages (`ScriptedModel`), judging whether the run was right.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Generic, Self, TypeAlias, TypeVar

from wieldy.core.errors import UsageError
from wieldy.core.events import TextDelta
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.outputs import Incomplete
from wieldy.core.ports import ModelEvent, ModelReply, ModelRequest
from wieldy.grammar import Grammar, Matcher, Tokenizer
from wieldy.run.guided.port import Completion, Weighed, Written
from wieldy.run.outputs import reader_of

SURE: Final = -0.01
"""The log-probability of tokens of which nothing else is said."""

_CHARACTERS_PER_TOKEN: Final = 4
_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")

_T = TypeVar("_T")

Likelihoods: TypeAlias = Mapping[str, float]
"""The log-probability of each option; it may know more options than it is asked about."""

Words: TypeAlias = str | Sequence[Written]
"""What the model writes: tokens, or text that is `spelled` with all of them sure."""

WeighedScript: TypeAlias = Likelihoods | Sequence[Likelihoods] | Callable[[str, Sequence[str]], Likelihoods]
WrittenScript: TypeAlias = Sequence[Words] | Callable[[str], Words]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that the model was asked.

    Attributes:
        prompt: The text that was to be continued.
        options: What was to be weighed; None if it was asked to write.
        max_tokens: How much it might write; None if it was asked to weigh.
        grammar: What it had to keep to while it wrote.
    """

    prompt: str
    options: tuple[str, ...] | None = None
    max_tokens: int | None = None
    grammar: Grammar | None = None


def spelled(text: str, *, logprob: float = SURE, unsure: Mapping[str, float] | None = None) -> tuple[Written, ...]:
    """The text as tokens: words, white space and single signs.

    Args:
        text: What is written.
        logprob: How sure the model is of every token.
        unsure: Tokens of which it is less sure, or more, and how much.

    Raises:
        UsageError: `unsure` names what is no token of the text.
    """
    tokens = _TOKEN.findall(text)
    unknown = [token for token in unsure or {} if token not in tokens]
    if unknown:
        raise UsageError(f"spelled({text!r}): expected `unsure` to name tokens of {tokens!r}, found {unknown!r}.")
    return tuple(Written(text=token, logprob=(unsure or {}).get(token, logprob)) for token in tokens)


class ScriptedGuidedModel:
    """A guided model that follows a script; use it in a `with` block, so that what nobody asked for is an error.

    Args:
        weighed: The likelihoods of options: one table for all questions, a table for each, or a function from prompt
            and options to a table.
        written: What it writes, answer after answer, or a function from prompt to answer.

    Attributes:
        questions: What it was asked, for a test to look at.
    """

    def __init__(self, *, weighed: WeighedScript = (), written: WrittenScript = (), name: str = "scripted") -> None:
        self.questions: list[Question] = []
        self._name = name
        self._weighed = weighed
        self._written = written
        listed = () if callable(weighed) or isinstance(weighed, Mapping) else weighed
        self._tables = _Script[Likelihoods]("tables of likelihoods", listed)
        self._answers = _Script[Words]("answers", () if callable(written) else written)

    def __repr__(self) -> str:
        return f"ScriptedGuidedModel({self._name!r}, {len(self.questions)} questions asked)"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:  # an error that is already on its way matters more
            self.assert_consumed()

    @property
    def name(self) -> str:
        """What this model is called in records."""
        return self._name

    def assert_consumed(self) -> None:
        """Every part of the script was asked for.

        Raises:
            UsageError: Parts are left that nobody asked for.
        """
        self._tables.check_empty()
        self._answers.check_empty()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """What the script writes next, as an answer that is held to what it must be.

        Raises:
            UsageError: No output is wanted, so that it is not `Guided` that asks; or the script writes nothing more, or
                what the output does not allow.
        """
        if request.output is None or request.tools:
            raise UsageError("A ScriptedGuidedModel answers the questions of `Guided`, no messages. Use ScriptedModel.")
        prompt = await self.chat_prompt(request.messages)
        most = sys.maxsize if request.max_output_tokens is None else request.max_output_tokens
        async for event in self.write(prompt, max_tokens=most):
            if isinstance(event, str):
                yield TextDelta(text=event)
                continue
            refused = reader_of(request.output).read(event.text)
            if isinstance(refused, Incomplete) and event.finish == "stop":
                raise UsageError(f"The script writes {event.text!r}, which the output does not allow: {refused.error}")
            message = Message.assistant(event.text)
            yield ModelReply(message=message, usage=event.usage, finish=event.finish, held=True)

    async def chat_prompt(self, messages: Sequence[Message], *, begun: str = "") -> str:
        """The messages in a format of this model's own, which has no control tokens."""
        return "".join(f"[{message.role}]\n{message.text}\n" for message in messages) + f"[assistant]\n{begun}"

    async def weigh(self, prompt: str, options: Sequence[str]) -> Weighed:
        """What the script says about the options.

        Raises:
            UsageError: The script says nothing about one of them.
        """
        self.questions.append(Question(prompt=prompt, options=tuple(options)))
        table = self._table(prompt, options)
        missing = [option for option in options if option not in table]
        if missing:
            raise UsageError(f"The script says nothing about the options {missing!r}, only about {list(table)!r}.")
        logprobs = {option: float(table[option]) for option in options}
        return Weighed(logprobs=logprobs, usage=_usage(prompt, output_tokens=1))

    async def write(
        self, prompt: str, *, max_tokens: int, grammar: Grammar | None = None, stop: Sequence[str] = ()
    ) -> AsyncGenerator[str | Completion]:
        """What the script writes next, token by token, then the `Completion`.

        Raises:
            UsageError: The script writes nothing more, or what the grammar does not allow.
        """
        self.questions.append(Question(prompt=prompt, max_tokens=max_tokens, grammar=grammar))
        words = self._written(prompt) if callable(self._written) else self._answers.take(prompt)
        tokens = spelled(words) if isinstance(words, str) else tuple(words)
        if grammar is not None:
            _check("".join(token.text for token in tokens), grammar)
        tokens = _until(tokens, stop)
        kept = tokens[: max(0, max_tokens)]
        for token in kept:
            yield token.text
        yield Completion(
            text="".join(token.text for token in kept),
            tokens=kept,
            usage=_usage(prompt, output_tokens=len(kept)),
            finish="length" if len(kept) < len(tokens) else "stop",
        )

    def _table(self, prompt: str, options: Sequence[str]) -> Likelihoods:
        if callable(self._weighed):
            return self._weighed(prompt, options)
        if isinstance(self._weighed, Mapping):
            return self._weighed
        return self._tables.take(prompt)


class _Script(Generic[_T]):
    """Parts of a script that are used up one by one."""

    def __init__(self, what: str, parts: Sequence[_T]) -> None:
        self._what = what
        self._parts = tuple(parts)
        self._position = 0

    def take(self, prompt: str) -> _T:
        if self._position >= len(self._parts):
            raise UsageError(
                f"The script has {len(self._parts)} {self._what} and is asked for one more, to continue "
                f"{prompt[-200:]!r}. Add one, or find out why it goes on."
            )
        self._position += 1
        return self._parts[self._position - 1]

    def check_empty(self) -> None:
        left = self._parts[self._position :]
        if left:
            raise UsageError(
                f"The script has {len(self._parts)} {self._what} and only {self._position} were asked for. "
                f"The next would have been {left[0]!r}."
            )


def _check(text: str, grammar: Grammar) -> None:
    matcher = Matcher(grammar, Tokenizer.of_bytes())
    taken = 0
    while taken < len(text) and matcher.accept_text(text[taken]):
        taken += 1
    if taken < len(text):
        raise UsageError(f"The script writes {text!r}, of which the constraint allows only {text[:taken]!r}.")
    if not matcher.is_accepting:
        raise UsageError(f"The script writes {text!r}, which the constraint does not let end there.")


def _until(tokens: tuple[Written, ...], stop: Sequence[str]) -> tuple[Written, ...]:
    """The tokens up to the first text that stops; one that the stop begins in is cut."""
    text = "".join(token.text for token in tokens)
    end = min((at for at in map(text.find, stop) if at >= 0), default=len(text))
    kept: list[Written] = []
    for token in tokens:
        if end <= 0:
            break
        kept.append(Written(text=token.text[:end], logprob=token.logprob))
        end -= len(token.text)
    return tuple(kept)


def _usage(prompt: str, *, output_tokens: int) -> Usage:
    return Usage(input_tokens=-(-len(prompt) // _CHARACTERS_PER_TOKEN), output_tokens=output_tokens, requests=1)

"""What a model must offer to be led: continue a text under a constraint, and weigh options as its continuation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.ports import Model
from wieldy.grammar import Grammar


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One token that a model wrote.

    Attributes:
        logprob: The natural logarithm of the probability that the model gave it before any constraint.
    """

    text: str
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A finished continuation.

    Attributes:
        finish: `length` if the limit cut it short; `closed_by_budget` if it is whole and the limit decided its end.
        forced: Where in the text the limit decided what was written, in characters (start, end).
    """

    text: str
    tokens: tuple[Written, ...]
    usage: Usage
    finish: Literal["stop", "length", "closed_by_budget"] = "stop"
    forced: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """Options and the natural logarithm of the probability of each as the continuation of a text."""

    logprobs: Mapping[str, float]
    usage: Usage


@runtime_checkable
class GuidedModel(Model, Protocol):
    """A model on this machine that can be asked more than messages."""

    async def chat_prompt(self, messages: Sequence[Message], *, begun: str = "") -> str:
        """The conversation in the model's own format, up to where its next words begin, and those already `begun`.

        Nothing in the messages or in what is begun counts as a control token of the format.

        Raises:
            RunError: The model cannot be had.
        """
        ...

    def write(
        self, prompt: str, *, max_tokens: int, grammar: Grammar | None = None, stop: Sequence[str] = ()
    ) -> AsyncIterator[str | Completion]:
        """The likeliest continuation piece by piece, then the `Completion`.

        Raises:
            ModelError: The model could not answer.
        """
        ...

    async def weigh(self, prompt: str, options: Sequence[str]) -> Weighed:
        """How likely each option is as the continuation; an option should begin and end where the model's tokens do.

        Raises:
            ModelError: The model could not answer.
        """
        ...

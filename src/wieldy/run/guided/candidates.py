"""The calls that a model could make next: the likely tools with the arguments it would write for them.

A call is flawed that would help nobody: refused by the validator even on a second try, made already, copied from an
example, with invented facts, or closed by the budget. Deliberately not here: whether to call at all (`strategy`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from wieldy.core.calls import ToolCall, ToolDefinition
from wieldy.core.errors import BudgetError, ProviderError
from wieldy.core.forced import forced_pointers
from wieldy.core.json import JsonObject, parse_json
from wieldy.grammar import Grammar
from wieldy.run.guided.arguments import ArgumentRules
from wieldy.run.guided.grounding import choices_of, confidence, invented
from wieldy.run.guided.meter import Meter
from wieldy.run.guided.port import Completion, GuidedModel, Written
from wieldy.run.guided.session import CALL_END, Session, opening

_REACH: Final = 6.0
"""Tools this much less likely than the likeliest, in nats, are not tried."""

_VALUE_WEIGHT: Final = 1.5
_FLAWED: Final = -20.0
_MOST_ARGUMENT_TOKENS: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A call that could be made.

    Attributes:
        likelihood: The log-probability of the tool's name as the next step.
        sureness: What the values add to it: 0 where the model is sure of them, less where it is not.
        is_flawed: Whether it would help nobody.
        forced: Pointers of what the budget decided in the arguments.
    """

    name: str
    arguments: JsonObject
    likelihood: float
    sureness: float
    is_flawed: bool
    forced: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """How good the call is among others, in nats."""
        return self.likelihood + self.sureness + (_FLAWED if self.is_flawed else 0.0)

    def call(self, session: Session) -> ToolCall:
        """The call itself."""
        return ToolCall(id=f"g{len(session.steps)}", name=self.name, arguments=self.arguments, forced=self.forced)


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenArguments:
    text: str
    tokens: tuple[Written, ...]
    arguments: JsonObject | None
    forced: tuple[str, ...]
    error: str | None


class Candidates:
    """Tries tools.

    Args:
        model: The model that writes the arguments.
    """

    def __init__(self, model: GuidedModel) -> None:
        self._model = model

    async def best(
        self,
        session: Session,
        prompt: str,
        tools: Mapping[str, ToolDefinition],
        likelihoods: Mapping[str, float],
        meter: Meter,
    ) -> Candidate | None:
        """The best call; None if there is none.

        Raises:
            BudgetError: None fits into the limit; the one with the least minimum.
        """
        best: Candidate | None = None
        too_long: list[BudgetError] = []
        likeliest = max(likelihoods.values())
        for name in sorted(likelihoods, key=lambda name: likelihoods[name], reverse=True):
            likelihood = likelihoods[name]
            if likelihood < likeliest - _REACH or (best is not None and likelihood <= best.score):
                break
            try:
                candidate = await self._try(session, prompt, tools[name], likelihood, meter)
            except BudgetError as error:
                too_long.append(error)
                continue
            if candidate is not None and (best is None or candidate.score > best.score):
                best = candidate
        if best is None and too_long:
            raise min(too_long, key=lambda error: error.minimum)
        return best

    async def _try(
        self, session: Session, prompt: str, tool: ToolDefinition, likelihood: float, meter: Meter
    ) -> Candidate | None:
        """The call that the model would make with this tool; None if it was not finished.

        Raises:
            BudgetError: No call of the tool fits into what is left.
        """
        rules = ArgumentRules.of(tool, followed_by=CALL_END)
        written = await self._write(prompt, rules, meter)
        if written is not None and written.error is not None and not written.forced:
            written = await self._write(prompt + session.refused(tool.name, written.text, written.error), rules, meter)
        if written is None or written.arguments is None:
            return None
        known = "\n".join([session.conversation, *choices_of(tool.input_schema)])
        is_flawed = (
            bool(written.forced)
            or written.error is not None
            or session.has_made(tool.name, written.arguments)
            or _is_copied(written.arguments, tool, session.conversation)
            or bool(invented(written.text, written.tokens, conversation=known))
        )
        return Candidate(
            name=tool.name,
            arguments=written.arguments,
            likelihood=likelihood,
            sureness=_VALUE_WEIGHT * confidence(written.text, written.tokens),
            is_flawed=is_flawed,
            forced=written.forced,
        )

    async def _write(self, prompt: str, rules: ArgumentRules, meter: Meter) -> _WrittenArguments | None:
        """Arguments, and what is wrong with them; None if the model did not come to their end."""
        completion = await self._complete(prompt + opening(rules.tool_name), rules.grammar, meter)
        text = completion.text.removesuffix(CALL_END)
        if text == completion.text:
            return None
        arguments, error = None, None
        try:
            arguments = cast("JsonObject", parse_json(text))
        except ValueError as fault:  # what no grammar holds: names that differ, numbers that can be had
            error = f"The arguments cannot be read: {fault}."
        return _WrittenArguments(
            text=text,
            tokens=completion.tokens,
            arguments=arguments,
            forced=forced_pointers(text, completion.forced),
            error=error if arguments is None else rules.error(arguments),
        )

    async def _complete(self, prompt: str, grammar: Grammar, meter: Meter) -> Completion:
        completion: Completion | None = None
        async for event in self._model.write(prompt, max_tokens=meter.allow(_MOST_ARGUMENT_TOKENS), grammar=grammar):
            if isinstance(event, Completion):
                completion = event
        if completion is None:
            raise ProviderError(f"The model {self._model.name!r} ended without a completion.")
        meter.add(completion.usage)
        return completion


def _is_copied(arguments: JsonObject, tool: ToolDefinition, conversation: str) -> bool:
    """Whether the model repeats an example of the tool of which nothing was said."""
    said = conversation.casefold()
    return (
        bool(arguments)
        and arguments in tool.examples
        and not any(str(value).casefold() in said for value in arguments.values())
    )

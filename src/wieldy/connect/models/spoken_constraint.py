"""What a reply is held to: calls in a format, arguments that fit their schemas, and what an answer must be. Pure.

Law: whatever the tools and the output are, there is a constraint, and the reply says whether it held the answer. What
no constraint can be made of, such as a schema that refers to another document, is left to the validator behind it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from wieldy.connect.models.backends.outputs import shape_of
from wieldy.core.calls import NO_TOOLS, ToolDefinition
from wieldy.core.errors import GrammarError
from wieldy.core.ports import ModelRequest
from wieldy.formats.format import Beside, ChatFormat
from wieldy.grammar import Grammar
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Json, Rules, Shape

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """What a reply is held to.

    Attributes:
        grammar: None where it may be any text.
        holds_answer: Whether it holds the text of an answer to what it must be.
    """

    grammar: Grammar | None
    holds_answer: bool = False


def constraint_of(
    request: ModelRequest,
    chat_format: ChatFormat,
    *,
    prompt: str,
    special_tokens: Mapping[str, int],
    beside: Collection[Beside],
) -> Constraint:
    """What the reply to a request is held to.

    Args:
        request: What is asked.
        chat_format: What the model writes.
        prompt: What it was given.
        special_tokens: The vocabulary's special tokens that stand in marks of the format, with their ids.
        beside: What it may write beside calls and answers.

    Raises:
        UsageError: A call of a tool is demanded that is not on offer.
        GrammarError: There is no engine for constraints.
    """
    answer = _answer(request)
    if not request.tools and answer is None:
        return Constraint(grammar=None)

    def grammar(tools: Collection[ToolDefinition]) -> Grammar:
        return chat_format.grammar(
            tools,
            tool_choice=request.tool_choice if tools else NO_TOOLS,
            # A small model that has to call, and may call again, often goes on until its budget is gone.
            at_most=1 if not request.parallel_calls or request.tool_choice.mode in ("required", "tool") else None,
            prompt=prompt,
            special_tokens=special_tokens,
            answer=answer,
            beside=beside,
        )

    try:
        found = grammar(request.tools)
    except GrammarError:
        # Each part is looked at by itself only where the whole cannot be: nearly always it can.
        found = grammar([_with_any_arguments(tool) for tool in request.tools])
    return Constraint(grammar=found, holds_answer=answer is not None)


def _answer(request: ModelRequest) -> Shape | None:
    """What the text of an answer must be; None for any, also where no constraint can be made of it."""
    if request.output is None:
        return None
    try:
        shape = shape_of(request.output)
        compiled(Rules(start=shape))
    except GrammarError as error:
        _LOG.warning("Nothing holds the answer to what it must be while it is written: %s", error)
        return None
    return shape


def _with_any_arguments(tool: ToolDefinition) -> ToolDefinition:
    """The tool with a schema that can be a constraint: its own, or that of any object."""
    try:
        compiled(Rules(start=Json(tool.input_schema)))
    except GrammarError as error:
        _LOG.warning("Nothing holds the arguments of `%s` to its schema while they are written: %s", tool.name, error)
        return replace(tool, input_schema={"type": "object"})
    return tool

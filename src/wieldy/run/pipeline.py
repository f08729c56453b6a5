"""From what a model asked for to what may run: look up, validate, decide. Each stage has its own typed failure.

A call leaves as a `Step`, or as an `Outcome` whose text a small model can act on. Deliberately not here: reading calls
out of text (whoever reads a model's reply), the order (`scheduler`) and the tool's code (`executor`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.context import Context
from wieldy.core.errors import (
    ArgumentsError,
    ModelVisibleError,
    ParseError,
    ToolDeniedError,
    UnknownToolError,
)
from wieldy.core.json import JsonObject, canonical_json, digest
from wieldy.run.executor import Outcome, Step, failed
from wieldy.run.journal.encoding import bytes_from_data, data_from_bytes
from wieldy.run.policy import Deny, Policy, decide
from wieldy.run.replies import NESTING_LIMIT, is_nested_deeper, too_deep
from wieldy.schema import nearest_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wieldy.core.calls import AnyCall
    from wieldy.tools import Tool, ValidArguments

_NAMED_TOOLS: Final = 10
"""How many tools an error names before it only counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """What every call of a run goes through before its code.

    Attributes:
        tools: By name, in the order in which the model was shown them.
    """

    run_id: str
    tools: Mapping[str, Tool]
    policy: Policy

    async def prepare(self, call: AnyCall) -> Step | Outcome:
        """The step to run, or why there is none."""
        try:
            if isinstance(call, InvalidToolCall):
                raise _unreadable(call, self.tools)
            tool = look_up(call.name, self.tools)
            arguments = _validate(call, tool)
            await self._decide(call, tool, arguments)
        except ModelVisibleError as error:
            return failed(call.id, error)
        return Step(call=call, tool=tool, arguments=arguments, context=self._context(call, tool, arguments))

    async def _decide(self, call: ToolCall, tool: Tool, arguments: ValidArguments) -> None:
        # The policy sees a copy of what will be used, not of what was written, and cannot change it.
        decision = await decide(self.policy, call=replace(call, arguments=_copy(arguments.json)), tool=tool)
        if isinstance(decision, Deny):
            raise ToolDeniedError(
                f"`{call.name}` was not run: {decision.reason}. Do not ask for it again; find another way, or say so."
            )

    def _context(self, call: ToolCall, tool: Tool, arguments: ValidArguments) -> Context:
        return Context(
            run_id=self.run_id,
            call_id=call.id,
            tool_name=tool.name,
            idempotency_key=digest(self.run_id, call.id, tool.name, arguments.json),
        )


def look_up(name: str, tools: Mapping[str, Tool]) -> Tool:
    """The tool of that name.

    Raises:
        UnknownToolError: There is none; the nearest names are in the text.
    """
    tool = tools.get(name)
    if tool is not None:
        return tool
    names = list(tools)
    if not names:
        raise UnknownToolError(f"There is no tool `{name}`: there are no tools here. Answer in text.", name=name)
    nearest = nearest_names(name, names, most=3)
    if nearest:
        hint = f"Did you mean {' or '.join(f'`{candidate}`' for candidate in nearest)}?"
    elif len(names) <= _NAMED_TOOLS:
        hint = f"The tools are {', '.join(f'`{candidate}`' for candidate in names)}."
    else:
        hint = f"None of the {len(names)} tools has a similar name; use one that you were given."
    raise UnknownToolError(f"There is no tool `{name}`. {hint}", name=name, nearest=nearest)


def _unreadable(call: InvalidToolCall, tools: Mapping[str, Tool]) -> ParseError:
    tool = tools.get(call.name or "")
    examples = tool.definition.examples if tool is not None else ()
    example = f" Arguments that fit: {canonical_json(examples[0])}" if examples else ""
    return ParseError(call.error + example)


def _validate(call: ToolCall, tool: Tool) -> ValidArguments:
    # A copy, so that a tool that changes what it is given does not change the history.
    arguments = tool.validate(_copy(call.arguments))
    # Asked again, because JSON that the model wrote as text may have been read on the way.
    if is_nested_deeper(arguments.json, levels=NESTING_LIMIT):
        raise ArgumentsError(too_deep(call.name))
    return arguments


def _copy(arguments: JsonObject) -> JsonObject:
    return data_from_bytes(bytes_from_data(arguments))

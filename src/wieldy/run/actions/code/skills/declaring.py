"""A skill's function as a tool: schema, checks and texts are made of its signature as of that of any function.

Deliberately not here: what a call of it runs (`agent.skill_tools`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from wieldy.core.context import Context
from wieldy.core.errors import SkillError, UsageError
from wieldy.tools import Tool, tool

if TYPE_CHECKING:
    from wieldy.run.actions.code.skills.functions import Function
    from wieldy.run.actions.code.skills.skill import Skill

Use: TypeAlias = Callable[[Mapping[str, Any], Context], Awaitable[object]]
"""What a call runs: given the arguments as they fit, by name, and what may be known of the call."""

CONTEXT: Final = "wieldy_context"
"""No parameter of a skill is called so: the function gets what a model gives it, and no context."""


def tool_of(skill: Skill, function: Function, use: Use) -> Tool:
    """The tool that a model is offered.

    Its effect is what code has: what it does to the world is what its calls do, and they are looked at one by one.

    Raises:
        SkillError: It cannot be one, or the example's arguments do not fit it.
    """

    async def called(**given: Any) -> object:
        context: Context = given.pop(CONTEXT)
        return await use(given, context)

    # The function that is written in the skill, as far as a tool is made of it; it is run elsewhere.
    own = Parameter(CONTEXT, Parameter.KEYWORD_ONLY, annotation=Context)
    parameters = [*function.signature.parameters.values(), own]
    called.__signature__ = function.signature.replace(parameters=parameters)  # pyright: ignore[reportFunctionMemberAccess]
    called.__doc__ = function.documentation
    try:
        declare = tool(name=skill.name, effect="idempotent", retries=0, examples=[skill.example.arguments])
        return replace(declare(called), origin=f"skill:{skill.title}")
    except UsageError as error:
        raise SkillError(f"`{skill.name}` cannot be a tool: {error}") from error


async def nothing(given: Mapping[str, Any], context: Context) -> object:
    """For a tool that is only looked at."""
    del given, context
    raise NotImplementedError

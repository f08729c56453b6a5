"""Whether a call asks again for what an earlier one may have done already, in its own run or another of its tree.

Two calls ask for the same if the function would get equal values, however they are written, and if the tool is the
same: by its name, or, where it is offered under another one or in another run, by the origin of its code. Other code
that does the same is not recognised. Deliberately not here: what is in doubt (`state.doubts`, `tree`), and what
follows from it (`pipeline`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wieldy.core.errors import ModelVisibleError
from wieldy.tools.origins import is_same_code, is_same_tool

if TYPE_CHECKING:
    from wieldy.run.outcomes import Step
    from wieldy.run.state import Doubt
    from wieldy.run.tree import RunTree
    from wieldy.tools import Tool, ValidArguments


def repeated(tool: Tool, arguments: ValidArguments, *, tree: RunTree, run_id: str) -> tuple[Doubt, ...]:
    """The calls in doubt that ask for the same as this call of the run, the newest first."""
    if not tree.has_doubts:
        return ()
    name = tree.path(run_id) + tool.name
    doubts = reversed([*tree.doubts()])  # of two that were started at once, the later one is the newer
    found = [doubt for doubt in doubts if _is_of(tool, name, doubt) and _is_same(tool, arguments, doubt)]
    return tuple(sorted(found, key=lambda doubt: -doubt.started))


def is_repeat_of_news(step: Step, tree: RunTree) -> bool:
    """Whether a call came to be in doubt that the step repeats, and that was not when the step was prepared."""
    if not tree.has_doubts or step.tool.effect in ("read", "idempotent"):
        return False
    found = repeated(step.tool, step.arguments, tree=tree, run_id=step.context.run_id)
    return any(doubt not in step.repeats for doubt in found)


def is_surely_of(tool: Tool, doubt: Doubt, *, tree: RunTree, run_id: str) -> bool:
    """Whether the tool, as this run offers it, was at work: then its key is known, and so is whom to ask."""
    return doubt.names[0] == tree.path(run_id) + tool.name or any(
        is_same_tool(origin, tool.origin) for origin in doubt.origins[-1:]
    )


def _is_of(tool: Tool, name: str, doubt: Doubt) -> bool:
    return name in doubt.names or any(is_same_code(origin, tool.origin) for origin in doubt.origins)


def _is_same(tool: Tool, arguments: ValidArguments, doubt: Doubt) -> bool:
    try:
        return tool.means_same(arguments, tool.validate(dict(doubt.arguments)))
    except ModelVisibleError:  # the tool takes other arguments now
        return False

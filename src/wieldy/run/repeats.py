"""Whether a call asks again for what an earlier one may have done already.

A call of which nobody knows how it ended (its process died, it gave no answer in time) is in doubt until the model has
been told of its outcome, or a repeat has brought one. Two calls ask for the same if the function would get equal
values, however they are written. Deliberately not here: what follows from it (`pipeline`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wieldy.core.errors import ModelVisibleError

if TYPE_CHECKING:
    from wieldy.run.outcomes import Step
    from wieldy.run.state import CallState, Fold
    from wieldy.tools import Tool, ValidArguments


def repeated(tool: Tool, arguments: ValidArguments, known: Fold) -> CallState | None:
    """The newest call in doubt that asks for the same; None if there is none."""
    return next((call for call in known.unknown_of(tool.name) if _is_same(tool, arguments, call)), None)


def is_repeat_of_news(step: Step, known: Fold) -> bool:
    """Whether a call came to be in doubt that the step repeats, and that was not when the step was prepared."""
    if not known.has_unknown or step.tool.effect in ("read", "idempotent"):
        return False
    earlier = repeated(step.tool, step.arguments, known)
    return earlier is not None and earlier.call.id not in (step.repeats, step.call.id)


def _is_same(tool: Tool, arguments: ValidArguments, call: CallState) -> bool:
    if call.arguments is None:
        return False
    try:
        return tool.means_same(arguments, tool.validate(dict(call.arguments)))
    except ModelVisibleError:  # the tool takes other arguments now
        return False

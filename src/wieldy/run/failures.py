"""What a tool's code raised, as an error of ours.

Law: an error that a tool raised is looked at here and nowhere else. What goes on from here is a class of ours with a
text, so that whatever a tool's own class lacks, holds or does cannot hurt the run. Deliberately not here: what follows
from a failure (`single_call`, `retries`), and hiding secrets in it (`results`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast, get_args

from wieldy.core.errors import (
    ArgumentsError,
    FailureLayer,
    ForcedArgumentsError,
    ModelVisibleError,
    OutcomeUnknownError,
    ParseError,
    ToolCrashedError,
    ToolDeniedError,
    ToolError,
    ToolTimeoutError,
    TransientToolError,
    UnknownToolError,
)
from wieldy.core.foreign import attribute, single, text_of, traceback_of
from wieldy.run.retries import CHECK_FIRST

if TYPE_CHECKING:
    from wieldy.run.outcomes import Step

Visible = TypeVar("Visible", bound=ModelVisibleError)

_LAYERS: Final[tuple[FailureLayer, ...]] = get_args(FailureLayer)
_HARMLESS_TO_REPEAT: Final = ("read", "idempotent")
_NAMES: Final[Mapping[type[ModelVisibleError], str]] = {
    ToolTimeoutError: "timeout",
    TransientToolError: "transient",
    ToolError: "tool",
    OutcomeUnknownError: "unknown",
    ToolCrashedError: "crashed",
    ToolDeniedError: "denied",
    UnknownToolError: "arguments",
    ArgumentsError: "arguments",
    ForcedArgumentsError: "arguments",
    ParseError: "arguments",
}
"""What code may tell failures apart by; each before those that it is a kind of."""

_KINDS: Final[tuple[type[ModelVisibleError], ...]] = (
    TransientToolError,
    ToolTimeoutError,
    ToolError,
    OutcomeUnknownError,
    ToolCrashedError,
    ToolDeniedError,
    ArgumentsError,
    ParseError,
    ModelVisibleError,
)
"""Each before those that it is a kind of."""


class Failure(NamedTuple):
    """What became of what a tool's code raised.

    Attributes:
        error: Of one of our classes, and with nothing in it that is not ours.
        layer: Whose failure it is, where that is not what the class says.
        is_quoted: Whether the text is the tool's own.
        nothing_done: Whether it is certain that the call had no effect.
    """

    error: ModelVisibleError
    layer: FailureLayer | None = None
    is_quoted: bool = False
    nothing_done: bool = False


def failure_of(raised: BaseException, step: Step) -> Failure:
    """What a model is told of something that a tool's code raised."""
    raised = single(raised)
    kind = next((kind for kind in _KINDS if issubclass(type(raised), kind)), None)
    if kind is None:
        return Failure(_unforeseen(raised, step))
    text = text_of(raised) or ""
    detail = _words(attribute(raised, "detail"))
    layer = layer_of(raised)
    if kind is not TransientToolError:
        return Failure(kind(text, detail=detail), layer, is_quoted=True)
    nothing_done = attribute(raised, "nothing_done") is True
    retry_after_s = _seconds(attribute(raised, "retry_after_s"))
    error = TransientToolError(text, retry_after_s=retry_after_s, nothing_done=nothing_done, detail=detail)
    return Failure(error, layer, is_quoted=True, nothing_done=nothing_done)


def crashed(raised: BaseException, step: Step) -> ToolCrashedError:
    """What a model is told where a tool's code did something that nobody foresaw."""
    caution = "" if step.tool.effect in _HARMLESS_TO_REPEAT else f" {CHECK_FIRST}"
    return ToolCrashedError(
        f"`{step.call.name}` failed with an internal error, which is recorded for the operator.{caution} "
        "Try other arguments or another way, or say that it does not work.",
        detail=traceback_of(raised),
    )


def reworded(error: Visible, text: str) -> Visible:
    """The same error, of ours, with another text."""
    if isinstance(error, TransientToolError):
        same = TransientToolError(
            text, retry_after_s=error.retry_after_s, nothing_done=error.nothing_done, detail=error.detail
        )
        return cast("Visible", same)
    return type(error)(text, detail=error.detail)


def kind_of(error: ModelVisibleError) -> str:
    """The word by which code may tell the failure from others."""
    return next((name for kind, name in _NAMES.items() if isinstance(error, kind)), "tool")


def layer_of(raised: BaseException) -> FailureLayer | None:
    """Whose failure the error says it is, if it says so in a way that can be understood."""
    said = attribute(raised, "layer")
    return said if type(said) is str and said in _LAYERS else None


def _unforeseen(raised: BaseException, step: Step) -> ModelVisibleError:
    name = step.call.name
    if issubclass(type(raised), TimeoutError):
        why = "something that it waited for took too long"
    elif issubclass(type(raised), ConnectionError):
        why = "a connection could not be made or broke"
    else:
        return crashed(raised, step)
    return TransientToolError(f"`{name}` failed: {why}.", detail=traceback_of(raised))


def _words(said: object) -> str | None:
    return None if said is None else text_of(said)


def _seconds(said: object) -> float | None:
    """The number, if it is one; what is beyond all of them is for ever."""
    if not issubclass(type(said), int | float):
        return None
    try:
        number = float(cast("float", said))
    except OverflowError:
        return math.inf
    except BaseException:  # a class of its own
        return None
    return None if math.isnan(number) else number

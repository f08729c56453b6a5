"""One value out of a text, without tools: a run of an agent whose answer must be something, and nothing around it.

Deliberately not here: what a value may be (`run.outputs`), and how a model is held to it (`connect`).
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack, overload

from wieldy.agent.agent import Agent, Prompt
from wieldy.agent.waiting import wait_for
from wieldy.core.errors import ForcedOutputWarning, OutputError, UsageError
from wieldy.core.outputs import Incomplete

if TYPE_CHECKING:
    from pathlib import Path

    from wieldy.core.events import RunResult
    from wieldy.core.limits import Limits
    from wieldy.core.ports import Journal, Model
    from wieldy.run.outputs import OutputSpec
    from wieldy.run.prices import Prices

_T = TypeVar("_T")
_OF_CALLER = 3
"""How many frames above `_value` the program's own code is."""


class Settings(TypedDict, total=False):
    """What else can be said; each is what `Agent` takes under that name, and the model is `local` if none is named."""

    model: Model | str
    instructions: str | None
    limits: Limits
    journal: Journal | Path | str | None
    prices: Prices | None


@overload
def extract(prompt: Prompt, spec: type[_T], **settings: Unpack[Settings]) -> _T: ...
@overload
def extract(prompt: Prompt, spec: OutputSpec, **settings: Unpack[Settings]) -> Any: ...
def extract(prompt: Prompt, spec: OutputSpec, **settings: Unpack[Settings]) -> Any:
    """The value that the model makes of the prompt, by the hardest means that it has.

    A model that can be held to the form is; where nothing holds it, what it writes is validated, and it is told what
    does not fit and asked again, at most `Limits.corrections` times.

    Args:
        prompt: Text, or a conversation, which may hold images and files.
        spec: A Pydantic model, a dataclass, a TypedDict or another type that JSON can carry, `Literal` or `Enum` for a
            choice; a JSON Schema; a list of options; a compiled regular expression.
        **settings: `model`, `instructions`, `limits`, `journal` and `prices`, as `Agent` takes them; the model is
            `local` if none is named.

    Raises:
        BudgetError: The shortest value is longer than `Limits.output_tokens`; said before anything is generated, by
            models that can know it. The error has the minimum.
        OutputError: The answer did not become one; the error has it.
        UsageError: The spec or the prompt is none, or an event loop is running already.
        RunError: The model could not answer.

    Warns:
        ForcedOutputWarning: The limit was so near that it decided parts of the value.
    """
    return _value(wait_for(partial(_run, prompt, spec, settings), called="extract", instead="wieldy.extract_async"))


@overload
async def extract_async(prompt: Prompt, spec: type[_T], **settings: Unpack[Settings]) -> _T: ...
@overload
async def extract_async(prompt: Prompt, spec: OutputSpec, **settings: Unpack[Settings]) -> Any: ...
async def extract_async(prompt: Prompt, spec: OutputSpec, **settings: Unpack[Settings]) -> Any:
    """`extract` for programs that are asynchronous.

    Raises:
        BudgetError, OutputError, UsageError, RunError: As `extract`.
    """
    return _value(await _run(prompt, spec, settings))


async def _run(prompt: Prompt, spec: OutputSpec, settings: Settings) -> RunResult:
    if spec is None:
        raise UsageError(
            "Expected what to extract, as a type, a JSON Schema, a list of options or a compiled regular expression, "
            "found None. For null as the value, say type(None)."
        )
    # Guided by nothing: there is no tool to be led to.
    named: Settings = {"model": "local", **settings}
    agent = Agent(**named, output=spec, strategy="native")
    return await agent.run(prompt)


def _value(result: RunResult) -> Any:
    found = result.output
    if isinstance(found, Incomplete):
        raise OutputError(
            f"The answer did not become what was wanted ({result.stop_reason}). {found.error}",
            incomplete=found,
            run_id=result.run_id,
        )
    if result.closed_by_budget or result.forced:
        pointers = ", ".join(pointer or _whole(result.text) for pointer in result.forced) or "where it ends"
        told = f"The limit on output tokens decided parts of the value, not the model: {pointers}. Raise the limit."
        warnings.warn(told, ForcedOutputWarning, stacklevel=_OF_CALLER)
    return found


def _whole(text: str) -> str:
    """What the pointer of the whole says: of JSON whose members are the model's own, only that they are no more."""
    is_filled = text.lstrip()[:1] in ("{", "[") and any(character not in " \t\r\n{}[]" for character in text)
    return "where it ends" if is_filled else "all of it, or only where it ends"

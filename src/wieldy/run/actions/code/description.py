"""What a model is told of acting by code: how code runs, and the tools as functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wieldy.run.actions.code.levels import Level
    from wieldy.run.actions.code.stubs import Stubs

_DESCRIPTION: Final = (
    "Run Python code in an isolated sandbox: no network, no files of the host. The functions below are there already; "
    "calling them is the only way to reach anything outside. `await` them (top-level `await` works), run independent "
    "calls together with `await asyncio.gather(...)`, or use `NAME.sync(...)` where you cannot await. They return "
    'data: `x.a` and `x["a"]` both work. A call that fails raises `ToolError`, with `.kind` (arguments, denied, '
    "timeout, unknown, transient, crashed, too_large, tool) and a message. What you get back is the value of the last "
    "line and what was printed; so filter and sum up in code, and return only what you need. Names that you assign are "
    "kept for your next code."
)
_BY_LEVEL: Final[Mapping[Level, str | None]] = {
    "run": None,
    "handles": (
        "What strangers may have written (pages, mails) you get as a handle: code can pass it to a function or return"
        " it, as it is or a part of it (`page.title`, `rows[0]`), and cannot look into it, compare it or go through "
        "it. A call that is given a handle brings a handle. `await reveal(handle)` gives the value, or raises the "
        "`ToolError` with which its call failed; from then on all that your code does counts as influenced by "
        "strangers, and some calls may be denied for that."
    ),
    "tracked": (
        "Of plain code it is followed which data has a part in which call, so that calls are denied only where "
        "strangers have one: functions, loops, conditions, comprehensions, exceptions, f-strings, and of modules "
        "asyncio, json, math and re. Code with classes, `with`, `match`, `yield` or other imports runs too, but then "
        "everything that it reads counts as part of all that it does, and it does not find the names of plain code."
    ),
}


def description_of(stubs: Stubs, level: Level) -> str:
    """The description of the tool that runs code.

    Args:
        stubs: The tools that code may call.
        level: How exactly it is known whose data is whose.
    """
    parts = [_DESCRIPTION, _BY_LEVEL[level], stubs.text or "There are no functions."]
    return "\n\n".join(part for part in parts if part is not None)

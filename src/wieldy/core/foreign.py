"""Looks at what other people's code gave, a value or an error. To look at it is to run their code once more.

Law: whatever that code raises meanwhile stays here, also what would end a task or the program. In code that does not
wait, nothing of that kind is a request from outside. Deliberately not here: what follows from what was seen.
"""

from __future__ import annotations

import inspect
import traceback
import types
from typing import TYPE_CHECKING, Any, TypeGuard, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable

# As Python keeps them, whatever a class says instead.
_name_of_type: Any = type.__dict__["__name__"].__get__
_frames_of: Any = vars(BaseException)["__traceback__"].__get__
_members_of: Any = vars(BaseExceptionGroup)["exceptions"].__get__


def text_of(value: object) -> str | None:
    """What it says of itself; None if it cannot."""
    try:
        return plain(str(value))
    except BaseException:  # `__str__` is its own code
        return None


def plain(text: str) -> str:
    """The characters alone, where the text is of a class of its own."""
    return str.__str__(text)


def attribute(value: object, name: str) -> object:
    """What is found under that name; None where nothing can be."""
    try:
        return getattr(value, name, None)
    except BaseException:  # a property is its own code
        return None


def type_name(value: object) -> str:
    """The name of its class."""
    return _name_of_type(type(value))


def is_awaitable(value: object) -> TypeGuard[Awaitable[object]]:
    """Whether it can be waited for."""
    if type(value) is types.CoroutineType:
        return True
    try:
        return inspect.isawaitable(value)
    except BaseException:  # what says badly of which class it is
        return False


def single(error: BaseException) -> BaseException:
    """The one error in a group of errors that holds only that, as task groups raise it; else the error itself."""
    while issubclass(type(error), BaseExceptionGroup):
        members = cast("tuple[BaseException, ...]", _members_of(error))
        if len(members) != 1:
            break
        (error,) = members
    return error


def traceback_of(error: BaseException) -> str:
    """Where it came from and what it says, for the operator."""
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:  # its causes, notes and text are its own code
        frames = "".join(traceback.format_tb(_frames_of(error)))
        return f"{frames}{type_name(error)}: {text_of(error) or '(it cannot be shown)'}\n"

"""What kind of callable a function is, and what its annotations mean.

Partials, bound methods and callable objects are looked through to the function that was written; annotations given as
text are resolved where that function was written, in enclosing functions too. Deliberately not here: what becomes of
the parameters (`signature`).
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from wieldy.core.context import Context
from wieldy.core.errors import ToolSignatureError
from wieldy.schema.typed_dicts import readable

AnyFunction: TypeAlias = Callable[..., Any]


def written_function(function: AnyFunction) -> AnyFunction:
    """The function whose body, docstring and annotations count: behind partials, methods, objects and decorators."""
    while True:
        if isinstance(function, functools.partial):
            function = cast("functools.partial[Any]", function).func
        elif inspect.ismethod(function):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = cast("Any", function).__wrapped__
        elif not inspect.isroutine(function) and not inspect.isclass(function):
            function = type(function).__call__
        else:
            return function


def is_async(function: AnyFunction) -> bool:
    """Whether calling it gives an awaitable that runs its body."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    return any(map(inspect.iscoroutinefunction, _bodies(function)))


def is_generator(function: AnyFunction) -> bool:
    """Whether calling it gives values one by one instead of one result."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    return any(inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body) for body in _bodies(function))


def _bodies(function: AnyFunction) -> tuple[AnyFunction, ...]:
    """The function and, for an object, its `__call__`."""
    return (function,) if inspect.isroutine(function) else (function, type(function).__call__)


def is_method_of_class(function: AnyFunction) -> bool:
    """Whether this is a function from a class's body, so that its first parameter is the object."""
    if not inspect.isfunction(function):
        return False
    owner = function.__qualname__.rpartition(".")[0]
    first = next(iter(inspect.signature(function).parameters), None)
    return bool(owner) and not owner.endswith("<locals>") and first in {"self", "cls"}


def default_name(function: AnyFunction) -> str:
    """The name under which a function was written; a callable object's class, if the object has no name."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def docstring_of(function: AnyFunction) -> str | None:
    """The docstring that was written for it; a callable object's class may speak for its `__call__`."""
    written = written_function(function)
    text = inspect.getdoc(written)
    if text is None and not inspect.isroutine(function) and not isinstance(function, functools.partial):
        text = inspect.getdoc(type(function))
    return text


def signature_of(function: AnyFunction) -> inspect.Signature:
    """The parameters that a call may still give; those that a partial has fixed by name are left out.

    Raises:
        ToolSignatureError: Python does not know them.
    """
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError) as error:
        raise ToolSignatureError(
            f"{function!r}: expected a Python function with named parameters, found a callable that does not tell "
            "them. Wrap it in a function of your own with type hints."
        ) from error
    fixed = set[str]()
    while isinstance(function, functools.partial):
        partial = cast("functools.partial[Any]", function)
        fixed |= set(partial.keywords)
        function = partial.func
    kept = [parameter for name, parameter in signature.parameters.items() if name not in fixed]
    return signature.replace(parameters=kept)


class Annotations:
    """Resolves the annotations of one function."""

    def __init__(self, function: AnyFunction) -> None:
        written = written_function(function)
        self._globals: dict[str, Any] = {
            # What linters move below `if TYPE_CHECKING:` is not there at run time; of ours we know what is meant.
            "Context": Context,
            **getattr(written, "__globals__", {}),
            **_enclosing_names(written),
        }

    def resolve(self, annotation: object) -> Any:
        """The type that an annotation means; Any where there is none.

        Raises:
            NameError: It names something that is not there.
        """
        if annotation is inspect.Parameter.empty:
            return Any

        def holder() -> None: ...

        holder.__annotations__ = {"it": annotation}
        return readable(typing.get_type_hints(holder, globalns=self._globals, include_extras=True)["it"])


def _enclosing_names(function: AnyFunction) -> Mapping[str, object]:
    """What the function can see of the functions around it: its closure, and their variables while they still run."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, types.CodeType):
        return {}
    names: dict[str, object] = {}
    inner = {code}
    frame = sys._getframe()  # pyright: ignore[reportPrivateUsage] - the only way to variables that are not closed over
    while frame is not None:
        # A function's code is a constant of the code that it was written in, and of no other.
        if inner & {constant for constant in frame.f_code.co_consts if isinstance(constant, types.CodeType)}:
            names = {**frame.f_locals, **names}
            inner.add(frame.f_code)
        frame = frame.f_back
    return {**names, **_closure(function)}


def _closure(function: AnyFunction) -> Mapping[str, object]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or cells is None:
        return {}
    found: dict[str, object] = {}
    for name, cell in zip(code.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue
    return found

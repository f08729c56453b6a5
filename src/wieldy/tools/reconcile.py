"""The question whether a call happened: the function that a tool names as `reconcile=`.

It gets those of the call's arguments that it has parameters for, by name, and the `Context` where it asks for one, with
the call's idempotency key. Deliberately not here: when it is asked, and what its answer means (`run`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from wieldy.core.context import Context
from wieldy.core.errors import ToolSignatureError
from wieldy.tools.callables import Annotations, AnyFunction, is_generator, is_method_of_class, signature_of
from wieldy.tools.signature import Signature, is_context


def check_reconcile(
    function: object, signature: Signature, *, subject: str, has_receiver: bool = False
) -> AnyFunction | None:
    """The function, found to be one that can be asked about every call of a tool with this signature.

    Args:
        function: What was given as `reconcile=`; None for nothing.
        signature: The tool's.
        subject: How errors call the tool.
        has_receiver: Whether the tool is a method that still lacks its object; the function may then be one as well.

    Raises:
        ToolSignatureError: It is no function, or wants what a call does not have.
    """
    if function is None:
        return None
    if not callable(function) or inspect.isclass(function):
        raise ToolSignatureError(f"{subject}: expected reconcile= to be a function, found {function!r}.")
    if is_generator(function):
        raise ToolSignatureError(f"{subject}: expected reconcile= to return its answer, found a generator.")
    lacks_object = has_receiver and is_method_of_class(function)
    annotations = Annotations(function)
    for parameter in list(signature_of(function).parameters.values())[int(lacks_object) :]:
        _check_parameter(parameter, annotations, signature, subject)
    return function


def bind_reconcile(
    function: AnyFunction, signature: Signature, values: Mapping[str, Any], context: Context
) -> Callable[[], Any]:
    """The question about one call, as a function without arguments."""
    annotations = Annotations(function)
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature_of(function).parameters.values():
        try:
            value = _value(parameter, annotations, signature, values, context)
        except LookupError:  # the function's own default is meant
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[parameter.name] = value
    return lambda: function(*positional, **named)


def _check_parameter(
    parameter: inspect.Parameter, annotations: Annotations, signature: Signature, subject: str
) -> None:
    known = ", ".join((*(known.name for known in signature.parameters), "a Context"))
    if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
        raise ToolSignatureError(
            f"{subject}: expected reconcile= to name what it is asked with, found {str(parameter)!r}. It can be given "
            f"{known}."
        )
    is_known = parameter.name in signature.order or _wants_context(parameter, annotations)
    if not is_known and parameter.default is parameter.empty:
        raise ToolSignatureError(
            f"{subject}: reconcile= has the parameter {parameter.name!r}, which the tool has not. It can be given "
            f"{known}; give every other parameter a default."
        )


def _value(
    parameter: inspect.Parameter,
    annotations: Annotations,
    signature: Signature,
    values: Mapping[str, Any],
    context: Context,
) -> Any:
    if parameter.name in signature.contexts or _wants_context(parameter, annotations):
        return context
    if parameter.name in values or parameter.default is not parameter.empty:
        return values[parameter.name]
    # The model left it out, and the tool's code had its own default.
    return {shown.name: shown.default for shown in signature.parameters}[parameter.name]


def _wants_context(parameter: inspect.Parameter, annotations: Annotations) -> bool:
    try:
        return is_context(annotations.resolve(parameter.annotation))
    except (NameError, AttributeError, SyntaxError, TypeError):  # a type that is not there at run time is no Context
        return False

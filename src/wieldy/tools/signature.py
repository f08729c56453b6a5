"""How a function's parameters are shown to a model, and how a model's arguments become a call.

The model sees JSON Schema; the function gets Python values of the types that it is annotated with, its own defaults
where nothing was given, and a `Context` where it asks for one. Types are pydantic's matter; here is the mapping.
"""

from __future__ import annotations

import collections.abc
import contextlib
import inspect
import types
import typing
import warnings
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.fields import FieldInfo
from pydantic_core import to_json

from wieldy.core.context import Context
from wieldy.core.errors import ToolSignatureError
from wieldy.core.json import JsonObject
from wieldy.core.media import FilePart, ImagePart
from wieldy.schema.from_types import TYPE_ERRORS, input_schema, why
from wieldy.tools.callables import Annotations, AnyFunction, signature_of
from wieldy.tools.present import Presented, Sourced

_AWAITABLES = (collections.abc.Awaitable, collections.abc.Coroutine)
_NO_RESULT = (inspect.Parameter.empty, None, type(None), Any, str, bytes)
# What the model is shown of these is not what pydantic would write.
_SHOWN_OTHERWISE = (ImagePart, FilePart, Presented, Sourced)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that the model sees.

    Attributes:
        name: As the function has it.
        shown: As the model sees it; different only where the annotation sets an alias.
        field: Its field of the arguments model.
        is_positional: Whether it can only be given by position.
        default: The function's own; `inspect.Parameter.empty` if it has none.
    """

    name: str
    shown: str
    field: str
    is_positional: bool
    default: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A function's parameters and result, ready for use.

    Attributes:
        parameters: What the model sees, in order.
        contexts: Parameters that get the `Context`.
        order: All parameters by name, in the function's order.
        by_position: Those of them that can only be given by position.
        arguments: The pydantic model of the arguments.
        result: Writes results as JSON; None where the function does not say what it returns.
    """

    parameters: tuple[Parameter, ...]
    contexts: tuple[str, ...]
    order: tuple[str, ...]
    by_position: tuple[str, ...]
    arguments: type[BaseModel]
    result: TypeAdapter[Any] | None

    def read(self, arguments: JsonObject) -> dict[str, Any]:
        """The keyword arguments that the function gets.

        Raises:
            pydantic.ValidationError: A type refuses its value.
        """
        # As JSON text, because strict types take text for dates and choices only there.
        instance: BaseModel = self.arguments.__pydantic_validator__.validate_json(to_json(arguments))
        values, given = vars(instance), instance.model_fields_set
        return {
            parameter.name: values[parameter.field]
            for parameter in self.parameters
            if parameter.field in given or isinstance(parameter.default, FieldInfo)
        }

    def means_same(self, values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
        """Whether the function gets equal values: 1 and 1.0, or a default that is left out and one that is given."""
        try:
            return all(
                bool(values.get(each.name, each.default) == others.get(each.name, each.default))
                for each in self.parameters
            )
        except BaseException:  # comparing values is their own code; what cannot be compared may be the same
            return True

    def call(self, function: AnyFunction, values: Mapping[str, Any], context: Context) -> Callable[[], Any]:
        """The call as a function without arguments."""
        given = dict(values)
        for name in self.contexts:
            given[name] = context
        if not self.by_position:
            return lambda: function(**given)
        positional = self._positional(given)
        return lambda: function(*positional, **given)

    def _positional(self, given: dict[str, Any]) -> list[Any]:
        """Takes what can only be given by position out of `given`, with defaults for what is left out in between."""
        defaults = {parameter.name: parameter.default for parameter in self.parameters}
        names = list(self.by_position)
        while names and names[-1] not in given:
            names.pop()
        return [given.pop(name) if name in given else defaults[name] for name in names]


def read_signature(function: AnyFunction, *, subject: str, has_receiver: bool = False) -> Signature:
    """The signature of a function that is to become a tool.

    Args:
        function: Anything callable that tells its parameters.
        subject: How errors call it: "The tool `refund`".
        has_receiver: Whether the first parameter is the object of a method that is not bound yet.

    Raises:
        ToolSignatureError: It has a parameter that no model could fill.
    """
    annotations = Annotations(function)
    written = signature_of(function)
    found = list(written.parameters.values())[int(has_receiver) :]
    _refuse_stars(found, subject)
    types_of = {parameter.name: _resolved(parameter, annotations, subject) for parameter in found}
    contexts = tuple(parameter.name for parameter in found if is_context(types_of[parameter.name]))
    shown = [parameter for parameter in found if parameter.name not in contexts]
    arguments = _arguments_model(shown, types_of, subject)
    return Signature(
        parameters=_parameters(shown, arguments, subject),
        contexts=contexts,
        order=tuple(parameter.name for parameter in found),
        by_position=tuple(parameter.name for parameter in found if parameter.kind is parameter.POSITIONAL_ONLY),
        arguments=arguments,
        result=_result_adapter(written.return_annotation, annotations),
    )


def schema_of(signature: Signature, descriptions: Mapping[str, str]) -> JsonObject:
    """The input schema; `descriptions` go by the function's own parameter names."""
    by_shown = {
        parameter.shown: descriptions[parameter.name]
        for parameter in signature.parameters
        if parameter.name in descriptions
    }
    return input_schema(signature.arguments, by_shown)


def is_context(annotation: Any) -> bool:
    """Whether a parameter with this annotation gets the `Context`."""
    origin = typing.get_origin(annotation)
    if origin is Annotated:
        return is_context(typing.get_args(annotation)[0])
    if origin in {typing.Union, types.UnionType}:
        members = [member for member in typing.get_args(annotation) if member is not type(None)]
        return bool(members) and all(is_context(member) for member in members)
    return isinstance(annotation, type) and issubclass(annotation, Context)


def _refuse_stars(parameters: list[inspect.Parameter], subject: str) -> None:
    for parameter in parameters:
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            stars, instead = (
                ("*", "list[str]") if parameter.kind is parameter.VAR_POSITIONAL else ("**", "dict[str, str]")
            )
            raise ToolSignatureError(
                f"{subject}: expected named parameters only, found {stars}{parameter.name}. A model has to be told "
                f"every argument: make it a plain parameter of a type such as {instead}, or use functools.wraps if "
                "this is a wrapper around the real function."
            )


def _resolved(parameter: inspect.Parameter, annotations: Annotations, subject: str) -> Any:
    try:
        return annotations.resolve(parameter.annotation)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise ToolSignatureError(
            f"{subject}, parameter {parameter.name!r}: expected a type that can be looked up, found "
            f"{parameter.annotation!r} ({error}). Define or import the type at the top of the module, not only for "
            "type checking."
        ) from error


def _arguments_model(parameters: list[inspect.Parameter], types_of: Mapping[str, Any], subject: str) -> type[BaseModel]:
    # Neutral field names, shown under the parameters' own: `schema` or `_id` are no field names for pydantic.
    shown_as = {f"tool_parameter_{index}": parameter.name for index, parameter in enumerate(parameters)}
    fields: dict[str, Any] = {
        field: (types_of[parameter.name], ... if parameter.default is parameter.empty else parameter.default)
        for field, parameter in zip(shown_as, parameters, strict=True)
    }
    # Dataclasses inside take over this configuration: their fields keep their names.
    config = ConfigDict(extra="forbid", alias_generator=lambda field: shown_as.get(field, field))
    with _explained(parameters, types_of, subject):
        model = create_model("Arguments", __config__=config, **fields)
    _refuse_equal_names(model, parameters, subject)
    with _explained(parameters, types_of, subject):
        input_schema(model, {})
    return model


@contextlib.contextmanager
def _explained(parameters: list[inspect.Parameter], types_of: Mapping[str, Any], subject: str) -> Generator[None]:
    try:
        yield
    except TYPE_ERRORS as error:
        raise ToolSignatureError(_why_no_model(parameters, types_of, subject, error)) from error


def _refuse_equal_names(model: type[BaseModel], parameters: list[inspect.Parameter], subject: str) -> None:
    fields = zip(parameters, model.model_fields.values(), strict=True)
    names = [_shown_name(field, parameter.name, subject) for parameter, field in fields]
    if len(set(names)) < len(names):
        raise ToolSignatureError(f"{subject}: expected different names for all parameters, found {', '.join(names)}.")


def _why_no_model(
    parameters: list[inspect.Parameter], types_of: Mapping[str, Any], subject: str, error: Exception
) -> str:
    for parameter in parameters:
        try:
            with warnings.catch_warnings():
                # What pydantic has to say about a type outside its field is not about the tool.
                warnings.simplefilter("ignore")
                TypeAdapter(types_of[parameter.name]).json_schema()
        except TYPE_ERRORS as reason:
            annotation = inspect.formatannotation(types_of[parameter.name])
            return (
                f"{subject}, parameter {parameter.name!r}: expected a type that JSON can carry, found {annotation} "
                f"({why(reason)}). Use a type such as str, int, a dataclass or a pydantic model; fix what the "
                "model must not choose with functools.partial."
            )
    return f"{subject}: its parameters have no JSON Schema: {why(error)}"


def _parameters(parameters: list[inspect.Parameter], arguments: type[BaseModel], subject: str) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            name=parameter.name,
            shown=_shown_name(field, parameter.name, subject),
            field=name,
            is_positional=parameter.kind is parameter.POSITIONAL_ONLY,
            default=parameter.default,
        )
        for parameter, (name, field) in zip(parameters, arguments.model_fields.items(), strict=True)
    )


def _shown_name(field: FieldInfo, name: str, subject: str) -> str:
    alias = field.validation_alias
    if not isinstance(alias, str):
        raise ToolSignatureError(f"{subject}, parameter {name!r}: expected an alias that is one name, found {alias!r}.")
    return alias


def _result_adapter(annotation: Any, annotations: Annotations) -> TypeAdapter[Any] | None:
    """What writes the result as JSON; None where the annotation says nothing that pydantic could use."""
    try:
        resolved = annotations.resolve(annotation)
        if typing.get_origin(resolved) in _AWAITABLES:
            resolved = typing.get_args(resolved)[-1]
        return None if resolved in _NO_RESULT or _is_shown_otherwise(resolved) else TypeAdapter(resolved)
    except (SyntaxError, *TYPE_ERRORS):
        # A result that cannot be described is still a result: it is shown as what it turns out to be.
        return None


def _is_shown_otherwise(annotation: Any) -> bool:
    return annotation in _SHOWN_OTHERWISE or any(_is_shown_otherwise(part) for part in typing.get_args(annotation))

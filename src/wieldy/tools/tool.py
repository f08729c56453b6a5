"""A tool: what the model sees, and the code behind it.

Made by `@tool` or from a plain function (`declare`); still callable as that function. A tool checks arguments, binds
them and shows results; when, whether and in which thread its code runs is decided in `run`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from wieldy.core.calls import Effect, Risk, ToolDefinition, Trust
from wieldy.core.context import Context
from wieldy.core.errors import ArgumentsError, ModelVisibleError, ToolCrashedError, ToolSignatureError, UsageError
from wieldy.core.foreign import traceback_of
from wieldy.core.json import JsonObject
from wieldy.core.record import Record
from wieldy.schema import CompiledSchema, Violation, coerce, example, explain, may_change
from wieldy.tools.callables import AnyFunction, is_method_of_class
from wieldy.tools.names import check_name
from wieldy.tools.present import Presented, present
from wieldy.tools.reconcile import bind_reconcile
from wieldy.tools.refusals import violations_of
from wieldy.tools.signature import Signature
from wieldy.tools.templates import fill

DEFAULT_RETRIES: Final = 2
"""How often a call is tried again, unless its tool says otherwise."""


class ValidArguments(Record, frozen=True, kw_only=True):
    """Arguments that fit.

    Attributes:
        json: As the model meant them, after repairs.
        values: As the function gets them, by parameter name.
        repairs: What was changed to make them fit, one note each.
    """

    json: JsonObject
    values: Mapping[str, Any]
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """A tool; two tools are equal only if they are the same object.

    Attributes:
        definition: What the model sees.
        function: The code.
        signature: How arguments become a call of it.
        schema: The input schema, compiled.
        effect: What a call does to the world; `unsafe` where nothing was declared.
        effect_declared: Whether something was.
        reads: Templates of the keys that a call reads.
        writes: Templates of the keys that a call changes.
        reconcile: Asked after a crash whether a call happened; set exactly when the effect is `reconcile`.
        permission: What the run's principal must be allowed for a call to run; None for nothing.
        risk: How much harm a wrong call can do, if that was said.
        trust: Whether strangers may have shaped what it returns.
        timeout_s: How long a call may take, in seconds; None for as long as it takes.
        retries: How often a call is tried again after a failure that may pass.
        fallback: The tool that is asked the same instead when a call failed for good without an effect.
        origin: Where the code comes from, the same in every process and under every name; empty if that is not known.
        is_async: Whether calling the function gives an awaitable.
        goes_on: Whether its code, when it is started again for the same call, finds out itself where it was: it goes on
            where it rested, and raises `OutcomeUnknownError` where it had not. Without it only effects that can be
            brought to a known end are started again.
        has_receiver: Whether this is a method that still lacks its object.
    """

    definition: ToolDefinition
    function: AnyFunction
    signature: Signature
    schema: CompiledSchema
    effect: Effect = "unsafe"
    effect_declared: bool = False
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    reconcile: AnyFunction | None = None
    permission: str | None = None
    risk: Risk | None = None
    trust: Trust = "trusted"
    timeout_s: float | None = None
    retries: int = DEFAULT_RETRIES
    fallback: str | None = None
    origin: str = ""
    is_async: bool = False
    goes_on: bool = False
    has_receiver: bool = False

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return self.definition.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function returns; nothing is validated or recorded."""
        return self.function(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Tool:
        """The tool of one object, where the function is a method of its class."""
        if instance is None or not self.has_receiver:
            return self
        reconcile = self.reconcile
        if reconcile is not None and is_method_of_class(reconcile):
            reconcile = types.MethodType(reconcile, instance)
        return replace(
            self, function=types.MethodType(self.function, instance), reconcile=reconcile, has_receiver=False
        )

    def renamed(self, name: str, *, fallback: str | None = None) -> Tool:
        """The same tool under another name; `fallback` is the new name of its fallback tool, if that has one.

        Raises:
            UsageError: Not a name that every provider takes.
        """
        check_name(name, subject=f"Renaming {self.name!r}", error=UsageError)
        definition = replace(self.definition, name=name)
        return replace(self, definition=definition, fallback=fallback or self.fallback)

    def validate(self, arguments: JsonObject) -> ValidArguments:
        """The arguments as they will be used, repaired where they have only one reading.

        Raises:
            ArgumentsError: They do not fit; the text says what would, with an example.
        """
        if not may_change(self.schema, arguments):
            return ValidArguments(json=arguments, values=self._read(arguments))
        value, repairs = coerce(self.schema, arguments)
        violations = self.schema.violations(value)
        if violations or not isinstance(value, dict):
            raise self._refused(violations)
        return ValidArguments(json=value, values=self._read(value), repairs=repairs)

    def _read(self, arguments: JsonObject) -> dict[str, Any]:
        try:
            return self.signature.read(arguments)
        except BaseException as error:  # a type's own checks are the tool's code
            refused = self._why_not(error, arguments)
        raise refused

    def _why_not(self, error: BaseException, arguments: JsonObject) -> ModelVisibleError:
        try:
            if type(error) is ValidationError:
                return self._refused(violations_of(error, arguments))
        except BaseException as worse:  # and so is the text of what they raise
            error = worse
        return ToolCrashedError(
            f"`{self.name}` could not check these arguments because of an internal error, which is recorded for the "
            "operator. Try other arguments or another way.",
            detail=traceback_of(error),
        )

    def _refused(self, violations: tuple[Violation, ...]) -> ArgumentsError:
        named = {str(violation.path[0]) for violation in violations if violation.path}
        made = example(self.schema, include=named)
        # The author's values say more than made ones; made ones fill in what went wrong and the author did not show.
        both = [made | shown for shown in self.definition.examples if isinstance(made, dict)]
        candidates = (*both, *self.definition.examples, made)
        fitting = next((shown for shown in candidates if isinstance(shown, dict) and self._is_good(shown)), None)
        return ArgumentsError(explain(violations, subject=f"The arguments of `{self.name}`", example=fitting))

    def _is_good(self, arguments: JsonObject) -> bool:
        try:
            self.signature.read(arguments)
        except BaseException:  # a type's own checks are the tool's code; what they refuse is no example
            return False
        return self.schema.accepts(arguments)

    def reads_of(self, arguments: JsonObject) -> tuple[str, ...]:
        """The keys that a call with these validated arguments reads."""
        return fill(self.reads, self.with_defaults(arguments)) if self.reads else ()

    def writes_of(self, arguments: JsonObject) -> tuple[str, ...]:
        """The keys that a call with these validated arguments changes."""
        return fill(self.writes, self.with_defaults(arguments)) if self.writes else ()

    def bind(self, values: Mapping[str, Any], context: Context) -> Callable[[], Any]:
        """The call as a function without arguments; it returns the value, or an awaitable of it.

        Raises:
            UsageError: This is a method without its object.
        """
        if self.has_receiver:
            raise ToolSignatureError(
                f"The tool {self.name!r} is a method without its object. Give the tool of an object, such as "
                f"`{self.function.__qualname__.rpartition('.')[0]}().{self.name}`, instead of the class's."
            )
        return self.signature.call(self.function, values, context)

    def bind_reconcile(self, values: Mapping[str, Any], context: Context) -> Callable[[], Any]:
        """The question whether a call with these values happened, as a function without arguments.

        It returns, or gives an awaitable of: None or False for no, True for yes, anything else for yes and its result.

        Raises:
            UsageError: There is nobody to ask.
        """
        if self.reconcile is None:
            raise UsageError(f"The tool {self.name!r} was not given reconcile=, so it cannot be asked what happened.")
        return bind_reconcile(self.reconcile, self.signature, values, context)

    def present(self, value: object) -> Presented:
        """What the function returned, as the text for the model, as JSON, and as images and files."""
        return present(value, self.signature.result)

    def means_same(self, arguments: ValidArguments, others: ValidArguments) -> bool:
        """Whether two calls ask for the same, however it is written."""
        return arguments.json == others.json or self.signature.means_same(arguments.values, others.values)

    def with_defaults(self, arguments: JsonObject) -> JsonObject:
        """The arguments, and the defaults of those that are left out, as far as they have a JSON form."""
        properties = self.definition.input_schema.get("properties")
        defaults: JsonObject = {
            name: schema["default"]
            for name, schema in (properties.items() if isinstance(properties, dict) else ())
            if isinstance(schema, dict) and "default" in schema
        }
        return defaults | arguments

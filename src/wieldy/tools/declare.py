"""`@tool`: a typed function becomes a tool, and everything declared about it is checked at once.

A tool that can be made can be called: names, templates, examples and types are found wrong here, when the module is
imported, not in the middle of a run.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args, overload

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_jsonable_python

from wieldy.core.calls import Effect, Risk, ToolAnnotations, ToolDefinition, Trust
from wieldy.core.errors import ToolSignatureError
from wieldy.core.json import JsonObject, JsonValue
from wieldy.schema import CompiledSchema, explain
from wieldy.schema.docstrings import Documentation, read_docstring
from wieldy.schema.from_types import PYTHON_FORMATS, output_schema
from wieldy.tools.callables import (
    AnyFunction,
    default_name,
    docstring_of,
    is_async,
    is_generator,
    is_method_of_class,
)
from wieldy.tools.names import check_name
from wieldy.tools.origins import origin_of
from wieldy.tools.reconcile import check_reconcile
from wieldy.tools.refusals import violations_of
from wieldy.tools.signature import Signature, read_signature, schema_of
from wieldy.tools.templates import check_templates
from wieldy.tools.tool import DEFAULT_RETRIES, Tool

DeclaredEffect: TypeAlias = Literal["read", "idempotent", "keyed", "unsafe"]

_ANNOTATIONS: dict[Effect, ToolAnnotations] = {
    "read": ToolAnnotations(read_only=True, destructive=False, idempotent=True),
    "idempotent": ToolAnnotations(read_only=False, idempotent=True),
    "keyed": ToolAnnotations(read_only=False),
    "reconcile": ToolAnnotations(read_only=False),
    "unsafe": ToolAnnotations(read_only=False),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declaration:
    """What is said about a function beside its signature and docstring; as given, not yet checked."""

    name: str | None = None
    description: str | None = None
    effect: DeclaredEffect | None = None
    reconcile: AnyFunction | None = None
    reads: Iterable[str] = ()
    writes: Iterable[str] = ()
    use_when: str | None = None
    avoid_when: str | None = None
    examples: Iterable[JsonObject] = ()
    permission: str | None = None
    risk: Risk | None = None
    trust: Trust = "trusted"
    timeout_s: float | None = None
    retries: int = DEFAULT_RETRIES
    fallback: str | None = None


@overload
def tool(function: AnyFunction, /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effect: DeclaredEffect | None = None,
    reconcile: AnyFunction | None = None,
    reads: Iterable[str] = (),
    writes: Iterable[str] = (),
    use_when: str | None = None,
    avoid_when: str | None = None,
    examples: Iterable[JsonObject] = (),
    permission: str | None = None,
    risk: Risk | None = None,
    trust: Trust = "trusted",
    timeout_s: float | None = None,
    retries: int = DEFAULT_RETRIES,
    fallback: str | None = None,
) -> Callable[[AnyFunction], Tool]: ...
def tool(function: AnyFunction | None = None, /, **declared: Any) -> Tool | Callable[[AnyFunction], Tool]:
    """Makes a function a tool; used as `@tool`, `@tool(...)` or `tool(function)`.

    Args:
        function: A function, method, partial or callable object with type hints; asynchronous or not.
        **declared: What the signature and docstring do not say:

            name: By which the model calls it; the function's own if left out.
            description: What it does; the docstring's prose if left out.
            effect: What a call does to the world: "read", "idempotent", "keyed" or "unsafe". Undeclared is unsafe.
            reconcile: Instead of `effect`: asked after a crash whether a call happened, with those of its arguments
                that it has parameters for. None or False: it did not; True: it did; anything else is its result.
            reads: Keys that a call reads, such as "order:{order_id}", with places for arguments.
            writes: Keys that it changes.
            use_when: When it is the right tool.
            avoid_when: When another one is.
            examples: Arguments of good calls.
            permission: What the run's principal must be allowed for a call to run, such as "orders:write".
            risk: How much harm a wrong call can do: "low", "medium" or "high".
            trust: "untrusted" if strangers may have shaped what it returns: mails, web pages, what customers write.
            timeout_s: How long a call may take, in seconds.
            retries: How often a call is tried again after a failure that may pass (TransientToolError,
                ConnectionError, TimeoutError), if that cannot repeat an effect.
            fallback: The name of another tool, which is asked the same when a call failed for good without an effect.

    Raises:
        ToolSignatureError: The function cannot become a tool as it is written, or what is declared does not fit it.
    """
    unknown = set(declared) - set(_Declaration.__slots__)
    if unknown:
        raise ToolSignatureError(
            f"@tool: expected {', '.join(_Declaration.__slots__)}; found {', '.join(sorted(unknown))}."
        )
    declaration = _Declaration(**declared)

    def decorate(decorated: AnyFunction) -> Tool:
        return _make(decorated, declaration)

    return decorate if function is None else decorate(function)


def _make(function: object, declared: _Declaration) -> Tool:
    if isinstance(function, Tool):
        if declared == _Declaration():
            return function
        raise ToolSignatureError(f"@tool: {function.name!r} is a tool already; declare everything in one @tool.")
    function = _checked_function(function)
    given = default_name(function) if declared.name is None else declared.name
    subject = f"The tool {given!r}"
    name = check_name(given, subject=subject, error=ToolSignatureError)
    effect = _effect(declared, subject)
    has_receiver = is_method_of_class(function)
    documentation = read_docstring(docstring_of(function))
    signature = read_signature(function, subject=subject, has_receiver=has_receiver)
    schema = CompiledSchema(schema_of(signature, documentation.parameters), formats=PYTHON_FORMATS)
    return Tool(
        definition=_definition(name, declared, effect, documentation, signature, schema, subject),
        function=function,
        signature=signature,
        schema=schema,
        effect=effect or "unsafe",
        effect_declared=effect is not None,
        reads=check_templates(declared.reads, schema.document, subject=f"{subject}, reads"),
        writes=_writes(declared, effect, schema, subject),
        reconcile=_reconcile(declared.reconcile, signature, has_receiver=has_receiver, subject=subject),
        permission=_permission(declared.permission, subject),
        risk=_one_of(declared.risk, Risk, "risk", subject),
        trust=_one_of(declared.trust, Trust, "trust", subject) or "trusted",
        timeout_s=_timeout(declared.timeout_s, subject),
        retries=_retries(declared.retries, subject),
        fallback=_fallback(declared.fallback, name, subject),
        origin=origin_of(function, name=name),
        is_async=is_async(function),
        has_receiver=has_receiver,
    )


def _definition(
    name: str,
    declared: _Declaration,
    effect: Effect | None,
    documentation: Documentation,
    signature: Signature,
    schema: CompiledSchema,
    subject: str,
) -> ToolDefinition:
    description = _text(declared.description, "description", subject)
    return ToolDefinition(
        name=name,
        description=documentation.prose if description is None else description,
        input_schema=schema.document,
        output_schema=None if signature.result is None else output_schema(signature.result),
        annotations=ToolAnnotations() if effect is None else _ANNOTATIONS[effect],
        examples=_examples(declared.examples, signature, schema, subject),
        use_when=_text(declared.use_when, "use_when", subject),
        avoid_when=_text(declared.avoid_when, "avoid_when", subject),
    )


def _checked_function(function: object) -> AnyFunction:
    if isinstance(function, staticmethod):
        function = cast("staticmethod[..., Any]", function).__func__
    if isinstance(function, classmethod):
        raise ToolSignatureError("@tool: expected a function, found a classmethod. Put @classmethod above @tool.")
    if inspect.isclass(function):
        raise ToolSignatureError(
            f"@tool: expected a function, found the class {function.__name__}. Give an object of it that can be "
            "called, or a function that makes one."
        )
    if not callable(function):
        raise ToolSignatureError(f"@tool: expected a function, found {function!r}. Options are given by name: name=...")
    if is_generator(function):
        raise ToolSignatureError(
            f"The tool {default_name(function)!r}: expected a function that returns its result, found a generator. A "
            "call has one result: return a list."
        )
    return function


def _effect(declared: _Declaration, subject: str) -> Effect | None:
    if declared.reconcile is None:
        if declared.effect is not None and declared.effect not in get_args(DeclaredEffect):
            raise ToolSignatureError(
                f"{subject}: expected an effect of {', '.join(get_args(DeclaredEffect))}, or reconcile=function; found "
                f"{declared.effect!r}."
            )
        return declared.effect
    if declared.effect is not None:
        raise ToolSignatureError(f"{subject}: expected either effect= or reconcile=, found both.")
    return "reconcile"


def _reconcile(function: object, signature: Signature, *, has_receiver: bool, subject: str) -> AnyFunction | None:
    if isinstance(function, Tool):
        function = function.function
    return check_reconcile(function, signature, has_receiver=has_receiver, subject=subject)


def _writes(declared: _Declaration, effect: Effect | None, schema: CompiledSchema, subject: str) -> tuple[str, ...]:
    writes = check_templates(declared.writes, schema.document, subject=f"{subject}, writes")
    if writes and effect == "read":
        raise ToolSignatureError(f"{subject}: the effect 'read' changes nothing, but writes names {', '.join(writes)}.")
    return writes


def _timeout(timeout_s: object, subject: str) -> float | None:
    if timeout_s is None:
        return None
    if not isinstance(timeout_s, int | float) or isinstance(timeout_s, bool) or not 0 < timeout_s < math.inf:
        raise ToolSignatureError(f"{subject}: expected timeout_s to be seconds above 0, found {timeout_s!r}.")
    return float(timeout_s)


def _permission(permission: object, subject: str) -> str | None:
    if permission is None:
        return None
    if not isinstance(permission, str) or not permission or permission != permission.strip() or "*" in permission:
        raise ToolSignatureError(
            f'{subject}: expected permission to name one permission, such as "orders:write", found {permission!r}. '
            "Only what a principal holds may stand for many, by a `*` at its end."
        )
    return permission


def _one_of(value: Any, choices: Any, field: str, subject: str) -> Any:
    if value is None or value in get_args(choices):
        return value
    raise ToolSignatureError(f"{subject}: expected {field} to be {_alternatives(choices)}, found {value!r}.")


def _alternatives(choices: Any) -> str:
    *others, last = map(repr, get_args(choices))
    return f"{', '.join(others)} or {last}"


def _retries(retries: object, subject: str) -> int:
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise ToolSignatureError(
            f"{subject}: expected retries to be how often a call is tried again, from 0, found {retries!r}."
        )
    return retries


def _fallback(fallback: object, name: str, subject: str) -> str | None:
    if fallback is None:
        return None
    if isinstance(fallback, Tool) or callable(fallback):
        raise ToolSignatureError(
            f"{subject}: expected fallback to be the name of a tool of the same run, found the tool or function "
            "itself. Give its name, and give the tool to the agent beside this one."
        )
    other = check_name(fallback, subject=f"{subject}, fallback", error=ToolSignatureError)
    if other == name:
        raise ToolSignatureError(f"{subject}: expected fallback to name another tool, found its own name.")
    return other


def _text(text: object, field: str, subject: str) -> str | None:
    if text is None:
        return None
    if not isinstance(text, str) or not text.strip():
        raise ToolSignatureError(f"{subject}: expected {field} to be a text, found {text!r}.")
    return inspect.cleandoc(text).strip()


def _examples(examples: object, signature: Signature, schema: CompiledSchema, subject: str) -> tuple[JsonObject, ...]:
    if isinstance(examples, str | dict) or not isinstance(examples, Iterable):
        raise ToolSignatureError(f"{subject}: expected examples to be a list of arguments, found {examples!r}.")
    found: list[JsonObject] = []
    for index, example in enumerate(cast("Iterable[object]", examples)):
        place = f"{subject}, examples[{index}]"
        found.append(_example(example, signature, schema, place))
    return tuple(found)


def _example(example: object, signature: Signature, schema: CompiledSchema, place: str) -> JsonObject:
    try:
        # Examples may be written with Python's own values: dates, choices, models.
        arguments: JsonValue = to_jsonable_python(example)
    except (PydanticSerializationError, ValueError) as error:
        raise ToolSignatureError(f"{place}: expected arguments as JSON, found {example!r} ({error}).") from error
    violations = schema.violations(arguments)
    if not violations and isinstance(arguments, dict):
        try:
            signature.read(arguments)
        except ValidationError as error:
            violations = violations_of(error, arguments)
        else:
            return arguments
    raise ToolSignatureError(explain(violations, subject=f"{place}: its arguments"))

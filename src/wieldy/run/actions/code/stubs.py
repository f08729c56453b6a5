"""Tools as typed functions: what code may call, what a model that writes code reads of it, and the code behind it.

A stub is made from a tool's definition alone. It is rendered twice: as a signature with a short docstring, for the
model, and as the function that runs in the sandbox and asks the host. Law: both are valid Python, whatever the
definition says. Deliberately not here: what a call may contain (the tool's schema decides, on the host).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wieldy.core.json import JsonObject, JsonValue, canonical_json
from wieldy.run.actions.code.names import INTERNAL, identifiers, parameter_identifiers
from wieldy.run.actions.code.types import MOST_LEVELS, MOST_LITERAL, TypeWriter, class_name
from wieldy.run.guided.quoting import unbroken
from wieldy.schema.resolve import accepted_types, merged
from wieldy.tools.gist import gist, is_said_by

if TYPE_CHECKING:
    from wieldy.core.calls import ToolDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """How much stubs say.

    Attributes:
        description: Characters about a tool.
        parameter: Characters about a parameter.
        result_levels: How deep the types of results, or of the items of a list, are written out.
        result_choices: Characters of choices in results that are written out.
        has_remarks: Whether it is said what the parts of results are.
        is_gist: Whether of what is said the first sentences are taken, and nothing that the names say.
    """

    description: int = 600
    parameter: int = 200
    result_levels: int = MOST_LEVELS
    result_choices: int = MOST_LITERAL
    has_remarks: bool = True
    is_gist: bool = False


FULL: Final = Detail()
BRIEF: Final = Detail(
    description=200, parameter=60, result_levels=2, result_choices=100, has_remarks=False, is_gist=True
)
"""For tools of services, whose documents say everything about everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a tool, as code gives it.

    Attributes:
        name: In the tool's schema.
        identifier: In Python.
        annotation: Its type.
        takes_null: Whether None is a value of it; if not, None means that it is left out.
        default: As Python, for reading; None where it is required.
        description: In the words of the tool's author, on one line.
    """

    name: str
    identifier: str
    annotation: str
    takes_null: bool
    default: str | None
    description: str

    @property
    def is_required(self) -> bool:
        """Whether a call without it does not fit."""
        return self.default is None

    @property
    def shown(self) -> str:
        """As it stands in a signature."""
        return f"{self.identifier}: {self.annotation}{'' if self.default is None else f' = {self.default}'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stub:
    """A tool as a function.

    Attributes:
        tool: The tool's name.
        identifier: The function's.
        parameters: Those that are required first.
        takes_others: Whether arguments of other names may fit.
        returns: The annotation of what it returns.
        documentation: In the words of the tool's author.
        input_schema: What its arguments must fit.
        output_schema: What it declares that it returns; None if it declares nothing.
    """

    tool: str
    identifier: str
    parameters: tuple[Parameter, ...]
    takes_others: bool
    returns: str
    documentation: str
    input_schema: JsonObject
    output_schema: JsonObject | None

    @property
    def signature(self) -> str:
        """The line that says how it is called."""
        parameters = [parameter.shown for parameter in self.parameters]
        if self.takes_others:
            parameters.append("**others: Any")
        return f"async def {self.identifier}({', '.join(parameters)}) -> {self.returns}"

    @property
    def text(self) -> str:
        """For a model: signature and docstring."""
        if not self.documentation:
            return f"{self.signature}: ..."
        indented = self.documentation.replace("\n", "\n    ")
        return f'{self.signature}:\n    """{indented}"""'


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubs:
    """Those of a set of tools.

    Attributes:
        by_identifier: The stubs, by the functions' names.
        classes: The types that they name, as Python.
        others: Names by which code reaches tools that are no functions of its namespace.
        guest: Python that defines these.
        about: What a model is told of them.
    """

    by_identifier: dict[str, Stub]
    classes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    guest: str = ""
    about: str = ""

    @property
    def text(self) -> str:
        """For a model: the types and the functions, and what else there is."""
        functions = (stub.text for stub in self.by_identifier.values())
        return "\n\n".join(filter(None, [*self.classes, *functions, self.about]))


def stubs_of(definitions: Iterable[ToolDefinition], *, detail: Detail = FULL) -> Stubs:
    """The tools as functions.

    Args:
        definitions: Of the tools.
        detail: How much they say.

    Raises:
        UsageError: Two tools would have the same name in Python.
    """
    definitions = tuple(definitions)
    names = identifiers(definition.name for definition in definitions)
    types = TypeWriter()
    stubs = {names[each.name]: stub_of(each, names[each.name], types, detail) for each in definitions}
    return Stubs(by_identifier=stubs, classes=tuple(types.classes.values()))


def function_of(stub: Stub) -> str:
    """The function as it runs in the sandbox; `<function>.sync` is the same without `await`.

    What it uses there is in `prelude`.
    """
    left_out = f"{INTERNAL}_left_out"
    required = [parameter.identifier for parameter in stub.parameters if parameter.is_required]
    optional = [f"{parameter.identifier}={left_out}" for parameter in stub.parameters if not parameter.is_required]
    others = f"{INTERNAL}_others"
    parameters = ", ".join([*required, *optional, *([f"**{others}"] if stub.takes_others else [])])
    pairs = ", ".join(
        f"({parameter.name!r}, {parameter.identifier}, {parameter.takes_null or parameter.is_required})"
        for parameter in stub.parameters
    )
    given = f"{INTERNAL}_given([{pairs}], {others if stub.takes_others else '{}'})"
    name = stub.identifier
    return (
        f"async def {name}({parameters}):\n"
        f"    return {INTERNAL}_result(await {INTERNAL}_call({stub.tool!r}, {given}))\n"
        f"def {INTERNAL}_sync({parameters}):\n"
        f"    return {INTERNAL}_result({INTERNAL}_call_sync({stub.tool!r}, {given}))\n"
        f"{name}.sync = {INTERNAL}_sync\n"
    )


def stub_of(definition: ToolDefinition, identifier: str, types: TypeWriter, detail: Detail) -> Stub:
    """One tool as a function of this name, with classes that other tools may have written before."""
    schema = definition.input_schema
    resolved = merged(schema, ())
    properties = resolved.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    required = resolved.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set[str]()
    own = class_name(identifier, or_else="Tool")
    named = parameter_identifiers(properties)
    parameters = [
        _parameter(name, named[name], schema, types, owner=own, is_required=name in needed) for name in properties
    ]
    return Stub(
        tool=definition.name,
        identifier=identifier,
        parameters=tuple(sorted(parameters, key=lambda parameter: not parameter.is_required)),
        takes_others=_takes_others(resolved, has_properties=bool(properties)),
        returns=_returned(definition.output_schema, types, name=f"{own}Result", detail=detail),
        documentation=_documentation(definition, identifier, parameters, detail),
        input_schema=schema,
        output_schema=definition.output_schema,
    )


def _parameter(
    name: str, identifier: str, schema: JsonObject, types: TypeWriter, *, owner: str, is_required: bool
) -> Parameter:
    location = ("properties", name)
    part = merged(schema, location)
    kinds = accepted_types(schema, location)
    annotation = types.written(schema, location, name=owner + class_name(name, or_else="Argument"))
    takes_null = "null" in kinds
    default = None if is_required else _default(part)
    if default == "None" and "None" not in annotation and annotation != "Any":
        annotation = f"{annotation} | None"
    described = part.get("description")
    return Parameter(
        name=name,
        identifier=identifier,
        annotation=annotation,
        takes_null=takes_null,
        default=default,
        description=_short(described, FULL.parameter) if isinstance(described, str) else "",
    )


def _default(part: JsonObject) -> str:
    default = part.get("default")
    shown = repr(default)
    return shown if isinstance(default, str | int | bool | None) and len(shown) <= 80 else f"{_container(default)}"


def _container(default: JsonValue) -> str:
    return repr(default) if isinstance(default, float | list | dict) and len(repr(default)) <= 80 else "..."


def _takes_others(schema: JsonObject, *, has_properties: bool) -> bool:
    others = schema.get("additionalProperties")
    return (
        others is True
        or isinstance(others, dict)
        or "patternProperties" in schema
        or (
            not has_properties
            and others is not False
            and ("anyOf" in schema or "oneOf" in schema or "type" not in schema)
        )
    )


def _returned(schema: JsonObject | None, types: TypeWriter, *, name: str, detail: Detail) -> str:
    if schema is None:
        return "Any"
    levels = detail.result_levels + (merged(schema, ()).get("type") == "array")
    return types.written(
        schema, name=name, levels=levels, choices=detail.result_choices, has_remarks=detail.has_remarks
    )


def _documentation(definition: ToolDefinition, identifier: str, parameters: Iterable[Parameter], detail: Detail) -> str:
    cut = gist if detail.is_gist else _shortened
    lines = [cut(definition.description, detail.description)]
    if definition.use_when:
        lines.append(f"Use when: {_short(definition.use_when, detail.description)}")
    if definition.avoid_when:
        lines.append(f"Avoid when: {_short(definition.avoid_when, detail.description)}")
    about = [
        f"{each.identifier}: {cut(unbroken(each.description), detail.parameter)}"
        for each in parameters
        if each.description and not (detail.is_gist and is_said_by(f"{identifier} {each.identifier}", each.description))
    ]
    lines += ["", *about] if about else []
    lines += [f"Example arguments: {unbroken(canonical_json(each))}" for each in definition.examples[:2]]
    return _quoted("\n".join(lines).strip())


def _short(text: str, most: int) -> str:
    return _shortened(unbroken(text).strip(), most)


def _shortened(text: str, most: int) -> str:
    text = text.strip()
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _quoted(text: str) -> str:
    """The text as it may stand within three quotes; nothing in it means anything there."""
    text = text.replace("\\", "\\\\").replace('"""', "'''").replace("\0", "")
    return f"{text} " if text.endswith('"') else text

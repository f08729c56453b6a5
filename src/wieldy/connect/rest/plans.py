"""How calls of one operation become requests: which argument goes where, and the schema of the arguments together.

A plan is made from a document alone and holds no secret. Deliberately not here: making one request (`requests`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from wieldy.connect.rest.bodies import Body, read_body, read_body_of_version_2
from wieldy.connect.rest.documents import Documents, Node
from wieldy.connect.rest.meanings import SchemaReader
from wieldy.connect.rest.naming import argument_name
from wieldy.connect.rest.operations import Operation
from wieldy.connect.rest.parameters import Parameter, of_body, parameter_nodes, read_parameters
from wieldy.connect.rest.reading import one_line, text_of, texts_of
from wieldy.connect.rest.schemas import SchemaWriter
from wieldy.connect.rest.security import Scheme, places_of, requirements_of
from wieldy.core.json import JsonObject, JsonValue

WHOLE_BODY = "body"
"""The argument that a body is which has no properties."""
_ABOUT_FILES = "The text of the file, or its bytes as a URL: data:image/png;name=a.png;base64,..."
_MAX_GROUPS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is needed to call an operation.

    Attributes:
        operation: The operation.
        parameters: By the argument that fills each.
        key: The header that takes the idempotency key, if the service has one.
        body: What is sent, if anything is.
        fields: Properties of the body, by the argument that fills each.
        input_schema: Of the arguments together.
        requirements: The alternatives of security schemes.
        is_cut: Whether the schema leaves something open that the document says.
    """

    operation: Operation
    parameters: Mapping[str, Parameter]
    key: Parameter | None
    body: Body | None
    fields: Mapping[str, str]
    input_schema: JsonObject
    requirements: tuple[tuple[str, ...], ...]
    is_cut: bool


def make_plan(operation: Operation, documents: Documents, *, characters: int, schemes: Mapping[str, Scheme]) -> Plan:
    """The plan of an operation; a parameter whose place a credential takes is no argument.

    Args:
        operation: As the document has it.
        documents: Where references lead.
        characters: How much its schema may say beyond the arguments' own names and types.
        schemes: The document's security schemes.

    Raises:
        UnreadableError: It cannot be called as it is described.
    """
    root, node = documents.root, operation.node
    nodes = parameter_nodes(operation.item, node)
    parameters = read_parameters(operation.path, nodes, documents)
    reader = SchemaReader(documents)
    body = _body(root, node, nodes, reader, method=operation.method)
    key = next((each for each in parameters if each.is_idempotency_key), None)
    requirements = requirements_of(root, node)
    taken = places_of(requirements, schemes)
    shown = [each for each in parameters if each is not key and each.identity not in taken]
    fields = _fields(body, reader)
    arguments = _argument_names(shown, set(fields) | ({WHOLE_BODY} if body is not None and body.whole else set()))
    writer = SchemaWriter(reader, direction="request", characters=characters)
    schema = _schema(arguments, body, fields, writer)
    return Plan(
        operation=operation,
        parameters=arguments,
        key=key,
        body=body,
        fields=fields,
        input_schema=schema,
        requirements=requirements,
        is_cut=writer.is_cut,
    )


def _body(root: Node, node: Node, nodes: list[Node], reader: SchemaReader, *, method: str) -> Body | None:
    if method in {"TRACE", "HEAD"}:
        return None
    if not text_of(root.object.get("swagger")):
        return read_body(node.part("requestBody"), reader)
    consumes = texts_of(node.object.get("consumes")) or texts_of(root.object.get("consumes"))
    return read_body_of_version_2(of_body(nodes, reader.documents), consumes, reader)


def _fields(body: Body | None, reader: SchemaReader) -> dict[str, str]:
    """Properties by argument; those that only come back are none."""
    if body is None:
        return {}
    writer = SchemaWriter(reader, direction="request", characters=0)
    sent = [name for name, node in body.properties.items() if not writer.hides(node)]
    return _different({name: argument_name(name) for name in sent})


def _different(wanted: Mapping[str, str]) -> dict[str, str]:
    counts = Counter(wanted.values())
    return {
        argument if counts[argument] == 1 else argument_name(f"{argument}__{index}"): name
        for index, (name, argument) in enumerate(wanted.items(), start=1)
    }


def _argument_names(parameters: list[Parameter], taken: set[str]) -> dict[str, Parameter]:
    """Parameters by argument: where others have the same name, it says where the parameter goes."""
    wanted = [argument_name(each.name) for each in parameters]
    counts = Counter(wanted)
    found: dict[str, Parameter] = {}
    for name, parameter in zip(wanted, parameters, strict=True):
        argument = f"{name}__{parameter.place}" if counts[name] > 1 or name in taken else name
        while argument in found or argument in taken:
            argument += "_"
        found[argument_name(argument)] = parameter
    return found


def _schema(
    arguments: Mapping[str, Parameter], body: Body | None, fields: Mapping[str, str], writer: SchemaWriter
) -> JsonObject:
    properties: JsonObject = {}
    required: list[JsonValue] = []
    # What a call cannot do without comes first, and has the first share of what may be said.
    for argument, parameter in sorted(arguments.items(), key=lambda item: not item[1].is_required):
        slot: JsonObject = {"description": parameter.description} if parameter.description else {}
        properties[argument] = slot
        writer.add(parameter.schema, slot)
        if parameter.is_required:
            required.append(argument)
    schema: JsonObject = {"type": "object", "properties": properties, "additionalProperties": False}
    if body is not None:
        _add_body(body, fields, writer, schema, required)
    if required:
        schema["required"] = required
    writer.write()
    _add_descriptions(arguments, body, fields, properties)
    return schema


def _add_body(
    body: Body, fields: Mapping[str, str], writer: SchemaWriter, schema: JsonObject, required: list[JsonValue]
) -> None:
    properties = schema["properties"]
    assert isinstance(properties, dict)
    if body.whole is not None:
        slot: JsonObject = {}
        properties[WHOLE_BODY] = slot
        if body.kind in {"text", "bytes"}:
            slot["type"] = "string"
        else:
            writer.add(body.whole, slot)
        if body.is_required:
            required.append(WHOLE_BODY)
        return
    names = sorted(fields.items(), key=lambda item: item[1] not in body.required)
    for argument, name in names:
        slot: JsonObject = {}
        properties[argument] = slot
        writer.add(body.properties[name], slot)
        if name in body.required:
            required.append(argument)
    if body.additional is True:
        schema["additionalProperties"] = True
    elif isinstance(body.additional, Node):
        further: JsonObject = {}
        schema["additionalProperties"] = further
        writer.add(body.additional, further)


def _add_descriptions(
    arguments: Mapping[str, Parameter], body: Body | None, fields: Mapping[str, str], properties: JsonObject
) -> None:
    """What the document says of a parameter counts more than what it says of the parameter's type."""
    for argument, parameter in arguments.items():
        _describe(properties[argument], one_line(parameter.description, limit=240))
    if body is None:
        return
    if body.whole is not None:
        text = _ABOUT_FILES if body.kind == "bytes" else f"{one_line(body.description, limit=160)} ({body.media_type})"
        _describe(
            properties[WHOLE_BODY], text.strip() if body.kind != "json" else one_line(body.description, limit=160)
        )
    for argument, name in fields.items():
        if name in body.encodings and body.encodings[name].is_file:
            slot = properties[argument]
            words = text_of(slot.get("description")) if isinstance(slot, dict) else ""
            _describe(slot, f"{words} {_ABOUT_FILES}".strip())


def _describe(slot: JsonValue, text: str) -> None:
    if isinstance(slot, dict) and text:
        slot["description"] = text


def alternatives_in_words(plan: Plan) -> str:
    """Which arguments belong together, where a body is one of several objects; empty where it is not."""
    if plan.body is None or len(plan.body.groups) < 2:
        return ""
    by_name = {name: argument for argument, name in plan.fields.items()}
    groups = [", ".join(by_name[name] for name in group if name in by_name) for group in plan.body.groups]
    different = list(dict.fromkeys(group for group in groups if group))
    if len(different) < 2:
        return ""
    return f"Give the arguments of one kind: {'; or '.join(different[:_MAX_GROUPS])}."

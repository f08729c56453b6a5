"""Servers that mask tokens by a constraint of the request: what vLLM, SGLang and llama-server have in common.

All three apply such a constraint to the whole reply, so that an answer that must be something would forbid calls. Where
the program names the model's chat format, the constraint allows either: the calls in their own wire, or the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from wieldy.connect.models.backends.engines import Engine, masked
from wieldy.connect.models.backends.outputs import shape_of, unreadable
from wieldy.connect.models.backends.parts import STRING_ASSERTIONS
from wieldy.connect.models.backends.taken import Asked, Backend, Reading, Taken
from wieldy.core.calls import AUTO, ToolChoice
from wieldy.core.json import JsonObject, canonical_json
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput
from wieldy.grammar.naming import parts
from wieldy.grammar.shape import InOrder, Json, OneOf, Repeated, Rules, Shape
from wieldy.schema.resolve import merged

if TYPE_CHECKING:
    from wieldy.formats import ChatFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskFields:
    """How a server is told a constraint.

    Attributes:
        engine: What usually applies the mask.
        reply_engine: What becomes of schemas in a constraint of whole replies.
        json: The fields for JSON under a schema.
        choice: The fields for one of several texts.
        pattern: The fields for a regular expression of the whole text.
        reply: The fields for whole replies in a chat format.
        reply_choice: What is sent as the choice of tools beside those: what calls must be stands in the constraint.
        reads_calls: Whether the server reads the calls of such a reply; else they stand in its text.
        has_strict_tools: Whether tools can be sent as strict.
    """

    engine: Engine
    reply_engine: Engine
    json: Callable[[JsonOutput, JsonObject], JsonObject]
    choice: Callable[[Sequence[str]], JsonObject]
    pattern: Callable[[str], JsonObject]
    reply: Callable[[Rules], JsonObject]
    reply_choice: ToolChoice = AUTO
    reads_calls: bool = True
    has_strict_tools: bool = True


def masking_backend(name: str, title: str, server: MaskFields, *notes: str) -> Backend:
    """The backend of a server that is told constraints so."""

    def answer(asked: Asked, output: Output) -> Taken:
        if asked.may_call and asked.chat_format is not None:
            return replace(_reply(asked, asked.chat_format, server), cannot=_left(output, server.reply_engine))
        return _answer(output, server)

    def calls(asked: Asked) -> Taken:
        if asked.chat_format is not None:
            return _reply(asked, asked.chat_format, server)
        strict = frozenset(tool.name for tool in asked.tools) if server.has_strict_tools else frozenset[str]()
        return Taken(how="native" if strict else "prompt", strict=strict, cannot=_of_tools(asked, server.engine))

    return Backend(name=name, title=title, answer=answer, calls=calls, takes_both="in a chat format", notes=notes)


def _answer(output: Output, server: MaskFields) -> Taken:
    match output:
        case JsonOutput(schema=schema):
            sent = masked(schema, server.engine)
            if sent.schema is None:
                return Taken(how="prompt", cannot=sent.cannot)
            return Taken(how="mask", fields=server.json(output, sent.schema), cannot=sent.cannot)
        case ChoiceOutput(options=options):
            return Taken(how="mask", fields=server.choice(list(dict.fromkeys(options))))
        case PatternOutput(pattern=pattern):
            reason = unreadable(output)
            if reason:
                return Taken(how="prompt", cannot=(reason,))
            return Taken(how="mask", fields=server.pattern(pattern))


def _reply(asked: Asked, chat_format: ChatFormat, server: MaskFields) -> Taken:
    """The constraint of a whole reply, with what it leaves of the calls."""
    output = None if asked.must_call else asked.output
    answer = None if output is None or unreadable(output) else shape_of(output)
    rules = chat_format.rules(
        asked.tools,
        tool_choice=asked.tool_choice,
        answer=answer,
        beside=("reasoning",) if asked.must_call else ("text", "reasoning"),
    )
    return Taken(
        how="mask",
        fields=server.reply(_with_schemas_for(server.reply_engine, rules)),
        tool_choice=server.reply_choice,
        cannot=(*_of_tools(asked, server.reply_engine), *_of_raw_texts(asked, rules)),
        reading=Reading(chat_format=None if server.reads_calls else chat_format),
    )


def _left(output: Output, engine: Engine) -> tuple[str, ...]:
    """What of the output is not enforced."""
    if isinstance(output, JsonOutput):
        return masked(output.schema, engine).cannot
    reason = unreadable(output)
    return (reason,) if reason else ()


def _of_tools(asked: Asked, engine: Engine) -> tuple[str, ...]:
    return tuple(f"{tool.name}: {entry}" for tool in asked.tools for entry in masked(tool.input_schema, engine).cannot)


def _of_raw_texts(asked: Asked, rules: Rules) -> Iterator[str]:
    """What schemas say of strings that the wire has as raw text, without quotes and escapes."""
    whole = {canonical_json(schema) for schema in _schemas(rules)}
    for tool in asked.tools:
        properties = tool.input_schema.get("properties")
        if canonical_json(tool.input_schema) in whole or not isinstance(properties, dict):
            continue
        for name in properties:
            said = merged(tool.input_schema, ("properties", name))
            for keyword in STRING_ASSERTIONS:
                if keyword in said and not said.keys() & {"enum", "const"}:
                    yield f"{tool.name}: #/properties/{name} `{keyword}`: by the validator (it is written as raw text)"


def _schemas(rules: Rules) -> Iterator[JsonObject]:
    waiting, seen = [rules.start, *rules.named.values()], set[int]()
    while waiting:
        shape = waiting.pop()
        if id(shape) not in seen:
            seen.add(id(shape))  # shapes share their parts
            if isinstance(shape, Json):
                yield shape.schema
            waiting += parts(shape)


def _with_schemas_for(engine: Engine, rules: Rules) -> Rules:
    """The rules with every JSON Schema as the engine is sent it; one of which no constraint can be made stays."""
    known: dict[int, Shape] = {}

    def changed(shape: Shape) -> Shape:
        if id(shape) not in known:
            match shape:
                case Json(schema=schema):
                    sent = masked(schema, engine).schema
                    known[id(shape)] = shape if sent is None else replace(shape, schema=sent)
                case InOrder(parts=inner):
                    known[id(shape)] = InOrder(tuple(map(changed, inner)))
                case OneOf(options=inner):
                    known[id(shape)] = OneOf(tuple(map(changed, inner)))
                case Repeated(part=part, between=between):
                    behind = None if between is None else changed(between)
                    known[id(shape)] = replace(shape, part=changed(part), between=behind)
                case _:
                    known[id(shape)] = shape
        return known[id(shape)]  # the rules keep every identity taken

    return Rules(start=changed(rules.start), named={name: changed(shape) for name, shape in rules.named.items()})

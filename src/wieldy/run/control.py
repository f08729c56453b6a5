"""Ending the run by a call: shown to the model like a tool, but there is no code to run.

Where the answer must be something, so must the argument of this call. Deliberately not here: ending the run
(`dealing`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ArgumentsError, UsageError
from wieldy.core.outputs import ChoiceOutput, Incomplete, JsonOutput, PatternOutput, in_words, schema_of
from wieldy.schema import CompiledSchema, example, explain
from wieldy.schema.rewrite import subschemas

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject, JsonValue
    from wieldy.core.outputs import Output
    from wieldy.run.outputs import OutputReader

FINISH: Final = ToolDefinition(
    name="finish",
    description="End the task. Call this once the task is done, or cannot be done, with the final answer.",
    input_schema={
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The final answer, for the user."}},
        "required": ["answer"],
        "additionalProperties": False,
    },
)
_NAMES: Final = "$defs"
_NAMING: Final = ("$id", "$anchor", "$dynamicAnchor", "$dynamicRef")
"""Keywords by which a schema is found from elsewhere, or finds another."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The call that ends a run.

    Attributes:
        wanted: What the answer must be; None for any text.
        definition: What the model is shown.
    """

    wanted: OutputReader | None = None
    definition: ToolDefinition = field(init=False)
    _schema: CompiledSchema = field(init=False)

    def __post_init__(self) -> None:
        # The only way to set what follows from other fields of a frozen record.
        definition = FINISH if self.wanted is None else _finish_with(self.wanted.output)
        object.__setattr__(self, "definition", definition)
        object.__setattr__(self, "_schema", CompiledSchema(definition.input_schema))

    def refusal(self, arguments: JsonObject) -> ArgumentsError | None:
        """Why this is no answer, for the model; None if it is one."""
        violations = self._schema.violations(arguments)
        if violations:
            return ArgumentsError(explain(violations, subject="The arguments of `finish`", example=self._example()))
        text = self.text_of(arguments)
        value = None if self.wanted is None or text is None else self.wanted.read(text)
        return ArgumentsError(value.error, detail=value.detail) if isinstance(value, Incomplete) else None

    def _example(self) -> JsonValue:
        return {"answer": "It is done."} if self.wanted is None else example(self._schema)

    def text_of(self, arguments: JsonObject) -> str | None:
        """The text of the answer; None if the argument is that text, and nothing but text is wanted."""
        answer = arguments["answer"]
        if self.wanted is None:
            return None
        is_json = isinstance(self.wanted.output, JsonOutput)
        return json.dumps(answer, ensure_ascii=False) if is_json else str(answer)


def _finish_with(output: Output) -> ToolDefinition:
    answer, definitions = _answer_schema(output)
    schema: JsonObject = {**FINISH.input_schema, "properties": {"answer": answer}}
    return replace(FINISH, input_schema={**schema, _NAMES: definitions} if definitions else schema)


def _answer_schema(output: Output) -> tuple[JsonObject, JsonValue]:
    """The schema of the argument, and the definitions that it refers to."""
    match output:
        case ChoiceOutput():
            return schema_of(output), None
        case PatternOutput():
            schema = schema_of(output)
            return schema if _is_schema(schema) else {"type": "string", "description": in_words(output)}, None
        case JsonOutput(schema=schema):
            if not _is_movable(schema):
                return {"description": in_words(output)}, None
            return {key: value for key, value in schema.items() if key not in (_NAMES, "$schema")}, schema.get(_NAMES)


def _is_schema(schema: JsonObject) -> bool:
    """Whether it can be used; not every expression of Python's is one of JSON Schema's."""
    try:
        CompiledSchema(schema)
    except UsageError:
        return False
    return True


def _is_movable(schema: JsonObject) -> bool:
    """Whether the schema means the same within another one that has its definitions."""
    parts = [part for _, part in subschemas(schema)]
    references = [str(part["$ref"]) for part in parts if "$ref" in part]
    is_plain = all(reference.startswith(f"#/{_NAMES}/") for reference in references)
    return is_plain and not any(keyword in part for part in parts for keyword in _NAMING)

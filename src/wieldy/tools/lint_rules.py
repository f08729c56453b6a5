"""The rules of `lint` about single tools: one row each, in the order in which they are told.

A check looks at a tool and says what is wrong and what to do, as a sentence that begins after the tool's name; or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonValue
from wieldy.schema import nearest
from wieldy.schema.docstrings import read_docstring
from wieldy.schema.resolve import ALL_TYPES, accepted_types
from wieldy.schema.rewrite import subschemas
from wieldy.tools.callables import docstring_of
from wieldy.tools.cost import token_cost
from wieldy.tools.likeness import is_generic, says_more_than_its_name, split_words, word_set
from wieldy.tools.tool import Tool

Severity: TypeAlias = Literal["error", "warning", "note"]

MAX_NAME_CHARACTERS = 40
"""Models write the name in every call, and many formats repeat it."""
MIN_DESCRIPTION_WORDS = 3
MIN_DESCRIPTION_CHARACTERS = 8
MAX_TOOL_TOKENS = 600
"""About a page of text for one tool."""
COMPLEX_PARAMETERS = 5
"""From so many parameters on, or with objects among them, an example helps more than words."""

_PLACEHOLDER = re.compile(
    r"\b(todo|fixme|tbd|xxx|lorem ipsum|does (stuff|things|something))\b|^\W*\.\.\.", re.IGNORECASE
)
_CHANGING_VERBS = word_set(
    "delete remove erase drop destroy purge kill cancel refund pay send publish deploy revoke write save update insert "
    "upload edit modify"
)
_READING_VERBS = word_set("get list read show search find fetch lookup view describe count")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One row: `check` returns what is wrong, or None."""

    name: str
    severity: Severity
    check: Callable[[Tool], str | None]


def _long_name(tool: Tool) -> str | None:
    if len(tool.name) <= MAX_NAME_CHARACTERS:
        return None
    return (
        f"has a name of {len(tool.name)} characters; models write it in every call. Use at most {MAX_NAME_CHARACTERS}."
    )


def _missing_description(tool: Tool) -> str | None:
    if split_words(tool.definition.description):
        return None
    return (
        "has no description, so a model has only its name to go by. Write a docstring that says what it does, what it "
        "returns and what it cannot do."
    )


def _vague_description(tool: Tool) -> str | None:
    text = tool.definition.description
    words = split_words(text)
    if not words:
        return None
    # In scripts without spaces a sentence is one word, of which only the length can be judged.
    is_short = len(words) < MIN_DESCRIPTION_WORDS and (text.isascii() or len(text) < MIN_DESCRIPTION_CHARACTERS)
    if not is_short and not _PLACEHOLDER.search(text) and not is_generic(text):
        return None
    return f"has a vague description: {_cut(text)!r}. Say what it does, to what, and what it returns."


def _repeating_description(tool: Tool) -> str | None:
    words = len(split_words(tool.definition.description))
    if words < MIN_DESCRIPTION_WORDS or says_more_than_its_name(tool.definition) or _vague_description(tool):
        return None
    text = _cut(tool.definition.description)
    return f"has a description that says no more than its name: {text!r}. Say what it returns, and when it is right."


def _undocumented_parameters(tool: Tool) -> str | None:
    silent = [name for name, schema in _properties(tool.definition).items() if not _has_description(schema)]
    if not silent:
        return None
    return (
        f"does not say what {_quoted(silent)} {'means' if len(silent) == 1 else 'mean'}. Describe every parameter in "
        "the docstring, with its unit and form."
    )


def _undocumented_properties(tool: Tool) -> str | None:
    inner = [
        str(location[-1])
        for location, schema in subschemas(tool.definition.input_schema)
        if len(location) > 2 and location[-2] == "properties" and not _has_description(schema)
    ]
    if not inner:
        return None
    return (
        f"does not say what {_quoted(inner)} {'means' if len(inner) == 1 else 'mean'} inside its arguments. Describe "
        "them in their class's docstring, or with pydantic's Field."
    )


def _unknown_documentation(tool: Tool) -> str | None:
    known = {*tool.signature.order, *_properties(tool.definition), "self", "cls"}
    unknown = [name for name in read_docstring(docstring_of(tool.function)).parameters if name not in known]
    if not unknown:
        return None
    hints = [f"{name!r}" + (f" (meant {near!r}?)" if (near := nearest(name, known)) else "") for name in unknown]
    return f"describes parameters that it does not have: {', '.join(hints)}. Name them as the signature does."


def _untyped_parameters(tool: Tool) -> str | None:
    document = tool.definition.input_schema
    free = [
        name for name in _properties(tool.definition) if accepted_types(document, ("properties", name)) == ALL_TYPES
    ]
    if not free:
        return None
    return f"takes anything for {_quoted(free)}. Annotate with a type: models then know what to write."


def _undeclared_effect(tool: Tool) -> str | None:
    if tool.effect_declared:
        return None
    return (
        "does not say what it does to the world, so it counts as unsafe: it runs alone, needs permission and is never "
        'repeated. Declare @tool(effect="read"), "idempotent", "keyed" or "unsafe".'
    )


def _false_read(tool: Tool) -> str | None:
    verb = _verb(tool)
    if tool.effect != "read" or verb not in _CHANGING_VERBS:
        return None
    return (
        f"is declared to change nothing, but its name says {verb!r}. A wrong effect lets it run twice, beside others "
        "and without being asked for. Correct the effect or the name."
    )


def _doubtful_effect(tool: Tool) -> str | None:
    verb = _verb(tool)
    if not tool.effect_declared or tool.effect == "read" or verb not in _READING_VERBS:
        return None
    return (
        f"is declared {tool.effect!r}, but its name says {verb!r}, as if it changed nothing. If it does not, declare "
        'effect="read": it may then run beside others.'
    )


def _keyed_without_key(tool: Tool) -> str | None:
    if tool.effect != "keyed" or tool.signature.contexts:
        return None
    return (
        "is declared 'keyed' but takes no Context, so it never sees the key that makes it happen only once. Add a "
        "parameter annotated Context and pass on its idempotency_key."
    )


def _idle_fallback(tool: Tool) -> str | None:
    if tool.fallback is None or tool.effect == "read":
        return None
    return (
        f"names the fallback `{tool.fallback}` but is {tool.effect!r}: nobody else is asked after a failure that may "
        "have had an effect. The fallback is used only where the tool raises "
        "TransientToolError(..., nothing_done=True)."
    )


def _missing_examples(tool: Tool) -> str | None:
    properties = _properties(tool.definition)
    is_nested = any(
        bool(location) and "properties" in schema for location, schema in subschemas(tool.definition.input_schema)
    )
    if tool.definition.examples or (len(properties) < COMPLEX_PARAMETERS and not is_nested):
        return None
    what = "objects" if is_nested else f"{len(properties)} parameters"
    return f"takes {what} and shows no example. Add examples=[...] with the arguments of one good call."


def _dear_tool(tool: Tool) -> str | None:
    cost = token_cost(tool.definition)
    if cost <= MAX_TOOL_TOKENS:
        return None
    return (
        f"takes about {cost} tokens of every request; more than {MAX_TOOL_TOKENS} is a lot. Shorten the descriptions, "
        "drop parameters that models need not choose, or split it."
    )


RULES: tuple[Rule, ...] = (
    Rule(name="name-long", severity="warning", check=_long_name),
    Rule(name="description-missing", severity="error", check=_missing_description),
    Rule(name="description-vague", severity="warning", check=_vague_description),
    Rule(name="description-repeats-name", severity="warning", check=_repeating_description),
    Rule(name="parameter-undocumented", severity="warning", check=_undocumented_parameters),
    Rule(name="property-undocumented", severity="note", check=_undocumented_properties),
    Rule(name="documented-unknown", severity="warning", check=_unknown_documentation),
    Rule(name="parameter-untyped", severity="warning", check=_untyped_parameters),
    Rule(name="effect-undeclared", severity="warning", check=_undeclared_effect),
    Rule(name="effect-contradicts-name", severity="error", check=_false_read),
    Rule(name="effect-doubtful", severity="note", check=_doubtful_effect),
    Rule(name="keyed-without-context", severity="warning", check=_keyed_without_key),
    Rule(name="fallback-idle", severity="note", check=_idle_fallback),
    Rule(name="examples-missing", severity="note", check=_missing_examples),
    Rule(name="tool-cost", severity="warning", check=_dear_tool),
)


def _verb(tool: Tool) -> str:
    return next(iter(split_words(tool.name)), "")


def _properties(definition: ToolDefinition) -> dict[str, JsonValue]:
    properties = definition.input_schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _has_description(schema: JsonValue) -> bool:
    return isinstance(schema, dict) and bool(schema.get("description"))


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."

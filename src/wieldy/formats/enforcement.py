"""Who enforces what of the tools' schemas under the grammar of a chat format.

Where a wire writes arguments, or one argument, as JSON, the mask enforces what it enforces of JSON. Where it has a way
of its own, raw text or Python literals, grammars know types, listed values and which arguments there are; the rest is
left to the validator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from wieldy.core.calls import ToolDefinition
from wieldy.core.json import JsonObject, canonical_json
from wieldy.formats.nodes.tagged import argument_schema
from wieldy.grammar.enforcement import Enforcement
from wieldy.grammar.lowering import enforcement_of

_OF_ALL = frozenset({"type", "properties", "required"})
"""What every grammar knows of arguments together."""
_OF_ONE = frozenset({"type", "enum", "const"})
"""What every grammar knows of a single argument."""
_NOT_JSON = "this format does not write it as JSON"


def enforced(tools: Sequence[ToolDefinition], schemas: Iterable[JsonObject]) -> Iterator[Enforcement]:
    """Every keyword of the tools' schemas under a grammar in which there is JSON of these schemas."""
    written = set(map(canonical_json, schemas))
    for tool in tools:
        if canonical_json(tool.input_schema) in written:
            yield from enforcement_of([tool])
            continue
        properties = tool.input_schema.get("properties")
        names = list(properties) if isinstance(properties, dict) else []
        as_json = {name for name in names if canonical_json(argument_schema(tool, name)) in written}
        for entry in enforcement_of([tool]):
            is_known = entry.by != "mask" or _is_known(entry, as_json, is_all=as_json == set(names))
            yield entry if is_known else replace(entry, by="validator", reason=_NOT_JSON)


def _is_known(entry: Enforcement, as_json: set[str], *, is_all: bool) -> bool:
    """Whether the grammar enforces what the mask of JSON would."""
    match entry.pointer.replace("~1", "\0").split("/"):
        case ["#"]:
            return entry.keyword in _OF_ALL
        case ["#", "properties", name, *below]:
            is_json = name.replace("\0", "/").replace("~0", "~") in as_json
            return is_json or (not below and entry.keyword in _OF_ONE)
        case ["#", "$defs" | "definitions", *_]:
            return is_all
        case _:
            return False

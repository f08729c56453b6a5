"""Functions as a prompt describes them: as Python, as XML or as JSON, to the letter as the benchmark does.

Its oddities are kept: commas are dropped from the attributes of XML, nothing is escaped there, and a parameter is
required where nothing says which are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from wieldy.evals.bfcl.prompted.forms import FunctionForm

Described: TypeAlias = "Mapping[str, Any]"


def described(functions: Sequence[Described], form: FunctionForm) -> str:
    """The functions in this form."""
    return _WRITERS[form](functions)


def _as_json(functions: Sequence[Described]) -> str:
    return json.dumps(functions, indent=4)


def _told(detail: Described) -> str:
    """What is said of a parameter, its options included."""
    options = f" Enum values: {detail['enum']}." if "enum" in detail else ""
    return f"{detail.get('description', '')}{options}"


# XML


def _as_xml(functions: Sequence[Described]) -> str:
    return "\n".join(map(_xml_function, functions))


def _xml_function(function: Described) -> str:
    parameters: Described = function["parameters"]
    inside = _xml_parameters(parameters.get("properties", {}), parameters.get("required"), depth=2)
    told = f"  <desc>{function.get('description', '')}</desc>\n"
    return f'<function name="{function["name"]}">\n{told}  <params>\n{inside}  </params>\n</function>\n'


def _xml_parameters(properties: Described, required: Sequence[str] | None, *, depth: int) -> str:
    return "".join(_xml_parameter(name, detail, required, depth) for name, detail in properties.items())


def _xml_parameter(name: str, detail: Described, required: Sequence[str] | None, depth: int) -> str:
    space = "  " * depth
    is_required = "true" if required is None or name in required else "false"
    attributes = f'name="{name}" type="{_xml_type(detail)}" required="{is_required}"'
    if "default" in detail:
        attributes += f' default="{detail["default"]!r}"'
    inner = ""
    if "properties" in detail:
        members = _xml_parameters(detail["properties"], detail.get("required"), depth=depth + 2)
        inner = f"{space}  <params>\n{members}{space}  </params>\n"
    opening = f"{space}<param {attributes.replace(',', '')}>\n"
    return f"{opening}{space}  <desc>{_told(detail)}</desc>\n{inner}{space}</param>\n"


def _xml_type(detail: Described) -> str:
    kind = detail.get("type", "string")
    if "items" in detail and "type" in detail["items"]:
        return f"{kind}[{detail['items']['type']}]"
    if "additionalProperties" in detail:
        return f"{kind}[{detail['additionalProperties'].get('type', 'string')}]"
    return kind


# Python


_PYTHON_TYPES: Final = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"}


def _as_python(functions: Sequence[Described]) -> str:
    return "\n\n".join(f"{text}\n\n\n" for text in map(_python_function, functions))


def _python_function(function: Described) -> str:
    lines = [f"# Function: {function['name']}", '    """', f"    {function.get('description', '')}", ""]
    properties = function.get("parameters", {}).get("properties", {})
    if properties:
        lines += ["    Args:", *_python_parameters(properties, "        ")]
    return "\n".join([*lines, '    """', ""])


def _python_parameters(properties: Described, space: str) -> Iterator[str]:
    for name, detail in properties.items():
        default = f", default={detail['default']!r}" if "default" in detail else ""
        yield f"{space}{name} ({_python_type(detail)}{default}): {_told(detail)}"
        yield from _python_parameters(detail.get("properties", {}), space + "    ")


def _python_type(detail: Described) -> str:
    kind = detail.get("type", "string")
    if kind in ("array", "list", "tuple") and "items" in detail:
        return f"list[{_python_type(detail['items'])}]"
    if kind in ("object", "dict"):
        members = detail.get("additionalProperties")
        return "dict" if members is None else f"dict[str, {_python_type(members)}]"
    return _PYTHON_TYPES.get(kind, kind)


_WRITERS: Final[Mapping[FunctionForm, Callable[[Sequence[Described]], str]]] = {
    "json": _as_json,
    "xml": _as_xml,
    "python": _as_python,
}

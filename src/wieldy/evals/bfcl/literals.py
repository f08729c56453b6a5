"""Java and JavaScript values in text, read as the official checker reads them.

What cannot be read stays text: the checker's rule is that a wrong type is then found by comparison. Regular
expressions only; nothing is run. Source: the value converters of `bfcl_eval` 2026.3.23, whose quirks are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

_INTEGER: Final = re.compile(r"-?\d+$")
_DECIMAL: Final = re.compile(r"-?\d+(\.\d+)?$")
_EXPONENT: Final = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?$")
_FLOAT: Final = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?[fF]$")
_LONG: Final = re.compile(r"-?\d+[lL]$")
_BIGINT: Final = re.compile(r"-?\d+n$")

JAVA_TYPES: Final[dict[str, type]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    **dict.fromkeys(("char", "String", "any"), str),
    **dict.fromkeys(("Array", "ArrayList", "Queue", "Stack"), list),
    **dict.fromkeys(("HashMap", "Hashtable"), dict),
    "boolean": bool,
    "Set": set,
}
JAVASCRIPT_TYPES: Final[dict[str, type]] = {
    **dict.fromkeys(("integer", "Bigint"), int),
    **dict.fromkeys(("String", "any"), str),
    "float": float,
    "Boolean": bool,
    "dict": dict,
    "array": list,
}
NESTED: Final = frozenset({"Array", "ArrayList", "array"})
"""The types whose items have a type that is looked at."""


def _number(pattern: re.Pattern[str], make: Callable[[str], Any], cut: int = 0) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        return make(text[:-cut] if cut else text) if pattern.match(text) else text

    return read


def _truth(text: str) -> Any:
    return text == "true" if text in ("true", "false") else text


def _without_newline(make: Callable[[str], Any]) -> Callable[[str], Any]:
    # `$` matches before a last newline, behind which the suffix then is not the last character.
    return lambda text: make(re.sub(r"[fFlL]$", "", text))


_JAVA_SCALARS: Final[dict[str, Callable[[str], Any]]] = {
    **dict.fromkeys(("byte", "short", "integer"), _number(_INTEGER, int)),
    "float": _number(_FLOAT, _without_newline(float)),
    "double": _number(_EXPONENT, float),
    "long": _number(_LONG, _without_newline(int)),
    "boolean": _truth,
    **dict.fromkeys(("char", "String", "any"), str),
}


def java_value(text: str, kind: str, item: str | None = None) -> Any:
    """The value of a Java literal of this type; the text itself where it is none.

    Raises:
        NotImplementedError: The official checker has no reading for the type, and ends with that error.
        ValueError: There is no such type.
    """
    read = _JAVA_SCALARS.get(kind)
    if read is not None:
        return read(text)
    match kind:
        case "ArrayList":
            return _array_list(text, item)
        case "Array":
            return _array(text, item)
        case "HashMap":
            return _hash_map(text)
        case "Set" | "Hashtable" | "Queue" | "Stack":
            raise NotImplementedError(f"The official checker cannot read {kind}.")
        case _:
            raise ValueError(f"There is no Java type {kind!r} in this benchmark.")


def _array_list(text: str, item: str | None) -> Any:
    listed = re.search(r"new\s+ArrayList<\w*>\(Arrays\.asList\((.+?)\)\)", text)
    if listed:
        return [_list_item(part.strip(), item) for part in listed[1].split(",")]
    added = re.search(r"new\s+ArrayList<\w*>\(\)\s*\{\{\s*(.+?)\s*\}\}", text, re.DOTALL)
    if added:
        return [_list_item(part.strip(), item) for part in re.findall(r"add\((.+?)\)", added[1])]
    return [] if re.search(r"new\s+ArrayList<\w*>\(\)", text) else text


def _list_item(text: str, item: str | None) -> Any:
    if item in ("char", "String"):
        return text[1:-1]
    return java_value(text, item) if item else _java_untyped(text)


def _array(text: str, item: str | None) -> Any:
    found = re.search(r"new\s+\w+\[\]\s*\{(.*?)\}", text)
    if not found:
        return text
    parts = [part.strip() for part in found[1].split(",") if part.strip()]
    return [java_value(part, item) if item else _java_untyped(part) for part in parts]


def _hash_map(text: str) -> Any:
    found = re.search(r"new\s+HashMap<.*?>\s*\(\)\s*\{\s*\{?\s*(.*?)\s*\}?\s*\}", text, re.DOTALL)
    if found:
        pairs = re.findall(r"put\(\"(.*?)\",\s*(.*?)\)", found[1])
        return {key: _java_untyped(value.strip()) for key, value in pairs}
    return {} if re.search(r"new\s+HashMap<.*?>\s*\(\)", text) else text


def _java_untyped(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"') and text.endswith('"'):
        return text[1:-1]
    if _LONG.match(text):
        return int(text[:-1])
    if _FLOAT.match(text):
        return float(re.sub(r"[fF]$", "", text))
    return _python_number(text)


def _python_number(text: str) -> Any:
    for make in (int, float):
        try:
            return make(text)
        except ValueError:
            continue
    return text


_JAVASCRIPT_SCALARS: Final[dict[str, Callable[[str], Any]]] = {
    "integer": _number(_INTEGER, int),
    "float": _number(_DECIMAL, float),
    "Bigint": _number(_BIGINT, int, cut=1),
    "Boolean": _truth,
    "any": str,
}


def javascript_value(text: str, kind: str, item: str | None = None) -> Any:
    """The value of a JavaScript literal of this type; the text itself where it is none.

    Raises:
        ValueError: There is no such type, or the literal makes the official checker end with that error.
    """
    read = _JAVASCRIPT_SCALARS.get(kind)
    if read is not None:
        return read(text)
    match kind:
        case "String":
            return text[1:-1] if _is_quoted(text) else text
        case "array":
            return _js_array(text.strip(), item)
        case "dict":
            return _js_object(text.strip())
        case _:
            raise ValueError(f"There is no JavaScript type {kind!r} in this benchmark.")


_NESTED_ARRAYS: Final = re.compile(
    r"\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]|\bnew\s+Array\(\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\)"
)
_ARRAY: Final = re.compile(r"\[(.*?)\]|\bnew\s+Array\((.*?)\)")
_PAIRS: Final = re.compile(r"([^:]+):\s*(.*?)(?:,\s*(?=[^,]+:)|$)")


def _js_array(text: str, item: str | None) -> Any:
    try:
        nested = _NESTED_ARRAYS.match(text)
        if nested:
            return _js_inner_arrays(nested[0])
        plain = _ARRAY.match(text)
        if not plain:
            return text
        inside = (plain[1] if plain[1] is not None else plain[2]).strip()
        parts = [part.strip() for part in inside.split(",")] if inside else []
        return [javascript_value(part, item) if item else _js_untyped(part) for part in parts]
    except (ValueError, RecursionError):
        return text


def _js_inner_arrays(text: str) -> list[list[Any]]:
    inner = [part.strip() for part in re.findall(r"\[(.*?)\]", text)]
    inner[0] = inner[0].removeprefix("[")
    return [[_js_untyped(part) for part in each.split(",")] for each in inner]


def _js_object(text: str) -> Any:
    found = re.match(r"\{(.*?)\}", text)
    if text == "{}" or not found:
        return {} if text == "{}" else text
    pairs = _PAIRS.findall(found[1])
    return {key.strip().strip("'\""): _js_member(value.strip()) for key, value in pairs}


def _js_member(text: str) -> Any:
    if text.startswith("[") and text.endswith("]"):
        return _js_array(text, None)
    if text.startswith("{") and text.endswith("}"):
        return _js_object(text)
    return _js_untyped(text.strip("'\""))


def _js_untyped(text: str) -> Any:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if _is_quoted(text) else _python_number(text)


def _is_quoted(text: str) -> bool:
    return any(text.startswith(quote) and text.endswith(quote) for quote in "\"'")

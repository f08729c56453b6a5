"""Calls that a model wrote as text in one of the forms, read as the official checker reads them, and never run.

Source: `default_decode_ast_prompting`, `ast_parse` and the parsers of `bfcl_eval` 2026.3.23, whose quirks are kept:
brackets and fences around the whole are put on and taken off, what stands beside a list of JSON or the elements of XML
is not looked at, and JSON that cannot be read is no call at all. Their search for a list of JSON takes time that grows
exponentially with some texts; ours finds the same list in one pass. Deliberately not here: Python (`bfcl.decoding`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast
from xml.etree import ElementTree as ET

from wieldy.evals.bfcl.decoding import Decoded, DecodingError, decode, literal_calls, literal_in
from wieldy.evals.bfcl.prompted.forms import CallForm, Form
from wieldy.evals.bfcl.strict import Call

_TAGGED: Final = re.compile(r"<TOOLCALL>(.*?)</TOOLCALL>", re.DOTALL)
_FUNCTIONS: Final = re.compile(r"<functions>(.*?)</functions>", re.DOTALL)
_ERRORS: Final = (SyntaxError, ValueError, TypeError, KeyError, RecursionError, MemoryError, ArithmeticError)


def read(text: str, form: Form) -> list[Decoded]:
    """The calls in the text; what stands for a call's arguments need be none.

    Raises:
        DecodingError: The official checker could not read it.
    """
    bare = _within_marks(text, form)
    try:
        return _READERS[form.calls](bare)
    except _ERRORS as error:
        raise DecodingError(f"{type(error).__name__}: {error}") from error


def read_strictly(text: str, form: Form) -> list[Call]:
    """The calls in the text, if it is what was asked for: names, and arguments that are literals with names.

    The official reader drops arguments that have no name, takes words without quotes for texts, and ends a list of JSON
    at that of an argument.

    Raises:
        DecodingError: It is something else.
    """
    if form.calls == "python":
        calls = literal_calls(_within_marks(text, form))
    else:
        decoded = _read_whole_json(text, form) if form.calls == "json" else read(text, form)
        calls = [call for each in decoded for call in each.items()]
    for name, given in cast("list[tuple[Any, Any]]", calls):
        if not isinstance(name, str) or not isinstance(given, dict) or None in given:
            raise DecodingError(f"Expected a name and arguments with names, found {name!r:.40}: {given!r:.80}.")
    return [(name, _as_lists(given)) for name, given in calls]


def _read_whole_json(text: str, form: Form) -> list[Decoded]:
    bare = _within_marks(text, form) if form.is_tagged else text
    try:
        return _objects_as_calls(json.loads(bare[bare.index("[") : bare.rindex("]") + 1]))
    except _ERRORS as error:
        raise DecodingError(f"{type(error).__name__}: {error}") from error


def _as_lists(value: Any) -> Any:
    """The value as JSON has it: lists instead of tuples."""
    if isinstance(value, dict):
        return {key: _as_lists(each) for key, each in cast("dict[Any, Any]", value).items()}
    return [_as_lists(each) for each in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


def _within_marks(text: str, form: Form) -> str:
    bare = within_brackets(text)
    if not form.is_tagged:
        return bare
    tagged = _TAGGED.search(bare)
    if tagged is None:
        raise DecodingError("Expected calls between <TOOLCALL> and </TOOLCALL>, found no such marks.")
    return tagged[1].strip()


def within_brackets(text: str) -> str:
    """The text without a fence around it, and with brackets."""
    bare = text.strip("`\n ")
    bare = bare if bare.startswith("[") else f"[{bare}"
    return bare if bare.endswith("]") else f"{bare}]"


# JSON


_LIST_BEGINS: Final = re.compile(r"\[\s*\{")
_LIST_ENDS: Final = re.compile(r"\}\s*\]")


def _read_json(text: str) -> list[Decoded]:
    start, end = text.find("["), text.rfind("]")
    if 0 <= start < end:
        text = text[start : end + 1]
    text = _list_of_objects(text) or text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return []
    return _objects_as_calls(value)


def _objects_as_calls(value: Any) -> list[Decoded]:
    calls = cast("list[dict[str, Any]]", [each for each in value if isinstance(each, dict)])
    return [{each["function"]: each["parameters"]} for each in calls]


def _list_of_objects(text: str) -> str | None:
    """From where a list of objects first begins to where one next ends; None where there is none.

    The original looks for objects with commas between them up to a bracket that closes. Its pattern may end an object
    at any brace, so it finds this; and where an argument is a list of objects, it takes that list's end for its own.
    """
    begin = _LIST_BEGINS.search(text)
    end = None if begin is None else _LIST_ENDS.search(text, begin.end())
    return None if begin is None or end is None else text[begin.start() : end.end()]


# XML


def _read_verbose(text: str) -> list[Decoded]:
    calls = list[Decoded]()
    for function in _functions_in(text):
        inner = function.find("params")
        parameters = (function if inner is None else inner).findall("param")
        calls.append(
            {
                function.attrib["name"]: {
                    each.attrib.get("name"): _value(each.attrib.get("value", ""), each.attrib.get("type", "string"))
                    for each in parameters
                }
            }
        )
    return calls


def _read_concise(text: str) -> list[Decoded]:
    return [
        {
            function.attrib["name"]: {
                each.attrib["name"]: _value((each.text or "").strip(), each.attrib.get("type", "string"))
                for each in function.findall("param")
            }
        }
        for function in _functions_in(text)
    ]


def _functions_in(text: str) -> list[ET.Element]:
    found = _FUNCTIONS.search(text)
    if found is None:
        raise DecodingError("Expected calls between <functions> and </functions>, found no such elements.")
    # It begins with an element, so nothing in it can declare an entity.
    return ET.fromstring(found[0]).findall("function")


def _value(text: str, kind: str) -> Any:
    convert = _CONVERTERS.get(kind)
    return text if convert is None else convert(text)


_CONVERTERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "integer": int,
    "float": float,
    "boolean": lambda text: text.lower() == "true",
    "null": lambda _: None,
    **dict.fromkeys(("array", "tuple", "object", "dict"), literal_in),
}

_READERS: Final[Mapping[CallForm, Callable[[str], list[Decoded]]]] = {
    "python": decode,
    "json": _read_json,
    "verbose_xml": _read_verbose,
    "concise_xml": _read_concise,
}

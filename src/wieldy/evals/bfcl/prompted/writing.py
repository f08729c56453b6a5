"""Calls as text in one of the forms, as a model should write them: `reading` reads them back.

Deliberately not here: Java and JavaScript, whose values are written as literals by `bfcl.answers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from wieldy.evals.bfcl.prompted.forms import CallForm, Form
from wieldy.evals.bfcl.strict import Call


def write(calls: Sequence[Call], form: Form) -> str:
    """The calls in this form."""
    text = _WRITERS[form.calls](calls)
    return f"<TOOLCALL>{text}</TOOLCALL>" if form.is_tagged else text


def _as_python(calls: Sequence[Call]) -> str:
    written = (f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls)
    return f"[{', '.join(written)}]"


def _as_json(calls: Sequence[Call]) -> str:
    written = [{"function": name, "parameters": dict(given)} for name, given in calls]
    return f"```json\n{json.dumps(written, ensure_ascii=False)}\n```"


def _as_verbose_xml(calls: Sequence[Call]) -> str:
    def parameter(name: str, value: Any) -> str:
        return f'<param name={quoteattr(name)} value={quoteattr(_text(value))} type="{_type(value)}"/>'

    return _as_xml(calls, parameter, "<params>{}</params>")


def _as_concise_xml(calls: Sequence[Call]) -> str:
    def parameter(name: str, value: Any) -> str:
        return f'<param name={quoteattr(name)} type="{_type(value)}">{escape(_text(value))}</param>'

    return _as_xml(calls, parameter, "{}")


def _as_xml(calls: Sequence[Call], parameter: Callable[[str, Any], str], around: str) -> str:
    written = (
        f"<function name={quoteattr(name)}>{around.format(''.join(map(parameter, given, given.values())))}</function>"
        for name, given in calls
    )
    return f"<functions>{''.join(written)}</functions>"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _type(value: Any) -> str:
    if value is None:
        return "null"
    return next(name for kind, name in _TYPES.items() if isinstance(value, kind))


_TYPES: Final[Mapping[type, str]] = {
    bool: "boolean",  # before the integers, which it is one of
    str: "string",
    int: "integer",
    float: "float",
    list: "array",
    tuple: "tuple",
    dict: "dict",
}

_WRITERS: Final[Mapping[CallForm, Callable[[Sequence[Call]], str]]] = {
    "python": _as_python,
    "json": _as_json,
    "verbose_xml": _as_verbose_xml,
    "concise_xml": _as_concise_xml,
}
